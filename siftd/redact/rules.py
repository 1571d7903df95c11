"""The rules, one row for each form of secret.

A match begins at a *head*: one of the row's keywords (plain text, case ignored), or its `head` expression where
no literal begins it. The gate finds the heads of all rows in one pass; only there is the row's pattern tried,
anchored, with the standard library's `re`. Patterns keep that linear: repetitions are possessive or bounded, and
a row's left boundary keeps it from starting anew inside a run of its own alphabet.

To add a form: add a row with a synthetic example that is caught and a near miss that is not. Examples are
written in two pieces, so that other scanners do not find them here.
"""

# ruff: noqa: E501  (one row, one line: the table is read by column)

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from siftd.redact import checks
from siftd.redact.checks import Match

_ESCAPED = r"(?<=\\[nrtu])|(?<=\\u00[0-9a-f]{2})|(?<=%[0-9A-Fa-f]{2})|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9]{2}m)"
LEFT = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})"
"""No token begins inside a word; an escape sequence before it is not a word."""
RUN = rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPED})"
"""As LEFT, for alphabets with `_` and `-` and no upper bound."""
END = r"(?![A-Za-z0-9])"
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


class Rule(NamedTuple):
    name: str
    """As it stands in the placeholder."""
    pattern: str
    example: str
    near_miss: str
    keywords: str = ""
    """Literals, separated by spaces, one of which begins every match, in the case in which they are written."""
    head: str = ""
    """Instead of keywords: a bounded ASCII expression that begins every match (after `reach`)."""
    group: int = 0
    """What is replaced; -1 for the last group that took part."""
    reach: str = ""
    """Characters, besides letters and digits, that may stand before the head and belong to the match (at most 64)."""
    rest: str = ""
    """A class: once accepted, a value that may have been cut by its bound goes on through it, however long."""
    check: Callable[[Match], bool] = checks.is_random
    general: bool = False
    """Yields to a rule that knows the whole value by its own form."""


def _token(
    name: str, keywords: str, body: str, example: str, near_miss: str, check: Callable[[Match], bool] = checks.is_random
) -> Rule:
    """A token known by its beginning: keywords, or after `=` a head."""
    is_head = keywords.startswith("=")
    return Rule(
        name=name, keywords="" if is_head else keywords, head=keywords[1:] if is_head else "",
        pattern=LEFT + body, example=example, near_miss=near_miss, check=check,
    )  # fmt: skip


_A = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6kL8nP0rS2tU4wX6zA8cD1eF3gH5jK7mN9pQ1sT3vW5yZ7"
_H = "3f9a1c7e5b2d8046af13c9e7b5d20846f1a3c5e79b0d2f48a6c1e3b5d7f90824ac"
_B32 = "A3B7C5D2E6F4G7H5J3K6L2M4N7P5Q3R6S2T4U7V5W3X6Y2Z4"
_UUID = "3f9a1c7e-5b2d-4046-af13-c9e7b5d20846"


