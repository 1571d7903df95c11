"""Forms that mean a secret only in their surroundings: headers, URLs, assignments, addresses."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import checks
from siftd.redact.rules.row import MIXED, Rule

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

SHAPES: tuple[Rule, ...] = (
    Rule(name="bearer-token", finds="bearer token of a header", docs="https://datatracker.ietf.org/doc/html/rfc6750",
         head=r"(?i:bearer)[ \t:=]{1,4}[\"']?[A-Za-z0-9_.~+/-]{8}", lane="name",
         general=True,
         pattern=r"(?i:bearer)[ \t:=]{1,4}[\"']?([\w.~+/-]{16,}+=*+)",
         group=1,
         check=checks.has_digit,
         example="Authorization: Bearer " + MIXED[:32],
         near_miss="bearer authentication_is_required"),
    Rule(name="basic-auth", finds="name and password of a Basic header", docs="https://datatracker.ietf.org/doc/html/rfc7617",
         head=r"(?i:basic)[ ]{1,4}[A-Za-z0-9+/]{8}", lane="name",
         pattern=r"(?i:basic)[ ]{1,4}([A-Za-z0-9+/]{8,}+={0,2})",
         group=1,
         check=checks.is_basic_auth,
         example="Authorization: Basic " "YWxpY2U6b3Blbi1zZXNhbWU=",
         near_miss="Basic understanding"),
    Rule(name="url-password", finds="password inside a URL", docs="https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1",
         head=r"://[^ \t\r\n\x00/\"'`<>]{1,256}@", lane="place",
         general=True,
         pattern=r"://[\w.~%!$&()*+,;=-]{0,64}:([^\s/@\"'`<>]{1,256})@",
         group=1,
         check=checks.is_url_password,
         example="postgres://app:s3cr3t-pass" "@db.internal:5432/app",
         near_miss="http://localhost:8080/user@example"),
    Rule(name="curl-user", finds="password of a curl command", docs="https://curl.se/docs/manpage.html#-u",
         head=r"-(?:u|-user)[ =]{1,3}[\"']?[A-Za-z0-9_.@+-]{1,64}:", lane="place",
         general=True,
         pattern=r"-(?:u|-user)[ =]{1,3}[\"']?[\w.@+-]{1,64}:([^\s\"'`@]{3,256})(?![^\s\"'`])",
         group=1,
         check=checks.is_command_password,
         example="curl -u alice:" "open-sesame9 https://host/",
         near_miss="curl -u username:password https://host/"),
    Rule(name="password", finds="value assigned to a name that means a secret", docs="https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_password",
         head=_TELLING_WORD + _TRAILER + _CLOSE + _OPERATOR, lane="name",
         general=True,
         reach="_.-",
         pattern=_NAME + _CLOSE + _OPERATOR + r"(?:[ \t]*+|\s{1,40}(?=[\"'`\w][^\s]{11}))" + _VALUE,
         group=-1,
         rest=r"[^\s\"'`\\]*+",
         check=checks.is_assigned_secret,
         example='password = "correct-horse-9"',
         near_miss="password = get_password()"),
    Rule(name="password", finds="value assigned to a name that means a secret", docs="https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_password",
         head=r"-{1,2}[A-Za-z-]{0,24}" + _TELLING_WORD + r"[ \t]{1,4}", lane="name",
         general=True,
         pattern=r"(?<![\w-])--?" + _NAME + r"[ \t]{1,4}" + _VALUE,
         group=-1,
         rest=r"[^\s\"'`\\]*+",
         check=checks.is_assigned_secret,
         example="deploy --api-token " + MIXED[:20],
         near_miss="deploy --api-token $TOKEN"),
    Rule(name="secret", finds="value said to be a secret in plain words", docs="https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_password",
         head=r"(?i:secret|token|private|access|api)(?i:[ _-]?key)?[ -]{1,2}[A-Za-z0-9_+/.-]{16}", lane="name",
         general=True,
         pattern=r"(?i:secret|token|private|access|api)(?i:[ _-]?key)?[ -]{1,2}([\w+/.-]{16,512}+=*+)(?![\w(:@])",
         group=1,
         check=checks.is_generated,
         rest=r"[\w+/.-]*+",
         example="the access token " + MIXED[:32],
         near_miss="the token validation_middleware_v2 reads it"),
    Rule(name="email", finds="email address", docs="https://datatracker.ietf.org/doc/html/rfc5322#section-3.4",
         head=r"@[A-Za-z0-9][A-Za-z0-9.-]{0,120}\.[A-Za-z]{2}", lane="place",
         reach="._%+-",
         pattern=r"[\w.%+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.)++[A-Za-z]{2,24}(?![\w-]|:[\w~/])",
         check=checks.is_personal_email,
         example="alice" "@example.com",
         near_miss="git@" "github.com:org/repo.git"),
    Rule(name="phone", finds="telephone number", docs="https://www.itu.int/rec/T-REC-E.164",
         head=r"\+[1-9][0-9 ().-]{6}|\(?[2-9][0-8][0-9]\)?[ .-]{0,2}[2-9][0-9]{2}[.-][0-9]{4}|\([2-9][0-8][0-9]\)[ ]?[2-9][0-9]{2}[ .-][0-9]{4}", lane="place",
         pattern=r"(?<![\w.:/@=&+(-])(?<![0-9] )(\+[1-9][0-9]{0,2}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,12})){1,5}|\(?[2-9][0-8][0-9]\)?[ .-]{0,2}[2-9][0-9]{2}[ .-][0-9]{4})(?![\w/:-]|\.[0-9]|[ ][0-9])",
         group=1,
         check=checks.is_phone,
         example="call +1 (555) " "234-5678",
         near_miss="at 1763688700123 from 192.168.100.200"),
)  # fmt: skip
