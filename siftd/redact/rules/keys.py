"""Private keys, signed tokens and hashes of passwords: forms that belong to no provider."""

# ruff: noqa: E501  (one row, some long lines: the table is read by column)

from __future__ import annotations

from siftd.redact import checks
from siftd.redact.rules.row import BASE32, HEX, MIXED, RUN, Rule, token

_BASE64_LINE = (
    r"(?>(?:\\{1,4}[rn]|[\r\n])++[ \t>*#|+-]*+(?:[0-9]{1,6}[ \t]*+(?:[\t|:]|\u2192))?+[ \t\"'+,-]*+"
    r"(?:[A-Z][A-Za-z-]{2,20}:[ ][^\r\n\\\"]*+|[A-Za-z0-9+/=]++)?+(?=[ \t\"'+,]*+(?:\\|[\r\n]|\Z))[ \t\"'+,]*+)"
)


KEYS: tuple[Rule, ...] = (
    token("age-key", "age identity", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"AGE-(?:SECRET-KEY-1|PLUGIN-[A-Z0-9-]{1,30}-1)[A-Z0-9]{58,}+",
          "AGE-SECRET" "-KEY-1" + BASE32 + BASE32[:10], "AGE-SECRET" "-KEY-1" + BASE32[:9],
          "https://github.com/C2SP/C2SP/blob/main/age.md"),
    token("ntlm-token", "NTLM message of a handshake", "TlRMTVNTUA", r"TlRMTVNTUA[A-Za-z0-9+/]{40,}+={0,2}",
          "Tl" "RMTVNTUA" + MIXED, "Tl" "RMTVNTUA" + MIXED[:9],
          "https://learn.microsoft.com/openspecs/windows_protocols/ms-nlmp/"),
    token("password-hash", "hash of a password", "$2a$ $2b$ $2y$ $argon2 $6$ $5$ $krb5", r"\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|argon2i?d?\$v=[0-9]++\$[\w=,]++\$[\w+/=]{8,}+\$[\w+/=]{16,}+|[56]\$(?:rounds=[0-9]++\$)?[./\w]{4,16}\$[./A-Za-z0-9]{43,86}|krb5[a-z]++\$[0-9]++\$[^\s]{32,}+)",
          "$2" "b$12$" + MIXED[:53], "$2" "b$12$" + MIXED[:9],
          "https://man7.org/linux/man-pages/man5/crypt.5.html"),
    Rule(name="private-key", finds="private key in PEM form, whole or cut", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         keywords="-----BEGIN",
         pattern=r"(-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)" rf"(?:(?>(?:[^-]|-(?!----))*+)-?-----END (?:[A-Z0-9]+ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----|{_BASE64_LINE}*+)",
         check=checks.holds_key_material,
         example="-----BEGIN RSA PRIVATE" " KEY-----\n" + MIXED[:64] + "\n" + MIXED[:30] + "\n-----END RSA PRIVATE" " KEY-----",
         near_miss="the file begins with -----BEGIN RSA PRIVATE" " KEY----- and ends elsewhere"),
    Rule(name="jwt", finds="JSON web token", docs="https://datatracker.ietf.org/doc/html/rfc7519",
         keywords="eyJ",
         pattern=RUN + r"eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?(?:\.[\w-]++)*+",
         example="ey" "JhbGciOiJIUzI1NiJ9.ey" "JzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED[:43],
         near_miss="ey" "JhbGciOiJIUzI1NiJ9"),
    Rule(name="private-key", finds="private key in PEM form, whole or cut", docs="https://datatracker.ietf.org/doc/html/rfc7468",
         head=r"[ \t\r\n\"'][A-Za-z0-9+/]{64}", lane="run",
         pattern=r"[ \t\r\n\"']([A-Za-z0-9+/]{64})(?![\w+/=.%-])",
         group=1,
         check=checks.is_key_line,
         example="2026-04-26 12:36:01 " + "wFXOY77MgB3VwMRcCoTMNwoBswcJeZRy" + "NL+cHLZZcK0kpEJbBY60W5pHUceKrDDJ",
         near_miss=HEX[:64]),
)  # fmt: skip
