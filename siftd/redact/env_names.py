"""Which files of settings are read for their secrets, and which folders are entered to find them: by name alone."""

from __future__ import annotations

import fnmatch
import os
import re

NEAR = (
    *(".env", ".env.local", ".env.development", ".env.development.local", ".env.production", ".env.production.local"),
    *(".env.staging", ".env.test", ".envrc", ".flaskenv", ".dev.vars", ".secrets", "secrets.yml", "secrets.yaml"),
    *("secrets.json", "secrets.toml", "application.yml", "application.yaml", "application.properties"),
    *("appsettings.json", "appsettings.Development.json", "terraform.tfvars", "terraform.tfstate"),
    *(".npmrc", ".pypirc", ".netrc", ".pgpass", "credentials"),
)
"""Names that are asked for one by one, in the folders that matter most."""
BELOW = (
    *(".config/.env", ".streamlit/secrets.toml", "env/.env", "config/.env", "config/secrets.yml", ".aws/credentials"),
    *("src/main/resources/application.yml", "src/main/resources/application.properties"),
)
"""The same below the workspace's folder."""
READ = (
    *(".env", ".env.*", "*.env", ".envrc", ".flaskenv", ".dev.vars", ".secrets", "secrets.*", "*.secrets"),
    *("*.tfvars", "*.tfvars.json", "*.tfstate", "application*.yml", "application*.yaml", "application*.properties"),
    *("appsettings*.json", ".npmrc", ".pypirc", ".netrc", "_netrc", ".pgpass", "credentials", ".credentials"),
)
SHOWN = (
    *("*.example", "*.sample", "*.template", "*.tmpl", "*.dist", "*.example.*", "*.sample.*", "*.template.*"),
    "*.enc",
)
_IS_READ = re.compile("|".join(map(fnmatch.translate, READ)))
_IS_SHOWN = re.compile("|".join(map(fnmatch.translate, SHOWN)))
SKIPPED = frozenset(
    "node_modules vendor bower_components venv site-packages __pycache__ dist build target out coverage".split()
)
HIDDEN_ENTERED = frozenset([".config", ".streamlit", ".aws", ".docker", ".secrets", ".env", ".envs"])


def is_read(name: str) -> bool:
    """Whether a file of this name is one that is read."""
    return _IS_READ.fullmatch(name) is not None and _IS_SHOWN.fullmatch(name) is None


def is_entered(folder: str, name: str) -> bool:
    """Whether a folder of this name in `folder` may hold such files."""
    if name[0] == ".":
        return name in HIDDEN_ENTERED
    return name not in SKIPPED and not (name == "env" and os.path.lexists(f"{folder}/env/pyvenv.cfg"))
