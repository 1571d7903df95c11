"""One session that is over, as notes look at it: what it was asked, what it committed, filed and left open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from siftd.notes.distil import asking, commits, tasks
from siftd.notes.distil.closings import Budget, Changed, closed_with, is_asked, prompt_of, repairs, tests_in
from siftd.notes.distil.material import Answer, Checked, Commit, Deferred, Issue, Session, Task
from siftd.store import note_material
from siftd.store.access import Database
from siftd.store.note_material import EventRow, SessionRow
from siftd.store.payload import branch_of, find_object, texts_of
from siftd.summarise.contract import Item
from siftd.summarise.extractive import shell
from siftd.summarise.extractive.planning import answers_of
from siftd.summarise.extractive.text import Call, call_of, first_text, mapping, one_line, relative

_NUMBER = re.compile(r'"identifier"\s{0,4}:\s{0,4}"([A-Z][A-Z0-9]{0,9}-\d{1,7})"|/issues/(\d{1,7})\b')
_TITLE = re.compile(r"""--title[ =]{1,4}(?:"([^"\n]{4,200})"|'([^'\n]{4,200})')""")
_DONE = re.compile(r"\b(?:done|completed?|closed|cancell?ed|duplicate|merged)\b", re.IGNORECASE)
_ALL_BACK = re.compile(
    r"\bgit (?:reset --hard|stash(?! (?:pop|list|apply|show|drop))|(?:checkout|restore) (?:-- )?\.(?=\s|$))"
)
_STASH_POPS = re.compile(r"\bgit stash (?:pop|apply)\b")
_ONE_BACK = re.compile(r"\brm\s|\bgit (?:checkout|restore)\s")
"""Commands that take changes back: all of them, or those of the files that they name."""


def read_session(
    connection: Database,
    row: SessionRow,
    causes: Budget,
    closings: Budget,
    closed: set[str],
    checked: Mapping[str, Checked],
) -> Session:
    """Return a session. `causes` and `closings` say how often an agent's words may still be compared with what it read;
    the numbers of issues that it closed are added to `closed`."""
    events = note_material.list_main_events(connection, row.session_id)
    changed = _left_standing(row, events, note_material.list_changed(connection, row.session_id))
    prompts = [prompt_of(each) for each in events if is_asked(each)]
    branch = next((found for each in reversed(events) if (found := branch_of(each.payload_json[:300]))), None)
    issues, done = _issues(events)
    closed |= done
    committed = tuple(_commits(row, events, changed))
    last = next((each.id for each in reversed(events) if each.kind == "turn_end"), events[-1].id if events else 0)
    return Session(
        id=row.session_id,
        cited=f"s{row.story_id}" if row.story_id is not None else f"e{last}",
        ended_ts=row.last_ts,
        branch=branch,
        asked=asking.goal_of(prompts),
        commits=committed,
        repairs=tuple(repairs(connection, events, changed, causes)),
        checked=checked.get(row.session_id),
        closed=closed_with(connection, events, changed, closings) if changed and not committed else "",
        changed=tuple(dict.fromkeys(relative(path, row.cwd) for _, _, path in reversed(changed))),
        answers=tuple(_answers(events)),
        issues=tuple(issues),
        tasks=tuple(_tasks(row, events, changed, checked.get(row.session_id))),
        deferred=tuple(_deferred(events)),
    )


def _left_standing(row: SessionRow, events: Sequence[EventRow], changed: Changed) -> Changed:
    """Return the changes that no later command of the session took back."""
    commands = [
        (each.ts, shell.bare(shell.command_of(_call(each, row.cwd))))
        for each in events
        if each.action == "run" and each.outcome == "ok"
    ]
    put_back = max((ts for ts, command in commands if _STASH_POPS.search(command)), default=0)
    for ts, command in commands:
        if _ALL_BACK.search(command) and not ("stash" in command and ts <= put_back):
            changed = [each for each in changed if each[1] > ts]
        elif _ONE_BACK.search(command):
            words = {word.rstrip("/").rpartition("/")[2] for word in command.split()}
            changed = [each for each in changed if each[1] > ts or each[2].rpartition("/")[2] not in words]
    return changed


