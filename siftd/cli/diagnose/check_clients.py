"""How each agent's client on this machine is wired."""

from __future__ import annotations

from collections.abc import Iterator

from siftd.cli.context import Context
from siftd.clients.installable import INSTALLABLE
from siftd.clients.registry import DEFAULT
from siftd.errors import SiftdError
from siftd.finding import Finding
from siftd.install.launcher import is_launcher_current
from siftd.install.manifest import read_manifest


def check_clients(context: Context) -> Iterator[Finding]:
    """Yield what there is to say about each client that is here or wired; about the usual one where there is none."""
    where = context.where()
    try:
        owners = {record.client or DEFAULT for record in read_manifest(where.manifest).files.values()}
    except SiftdError as error:
        yield Finding("clients", "problem", error.message, error.hint)
        return
    wired = owners & INSTALLABLE.keys()
    here = [name for name, (_, installer) in INSTALLABLE.items() if name in wired or installer.is_present(where)]
    for name in here if wired else [DEFAULT, *(name for name in here if name != DEFAULT)]:
        for finding in INSTALLABLE[name][1].check(where):
            if finding.state == "problem" and wired and name not in wired:
                finding = Finding(finding.link, "note", finding.message, f"run `mem install --client {name}`")
            yield finding
    if wired - {DEFAULT} and not is_launcher_current(context.home):
        message = "the clients' hooks start another siftd, or none: the launcher is not this one's"
        yield Finding("launcher", "problem", message, "run `mem install`")