TOKENS: tuple[Rule, ...] = (
    # Cloud
    _token("aws-access-key", "AKIA ASIA ABIA ACCA AROA AIDA", r"A(?:KIA|SIA|BIA|CCA|ROA|IDA)[A-Z2-7][A-Z0-9]{15}" + END, "AKIA" + _B32[:16], "AKIA" + "B3C5"),
    _token("aws-bedrock-key", "ABSK bedrock-api-key-", r"(?:ABSK[A-Za-z0-9+/]{100,}+={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{28,}+)", "bedrock-api-key-" + _A, "bedrock-api-key-name"),
    _token("google-api-key", "AIza", r"AIza[\w-]{35}(?![\w-])", "AI" "za" + _A[:35], "AI" "za" + _A[:20]),
    _token("google-oauth-token", "ya29.", r"ya29\.[\w-]{20,}+(?:\.[\w-]++)*+", "ya" "29." + _A[:60], "ya" "29.short"),
    Rule(name="google-refresh-token", keywords="1//0", pattern=r"(?:(?<![A-Za-z0-9._/:-])|(?<=\\n))1//0[\w-]{38,}+", example="1/" "/0" + _A[:62], near_miss="1/" "/0" + _A[:20], check=checks.has_digit),
    _token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}(?![\w-])", "GOC" "SPX-" + _A[:28], "GOC" "SPX-" + _A[:9]),
    Rule(name="azure-client-secret", keywords="8Q~ 7Q~ 9Q~", pattern=r"(?<=[\w~.-]{3})[0-9]Q~[\w~.-]{31,34}", example="abc" "8Q~" + _A[:34], near_miss="abc" "8Q~" + _A[:9]),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}" + END, "dop_" "v1_" + _H[:64], "dop_" "v1_" + _H[:30]),
    _token("flyio-token", "FlyV1 fo1_ fm1a fm1r fm2_", r"(?:FlyV1[ ][\w+/=,.-]{40,}+|fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{100,}+={0,3}|fm2_[A-Za-z0-9+/]{100,}+={0,3})", "fo1" "_" + _A[:43], "fo1" "_" + _A[:10]),
    _token("heroku-key", "HRKU-", r"HRKU-[\w-]{30,70}(?![\w-])", "HRKU" "-" + _A[:60], "HRKU" "-name"),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"vc[pcairk]_[A-Za-z0-9]{56}" + END, "vcp" "_" + _A[:56], "vcp" "_" + _A[:20]),
    _token("netlify-token", "nfp_ nfc_ nfo_ nfu_", r"nf[pcou]_[A-Za-z0-9]{36}" + END, "nfp" "_" + _A[:36], "nfp" "_" + _A[:12]),
    _token("supabase-key", "sbp_ sb_secret_", r"(?:sbp_(?:v0_)?[a-f0-9]{40}|sb_secret_[\w-]{31})(?![\w-])", "sbp" "_" + _H[:40], "sbp" "_" + _H[:12]),
    _token("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,32}" + END, "rnd" "_" + _A[:32], "rnd" "_" + _A[:12], checks.has_digit),
    _token("scaleway-key", r"=SCW[A-Z0-9]{8}", r"SCW[A-Z0-9]{17}" + END, "SC" "W" + _B32[:17], "SC" "W" + _B32[:8], checks.has_digit),
    _token("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{20}" + END, "LT" "AI" + _A[:20], "LT" "AI" + _A[:8]),
    _token("yandex-token", r"=AQVN|YCAJ|t1\.[A-Z0-9a-z_-]{16}", r"(?:AQVN[\w-]{35,38}|t1\.[A-Z0-9a-z_-]+[=]{0,2}\.[A-Z0-9a-z_-]{86}[=]{0,2}|YCAJ[\w-]{34,37})(?![\w-])", "AQ" "VN" + _A[:36], "AQ" "VN" + _A[:8]),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}", "pscale" "_tkn_" + _A[:43], "pscale" "_tkn_" + _A[:9]),
    _token("ovh-runpod-key", r"=rpa_[A-Za-z0-9]{8}", r"rpa_[A-Za-z0-9]{40,60}" + END, "rp" "a_" + _A[:46], "rp" "a_" + _A[:9]),
    _token("aiven-token", "AVNS_", r"AVNS_[\w-]{16,32}(?![\w-])", "AV" "NS_" + _A[:19], "AV" "NS_" + _A[:6]),
    # Source hosting
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,251}" + END, "gh" "p_" + _A[:36], "gh" "p_" + _A[:20]),
    _token("github-token", "github_pat_", r"github_pat_\w{22,255}", "github" "_pat_" + _A[:22] + "_" + _A[:59], "github" "_pat_" + _A[:10]),
    _token("gitlab-token", "glpat- gldt- glrt- glptt- glft- glsoat- glagent- glcbt- glimt- gloas- glffct- glrtr- glwt-",
           r"gl(?:pat|dt|rt|rtr|ptt|ft|soat|agent|cbt|imt|oas|ffct|wt)-[\w-]{20,}+(?:\.[\w-]+)*", "gl" "pat-" + _A[:20], "gl" "pat-" + _A[:9]),
    _token("gitlab-token", "GR1348941", r"GR1348941[\w-]{20}(?![\w-])", "GR" "1348941" + _A[:20], "GR" "1348941" + _A[:9]),
    _token("gitlab-session", "_gitlab_session=", r"_gitlab_session=[0-9a-z]{32}", "_gitlab" "_session=" + _H[:32], "_gitlab" "_session=" + _H[:9]),
    _token("bitbucket-token", "ATBB ATCTT3 ATATT3", r"(?:ATBB[A-Za-z0-9]{32}|ATCTT3[\w=-]{50,}+|ATATT3[\w=-]{50,}+)", "AT" "BB" + _A[:32], "AT" "BB" + _A[:9]),
    # Model providers
    _token("anthropic-key", "sk-ant-", r"sk-ant-(?:[a-z]{2,8}[0-9]{2}-)?[\w-]{20,}+", "sk-" "ant-api03-" + _A[:80] + "-" + _A[:12], "sk-" "ant-api03-" + _A[:6]),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}+", "sk-" "proj-" + _A[:74], "sk-" "proj-" + _A[:8], checks.has_digit),
    _token("openrouter-key", "sk-or-", r"sk-or-v1-[a-f0-9]{40,64}" + END, "sk-" "or-v1-" + _H[:64], "sk-" "or-v1-" + _H[:9]),
    _token("openai-key", r"=sk-(?:lf-|live-|test-)?[A-Za-z0-9]{16}", r"sk-(?:lf-|live-|test-)?[A-Za-z0-9]{20,128}" + END, "sk-" + _A[:48], "sk-" "learn-extra-datasets", checks.has_digit),
    _token("huggingface-token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z]{34}" + END, "hf" "_" "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", "hf" "_required_characteristic_types", checks.is_mixed_case),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,56}" + END, "gs" "k_" + _A[:52], "gs" "k_" + _A[:9]),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}" + END, "r" "8_" + _A[:37], "r" "8_" + _A[:9]),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{48}" + END, "pp" "lx-" + _A[:48], "pp" "lx-7b-online-chat"),
    _token("xai-key", "xai-", r"xai-[\w-]{70,}+", "x" "ai-" + _A[:80], "x" "ai-sdk"),
    _token("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,70}(?![\w-])", "nv" "api-" + _A[:64], "nv" "api-" + _A[:9]),
    _token("fireworks-key", r"=fw_[A-Za-z0-9]{12}", r"fw_[A-Za-z0-9]{24}" + END, "f" "w_" + _A[:24], "f" "w_version_major_minor", checks.has_digit),
    _token("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}" + END, "tv" "ly-" + _A[:32], "tv" "ly-" + _A[:9]),
    _token("llamaindex-key", "llx-", r"llx-[\w-]{48}(?![\w-])", "ll" "x-" + _A[:48], "ll" "x-" + _A[:9]),
    _token("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9]{4,6}_[A-Za-z0-9]{60,66}" + END, "pc" "sk_" + _A[:5] + "_" + _A[:63], "pc" "sk_" + _A[:9]),
    _token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}" + END, "ls" "v2_pt_" + _H[:32] + "_" + _H[:10], "ls" "v2_pt_" + _H[:9]),
    # Chat and mail
    _token("slack-token", "xox xapp-", r"(?:xox[abeoprs](?:\.xox[bp])?-(?:[0-9]-)?[\w-]{10,}+|xox[cd]-[A-Za-z0-9%+/=-]{20,}+|xapp-[0-9]-[A-Za-z0-9]++-[0-9]++-[a-z0-9]++)",
           "xo" "xb-231405172896-5129803417765-" + _A[:24], "xo" "xb-xxxxxxxxxxx-xxxxxxxxxxxxxxxxxxxxxxxx", checks.has_digit),
    _token("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{30,128}+", "hooks.slack" ".com/services/T0A1B2C3D/B0A1B2C3D/" + _A[:24], "hooks.slack" ".com/services/"),
    _token("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[\w@-]{36,80}/IncomingWebhook/[0-9a-z]{32}/[\w-]{36}",
           f"webhook.office.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/{_H[:32]}/{_UUID}", "webhook.office.com/webhookb2/"),
    _token("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[\w-]{60,72}", "discord.com" "/api/webhooks/123874659012345678/" + _A[:68], "discord.com/api/webhooks/"),
    Rule(name="discord-token", head=r"[MNO][A-Za-z0-9]{23,25}\.[A-Za-z0-9_-]{6}\.", pattern=LEFT + r"[MNO][A-Za-z0-9]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])", check=checks.has_digit, example="M" + _A[:23] + "." + _A[:6] + "." + _A[:27], near_miss="M" + _A[:23] + "." + _A[:6] + "." + _A[:4]),
    Rule(name="telegram-token", head=r"[0-9]{8,10}:AA", pattern=r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[\w-]{33}(?![\w-])", example="517" "2839406:AA" + _A[:33], near_miss="5172839406:AA"),
    _token("twilio-key", r"=(?:SK|AC)[0-9a-f]{8}", r"(?:SK|AC)[0-9a-f]{32}" + END, "S" "K" + _H[:32], "S" "K" + _H[:20], checks.has_digit),
    _token("sendgrid-key", r"=SG\.[A-Za-z0-9_-]{8}", r"SG\.[\w=.-]{60,70}(?![\w-])", "S" "G." + _A[:22] + "." + _A[:43], "S" "G.example.com"),
    _token("mailgun-key", r"=(?:pub)?key-[a-f0-9]{8}", r"(?:pub)?key-[a-f0-9]{32}" + END, "key" "-" + _H[:32], "key" "-" + _H[:9]),
    Rule(name="mailchimp-key", head=r"[0-9a-f]{32}-us[0-9]", pattern=r"(?<![0-9A-Za-z])[0-9a-f]{32}-us[0-9]{1,2}" + END, example=_H[:32] + "-us" "12", near_miss=_H[:30] + "-us" "12"),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}" + END, "xkey" "sib-" + _H[:64] + "-" + _A[:16], "xkey" "sib-" + _H[:9]),
    _token("postman-key", "PMAK-", r"PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}" + END, "PM" "AK-" + _H[:24] + "-" + _H[:34], "PM" "AK-" + _H[:9]),
    _token("resend-key", r"=re_[A-Za-z0-9]{8}_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}" + END, "r" "e_" + _A[:8] + "_" + _A[:24], "r" "e_compile_pattern_cache", checks.has_digit),
    # Payments and commerce
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ pk_live_ pk_test_ whsec_", r"(?:[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,247}|whsec_[A-Za-z0-9+/=]{24,64})", "sk" "_live_" + _A[:24], "sk" "_live_", checks.has_digit),
    _token("square-token", "sq0atp- sq0csp- EAAA", r"(?:sq0(?:atp-[\w-]{22}|csp-[\w-]{43})|EAAA[\w-]{60})(?![\w-])", "sq0" "atp-" + _A[:22], "sq0" "atp-" + _A[:9]),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}" + END, "shp" "at_" + _H[:32], "shp" "at_" + _H[:9]),
    _token("flutterwave-key", "FLWSECK FLWPUBK", r"FLW(?:SECK|PUBK)_TEST-[a-h0-9-]{12,36}(?:-X)?", "FLW" "SECK_TEST-" + _H[:32] + "-X", "FLW" "SECK_TEST-" + _H[:3]),
    _token("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}" + END, "shi" "ppo_live_" + _H[:40], "shi" "ppo_live_" + _H[:9]),
    _token("plaid-token", "access-sandbox- access-development- access-production-", rf"access-(?:sandbox|development|production)-{UUID}", "access" "-production-" + _UUID, "access-production-ready"),
    _token("duffel-token", "duffel_", r"duffel_(?:test|live)_[\w=-]{43}", "duf" "fel_live_" + _A[:43], "duf" "fel_live_" + _A[:9]),
    _token("easypost-token", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}" + END, "EZ" "AK" + _A[:54], "EZ" "AK" + _A[:9]),
    # Registries and builds
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}" + END, "np" "m_" + _A[:36], "np" "m_config_registry_for_everything_here", checks.has_digit),
    _token("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{50,}+", "py" "pi-AgE" + _A, "py" "pi-AgE" + _A[:9]),
    _token("dockerhub-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{27,36}(?![\w-])", "dckr" "_pat_" + _A[:27], "dckr" "_pat_" + _A[:9]),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}" + END, "ruby" "gems_" + _H[:48], "ruby" "gems_version"),
    _token("crates-token", r"=cio[A-Za-z0-9]{16}", r"cio[A-Za-z0-9]{32}" + END, "ci" "o" + _A[:32], "ci" "o" + _A[:9], checks.has_digit),
    _token("clojars-token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}" + END, "CLO" "JARS_" + _A[:60], "CLO" "JARS_USERNAME"),
    _token("nuget-key", r"=oy2[a-z0-9]{8}", r"oy2[a-z0-9]{43}" + END, "oy" "2" + "b4f6h8j1l3n5p7r9" * 2 + "b4f6h8j1l3n", "oy" "2b4f6"),
    _token("artifactory-key", r"=AKC[A-Za-z0-9]{6}|cmVmd", r"(?<![+/=])(?:AKC[A-Za-z0-9]{10,}+|cmVmd[A-Za-z0-9]{59})(?![A-Za-z0-9+/=])", "AK" "Cp" + _A[:70], "AK" "Cp" + _A[:6], checks.has_digit),
    _token("buildkite-token", "bkua_ bkct_ bkpt_ bkaj_", r"bk(?:ua|ct|pt|aj)_[a-zA-Z0-9_-]{32,64}", "bk" "ua_" + _H[:40], "bk" "ua_" + _H[:9]),
    _token("circleci-token", "ccipat_ ccipri_", r"ccip(?:at|ri)_[A-Za-z0-9]{16,32}_[a-f0-9]{40}" + END, "cci" "pat_" + _A[:22] + "_" + _H[:40], "cci" "pat_" + _A[:9]),
    _token("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-z0-9]{40}" + END, "sq" "p_" + _H[:40], "sq" "p_" + _H[:9]),
    # Infrastructure
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}+", "hv" "s." + _A[:90], "hv" "s.example.com"),
    _token("vault-token", r"=s\.[A-Za-z0-9]{16}", r"s\.[A-Za-z0-9]{24}(?![\w.(])", "s" "." + _A[:24], "s" ".makeKubeConfigController", checks.has_digit),
    _token("terraform-token", "atlasv1.", r"(?<=[A-Za-z0-9]{14}\.)atlasv1\.[\w=-]{60,70}", _A[:14] + ".atlas" "v1." + _A[:67], _A[:14] + ".atlas" "v1." + _A[:9]),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}" + END, "pu" "l-" + _H[:40], "pu" "l-" + _H[:9]),
    _token("doppler-token", r"=dp\.(?:pt|st|ct|sa|scim|audit)\.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}" + END, "d" "p.pt." + _A[:43], "d" "p.pt." + _A[:9]),
    _token("grafana-token", "glc_ glsa_", r"(?:glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})" + END, "gl" "sa_" + _A[:32] + "_" + _H[:8], "gl" "sa_" + _A[:9]),
    _token("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}" + END, "dt0" "c01." + _B32[:24] + "." + (_B32 * 2)[:64], "dt0" "c01." + _B32[:9]),
    _token("newrelic-key", "NRAK- NRJS- NRII- NRBR-", r"NR(?:AK-[A-Za-z0-9]{27}|(?:JS|BR)-[a-f0-9]{19}|II-[\w-]{32})(?![\w-])", "NR" "AK-" + _B32[:27], "NR" "AK-" + _B32[:9]),
    _token("sentry-token", "sntrys_ sntryu_", r"sntry(?:s_[A-Za-z0-9+/=_]{80,400}|u_[a-f0-9]{64})", "sntry" "u_" + _H[:64], "sntry" "u_" + _H[:9]),
    _token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?" + END, "da" "pi" + _H[:32], "da" "pi" + _H[:9]),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]+-[\w]{8,32}-[\w]{16,48}", "ts" "key-auth-" + _A[:12] + "-" + _A[:32], "ts" "key-auth-short"),
    _token("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api_[A-Za-z0-9]{40}|oauth_[a-f0-9]{64})" + END, "lin" "_api_" + _A[:40], "lin" "_api_" + _A[:9]),
    _token("notion-token", r"=ntn_|secret_[A-Za-z0-9]{12}", r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})" + END, "nt" "n_17283940516" + _A[:35], "nt" "n_17283940516", checks.has_digit),
    _token("figma-token", "figd_ figu_ figo_ figor_ figoh_ figdr_", r"fig(?:d|u|o|or|oh|dr)_[\w-]{40,}+", "fig" "d_" + _A[:43], "fig" "d_abc"),
    _token("airtable-token", r"=pat[A-Za-z0-9]{14}\.", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}" + END, "pa" "t" + _A[:14] + "." + _H[:64], "pa" "t" + _A[:14]),
    _token("atlassian-dropbox-token", r"=sl\.[A-Za-z0-9_.-]{16}", r"sl\.(?:u\.)?[\w=-]{130,}+", "s" "l." + _A + _A, "s" "l.example"),
    _token("asana-clickup-token", r"=pk_[0-9]{6}", r"pk_[0-9]{6,9}_[A-Z0-9]{32}" + END, "pk" "_4839201_" + _B32[:32], "pk" "_4839201_" + _B32[:9]),
    _token("posthog-key", "phx_ phc_ pha_", r"ph[xca]_[\w-]{32,64}(?![\w-])", "ph" "x_" + _A[:47], "ph" "x_" + _A[:9]),
    _token("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}+", "ops" "_eyJ" + _A + _A, "ops" "_eyJ" + _A[:9]),
    _token("onepassword-secret-key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}" + END, "A3" "-ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB", "A3" "-XXXXXX-XXXXXXXXXXX-XXXXX-XXXXX-XXXXX"),
    _token("openshift-token", "sha256~", r"sha256~[\w-]{43}(?![\w-])", "sha" "256~" + _A[:43], "sha" "256~" + _A[:9]),
    _token("harness-key", r"=[ps]at\.[A-Za-z0-9_-]{16}", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}" + END, "pa" "t." + _A[:22] + "." + _H[:24] + "." + _A[:20], "pa" "t." + _A[:22]),
    _token("readme-key", "rdme_", r"rdme_[a-z0-9]{70}" + END, "rd" "me_" + (_H + _H)[:70], "rd" "me_" + _H[:9]),
    _token("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}" + END, "pn" "u_" + _A[:36], "pn" "u_" + _A[:9]),
    _token("frameio-token", "fio-u-", r"fio-u-[\w=-]{64}", "fi" "o-u-" + _A[:64], "fi" "o-u-" + _A[:9]),
    _token("typeform-token", "tfp_", r"tfp_[\w.=-]{44,59}(?![\w.-])", "tf" "p_" + _A[:48], "tf" "p_" + _A[:9]),
    _token("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", r"sm_[pas]at_[A-Za-z0-9]{16}" + END, "sm" "_pat_" + _A[:16], "sm" "_pat_" + _A[:9]),
    _token("intra42-secret", "s-s4t2ud- s-s4t2af-", r"s-s4t2(?:ud|af)-[abcdef0-9]{64}" + END, "s-s4" "t2ud-" + _H[:64], "s-s4" "t2ud-" + _H[:9]),
    _token("facebook-token", "EAAM EAAC EAAB", r"EAA[MCB][A-Za-z0-9]{80,}+", "EA" "AC" + _A + _A, "EA" "AC" + _A[:9]),
    _token("launchdarkly-key", r"=(?:api|sdk|mob)-[0-9a-f]{8}-", rf"(?:api|sdk|mob)-{UUID}" + END, "sd" "k-" + _UUID, "sd" "k-" + _UUID[:13]),
    _token("clickhouse-key", r"=4b1d[A-Za-z0-9]{8}", r"4b1d[A-Za-z0-9]{38}" + END, "4b" "1d" + _A[:38], "4b" "1d" + _A[:9], checks.is_mixed_case),
    _token("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"AGE-(?:SECRET-KEY-1|PLUGIN-[A-Z0-9-]{1,30}-1)[A-Z0-9]{58,}+", "AGE-SECRET" "-KEY-1" + _B32 + _B32[:10], "AGE-SECRET" "-KEY-1" + _B32[:9]),
    _token("together-key", "tgp_v1_", r"tgp_v1_[\w-]{43}(?![\w-])", "tg" "p_v1_" + _A[:43], "tg" "p_v1_" + _A[:9]),
    _token("devin-key", "cog_ apk_", r"(?:cog_[a-z0-9]{52}|apk_[A-Za-z0-9=_-]{60,}+)", "ap" "k_" + _A, "ap" "k_" + _A[:9]),
    _token("defined-networking-key", "dnkey-", r"dnkey-[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52}", "dn" "key-" + _B32[:26] + "-" + (_B32 * 2)[:52], "dn" "key-" + _B32[:9]),
    _token("asaas-key", "$aact_", r"\$aact_[\w=:-]{16,}+", "$a" "act_prod_" + _A[:40], "$a" "act_prod"),
    _token("okta-token", "SSWS", r"SSWS[ ]00[\w-]{30,50}", "SS" "WS 00" + _A[:40], "SS" "WS token"),
    _token("grafana-key", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/_-]{40,}+={0,2}", "ey" "JrIjoi" + _A, "ey" "JrIjoi" + _A[:9]),
    _token("ntlm-token", "TlRMTVNTUA", r"TlRMTVNTUA[A-Za-z0-9+/]{40,}+={0,2}", "Tl" "RMTVNTUA" + _A, "Tl" "RMTVNTUA" + _A[:9]),
    _token("canada-notify-key", "gcntfy- GCNTFY-", rf"(?:gcntfy|GCNTFY)-[\w-]{{1,60}}?-{UUID}-{UUID}", f"gc" f"ntfy-app-{_UUID}-{_UUID}", f"gc" f"ntfy-app-{_UUID}"),
    _token("password-hash", "$2a$ $2b$ $2y$ $argon2 $6$ $5$ $krb5", r"\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|argon2i?d?\$v=[0-9]++\$[\w=,]++\$[\w+/=]{8,}+\$[\w+/=]{16,}+|[56]\$(?:rounds=[0-9]++\$)?[./\w]{4,16}\$[./A-Za-z0-9]{43,86}|krb5[a-z]++\$[0-9]++\$[^\s]{32,}+)",
           "$2" "b$12$" + _A[:53], "$2" "b$12$" + _A[:9]),
)  # fmt: skip


