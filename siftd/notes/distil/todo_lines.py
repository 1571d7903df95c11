"""Lines of `todo.md`: facts that ask for a deed, filed issues, what was left for later, what lists left open."""

from __future__ import annotations

from collections.abc import Iterator

from siftd.config import MS_PER_DAY
from siftd.notes.distil import commits
from siftd.notes.distil.closings import Budget
from siftd.notes.distil.forms import date_of, plain, quoted
from siftd.notes.distil.lines import OPEN, TICKET, Wanted, on_branch, who, words_of
from siftd.notes.distil.material import Material, Session

ISSUE_DAYS = 60
DEFERRED_DAYS = 30
TASK_DAYS = 14
"""How long before the latest session something may have been said to be open that nobody came back to."""
_TODO = frozenset(("action", "issue"))
_TASKS_MAX = 8
_COMMITS_MAX = 1_000
_LOOKED_AT_MAX = 400
"""The latest items that are compared with the latest commits: more of either do not make the list any better."""
_DONE_ALIKE = 0.6
"""Of an item's words that a later commit must have to have done it."""


def todo_lines(material: Material) -> Iterator[Wanted]:
    newest = material.newest_ts
    commits_of = [(session, each) for session in material.sessions for each in session.commits]
    done = [
        (each.ts, words_of(each.subject), f"{each.subject} {session.branch or ''}")
        for session, each in commits_of[:_COMMITS_MAX]
    ]
    budget = Budget(_LOOKED_AT_MAX)

    def is_open(ts: int, text: str, days: int, number: str = "") -> bool:
        words = words_of(text)
        if ts < newest - days * MS_PER_DAY or not budget.take():
            return False
        return not any(
            when > ts and ((number and number in said) or len(words & theirs) >= _DONE_ALIKE * max(1, len(words)))
            for when, theirs, said in done
        )

    for fact in material.facts:
        if fact.category in _TODO and fact.origin != "learnt" and fact.said_by in ("person", "agent"):
            yield Wanted(f"fact:{fact.id}", OPEN, f"- [ ] {plain(fact.text)} ({who(fact)})")
    worked_on: set[str] = set()
    for session in material.sessions:
        for issue in reversed(session.issues):
            name = issue.number or issue.title
            if name not in material.closed_issues and is_open(issue.ts, issue.title, ISSUE_DAYS, issue.number):
                number = f"{plain(issue.number)}: " if issue.number else ""
                line = f"- [ ] {number}{plain(issue.title, 160)} (issue filed {date_of(issue.ts)}, e{issue.event_id})"
                yield Wanted(f"issue:{plain(name, 80)}", OPEN, line)
        for place, each in enumerate(session.deferred):
            if is_open(each.ts, each.text, DEFERRED_DAYS):
                line = f"- [ ] {quoted(each.text, 240)} (asked for later, {date_of(each.ts)}, e{each.event_id})"
                yield Wanted(f"later:e{each.event_id}:{place}", OPEN, line)
        last = max((commit.ts for commit in session.commits), default=0)
        for commit in reversed(session.commits):
            for place, text in enumerate(commits.todos_in(commit)):
                if is_open(commit.ts, text, ISSUE_DAYS):
                    line = f"- [ ] {plain(text, 160)} (noted in a commit, {date_of(commit.ts)}, e{commit.event_id})"
                    yield Wanted(f"noted:e{commit.event_id}:{place}", OPEN, line)
        where = on_branch(session.branch)
        for task in session.tasks[:_TASKS_MAX]:
            if task.ts > last and _line_of_work(session) not in worked_on and is_open(task.ts, task.text, TASK_DAYS):
                line = (
                    f"- [ ] {plain(task.text, 160)} (left open by an agent{where}, {date_of(task.ts)}, {session.cited})"
                )
                yield Wanted(f"task:{session.id}:{plain(task.text, 80)}", OPEN, line)
        worked_on.add(_line_of_work(session))


def _line_of_work(session: Session) -> str:
    """Return what sessions that go on with one another have in common: the ticket that their branch names, or it."""
    branch = (session.branch or "").casefold()
    ticket = TICKET.search(branch)
    return ticket[0] if ticket else branch
