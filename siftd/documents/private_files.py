"""Names of files that hold secrets, or what others made: no folder's documents."""

from __future__ import annotations

import fnmatch
import re


def _any_of(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, patterns.split())))


_SECRET = _any_of(
    ".env .env.* *.env .envrc .dev.vars *.pem *.key *.p8 *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.asc *.gpg *.ovpn"
    " id_rsa* id_dsa* id_ecdsa* id_ed25519* .npmrc .pypirc .netrc _netrc .htpasswd .pgpass .my.cnf .git-credentials"
    " .dockercfg credentials credentials.json credentials.yml credentials.yml.enc *credentials*.json secrets.json"
    " secrets.y*ml secrets.toml secrets.ini *.secret *.secrets service-account*.json service_account*.json *.tfstate"
    " *.tfstate.* *.tfvars *.tfvars.json master.key kubeconfig .vault-token .vault_pass* *_history .*_history"
    " auth.json token.json tokens.json"
)
_EXAMPLE = _any_of("*.example *.sample *.template *.dist *.example.* *.sample.* *.pub *example*")
"""What shows how such a file looks, or is for everybody."""
_SECRET_FOLDERS = frozenset(".ssh .gnupg .aws .azure .kube .docker .gcloud .secrets secrets .password-store".split())

_VENDORED = frozenset(
    "node_modules bower_components jspm_packages site-packages dist-packages vendor vendored _vendor third_party"
    " third-party thirdparty external_libs .venv __pycache__ .tox .nox .eggs .mypy_cache .pytest_cache"
    " .ruff_cache .hypothesis .cache .gradle .m2 .cargo .terraform .bundle .yarn .pnpm-store .next .nuxt .svelte-kit"
    " .parcel-cache .turbo .idea .vs .direnv Pods Carthage DerivedData .git .hg .svn .jj .bzr".split()
)
_GENERATED = _any_of(
    "*.min.js *.min.css *.bundle.js *.map *.lock package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum"
    " *.pb.go *_pb2.py *_pb2.pyi *.g.dart *.snap *.svg *.egg-info"
)


def is_secret(name: str) -> bool:
    """Whether a file of this name is there to hold secrets; one that only shows its form is not."""
    low = name.lower()
    return _SECRET.match(low) is not None and _EXAMPLE.match(low) is None


def is_secret_folder(name: str) -> bool:
    return name.lower() in _SECRET_FOLDERS


def is_vendored(name: str) -> bool:
    """Whether a folder of this name holds what others wrote, or what programs keep for themselves."""
    return name in _VENDORED or name.endswith((".egg-info", ".dist-info"))


def is_generated(name: str) -> bool:
    """Whether a file of this name is made from others."""
    return _GENERATED.match(name.lower()) is not None
