"""Payments, commerce and banking."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import checks
from siftd.redact.rules.row import A_UUID, END, HEX, MIXED, UUID, Rule, token

COMMERCE: tuple[Rule, ...] = (
    token("stripe-key", "Stripe key or webhook secret", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ pk_live_ pk_test_ whsec_", r"(?:[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,247}|whsec_[A-Za-z0-9+/=]{24,64})",
          "sk" "_live_" + MIXED[:24], "sk" "_live_",
          "https://docs.stripe.com/keys", checks.has_digit),
    token("square-token", "Square access token or secret", "sq0atp- sq0csp- EAAA", r"(?:sq0(?:atp-[\w-]{22}|csp-[\w-]{43})|EAAA[\w-]{60})(?![\w-])",
          "sq0" "atp-" + MIXED[:22], "sq0" "atp-" + MIXED[:9],
          "https://developer.squareup.com/docs/build-basics/access-tokens"),
    token("shopify-token", "Shopify token or secret", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}" + END,
          "shp" "at_" + HEX[:32], "shp" "at_" + HEX[:9],
          "https://shopify.dev/docs/apps/build/authentication-authorization"),
    token("flutterwave-key", "Flutterwave key", "FLWSECK FLWPUBK", r"FLW(?:SECK|PUBK)_TEST-[a-h0-9-]{12,36}(?:-X)?",
          "FLW" "SECK_TEST-" + HEX[:32] + "-X", "FLW" "SECK_TEST-" + HEX[:3],
          "https://developer.flutterwave.com/docs/authentication"),
    token("shippo-token", "Shippo API token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}" + END,
          "shi" "ppo_live_" + HEX[:40], "shi" "ppo_live_" + HEX[:9],
          "https://docs.goshippo.com/docs/guides_general/authentication/"),
    token("plaid-token", "Plaid access token", "access-sandbox- access-development- access-production-", rf"access-(?:sandbox|development|production)-{UUID}",
          "access" "-production-" + A_UUID, "access-production-ready",
          "https://plaid.com/docs/quickstart/glossary/"),
    token("duffel-token", "Duffel access token", "duffel_", r"duffel_(?:test|live)_[\w=-]{43}",
          "duf" "fel_live_" + MIXED[:43], "duf" "fel_live_" + MIXED[:9],
          "https://duffel.com/docs/api/overview/making-requests"),
    token("easypost-token", "EasyPost API key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}" + END,
          "EZ" "AK" + MIXED[:54], "EZ" "AK" + MIXED[:9],
          "https://docs.easypost.com/docs/authentication"),
    token("asaas-key", "Asaas API key", "$aact_", r"\$aact_[\w=:-]{16,}+",
          "$a" "act_prod_" + MIXED[:40], "$a" "act_prod",
          "https://docs.asaas.com/docs/authentication-2"),
)  # fmt: skip
