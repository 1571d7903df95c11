"""Passwords on the command lines of known programs: which flag of which program holds one, in one table.

A flag that says so itself (`--password`, `-passin`) is a telling name and needs no row. A row is

    programs : flags       the word behind one of the flags is a password, or what is grown onto it (`-pX`, `/p:X`)
    programs : flag%       it is behind the first `:`, `%`, `,` or `/` of that word: `user:X`
    programs : flag+       only what is grown onto the flag: `mysql -pX`; `mysql -p shop` names a database
    programs : verb N      the Nth word behind the verb, flags not counted: `rabbitmqctl add_user bob X`
    programs : $N          the Nth word behind the program: `htpasswd -b file bob X`
"""

# ruff: noqa: E501  (tables and expressions are read by their rows)

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from siftd.redact.secret_likelihood import is_stand_in
from siftd.redact.spans import Found

LONGEST_COMMAND = 1_024

_TABLE = """
psexec psexec64 paexec winexec crackmapexec cme nxc netexec evil-winrm smbmap bloodhound-python enum4linux hydra medusa ncrack: -p
sqlcmd bcp osql isql tsql: -P
ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldapcompare ldapmodrdn: -w
ldappasswd: -w -s -a
kadmin kadmin.local: -w -pw
zip unzip zipcloak funzip: -P
7z 7za 7zr 7zz: -p+
rar unrar: -p+ -hp+
mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlslap mysqlshow mysqlsh mysqlbinlog mariadb mariadb-dump mariadb-admin mytop mydumper myloader xtrabackup: -p+
mysqladmin: password 1
mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop: -p
redis-cli valkey-cli keydb-cli: -a AUTH 1 requirepass 1 masterauth 1
cqlsh cypher-shell beeline couchbase-cli cbq clickhouse-client trino presto nodetool dsetool: -p -pw
influx influxd: -p -t
arangosh arangodump: --server.password
sqlplus sqlldr expdp impdp rman sqlcl: $1%
az helm oc docker podman nerdctl buildah skopeo crane oras regctl ctr kubectl argocd tkn flux rancher faas-cli cf ibmcloud aliyun jf jfrog airflow superset twine dotnet nuget snowsql denodo: login_-p registry_-p add_-p create_-p update_-p upload_-p source_-p reset_-p set_-p
skopeo buildah: --creds% --src-creds% --dest-creds%
oc rancher: --token -t
lftp: -u%
smbclient rpcclient winexe wmiexec smbget net nmblookup smbtree smbcacls: -U%
winrs: -p
mkpasswd: -m_2 $1
networksetup: -setairportnetwork_3
xfreerdp wlfreerdp xfreerdp3 wfreerdp: /p: -p
rdesktop vncviewer x11vnc vncpasswd: -p -passwd
sshpass: -p
plink pscp psftp putty kitty klink: -pw
openssl: -k -K -passin -passout -pass -password
gpg gpg2: --passphrase
ssh-keygen: -N -P
ssh-add: -P
keytool jarsigner apksigner: -storepass -keypass -srcstorepass -deststorepass -new --ks-pass --key-pass
signtool certutil makecert: /p -p
osslsigncode signcode: -pass
curl: -u% --user% --proxy-user% -U% --oauth2-bearer --pass --proxy-pass --key-pass
http https xh xhs httpie: -a% --auth%
ab siege wrk nikto etcdctl: -A% -id% --user%
etcdctl: user_add 1%
wget aria2c axel: --http-passwd --ftp-passwd
ncftp ncftpput ncftpget ftp tnftp: -p
yt-dlp youtube-dl: -p --video-password -2
swaks: -ap --auth-password -p
sendemail: -xp
ipmitool: -P
racadm idracadm idracadm7: -p
snmpwalk snmpget snmpset snmpbulkwalk snmptable snmptrap: -c -A -X
mosquitto_pub mosquitto_sub mosquitto_rr mqtt: -P -pw
mosquitto_passwd: -b_3
htpasswd htdigest: -b_3 -n_2
rabbitmqctl: add_user 2 change_password 2 authenticate_user 2
rabbitmqadmin: -p
wpa_passphrase: $2
nmcli: password 1
iwctl: --passphrase
useradd usermod adduser: -p
samba-tool: create 2 add 2 --newpassword
security: -w -p
dscl: -passwd 2
cmdkey: /pass: /p:
schtasks: /rp /p
wmic runas: /password:
dsadd dsmod: -pwd
vault bao: login 1 unseal 1
ngrok: authtoken 1 add-authtoken 1
cargo: login 1
snyk: auth 1
doctl: -t
flyctl fly: -t
gh: -b --body
aws: --secret-string --value --master-user-password --password --admin-password --secret-access-key aws_secret_access_key 1 aws_session_token 1
az: --admin-password --secret-value --value --account-key --password --certificate-password
gcloud: --password
composer poetry: *http-basic* 2 *pypi-token* 1
bundle bundler: config 2% --global 2% --local 2% set 2%
poetry: http-basic 2
npm yarn pnpm: _authtoken 1 _password 1 _auth 1
dotnet: set 2
mvn mvnw: --encrypt-password --encrypt-master-password -emp -ep
svn: --password
pdftotext pdfinfo pdftoppm pdfimages: -upw -opw
pdftk: input_pw 1 user_pw 1 owner_pw 1
qpdf: --encrypt_1 --encrypt_2
ccrypt ccencrypt ccdecrypt: -K
mcrypt: -k
steghide: -p
oathtool: -b $1
jwt: -S --secret
grafana-cli grafana: reset-admin-password 1
wp: --user_pass --dbpass --admin_password
impacket-smbclient impacket-psexec impacket-wmiexec impacket-smbexec impacket-secretsdump secretsdump.py psexec.py wmiexec.py smbexec.py: $1:
zabbix_sender zabbix_get: --tls-psk
restic borg rclone duplicity: obscure 1 pass 1 secret_access_key 1
cloudflared: install 1
tacacs-server radius-server tacacs radius: key 1
snmp-server: community 1
isakmp: key 1
enable: secret 1 password 1
kubectl oc: --from-literal%
gem: --otp
tailscale: --authkey --auth-key
dsmc: -password
db2: using 1
consul nomad: -token
kcadm.sh kc.sh: --password -p --new-password
keepassxc-cli: -p
bw: unlock 1 login 2
op: --secret-key
lpass pass gopass: -p
"""


