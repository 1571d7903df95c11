"""Private keys, signed tokens and hashes of passwords: forms that belong to no provider."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import validators
from siftd.redact.rules.row import BASE32, END, HEX, LEFT, MIXED, RUN, Rule, token

_BASE64_LINE = (
    r"(?>(?:\\{1,4}[rn]|[\r\n])++[ \t>*#|+-]*+(?:[0-9]{1,6}[ \t]*+(?:[\t|:]|\u2192))?+[ \t\"'+,-]*+"
    r"(?:[A-Z][A-Za-z-]{2,20}:[ ][^\r\n\\\"]*+|[A-Za-z0-9+/=]++)?+(?=[ \t\"'+,]*+(?:\\|[\r\n]|\Z))[ \t\"'+,]*+)"
)

_LINE_END = r"(?=[ \t\"'`,;]{0,4}+(?:[\\\r\n]|\Z))"
_EDGE = r"(?:\\{0,4}[\r\n]|\\{1,4}[nr]){1,4}+[ \t>*#+-]{0,16}+(?:[0-9]{1,6}[ \t]{0,4}+[\t|:\u2192])?+[ \t]{0,4}+"
_HEX_LINE = rf"(?>{_EDGE}[0-9a-f]{{2,64}}+{_LINE_END})"
_ENCODED_LINE = rf"(?>(?:\\{{0,4}}[\r\n]|\\{{1,4}}[nr]){{1,4}}+[ \t>|]{{0,16}}+[A-Za-z0-9+/]++={{0,2}}{_LINE_END})"
"""A further line of what was encoded and then wrapped: base64 to its end, or it is the next entry and its name."""

KEYS: tuple[Rule, ...] = (
    token("age-key", "age identity", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"AGE-(?:SECRET-KEY-1|PLUGIN-[A-Z0-9-]{1,30}-1)[A-Z0-9]{58,}+",
          "AGE-SECRET" "-KEY-1" + BASE32 + BASE32[:10], "AGE-SECRET" "-KEY-1" + BASE32[:9],
          "https://github.com/C2SP/C2SP/blob/main/age.md"),
    token("ntlm-token", "NTLM message of a handshake", "TlRMTVNTUA", r"TlRMTVNTUA[A-Za-z0-9+/]{28,}+={0,2}",
          "Tl" "RMTVNTUA" + MIXED, "Tl" "RMTVNTUA" + MIXED[:9],
          "https://learn.microsoft.com/openspecs/windows_protocols/ms-nlmp/"),
    token("password-hash", "hash of a password", "$2a$ $2b$ $2y$ $argon2 $6$ $5$ $1$ $8$ $9$ $apr1$ $y$ $gy$ $krb5",
          r"\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|argon2i?d?\$v=[0-9]++\$[\w=,]++\$[\w+/=.]{8,}+\$[\w+/=.]{16,}+|[56]\$(?:rounds=[0-9]++\$)?[./\w]{4,16}\$[./A-Za-z0-9]{43,86}|"
          r"(?:1|apr1)\$[./\w]{1,8}\$[./A-Za-z0-9]{22}|[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}|g?y\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}|krb5[a-z]++\$[0-9]++\$[^\s]{32,}+)",
          "$2" "b$12$" + MIXED[:53], "$2" "b$12$" + MIXED[:9],
          "https://man7.org/linux/man-pages/man5/crypt.5.html"),
    token("password-hash", "hash of a password, as databases and frameworks store it", "SCRAM-SHA- pbkdf2_sha pbkdf2-sha pbkdf2.sha $pbkdf2 {SSHA {SHA} {CRYPT} {MD5} {PBKDF2 $P$ $H$ $scrypt$ scrypt: pbkdf2: $7$ $sha1$ $S$ grub.pbkdf2",
          r"(?:SCRAM-SHA-(?:1|256|512)\$[0-9]{3,8}:[\w+/=]{8,}+\$[\w+/=]{20,}+:[\w+/=]{20,}+|pbkdf2_sha(?:1|256|512)\$[0-9]{3,8}\$[\w./+=-]{4,}+\$[\w+/=]{20,}+|\$?pbkdf2-sha(?:1|256|512)\$[0-9]{3,8}\$[\w./+=]{4,}+\$[\w./+=]{20,}+|"
          r"(?:grub\.)?pbkdf2\.sha(?:1|256|512)\.[0-9]{3,8}\.[0-9A-Fa-f]{16,}+\.[0-9A-Fa-f]{16,}+|\{(?:S?SHA(?:256|384|512)?|MD5|CRYPT|PBKDF2[A-Z0-9-]{0,16})\}[\w+/=.$]{20,}+|\$[PHS]\$[./0-9A-Za-z]{31,55}|"
          r"\$scrypt\$[\w=,]{3,40}\$[\w+/=]{8,}+\$[\w+/=]{16,}+|scrypt:[0-9]{3,8}:[0-9]{1,3}:[0-9]{1,3}\$[\w./]{4,64}\$[0-9a-f]{32,}+|pbkdf2:sha(?:1|256|512)(?::[0-9]{3,8})?\$[\w./]{4,64}\$[0-9a-f]{32,}+|\$7\$[\w./$]{40,}+|\$sha1\$[0-9]{1,8}\$[\w./]{4,64}\$[\w./]{28})",
          "SCRAM-SHA-256" "$4096:ZdsiU5M7L2o0HJJQnN9xfQ==$iZ41r31H01zG8FIJRz7Unlin/IBKVSg/xhh0xP0G+oI=:8M46OQ85Py8zOU/nlx55/4IRQ8HH6Zkupp3vcFloaog=", "SCRAM-SHA-256$4096:salt",
          "https://www.postgresql.org/docs/current/catalog-pg-authid.html", validators.always),
    Rule(name="password-hash", finds="hash of a password as MySQL and Redis print it", docs="https://dev.mysql.com/doc/refman/8.4/en/authentication-plugins.html",
         head=r"\*[0-9A-F]{40}|#[0-9a-f]{64}", rule_group="place", pattern=r"(?<![*#/.])(?:\*[0-9A-F]{40}|(?:(?<=[ \t\n])|(?<=\A))#[0-9a-f]{64})(?![0-9A-Za-z])", check=validators.is_random,
         example="*DB745104F61280FE5BFA4502FBA01A1F" "50187D3B", near_miss="*DB745104F61280FE5BFA4502FBA01A1F"),
    Rule(name="mnemonic", finds="words from which a wallet's keys are made", docs="https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki",
         head=r"(?i:mnemonic|(?:seed|recovery|secret)[ _-]?phrase|seed[ _-]words)", rule_group="name",
         pattern=r"(?i:mnemonic|(?:seed|recovery|secret)[ _-]?phrase|seed[ _-]words)[\"'`]?[^\n:=\"'`]{0,30}[:=]?[ ]{0,2}\n?[ \t]{0,8}[\"'`]?((?:[a-z]{3,8}+[ ,]{1,2}+){11,23}+[a-z]{3,8})(?![ ,]{1,2}[a-z])", group=1, check=validators.always,
         example="Mnemonic: moss ember copper lantern sonnet basil river " "tundra kite zebra fjord pixel", near_miss="mnemonic: a short one"),
    Rule(name="private-key", finds="private key in PEM form, whole or cut", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         keywords="-----BEGIN",
         pattern=r"(-----BEGIN (?:[A-Z0-9]++ ){0,4}PRIVATE KEY(?: BLOCK)?-----)" rf"(?:(?>(?:[^-]|-(?!----))*+)-?-----END (?:[A-Z0-9]++ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----|{_BASE64_LINE}*+)",
         check=validators.holds_key_material,
         example="-----BEGIN RSA PRIVATE" " KEY-----\n" + MIXED[:64] + "\n" + MIXED[:30] + "\n-----END RSA PRIVATE" " KEY-----",
         near_miss="the file begins with -----BEGIN RSA PRIVATE" " KEY----- and ends elsewhere"),
    Rule(name="private-key", finds="first line of a private key of which the rest was cut off", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         keywords="-----BEGIN",
         pattern=r"-----BEGIN (?:[A-Z0-9]++ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?=(?:[\s\"'`;,+)}\]]|\\{1,4}[nr]?){0,32}+\Z)", check=validators.always, general=True,
         example="key = '-----BEGIN RSA PRIVATE" " KEY-----\\n", near_miss="-----BEGIN RSA PRIVATE" " KEY-----\nbegins the file"),
    Rule(name="private-key", finds="end of a private key, with what is left of its last line", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         keywords="-----END", reach="+/= \n\r\\\"'\t|:\u2192",
         pattern=r"[\s\S]{0,96}?(?<![A-Za-z0-9+/])((?P<tail>[A-Za-z0-9+/]{2,76}={0,2}(?:[\s\"'+,]|\\{1,4}[nr]){1,8}+(?:[0-9]{1,6}[ \t]{0,2}[\t|:\u2192][ \t]?)?)?-----END (?:[A-Z0-9]++ ){0,4}PRIVATE KEY(?: BLOCK)?-----)", group=1,
         check=validators.is_end_of_key,
         example=MIXED[:28] + "\n-----END RSA PRIVATE" " KEY-----", near_miss="it ends at\n-----END RSA PRIVATE" " KEY-----"),
    Rule(name="jwt", finds="JSON web token", docs="https://datatracker.ietf.org/doc/html/rfc7519",
         keywords="eyJ",
         pattern=RUN + r"eyJ[\w-]{8,}+(?:\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?(?:\.[\w-]++)*+|\.[\w-]*+(?:\.[\w-]{16,}+){2}\.[\w-]++)",
         example="ey" "JhbGciOiJIUzI1NiJ9.ey" "JzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED[:43],
         near_miss="ey" "JhbGciOiJIUzI1NiJ9"),
    Rule(name="private-key", finds="private key in PEM form, whole or cut", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         head=r"[A-Za-z0-9+/]{44}", rule_group="run",
         pattern=r"(?<![\w+/=.%-])([A-Za-z0-9+/]{44,128})(?![\w+/=.%-])",
         group=1,
         check=validators.is_key_line,
         example="2026-04-26 12:36:01 " + "wFXOY77MgB3VwMRcCoTMNwoBswcJeZRy" + "NL+cHLZZcK0kpEJbBY60W5pHUceKrDDJ",
         near_miss=HEX[:64]),
    Rule(name="aws-secret-key", finds="secret of an AWS access key, by its length and alphabet", docs="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
         head=r"[A-Za-z0-9+/]{40}", rule_group="run",
         pattern=r"(?<![\w+/=.%@-])([A-Za-z0-9+/]{40})(?![\w+/=.%-])", group=1, check=validators.is_aws_secret,
         example=f"sign({MIXED[:20]}/{MIXED[20:39]}, region)", near_miss="sign(3f9a1c7e5b2d8046af13c9e7b5d20846f1a3c5e7, region)"),
    Rule(name="license-key", finds="licence key of five groups", docs="https://learn.microsoft.com/windows-server/get-started/kms-client-activation-keys",
         head=r"-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}", rule_group="place", reach="",
         pattern=LEFT + r"[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4,5}(?![\w-])", check=validators.is_random,
         example="TX9XD-98N7V-6WMQ6-" "BX7FG-H8Q99", near_miss="XXXXX-XXXXX-XXXXX-XXXXX-XXXXX"),
    token("jwt", "token of three parts that is made as a JSON web token is", "=ey[A-Z][A-Za-z0-9_-]{12}", r"ey[A-Z][\w-]{30,}+\.[\w-]{30,}+\.[\w-]{30,}+(?![\w-])",
          "ey" "H8GnxWfFSCkaW3Ts" + MIXED[:40] + "." + MIXED[:50] + "." + MIXED[:43], "ey" "eHook.handleTheFirstOf.them",
          "https://datatracker.ietf.org/doc/html/rfc7519", validators.has_digit),
    token("paseto", "PASETO token", "=v[1-4]\\.(?:public|local)\\.", r"v[1-4]\.(?:public|local)\.[\w-]{24,}+(?:\.[\w-]++)?",
          "v4" ".local." + MIXED, "v4" ".public.key",
          "https://github.com/paseto-standard/paseto-spec"),
    token("paserk", "PASERK key", "=k[1-4]\\.(?:local|secret)(?:-pw|-wrap)?\\.", r"k[1-4]\.(?:local|secret)(?:-pw|-wrap)?\.[\w-]{15,}+(?:\.[\w-]++)*+",
          "k4" ".secret." + MIXED, "k4" ".local.key",
          "https://github.com/paseto-standard/paserk"),
    Rule(name="otp-secret", finds="shared secret of one-time passwords", docs="https://datatracker.ietf.org/doc/html/rfc4226#section-4",
         head=r"[A-Z2-7]{16}", rule_group="run", pattern=r"(?:(?<![\w+/.%-])|(?<=\n[+-])|(?<=\A[+-]))((?:[A-Z2-7]{16}){1,2})(?![\w+/=.%-])", group=1, check=validators.is_base32_secret,
         example="WXFEN7QNTET5DQYC" "JBSW4ZDPEH2K6LMT", near_miss="INTERNATIONALIZE"),
    token("putty-key", "PuTTY private key", "PuTTY-User-Key-File-", r"PuTTY-User-Key-File-[23]:(?:(?!Private-MAC|PuTTY-User)[^\x00]){20,8000}?Private-MAC:[ ]?[a-f0-9]{40,64}",
          "PuTTY-User-Key" "-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n" + MIXED[:48] + "\nPrivate-MAC: " + HEX[:64], "PuTTY-User-Key" "-File-3: the first line",
          "https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html"),
    token("minisign-key", "minisign secret key", "RWRTY0Iy", r"RWRTY0Iy[A-Za-z0-9+/]{100,}+={0,2}",
          "RW" "RTY0Iy" + MIXED + MIXED, "RW" "RTY0Iy" + MIXED[:9],
          "https://jedisct1.github.io/minisign/"),
    token("wallet-key", "extended private key of a wallet", "xprv", r"[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}" + END,
          "xpr" "v9" + (MIXED * 2).replace("0", "2")[:106], "xpr" "v_name",
          "https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki"),
    Rule(name="private-key", finds="private key whose first line is cut off", docs="https://datatracker.ietf.org/doc/html/rfc5958",
         head=r"MII[A-Za-z0-9+/]{3}IBA[AD]|MI(?:GH|GT|G2|IB[A-Za-z0-9+/])AgEAM|MHcCAQEE|MC4CAQAwBQYDK2V|MIGkAgEB|b3BlbnNzaC1rZXktdjE",
         pattern=LEFT + rf"(?:M[IHC]|b3Bl)[A-Za-z0-9+/]{{30,}}+={{0,2}}{_BASE64_LINE}*+", check=validators.has_digit,
         example="MIIEvQIBADANBgkqhkiG9w0BAQEF" "AASCBKcwggSjAgEAAoIBAQ" + MIXED[:20], near_miss="MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYD"),
    Rule(name="private-key", finds="private key in PEM form, encoded in base64", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         keywords="LS0tLS1CRUdJTi", pattern=LEFT + rf"LS0tLS1CRUdJTi[A-Za-z0-9+/]*+={{0,2}}{_ENCODED_LINE}*+", check=validators.is_encoded_key,
         example="LS0tLS1CRUdJTi" "BQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJn", near_miss="LS0tLS1CRUdJTi" "BDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3"),
    Rule(name="static-key", finds="static key of OpenVPN", docs="https://openvpn.net/community-resources/static-key-mini-howto/",
         keywords="-----BEGIN", pattern=rf"-----BEGIN OpenVPN Static key V1-----(?:{_HEX_LINE}){{2,64}}+(?:{_EDGE}-----END OpenVPN Static key V1-----)?+",
         example="-----BEGIN OpenVPN Static" " key V1-----\n" + HEX[:32] + "\n" + HEX[32:64] + "\n" + HEX[:32], near_miss="-----BEGIN OpenVPN Static" " key V1----- is its first line"),
)  # fmt: skip
