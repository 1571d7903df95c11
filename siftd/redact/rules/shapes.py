"""Forms that mean a secret only in their surroundings: headers, URLs, assignments, addresses."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import checks, encoded, people
from siftd.redact.providers import KEYED_PROVIDERS, any_of
from siftd.redact.rules.row import HEX, MIXED, Rule

_QUOTE = r"(?:\\{0,4}[\"'`])"
_NAME = r"(?P<name>[\w.-]{1,64}+(?:[ ](?i:key)\b)?)"
_TELLING_WORD = (
    r"(?:(?i:passw(?:or)?d|passphrase|passwort|passcode|pwd|[_.-]pass|\bpass|secret|token|crumb|access[_-]?id|cred(?:ential)?s?|auth|(?:api|access|account|admin|app|auth(?:entication)?|"
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
_SAID = (
    r"(?i:secret|token|private|access|key|credential|api)(?i:[ \t_-]?(?:key|token|tok|secret|access|private|code|api)){0,2}"
    r"(?:[ ](?i:is))?[ \t\r\n\"'=:>._-]{1,5}"
)
"""As people say it: `todoist SECRET 5f…`, `the access token 5f…`."""

_LONG_NAME = r"(?:\b(?i:key)|(?i:secret|token|passw(?:or)?d|credential|api_?key))[A-Za-z_-]{0,40}"
_SERVICE = f"(?i:{any_of(KEYED_PROVIDERS)})"

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
         pattern=r"://[\w.~%!$&()*+,;=-]{0,64}(?:@[\w.-]{1,64})?:([^\s/@\"'`<>]{1,256})@",
         group=1,
         check=checks.is_url_password,
         example="postgres://app:s3cr3t-pass" "@db.internal:5432/app",
         near_miss="http://localhost:8080/user@example"),
    Rule(name="curl-user", finds="password of a curl command", docs="https://curl.se/docs/manpage.html#-u",
         head=r"-(?:u|-user)[ =]{1,3}[\\\"']{0,4}[^ \t\r\n\\\"':<]{0,64}[\"']?:", lane="place",
         general=True,
         pattern=r"-(?:u|-user)[ =]{1,3}[\\\"']{0,4}(?:[^\s\\\"':<]{0,64}[\"']?:[\\\"']{0,4}(?![$({])([^\s\\\"'`]{3,256})(?=[\s\\\"'`]|\Z)|(?![$({])([^\s\\\"'`:$]{8,256}):[\"'])",
         group=-1,
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
         head=_SAID + r"[A-Za-z0-9][A-Za-z0-9_+/.=~-]{11}", lane="name",
         general=True,
         pattern=_SAID + r"([A-Za-z0-9][\w+/.~=-]{11,127})(?![(@])",
         group=1,
         check=checks.is_said_secret,
         rest=r"[\w+/.~=-]*+",
         example="the access token " + MIXED[:32],
         near_miss="the token validation_middleware_v2 reads it"),
    Rule(name="secret", finds="generated value at the name of a service", docs="https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_password",
         head=_SERVICE + r"[A-Za-z_.-]{0,16}[ \t\"'=:>,<(`-]{1,6}[A-Za-z0-9][A-Za-z0-9_+/.=~-]{15}", lane="provider",
         general=True,
         pattern=r"(?P<said>[A-Za-z0-9]{2,24}(?:[ _.-]?(?i:api|key|token|tok|secret|id|access|auth|private|user|client|account|password)){0,3})"
                 r"(?P<between>[\"']?[ \t]{0,3}(?:=>|[:=,>-]{1,2})[ \t]{0,3}[\"'`<(]?|[ ]{1,2})(?P<value>[A-Za-z0-9][\w+/.=~-]{15,127})(?![(@])",
         group=3,
         check=checks.is_providers_value,
         rest=r"[\w+/.~=-]*+",
         example="restpack: " + MIXED[:32],
         near_miss="restpack: authentication_required"),
    Rule(name="key", finds="generated value of what is only called key, or of a name in which a telling word is not the last", docs="https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_password",
         head=_LONG_NAME + r"[\"']?[ ]{0,3}[:=][ ]{0,3}[\"']{0,3}[A-Za-z0-9][A-Za-z0-9+/_=-]{19}", lane="name",
         general=True,
         pattern=_LONG_NAME + r"+[\"']?[ ]{0,3}[:=][ ]{0,3}[\"']{0,3}([A-Za-z0-9][\w+/=-]{19,255})(?=[\"'\s&\\]|\Z)",
         group=1,
         check=checks.is_generated,
         example="key = '" + MIXED[:32] + "'",
         near_miss="key = 'first_section_of_page2'"),
    Rule(name="thingsboard-token", finds="token of a device in the address it reports to", docs="https://thingsboard.io/docs/reference/http-api/",
         head=r"/api/v1/[A-Za-z0-9]{20}/(?:telemetry|attributes|rpc|claim)", lane="place", pattern=r"/api/v1/([A-Za-z0-9]{20})/(?:telemetry|attributes|rpc|claim)", group=1,
         check=checks.has_digit, example="https://things.example.com/api/v1/" + MIXED[20:40] + "/telemetry", near_miss="/api/v1/devices/telemetry"),
    Rule(name="key-bytes", finds="key written as an array of bytes", docs="https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_cryptographic_key",
         head=r"(?i:key|secret|password)[A-Za-z0-9_]{0,16}(?:\[[0-9A-Z_]{0,8}\])?[ ]{0,2}=?[ ]{0,2}[{\[(][ \r\n]{0,4}0x[0-9a-fA-F]{2},", lane="name",
         pattern=r"(?i:key|secret|password)[A-Za-z0-9_]{0,16}(?:\[[0-9A-Z_]{0,8}\])?[ ]{0,2}=?[ ]{0,2}[{\[(]\s{0,4}((?:(?:0[xX])?+[0-9a-fA-F]{2,3}+[,\s]{0,8}+){8,512}+)", group=1,
         check=checks.is_key_of_bytes,
         example="AES_KEY[] = {0x35, 0x34, 0x65, 0x9b, 0x1c, " "0x2e, 0x11, 0x0f}", near_miss="KEY_CODES[] = {0x01, 0x02, 0x03}"),
    Rule(name="jwk", finds="private member of a JSON web key", docs="https://datatracker.ietf.org/doc/html/rfc7518#section-6",
         head=r"[\"'](?:[dkpq]|d[pq]|qi)\\?[\"'][ ]{0,2}:[ ]{0,2}\\?[\"'][A-Za-z0-9_-]{22}", lane="name",
         pattern=r"[\"'](?:[dkpq]|d[pq]|qi)\\?[\"'][ ]{0,2}:[ ]{0,2}\\?[\"']([\w-]{22,2048})(?=[\\\"'])", group=1,
         check=checks.is_generated,
         example='{"kty":"OKP","d":"' + MIXED[:43] + '"}', near_miss='{"d": "documentation_of_the_first_page"}'),
    Rule(name="password", finds="default of a Terraform variable whose name means a secret", docs="https://developer.hashicorp.com/terraform/language/values/variables",
         head=r"variable[ ]{1,2}\\?\"[A-Za-z0-9_-]{0,48}" + _TELLING_WORD, lane="name",
         general=True,
         pattern=r"variable[ ]{1,2}\\?\"(?P<name>[\w-]{1,64})\\?\"[ ]{0,2}\{[^{}]{0,400}?\bdefault[ ]{0,16}=[ ]{0,2}\\?\"([^\"\\\r\n]{4,512})", group=2,
         check=checks.is_element_value,
         example='variable "db_password" {\n  default = "' 'open-sesame9"\n}', near_miss='variable "db_password" {\n  default = "${var.x}"\n}'),
    Rule(name="email", finds="email address", docs="https://datatracker.ietf.org/doc/html/rfc5322#section-3.4",
         head=r"@[A-Za-z0-9][A-Za-z0-9.-]{0,120}\.[A-Za-z]{2}", lane="place",
         reach="._%+-",
         pattern=r"[\w.%+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.)++[A-Za-z]{2,24}(?![\w-]|:[\w~/])",
         check=people.is_personal_email,
         example="alice" "@example.com",
         near_miss="git@" "github.com:org/repo.git"),
    Rule(name="phone", finds="telephone number", docs="https://www.itu.int/rec/T-REC-E.164",
         head=r"\+[1-9][0-9 ().-]{6}|\(?[2-9][0-8][0-9]\)?[ .-]{0,2}[2-9][0-9]{2}[.-][0-9]{4}|\([2-9][0-8][0-9]\)[ ]?[2-9][0-9]{2}[ .-][0-9]{4}", lane="place",
         pattern=r"(?<![\w.:/@=&+(-])(?<![0-9] )(\+[1-9][0-9]{0,2}(?:[ .-]?(?:\([0-9]{1,4}+\)|[0-9]{1,12}+)){1,5}|\(?[2-9][0-8][0-9]\)?[ .-]{0,2}[2-9][0-9]{2}[ .-][0-9]{4})(?![\w/:-]|\.[0-9]|[ ][0-9])",
         group=1,
         check=people.is_phone,
         example="call +1 (555) " "234-5678",
         near_miss="at 1763688700123 from 192.168.100.200"),
    Rule(name="auth-header", finds="credential of an Authorization or API key header", docs="https://datatracker.ietf.org/doc/html/rfc9110#section-11.6.2",
         head=r"(?i:authorization|x-[a-z]{0,16}-?(?:api-?key|auth|token|secret)[a-z-]{0,12})[\\\"']{0,4}[ ]?[:=,]", lane="name", general=True,
         pattern=r"(?i:authorization|x-[a-z]{0,16}-?(?:api-?key|auth|token|secret)[a-z-]{0,12})[\\\"']{0,4}[ ]?[:=,][ ]{0,4}[\\\"'`]{0,4}(?!(?i:bearer|basic)\b)(?:[A-Za-z][A-Za-z0-9-]{1,20}[ ]{1,4})?(?![$<{\[%])([^\s\"'`\\,;<>{}()]{12,1024})",
         group=1, rest=r"[^\s\"'`\\,;<>{}()]*+", check=checks.is_header_value, example="curl -H 'Authorization: Token " + HEX[:40] + "'", near_miss="Authorization: Bearer $ACCESS_TOKEN"),
    Rule(name="cookie", finds="values of a Cookie header", docs="https://datatracker.ietf.org/doc/html/rfc6265#section-4",
         head=r"(?i:cookie)[\\\"']{0,4}[ ]?:[ ]", lane="name", pattern=r"(?i:cookie)[\\\"']{0,4}[ ]?:[ ]{1,2}[\\\"']{0,2}([\w.-]{1,64}=[^\r\n\"'\\]{16,2000})", group=1, rest=r"[^\r\n\"'\\]*+",
         check=checks.is_cookie, example="Cookie: lang=en; session" "id=" + MIXED[:32], near_miss="Set-Cookie: theme=light-and-friendly; Path=/"),
    Rule(name="netrc", finds="password in .netrc", docs="https://everything.curl.dev/usingcurl/netrc.html",
         head=r"(?:machine[ \t]{1,4}[A-Za-z0-9.-]{1,80}[ \t\r\n]{1,8}|default[ ])login[ \t]", lane="name",
         pattern=r"(?:machine[ \t]{1,4}[A-Za-z0-9.-]{1,80}|default)\s{1,8}login[ \t]{1,4}[^\s]{1,128}\s{1,8}password[ \t]{1,4}([^\s\"'\\]{3,256})", group=1,
         check=checks.is_url_password, example="machine git.example.com login alice password " "open-sesame", near_miss="machine git.example.com login alice password $TOKEN"),
    Rule(name="pgpass", finds="password in .pgpass", docs="https://www.postgresql.org/docs/current/libpq-pgpass.html",
         head=r":(?:[0-9]{4,5}|\*):[A-Za-z_*][A-Za-z0-9_*-]{0,62}:[A-Za-z_*]", lane="place", reach=".*-_",
         pattern=r"(?:(?<![^\s\"'+=-])|(?<=\\n))[\w.*-]{1,96}:(?:[0-9]{4,5}|\*):[A-Za-z_*][\w*-]{0,62}:[A-Za-z_*][\w.@*-]{0,62}:([^\s\"':/]{4,128})(?=[\s\"']|\Z)", group=1,
         check=checks.is_url_password, example="db.internal:5432:shop:app:" "open-sesame9", near_miss="main.rs:1042:warning:unused: variable"),
    Rule(name="password", finds="password of an openssl command", docs="https://docs.openssl.org/master/man1/openssl-passphrase-options/",
         head=r"-pass(?:in|out)?[ =]{1,2}[\"']?pass:", lane="name", pattern=r"-pass(?:in|out)?[ =]{1,2}[\"']?pass:([^\s\"'`]{3,256})", group=1,
         check=checks.is_url_password, example="openssl rsa -in k.pem -passin pass:" "n4-open-sesame", near_miss="openssl rsa -in k.pem -passin pass:$SECRET"),
    Rule(name="password", finds="text that PowerShell makes a secure string of", docs="https://learn.microsoft.com/powershell/module/microsoft.powershell.security/convertto-securestring",
         head=r"ConvertTo-SecureString[ ]", lane="name", pattern=r"ConvertTo-SecureString[ ](?:-(?:String|AsPlainText|Force)[ ]){0,3}[\\\"']{0,4}(?![$(-])([^\s\"'`\\]{4,256})", group=1,
         check=checks.is_url_password, example="ConvertTo-SecureString " "'4yd21JKH~GE8dkd' -AsPlainText", near_miss="ConvertTo-SecureString $password -AsPlainText"),
    Rule(name="password", finds="value of an XML element whose key names a secret", docs="https://learn.microsoft.com/nuget/reference/nuget-config-file#packagesourcecredentials",
         head=r"(?i:key|name)=[\\\"']{1,4}[\w.:-]{0,40}" + _TELLING_WORD + r"[\\\"']{1,4}[ ]{1,4}(?i:value)=", lane="name",
         pattern=r"(?i:key|name)=[\\\"']{1,4}(?P<name>[\w.:-]{1,64})[\\\"']{1,4}[ ]{1,4}(?i:value)=[\\\"']{1,4}([^\"'\\<>]{4,512})", group=2,
         check=checks.is_element_value, example='<add key="ClearTextPassword" value="' 'open-sesame9" />', near_miss='<add key="ApiToken" value="%TOKEN%" />'),
    Rule(name="kubernetes-secret", finds="data of a Kubernetes Secret", docs="https://kubernetes.io/docs/concepts/configuration/secret/",
         head=r"(?:string)?[dD]ata[\"']?:[ ]?(?:\\n|[\r\n{])", lane="name",
         pattern=r"(?<![A-Za-z])(?:string)?[dD]ata[\"']?:[ ]?\{?((?:(?:\\n|\r?\n)(?:[ \t]|\\t){1,12}(?:#[^\r\n\\]{0,300}|[\"']?[\w./-]{1,100}[\"']?:[ ]{0,4}(?:[|>][+-]?)?[^\r\n\\]{0,4096}|[A-Za-z0-9+/=]{4,4096}))++)", group=1,
         check=checks.is_kubernetes_secret, example="kind: Secret\ndata:\n  key: " "bXlwYXNzd29yZA==\n", near_miss="kind: ConfigMap\ndata:\n  key: bXlwYXNzd29yZA==\n"),
    Rule(name="encoded", finds="secret of another rule in base64", docs="https://datatracker.ietf.org/doc/html/rfc4648#section-4",
         head=r"[A-Za-z0-9+/_-]{44}", lane="run", pattern=r"(?<![A-Za-z0-9+/_-])(?:(?<=\\)[nrt])?([A-Za-z0-9+/_-]{44,65536}+={0,2})", group=1, check=checks.always, decode=encoded.from_base64,
         example="Z2l0aHViIHRva2VuIGlzIGdo" "cF9hQjNkRTVnSDdqSzltTjFwUTRzVDZ2Vzh5WjBiQzJmRzRoSjYgbm93", near_miss="aW4gdGhpcyB0ZXh0IG5vIHRva2VuIG9mIGFueSBraW5kIGlzIGhpZGRlbg=="),
    Rule(name="encoded", finds="secret of another rule in a URL's encoding", docs="https://datatracker.ietf.org/doc/html/rfc3986#section-2.1",
         head=r"%(?:2[BbDdEeFf]|3[AaDd]|5[Ff]|7[Ee])", lane="place", reach="._~+%-", pattern=r"[\w.~+%-]{16,4096}+", check=checks.always, decode=encoded.from_url,
         example="state=gh" "p%5FaB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6", near_miss="https%3A%2F%2Fexample.com%2Fdocs%2Findex.html"),
)  # fmt: skip