class _Flag(NamedTuple):
    word: str
    is_pair: bool = False
    is_grown: bool = False
    nth: int = 0
    after: str = ""
    """Only where this verb stood before."""


def _parsed() -> dict[str, list[_Flag]]:
    table: dict[str, list[_Flag]] = {}
    for row in _TABLE.strip().splitlines():
        programs, _, flags = row.partition(":")
        parsed: list[_Flag] = []
        words = flags.split()
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word.rstrip("%").isdigit():
                continue
            nth = int(following.rstrip("%")) if following.rstrip("%").isdigit() else 0
            after, bar, flag = word.partition("_-")
            if bar:
                parsed.append(_Flag("-" + flag.rstrip("%+"), after=after))
            elif word.startswith("-") and re.search(r"_[0-9]$", word):
                parsed.append(_Flag(word[:-2], nth=int(word[-1])))
            else:
                parsed.append(_Flag(word.rstrip("%+"), "%" in word or "%" in following, "+" in word, nth))
        for program in programs.split():
            table.setdefault(program, []).extend(parsed)
    return table


FLAGS = _parsed()
_PROGRAMS = "|".join(sorted((re.escape(name) for name in FLAGS), key=len, reverse=True))
HEAD = rf"\b(?:{_PROGRAMS}|sudo|net|passwd|kinit|cryptsetup)(?:\.exe)?[ \t]|\bchpasswd\b|-stdin\b|with-token\b"
"""Where a command may begin, in the bytes that the gate reads."""

_PIPED = re.compile(
    r"(?:\bsudo[ ](?:-\S+[ ]){0,4}?-S\b|\bpasswd[ ][^|\n]{0,40}--stdin|\bkinit\b|--?password-stdin|-pass(?:in)?[ ]stdin|--with-token|--passphrase-fd|\bchpasswd\b|\bdocker[ ]login\b|\bsu\b|cryptsetup)"
)
_ECHOED = re.compile(
    r"\b(?:echo|printf)[ ](?:-[ne]{1,2}[ ])?[\"']?(?P<value>[^\s\"'|]{4,128})(?:\\n)?[\"']?[ ]{0,2}\|[^|\n]{0,200}$"
)
_HERE = re.compile(r"<<<[ ]?[\"']?(?P<value>[^\s\"'|]{4,128})")
_NET = re.compile(
    r"(?i)\bnet(?:\.exe)?[ ](?:user[ ][^\s/]{1,64}[ ](?P<user>[^\s/*][^\s]{3,128})|use[ ](?:[A-Za-z*]:?[ ])?\\\\[^\s]{1,128}[ ](?P<use>[^\s/*][^\s]{3,128}))"
)
_WORD = re.compile(
    r"(?:\"(?P<double>(?:[^\"\\\n]|\\.){0,512})\"|'(?P<single>[^'\n]{0,512})'|(?P<bare>(?:[^\s\"'|;&<>()`\\]|\\[^\n]|&(?![& \n]))+))|(?P<gap>[ \t]+|\\\r?\n[ \t]*)|(?P<end>.|\n)"
)
_PAIR = re.compile(r"[^:%,/=\s]{0,128}[:%,/=](?=.)")