_QUOTE = r"(?:\\{0,4}[\"'`])"
_NAME = r"(?P<name>[\w.-]{1,64}+(?:[ ](?i:key)\b)?)"
_TELLING_WORD = (
    r"(?:(?i:passw(?:or)?d|passphrase|passwort|passcode|pwd|[_.-]pass|secret|token|cred(?:ential)?s?|auth|(?:api|access|account|admin|app|auth(?:entication)?|"
    r"client|consumer|deploy|encrypt(?:ion)?|master|private|project|root|secret|service|session|shared|signing|storage|"
    r"subscription|[a-z0-9][_-])[ _-]?key)|[a-z]Key)"
)
_TRAILER = r"(?i:[_-]?(?:base(?:64)?|b64|value|raw|string|text|prod|dev|test|live))?[_-]?[0-9]{0,3}"
_TYPE = r"(?:[ \t]{0,2}:?[ \t]{1,3}&?(?:'static[ ])?(?:std::)?[Ss]tr(?:ing)?\??(?:[ \t]{0,4}))?"
_CLOSE = r"\\{0,4}[\"'`]?[\])]{0,2}" + _TYPE + r"[ \t]{0,8}"
_OPERATOR = r"(?:=>|%3[Dd]|\|\|[:=]|[:=.?+|]{0,4}[:=]>?|,|>)"
_VALUE = (
    r"(?:\\{1,4}[\"'`](?P<escaped>[^\"'`\\\r\n]{1,512})|\"(?P<double>(?:[^\"\\\r\n]|\\.){1,512})|'(?P<single>(?:[^'\\\r\n]|\\.){1,512})|"
    r"`(?P<back>[^`\r\n]{1,512})|(?P<bare>(?:[^\s\"'`\\,;&<>]|[,;&](?![\w.-]{1,40}=|[\s\"'`]|\Z)){1,512}))"
)
_BASE64_LINE = (
    r"(?>(?:\\{1,4}[rn]|[\r\n])++[ \t>*#|+-]*+(?:[0-9]{1,6}[ \t]*+(?:[\t|:]|\u2192))?+[ \t\"'+,-]*+"
    r"(?:[A-Z][A-Za-z-]{2,20}:[ ][^\r\n\\\"]*+|[A-Za-z0-9+/=]++)?+(?=[ \t\"'+,]*+(?:\\|[\r\n]|\Z))[ \t\"'+,]*+)"
)


