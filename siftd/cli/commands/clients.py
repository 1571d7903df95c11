"""`mem clients`: what siftd can and cannot do with each agent's program, and which of them are here."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, is_terminal, note, paint, say, say_json
from siftd.clients.client import Moment
from siftd.clients.installable import EVERY, INSTALLABLE
from siftd.clients.registry import CLIENTS
from siftd.clients.support import brief_of
from siftd.install.manifest import read_manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COLUMNS = {
    "client": "client",
    "starts": "starts",
    "prompts": "prompts",
    "tools": "tools",
    "failures": "failures",
    "ends": "ends",
    "backfill": "backfill",
    "brief": "brief",
    "recall": "recall",
    "afterFailure": "after a failure",
    "mcp": "MCP",
    "evidence": "known by",
}
"""The fields of a row, each with its heading."""


def add_arguments(parser: ArgumentParser) -> None:
    """It has none."""


def run(context: Context, options: Namespace) -> int:
    rows = list_rows()
    here = _states(context)
    for row in rows:
        row["state"] = here.get(row["name"], "")
    if options.json:
        say_json({"clients": rows})
        return 0
    headings = [*COLUMNS.values(), "here"]
    cells = [[_cell(row[name]) for name in COLUMNS] + [row["state"]] for row in rows]
    widths = [max(len(line[column]) for line in [headings, *cells]) for column in range(len(headings))]
    for number, line in enumerate([headings, *cells]):
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        say(paint(text, "bold") if number == 0 and is_terminal() else clean(text))
    note("mem: `mem install --client NAME` wires one; docs/clients.md says what the columns mean")
    return 0


def list_rows() -> list[dict[str, Any]]:
    """Return a row for each client, as the registry has it."""
    rows = []
    for each in EVERY:
        client = CLIENTS.get(each.name)
        moments: frozenset[Moment] = client.moments if client else frozenset()
        support = each.support
        rows.append(
            {
                "name": each.name,
                "client": f"{each.title} ({each.name})" if each.title.lower() != each.name else each.title,
                "starts": support.starts,
                "prompts": support.prompts,
                "tools": support.tools,
                "failures": support.failures,
                "ends": support.ends,
                "backfill": support.backfill,
                "brief": brief_of(moments),
                "recall": "prompt" in moments,
                "afterFailure": "failure" in moments,
                "mcp": support.mcp,
                "evidence": support.evidence,
                "note": support.note,
            }
        )
    return rows


def format_page() -> str:
    """Return the table of docs/clients.md, and what is to be said of single clients below it."""
    from textwrap import fill

    rows = list_rows()
    lines = [f"| {' | '.join(COLUMNS.values())} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(_cell(row[name]) for name in COLUMNS)} |" for row in rows]
    noted = [f"- {row['client']}: {row['note']}" for row in rows if row["note"]]
    notes = [fill(each, 118, subsequent_indent="  ", break_on_hyphens=False) for each in noted]
    return "\n".join([*lines, "", *notes, ""])


def _cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _states(context: Context) -> dict[str, str]:
    """Return which clients are on this machine, and which of them are wired."""
    where = context.where()
    records = read_manifest(where.manifest).files.values()
    wired = {record.client or next(iter(CLIENTS)) for record in records}
    present = {name for name, (_, installer) in INSTALLABLE.items() if installer.is_present(where)}
    return {name: "wired" if name in wired else "here" for name in wired | present}