def secrets_of_command(text: str, start: int) -> tuple[int, list[Found]]:
    """Return where the command that begins at `start` ends, and its passwords."""
    line = text.find("\n", start, start + LONGEST_COMMAND)
    words = list(_words(text, start, min(len(text), start + LONGEST_COMMAND)))
    if not words:
        return start, []
    found = list(_piped(text, start, line if line >= 0 else min(len(text), start + LONGEST_COMMAND)))
    program = text[words[0][0] : words[0][1]].removesuffix(".exe")
    for flag in FLAGS.get(program.rpartition("/")[2], ()):
        found += _of_flag(text, words, flag)
    return words[-1][1], found


def _piped(text: str, start: int, end: int) -> Iterator[Found]:
    """Yield what is piped into a program that reads a password, or handed to it behind `<<<`."""
    match = _NET.match(text, start, min(end, start + 400))
    if match:
        yield from _found(text, *match.span(match.lastgroup or 0))
    piped = _PIPED.search(text, max(0, start - 16), min(end, start + 300))
    if piped is None:
        return
    begin = max(text.rfind("\n", max(0, start - 400), start) + 1, start - 400)
    echoed = _ECHOED.search(text, begin, piped.start())
    here = None if echoed else _HERE.search(text, piped.end(), min(end, piped.end() + 160))
    match = echoed or here
    if match:
        at = match.start("value")
        value = match["value"]
        if "chpasswd" in piped[0]:
            at += value.find(":") + 1
        yield from _found(text, at, match.end("value"))


def _of_flag(text: str, words: list[tuple[int, int]], flag: _Flag) -> Iterator[Found]:
    said = [text[begin:end] for begin, end in words]
    if flag.after and flag.after not in said[1:]:
        return
    if flag.word.startswith("$"):
        plain = [at for at, word in enumerate(said[1:], 1) if not word.startswith("-")]
        nth = int(flag.word[1:2])
        if len(plain) >= nth:
            yield from _value(text, words[plain[nth - 1]], flag.is_pair or flag.word.endswith(":") or "%" in flag.word)
        return
    for at, word in enumerate(said[1:], 1):
        if word == flag.word and not flag.is_grown:
            following = [
                place for place in range(at + 1, len(words)) if flag.nth == 0 or not said[place].startswith("-")
            ]
            nth = max(1, flag.nth)
            if len(following) >= nth:
                yield from _value(text, words[following[nth - 1]], flag.is_pair)
        elif word.startswith(flag.word) and flag.nth == 0 and len(word) > len(flag.word) + 2:
            begin, end = words[at]
            rest = word[len(flag.word) :]
            if flag.word.startswith("--") and rest[0] != "=":
                continue
            if (
                not flag.is_grown
                and flag.word[0] == "-"
                and not flag.word.startswith("--")
                and len(flag.word) > 2
                and rest[0] not in "=:"
            ):
                continue
            skipped = len(flag.word) + (rest[0] in "=:")
            yield from _value(text, (begin + skipped, end), flag.is_pair)


def _value(text: str, word: tuple[int, int], is_pair: bool) -> Iterator[Found]:
    begin, end = word
    while begin < end and text[begin] in "\"'":
        begin += 1
    if is_pair:
        match = _PAIR.match(text, begin, end)
        if match is None:
            return
        begin = match.end()
    elif text.startswith("pass:", begin):
        begin += 5
    yield from _found(text, begin, end)


def _found(text: str, begin: int, end: int) -> Iterator[Found]:
    value = text[begin:end]
    if (
        len(value) >= 3
        and not value.startswith(("-", "[REDACTED"))
        and "[REDACTED:" not in value
        and not is_stand_in(value)
        and value.lower() not in _WORDS_FOR_ONE
    ):
        yield begin, end, "password"


_WORDS_FOR_ONE = frozenset(
    "password passwd pass pwd secret token stdin true false none null yes prompt user username bob login plain md5 des sha-256 sha-512 yescrypt bcrypt scrypt cram-md5 xoauth2 tls ssl".split()
)
_ENDS = ("chpasswd", "-stdin", "with-token")


def is_command(said: str) -> bool:
    """Whether what the gate found begins, or ends, a command and is no telling word."""
    return said[-1:] in " \t" or said in _ENDS


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the words of a command stand, quotes outside, as far as it goes."""
    begin = last = -1
    position = start
    while position < end:
        match = _WORD.match(text, position, end)
        if match is None or match["end"] is not None:
            break
        position = match.end()
        if match["gap"] is not None:
            if begin >= 0:
                yield begin, last
            begin = -1
            continue
        inner = match.span(match.lastgroup or 0)
        if begin < 0:
            begin = inner[0]
        last = inner[1]
    if begin >= 0:
        yield begin, last