def _call(event: EventRow, cwd: str | None) -> Call:
    return call_of(
        Item(
            event_id=event.id,
            kind=event.kind,
            tool=event.tool,
            action=event.action,
            payload=find_object(event.payload_json) or {},
            outcome=event.outcome,
            ts=event.ts,
            input_hash="",
            cwd=cwd,
        )
    )


def _commits(row: SessionRow, events: Sequence[EventRow], changed: Changed) -> list[Commit]:
    found: list[Commit] = []
    since = 0
    for event in events:
        if event.action != "run":
            continue
        call = _call(event, row.cwd)
        deed = shell.deed(call)
        if not deed.commit or not deed.text.startswith(("Committed", "Amended")):
            continue
        message = commits.message_of(shell.command_of(call))
        subject = one_line(message.strip().partition("\n")[0]) or one_line(deed.commit)
        commit = Commit(event.id, event.ts, subject, *commits.prose_in(message), tests_in(changed, since, event.ts))
        since = event.ts
        if deed.amends and found:
            before = found.pop()
            commit = commit._replace(
                event_id=before.event_id, tests=tuple(dict.fromkeys((*before.tests, *commit.tests)))
            )
            if not message.strip():
                commit = commit._replace(subject=before.subject, body=before.body, items=before.items)
        found.append(commit)
    return found


def _answers(events: Sequence[EventRow]) -> Iterator[Answer]:
    for event in events:
        if event.action == "ask" and event.outcome != "failed" and event.said_by in ("person", "agent"):
            for question, answer in answers_of(_call(event, None)):
                yield Answer(event.id, event.ts, question, answer)


def _tasks(row: SessionRow, events: Sequence[EventRow], changed: Changed, checked: Checked | None) -> Iterator[Task]:
    """Yield what the agent's list left open, unless what was done since says that it is done: lists are forgotten."""
    listed = [(each, _call(each, row.cwd)) for each in events if each.action == "todo"]
    last = max((event.ts for event, _ in listed), default=0)
    since = [path.rpartition("/")[2] for _, ts, path in changed if ts > last]
    if since and checked is not None and checked.is_well and checked.ts > last:
        return
    yield from (task for task in tasks.left_open(listed) if not any(name in task.text for name in since))


def _issues(events: Sequence[EventRow]) -> tuple[list[Issue], set[str]]:
    """Return the issues that were filed, and what is known to be closed."""
    filed: list[Issue] = []
    closed: set[str] = set()
    for event in events:
        if event.outcome == "failed" or event.kind != "tool":
            continue
        call = _call(event, None)
        if event.action == "run":
            title = _TITLE.search(shell.command_of(call)) if "gh issue create" in shell.command_of(call) else None
            named = one_line(title[1] or title[2]) if title else ""
        elif "issue" in event.tool.casefold():
            named = one_line(first_text(call.input, "title"))
            if "update" in event.tool.casefold():
                if _DONE.search(first_text(call.input, "state", "status", "stateName")):
                    closed.add(first_text(call.input, "id", "issueId", "identifier"))
                continue
        else:
            continue
        answered = " ".join(texts_of(mapping(find_object(event.payload_json)).get("tool_response")))
        if named and answered:
            number = _NUMBER.search(answered)
            filed.append(Issue(event.id, event.ts, named, (number[1] or f"#{number[2]}") if number else ""))
    return filed, closed


def _deferred(events: Sequence[EventRow]) -> Iterator[Deferred]:
    for event in events:
        if is_asked(event):
            for text in asking.deferred_in(prompt_of(event)):
                yield Deferred(event.id, event.ts, text)
