"""Lines of `state.md`: what the last sessions were asked and how they ended, commands that work, what fails."""

from __future__ import annotations

from collections.abc import Iterator

from siftd.notes.distil import commits
from siftd.notes.distil.asking import stands_alone
from siftd.notes.distil.forms import branch_name, code, date_of, plain, quoted
from siftd.notes.distil.lines import COMMANDS, FAILURES, NOW, Wanted
from siftd.notes.distil.material import Fact, Material, Session

SESSIONS_SHOWN = 8
_COMMANDS_MAX = 10
_FAILURES_MAX = 5
_KINDS = ("build", "run", "test", "lint", "format", "types", "check", "generate")


def state_lines(material: Material) -> Iterator[Wanted]:
    """Yield the lines, in the order of their headings, the latest first."""
    yield from _sessions(material)
    yield from _commands(material)
    yield from _failures(material)


def _sessions(material: Material) -> Iterator[Wanted]:
    shown = 0
    for session in material.sessions:
        done = _done(session)
        is_clear = session.closed or (session.asked and (session.commits or stands_alone(session.asked)))
        is_clear = is_clear or any(commits.weight(each.subject) >= commits.WEIGHT_ALONE for each in session.commits)
        if not done or not is_clear:
            continue  # a list of files says nothing to anybody
        asked = f"asked {quoted(session.asked, 110)}; " if session.asked else ""
        where = f" on {branch_name(session.branch)}" if session.branch else ""
        yield Wanted(
            f"session:{session.id}", NOW, f"- {date_of(session.ended_ts)}{where}: {asked}{done} ({session.cited})"
        )
        shown += 1
        if shown == SESSIONS_SHOWN:
            return


def _done(session: Session) -> str:
    """Return how a session ended, as far as it did something that lasts."""
    checked = session.checked
    end = f"; at the end {code(checked.command)} {'passed' if checked.is_well else 'failed'}" if checked else ""
    if session.commits:
        main = max(session.commits, key=lambda each: (commits.weight(each.subject), len(each.body) + len(each.items)))
        more = f" and {len(session.commits) - 1} more" if len(session.commits) > 1 else ""
        return f"committed {quoted(main.subject, 100)}{more}{end}"
    if session.changed:
        names = [branch_name(each) for each in session.changed if not each.startswith(("/", "~", ".."))]
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        said = f"the agent closed with {quoted(session.closed, 170)}; " if session.closed else ""
        return f"{said}changed {', '.join(names[:2])}{more}{end}" if names else ""
    return ""


def _commands(material: Material) -> Iterator[Wanted]:
    found: list[tuple[int, int, Fact]] = []
    for fact in material.facts:
        if fact.origin == "learnt" and (fact.topic or "").startswith("command:"):
            name = (fact.topic or "").split(":")
            kind = name[1].partition(".")[0]
            rank = _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
            found.append((len(name) > 2, rank, fact))
    for _, _, fact in sorted(found, key=lambda each: (*each[:2], each[2].id))[:_COMMANDS_MAX]:
        text = plain(fact.text).replace(" here: ", ": ", 1)
        yield Wanted(f"fact:{fact.id}", COMMANDS, f"- {text} (seen to succeed, {date_of(fact.since_ts)}, m{fact.id})")


def _failures(material: Material) -> Iterator[Wanted]:
    for each in material.failures[:_FAILURES_MAX]:
        line = (
            f"- {code(each.command)} failed on {date_of(each.ts)} and was not seen to succeed since (e{each.event_id})"
        )
        yield Wanted(f"failure:{each.topic}:e{each.event_id}", FAILURES, line)