SHAPES: tuple[Rule, ...] = (
    Rule(
        name="private-key", keywords="-----BEGIN",
        pattern=r"(-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)"
        rf"(?:(?>(?:[^-]|-(?!----))*+)-?-----END (?:[A-Z0-9]+ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----|{_BASE64_LINE}*+)",
        check=checks.holds_key_material,
        example="-----BEGIN RSA PRIVATE" " KEY-----\n" + _A[:64] + "\n" + _A[:30] + "\n-----END RSA PRIVATE" " KEY-----",
        near_miss="the file begins with -----BEGIN RSA PRIVATE" " KEY----- and ends elsewhere",
    ),
    Rule(
        name="jwt", keywords="eyJ", pattern=RUN + r"eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?(?:\.[\w-]++)*+",
        example="ey" "JhbGciOiJIUzI1NiJ9.ey" "JzdWIiOiIxMjM0NTY3ODkwIn0." + _A[:43], near_miss="ey" "JhbGciOiJIUzI1NiJ9",
    ),
    Rule(
        name="bearer-token", head=r"(?i:bearer)[ \t:=]{1,4}[\"']?[A-Za-z0-9_.~+/-]{8}", general=True,
        pattern=r"(?i:bearer)[ \t:=]{1,4}[\"']?([\w.~+/-]{16,}+=*+)", group=1, check=checks.has_digit,
        example="Authorization: Bearer " + _A[:32], near_miss="bearer authentication_is_required",
    ),
    Rule(
        name="basic-auth", head=r"(?i:basic)[ ]{1,4}[A-Za-z0-9+/]{8}", pattern=r"(?i:basic)[ ]{1,4}([A-Za-z0-9+/]{8,}+={0,2})",
        group=1, check=checks.is_basic_auth, example="Authorization: Basic " "YWxpY2U6b3Blbi1zZXNhbWU=", near_miss="Basic understanding",
    ),
    Rule(
        name="url-password", head=r"://[A-Za-z0-9._~%!$&()*+,;=-]{0,64}:[^ \t\r\n\x00/@\"'`<>]{1,256}@", general=True,
        pattern=r"://[\w.~%!$&()*+,;=-]{0,64}:([^\s/@\"'`<>]{1,256})@", group=1, check=checks.is_url_password,
        example="postgres://app:s3cr3t-pass" "@db.internal:5432/app", near_miss="http://localhost:8080/user@example",
    ),
    Rule(
        name="curl-user", head=r"-(?:u|-user)[ =]{1,3}[\"']?[A-Za-z0-9_.@+-]{1,64}:", general=True,
        pattern=r"-(?:u|-user)[ =]{1,3}[\"']?[\w.@+-]{1,64}:([^\s\"'`@]{3,256})(?![^\s\"'`])", group=1, check=checks.is_command_password,
        example="curl -u alice:" "open-sesame9 https://host/", near_miss="curl -u username:password https://host/",
    ),
    Rule(
        name="password", head=_TELLING_WORD + _TRAILER + _CLOSE + _OPERATOR, general=True, reach="_.-",
        pattern=_NAME + _CLOSE + _OPERATOR + r"(?:[ \t]*+|\s{1,40}(?=[\"'`\w][^\s]{11}))" + _VALUE, group=-1,
        rest=r"[^\s\"'`\\]*+", check=checks.is_assigned_secret,
        example='password = "correct-horse-9"', near_miss="password = get_password()",
    ),
    Rule(
        name="password", head=r"-{1,2}[A-Za-z-]{0,24}" + _TELLING_WORD + r"[ \t]{1,4}", general=True,
        pattern=r"(?<![\w-])--?" + _NAME + r"[ \t]{1,4}" + _VALUE, group=-1, rest=r"[^\s\"'`\\]*+", check=checks.is_assigned_secret,
        example="deploy --api-token " + _A[:20], near_miss="deploy --api-token $TOKEN",
    ),
    Rule(
        name="secret", head=r"(?i:secret|token|private|access|api)(?i:[ _-]?key)?[ -]{1,2}[A-Za-z0-9_+/.-]{16}", general=True,
        pattern=r"(?i:secret|token|private|access|api)(?i:[ _-]?key)?[ -]{1,2}([\w+/.-]{16,512}+=*+)(?![\w(:@])", group=1,
        check=checks.is_generated, rest=r"[\w+/.-]*+", example="the access token " + _A[:32], near_miss="the token validation_middleware_v2 reads it",
    ),
    Rule(
        name="private-key", head=r"[ \t\r\n\"'][A-Za-z0-9+/]{64}", pattern=r"[ \t\r\n\"']([A-Za-z0-9+/]{64})(?![\w+/=.%-])", group=1, check=checks.is_key_line,
        example="2026-04-26 12:36:01 " + "wFXOY77MgB3VwMRcCoTMNwoBswcJeZRy" + "NL+cHLZZcK0kpEJbBY60W5pHUceKrDDJ", near_miss=_H[:64],
    ),
    Rule(
        name="email", head=r"@[A-Za-z0-9][A-Za-z0-9.-]{0,120}\.[A-Za-z]{2}", reach="._%+-",
        pattern=r"[\w.%+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.)++[A-Za-z]{2,24}(?![\w-]|:[\w~/])", check=checks.is_personal_email,
        example="alice" "@example.com", near_miss="git@" "github.com:org/repo.git",
    ),
    Rule(
        name="phone", head=r"\+[1-9][0-9 ().-]{6}|\(?[2-9][0-8][0-9]\)?[ .-]{0,2}[2-9][0-9]{2}[.-][0-9]{4}|\([2-9][0-8][0-9]\)[ ]?[2-9][0-9]{2}[ .-][0-9]{4}",
        pattern=r"(?<![\w.:/@=&+(-])(?<![0-9] )(\+[1-9][0-9]{0,2}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,12})){1,5}|\(?[2-9][0-8][0-9]\)?[ .-]{0,2}[2-9][0-9]{2}[ .-][0-9]{4})(?![\w/:-]|\.[0-9]|[ ][0-9])",
        group=1, check=checks.is_phone, example="call +1 (555) " "234-5678", near_miss="at 1763688700123 from 192.168.100.200",
    ),
)  # fmt: skip
"""Forms with no literal beginning, or with a meaning only in their surroundings."""

RULES = TOKENS + SHAPES
