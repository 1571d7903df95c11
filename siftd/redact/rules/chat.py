"""Chat, mail and social networks."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import checks
from siftd.redact.rules.row import A_UUID, END, HEX, LEFT, MIXED, UUID, Rule, token

CHAT: tuple[Rule, ...] = (
    token("slack-token", "Slack token of any kind", "xox xapp-", r"(?:xox[abeoprs](?:\.xox[bp])?-(?:[0-9]-)?[\w-]{10,}+|xox[cd]-[A-Za-z0-9%+/=-]{20,}+|xapp-[0-9]-[A-Za-z0-9]++-[0-9]++-[a-z0-9]++)",
          "xo" "xb-231405172896-5129803417765-" + MIXED[:24], "xo" "xb-xxxxxxxxxxx-xxxxxxxxxxxxxxxxxxxxxxxx",
          "https://docs.slack.dev/authentication/tokens", checks.has_digit),
    token("slack-webhook", "Slack incoming webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{30,128}+",
          "hooks.slack" ".com/services/T0A1B2C3D/B0A1B2C3D/" + MIXED[:24], "hooks.slack" ".com/services/",
          "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks"),
    token("teams-webhook", "Microsoft Teams incoming webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[\w@-]{36,80}/IncomingWebhook/[0-9a-z]{32}/[\w-]{36}",
          f"webhook.office.com/webhookb2/{A_UUID}@{A_UUID}/IncomingWebhook/{HEX[:32]}/{A_UUID}", "webhook.office.com/webhookb2/",
          "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook"),
    token("discord-webhook", "Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[\w-]{60,72}",
          "discord.com" "/api/webhooks/123874659012345678/" + MIXED[:68], "discord.com/api/webhooks/",
          "https://discord.com/developers/docs/resources/webhook"),
    Rule(name="discord-token", finds="token of a Discord bot", docs="https://discord.com/developers/docs/reference#authentication",
         head=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{8}", lane="place", reach="", pattern=LEFT + r"[MNO][A-Za-z0-9]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])", check=checks.has_digit, example="M" + MIXED[:23] + "." + MIXED[:6] + "." + MIXED[:27], near_miss="M" + MIXED[:23] + "." + MIXED[:6] + "." + MIXED[:4]),
    Rule(name="telegram-token", finds="token of a Telegram bot", docs="https://core.telegram.org/bots/api#authorizing-your-bot",
         head=r":AA[A-Za-z0-9_-]{8}", lane="place", reach="", pattern=r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[\w-]{33}(?![\w-])", example="517" "2839406:AA" + MIXED[:33], near_miss="5172839406:AA"),
    token("twilio-key", "Twilio account or key SID", r"=(?:SK|AC)[0-9a-f]{8}", r"(?:SK|AC)[0-9a-f]{32}" + END,
          "S" "K" + HEX[:32], "S" "K" + HEX[:20],
          "https://www.twilio.com/docs/iam/api-keys", checks.has_digit),
    token("sendgrid-key", "SendGrid API key", r"=SG\.[A-Za-z0-9_-]{8}", r"SG\.[\w=.-]{60,70}(?![\w-])",
          "S" "G." + MIXED[:22] + "." + MIXED[:43], "S" "G.example.com",
          "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys"),
    token("mailgun-key", "Mailgun API key", r"=(?:pub)?key-[a-f0-9]{8}", r"(?:pub)?key-[a-f0-9]{32}" + END,
          "key" "-" + HEX[:32], "key" "-" + HEX[:9],
          "https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth"),
    Rule(name="mailchimp-key", finds="Mailchimp API key with its data centre", docs="https://mailchimp.com/developer/marketing/guides/quick-start/",
         head=r"-us[0-9]", lane="place", reach="", pattern=r"(?<![0-9A-Za-z])[0-9a-f]{32}-us[0-9]{1,2}" + END, example=HEX[:32] + "-us" "12", near_miss=HEX[:30] + "-us" "12"),
    token("brevo-key", "Brevo API or SMTP key", "xkeysib- xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}" + END,
          "xkey" "sib-" + HEX[:64] + "-" + MIXED[:16], "xkey" "sib-" + HEX[:9],
          "https://developers.brevo.com/docs/getting-started"),
    token("resend-key", "Resend API key", r"=re_[A-Za-z0-9]{8}_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}" + END,
          "r" "e_" + MIXED[:8] + "_" + MIXED[:24], "r" "e_compile_pattern_cache",
          "https://resend.com/docs/api-reference/introduction", checks.has_digit),
    token("facebook-token", "Facebook access token", "EAAM EAAC EAAB", r"EAA[MCB][A-Za-z0-9]{80,}+",
          "EA" "AC" + MIXED + MIXED, "EA" "AC" + MIXED[:9],
          "https://developers.facebook.com/docs/facebook-login/guides/access-tokens"),
    token("canada-notify-key", "GC Notify API key", "gcntfy- GCNTFY-", rf"(?:gcntfy|GCNTFY)-[\w-]{{1,60}}?-{UUID}-{UUID}",
          f"gc" f"ntfy-app-{A_UUID}-{A_UUID}", f"gc" f"ntfy-app-{A_UUID}",
          "https://documentation.notification.canada.ca/en/start.html"),
)  # fmt: skip
