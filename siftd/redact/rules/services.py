"""Services that people and teams work with."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import checks
from siftd.redact.rules.row import A_UUID, BASE32, END, HEX, MIXED, UUID, Rule, token

SERVICES: tuple[Rule, ...] = (
    token("postman-key", "Postman API key", "PMAK-", r"PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}" + END,
          "PM" "AK-" + HEX[:24] + "-" + HEX[:34], "PM" "AK-" + HEX[:9],
          "https://learning.postman.com/docs/developer/postman-api/authentication/"),
    token("linear-key", "Linear API key or OAuth token", "lin_api_ lin_oauth_", r"lin_(?:api_[A-Za-z0-9]{40}|oauth_[a-f0-9]{64})" + END,
          "lin" "_api_" + MIXED[:40], "lin" "_api_" + MIXED[:9],
          "https://linear.app/developers/graphql"),
    token("notion-token", "Notion integration token", r"=ntn_|secret_[A-Za-z0-9]{12}", r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})" + END,
          "nt" "n_17283940516" + MIXED[:35], "nt" "n_17283940516",
          "https://developers.notion.com/reference/authentication", checks.has_digit),
    token("figma-token", "Figma token", "figd_ figu_ figo_ figor_ figoh_ figdr_", r"fig(?:d|u|o|or|oh|dr)_[\w-]{40,}+",
          "fig" "d_" + MIXED[:43], "fig" "d_abc",
          "https://www.figma.com/developers/api#access-tokens"),
    token("airtable-token", "Airtable personal access token", r"=pat[A-Za-z0-9]{14}\.", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}" + END,
          "pa" "t" + MIXED[:14] + "." + HEX[:64], "pa" "t" + MIXED[:14],
          "https://airtable.com/developers/web/guides/personal-access-tokens"),
    token("atlassian-dropbox-token", "Dropbox short-lived access token", r"=sl\.[A-Za-z0-9_.-]{16}", r"sl\.(?:u\.)?[\w=-]{130,}+",
          "s" "l." + MIXED + MIXED, "s" "l.example",
          "https://www.dropbox.com/developers/documentation/http/documentation#authorization"),
    token("asana-clickup-token", "ClickUp personal token", r"=pk_[0-9]{6}", r"pk_[0-9]{6,9}_[A-Z0-9]{32}" + END,
          "pk" "_4839201_" + BASE32[:32], "pk" "_4839201_" + BASE32[:9],
          "https://developer.clickup.com/docs/authentication"),
    token("posthog-key", "PostHog key", "phx_ phc_ pha_", r"ph[xca]_[\w-]{32,64}(?![\w-])",
          "ph" "x_" + MIXED[:47], "ph" "x_" + MIXED[:9],
          "https://posthog.com/docs/api"),
    token("onepassword-token", "1Password service account token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}+",
          "ops" "_eyJ" + MIXED + MIXED, "ops" "_eyJ" + MIXED[:9],
          "https://developer.1password.com/docs/service-accounts/"),
    token("onepassword-secret-key", "1Password Secret Key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}" + END,
          "A3" "-ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB", "A3" "-XXXXXX-XXXXXXXXXXX-XXXXX-XXXXX-XXXXX",
          "https://support.1password.com/secret-key-security/"),
    token("readme-key", "ReadMe API key", "rdme_", r"rdme_[a-z0-9]{70}" + END,
          "rd" "me_" + (HEX + HEX)[:70], "rd" "me_" + HEX[:9],
          "https://docs.readme.com/main/reference/authentication"),
    token("frameio-token", "Frame.io developer token", "fio-u-", r"fio-u-[\w=-]{64}",
          "fi" "o-u-" + MIXED[:64], "fi" "o-u-" + MIXED[:9],
          "https://developer.adobe.com/frameio/guides/Authentication/"),
    token("typeform-token", "Typeform token", "tfp_", r"tfp_[\w.=-]{44,59}(?![\w.-])",
          "tf" "p_" + MIXED[:48], "tf" "p_" + MIXED[:9],
          "https://www.typeform.com/developers/get-started/personal-access-token/"),
    token("settlemint-token", "SettleMint access token", "sm_pat_ sm_aat_ sm_sat_", r"sm_[pas]at_[A-Za-z0-9]{16}" + END,
          "sm" "_pat_" + MIXED[:16], "sm" "_pat_" + MIXED[:9],
          "https://console.settlemint.com/documentation/"),
    token("intra42-secret", "secret of a 42 API application", "s-s4t2ud- s-s4t2af-", r"s-s4t2(?:ud|af)-[abcdef0-9]{64}" + END,
          "s-s4" "t2ud-" + HEX[:64], "s-s4" "t2ud-" + HEX[:9],
          "https://api.intra.42.fr/apidoc/guides/web_application_flow"),
    token("launchdarkly-key", "LaunchDarkly SDK, API or mobile key", r"=(?:api|sdk|mob)-[0-9a-f]{8}-", rf"(?:api|sdk|mob)-{UUID}" + END,
          "sd" "k-" + A_UUID, "sd" "k-" + A_UUID[:13],
          "https://launchdarkly.com/docs/home/account/api"),
)  # fmt: skip
