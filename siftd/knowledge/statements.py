"""What of a snapshot is worth a memory: one statement about the whole, one for each way to work here, one a module.

Each is one line in our own words. What a project says of itself stands in quotation marks behind the place that says
it, and nothing of it is told that reads like an instruction: an agent is handed these lines unasked.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from siftd.harmless import harmless
from siftd.knowledge.model import Command, Module, Snapshot

TOPIC = "knowledge:"
"""Before the topic of every statement of a snapshot."""
OVERVIEW, COMMANDS, WAYS_IN, LAYOUT, KEY_FILES = (
    f"{TOPIC}{name}" for name in ("overview", "commands", "ways-in", "layout", "key-files")
)
AT_A_START = (OVERVIEW, COMMANDS, WAYS_IN, LAYOUT, KEY_FILES)
"""What a session is told at its start, in this order."""
CHARS_MAX = 480
QUOTED_CHARS_MAX = 160
NAMES_SHOWN = 6
_SHOWN = ("build", "test", "lint", "check", "run")
_ORDERS = re.compile(
    r"\b(?:you|your|must|always|never|ignore|disregard|instruct\w{0,20}|please|run|execute|install|delete|remove|curl|wget"
    r"|sudo|passwords?|system prompts?|do not|don't|should|shall|needs? to|have to|has to|approv\w{0,20}|allow\w{0,20}"
    r"|permi\w{0,20}|authori\w{0,20}|the (?:user|person|human|assistant|agent))\b|https?:"
    r"|^\W{0,8}(?:use|push|call|send|write|commit|add|set|open|read|download|merge|skip|disable|enable|start|stop|make|tell"
    r"|answer|reply|forget|trust|accept|follow|treat|consider|assume|remember|note|warning|important)\b",
    re.IGNORECASE,
)
"""Words of somebody who wants something. A page shows such a line quoted; an agent is not handed it."""


class Statement(NamedTuple):
    """A memory to be kept."""

    topic: str
    text: str
    category: str
    importance: int
    was: str = ""
    """The topic whose place it takes: that of a module that was elsewhere."""


def statements_of(snapshot: Snapshot) -> list[Statement]:
    """Return the statements, each of a topic of its own."""
    made = [
        Statement(OVERVIEW, _overview(snapshot), "architecture", 2),
        Statement(COMMANDS, _commands(snapshot), "workflow", 2),
        Statement(WAYS_IN, _ways_in(snapshot), "architecture", 2),
        Statement(LAYOUT, _layout(snapshot), "architecture", 2),
        Statement(KEY_FILES, _key_files(snapshot), "architecture", 1),
    ]
    made += [
        Statement(topic_of(each.path), _module(each), "architecture", 1, topic_of(each.was) if each.was else "")
        for each in snapshot.modules
    ]
    return [each._replace(text=harmless(each.text, CHARS_MAX)) for each in made if each.text]


def topic_of(module: str) -> str:
    """Return the topic of a module's statement."""
    return f"{TOPIC}module:{module or '.'}"


def is_harmless_claim(text: str) -> bool:
    """Whether a line that a project says of itself only says something, and wants nothing."""
    return bool(text) and not _ORDERS.search(text)


def _overview(snapshot: Snapshot) -> str:
    overview = snapshot.overview
    languages = ", ".join(f"{each.name} {each.version}".strip() for each in snapshot.languages[:3])
    said = _said(overview.says, overview.evidence[-1:] or ("",))
    return (
        f"This is {overview.name}" + (f", written in {languages}" if languages else "") + (f"; {said}" if said else "")
    )


def _said(says: str, evidence: tuple[str, ...]) -> str:
    return (
        f'{evidence[0]} calls it "{harmless(says, QUOTED_CHARS_MAX)}"'
        if is_harmless_claim(says) and evidence[0]
        else ""
    )


def _commands(snapshot: Snapshot) -> str:
    shown = [each for kind in _SHOWN for each in snapshot.commands if each.kind == kind and not each.where]
    if not shown:
        return ""
    return "How one works here: " + "; ".join(map(_command, shown))


def _command(command: Command) -> str:
    how = {"seen": "seen to succeed", "declared": "declared", "usual": "usual, as set up"}[command.basis]
    shown = f" in {command.evidence[0]}" if command.evidence and command.basis != "seen" else ""
    return f"{command.kind} `{command.command}` ({how}{shown})"


def _ways_in(snapshot: Snapshot) -> str:
    ways = [f"{each.kind} {each.name} in {each.path or each.target}" for each in snapshot.entry_points]
    return f"Ways in: {_listed(ways)}" if ways else ""


def _layout(snapshot: Snapshot) -> str:
    code = [each for each in snapshot.modules if each.kind == "code"]
    code.sort(key=lambda each: (-len(each.imported_by), -each.lines, each.path))
    tests = [each.path for each in snapshot.modules if each.kind == "tests"]
    if not code:
        return ""
    said = f"Where to look: {_listed([each.path or '.' for each in code])}"
    return said + (f"; tests in {_listed(tests[:3])}" if tests else "")


def _key_files(snapshot: Snapshot) -> str:
    files = [f"{each.path} ({each.why[0]})" for each in snapshot.key_files[:4] if each.why]
    return f"Files that matter most: {_listed(files)}" if files else ""


def _module(module: Module) -> str:
    said = _said(module.says, module.evidence[:1])
    parts = [
        f"Module {module.path or '.'}: {module.files} file{'s' * (module.files != 1)} of {module.language}",
        f"it was {module.was}" if module.was else "",
        said,
        f"needs {_listed([each or '.' for each in module.imports])}" if module.imports else "",
        f"needed by {_listed([each or '.' for each in module.imported_by])}" if module.imported_by else "",
        f"tested by {_listed(list(module.tests[:2]))}" if module.tests else "",
    ]
    return "; ".join(filter(None, parts))


def _listed(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
