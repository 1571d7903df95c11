"""Summaries of how work is organised: tasks, lists, subagents, skills, questions and plans."""

from __future__ import annotations

from typing import Any

from siftd.summarise.extractive.code import headings
from siftd.summarise.extractive.gist import gist
from siftd.summarise.extractive.outcomes import understand
from siftd.summarise.extractive.text import (
    SEEN,
    SPOKEN,
    THIN,
    Call,
    Line,
    bounded,
    clip,
    first_text,
    join_within,
    mapping,
    printed,
    sequence,
    string,
    unique,
)
from siftd.summarise.extractive.words import informative


def agent(call: Call) -> Line:
    """What a subagent was asked and what it answered."""
    response = mapping(call.response)
    kind = call.word("subagent_type", "agent_type")
    task = call.word("description") or call.word("prompt", "message")
    said = f"{clip(kind, 40) or 'Subagent'}: {clip(task, 120) or 'a task'}"
    if response.get("status") in ("async_launched", "remote_launched"):
        return Line(f"Started in the background — {said}: {informative(call.word('prompt'), 200)}", SEEN)
    answer = printed(response.get("content")) or printed(call.response)
    if answer.strip():
        return Line(f"{said} → {informative(answer, 380 - len(said))}", SPOKEN)
    return Line(f"{said} — {informative(call.word('prompt'), 200)}", THIN)


def task_create(call: Call) -> Line:
    number = _task_id(mapping(call.response).get("task"))
    about = call.word("description")
    subject = clip(call.word("subject", "title"), 160) or "(unnamed)"
    said = f"New task{f' {number}' if number else ''}: {subject}"
    return Line(f"{said} — {clip(about, 200)}" if about and about != subject else said, SEEN)


def task_update(call: Call, subject: str = "") -> Line:
    """ "Task 2: in_progress → completed; Rotate the keys", the subject as the task was made with it."""
    response = mapping(call.response)
    change = mapping(response.get("statusChange"))
    number = _task_id(call.input)
    status = call.word("status")
    before, after = first_text(change, "from"), first_text(change, "to")
    owner = call.word("owner")
    parts = [
        f"{before} → {after}" if before and after else status,
        clip(call.word("subject") or subject, 140),
        clip(call.word("description"), 140),
        f"owner {clip(owner, 40)}" if owner else "",
    ]
    said = "; ".join(filter(None, parts))
    if response.get("success") is False:
        return Line(f"Task {number} not updated: {clip(first_text(response, 'error', 'message'), 200) or said}", SEEN)
    return Line(f"Task {number}: {said or 'updated'}", SEEN if said else THIN)


def task_look(call: Call) -> Line:
    """TaskGet, TaskList, TaskOutput, TaskStop: what the task is and what it printed."""
    response = mapping(call.response)
    task = mapping(response.get("task"))
    tasks = [_listed(mapping(entry)) for entry in sequence(response.get("tasks"))[:12]]
    if any(tasks):
        return Line(f"Tasks: {join_within(filter(None, tasks), 320, '; ')}", SEEN)
    about = clip(first_text(task, "description", "subject") or first_text(response, "command"), 120)
    number = _task_id(call.input) or _task_id(task)
    status = clip(first_text(task, "status") or first_text(response, "retrieval_status"), 30)
    said = " ".join(filter(None, (_spaced(call.tool), number, f"({about})" if about else "", status)))
    output = bounded(first_text(task, "output", "result") or ("" if task else printed(call.response)))
    finding = understand(output) if output else None
    body = finding.clipped(220) if finding and finding.understood else gist(output, 200)
    return Line(f"{said}: {body}", SEEN) if body else Line(said, THIN)


def todo_write(call: Call) -> Line:
    """What became done, what is being done and what remains: the change since the list before."""
    response = mapping(call.response)
    old = {_todo(entry): _status(entry) for entry in sequence(response.get("oldTodos"))[:60]}
    new = [
        mapping(e) for e in sequence(call.input.get("todos") or call.input.get("plan") or response.get("newTodos"))[:60]
    ]
    by_status: dict[str, list[str]] = {}
    for entry in new:
        by_status.setdefault(_status(entry), []).append(_todo(entry))
    done = [name for name in by_status.get("completed", []) if name and old.get(name) != "completed"]
    parts = [
        _part("done", done or (by_status.get("completed", []) if not by_status.get("in_progress") else [])),
        _part("doing", by_status.get("in_progress", [])),
        _part("to do", by_status.get("pending", [])),
    ]
    said = "; ".join(part for part in parts if part)
    note = call.word("explanation")
    return Line(f"Plan: {clip(note, 120) + ' — ' if note else ''}{said}", SEEN) if said else Line("Plan emptied", THIN)


def skill(call: Call) -> Line:
    name = call.word("skill", "command", "name")
    args = call.word("args", "arguments")
    said = f"Used skill {clip(name, 80) or '(unnamed)'}"
    return Line(f"{said}: {clip(args, 280)}" if args else said, SEEN if name else THIN)


def ask_user(call: Call) -> Line:
    """ "Asked the user: <question> → <answer>"."""
    response = mapping(call.response)
    answers = mapping(response.get("answers")) or mapping(call.input.get("answers"))
    said = [
        f"{clip(str(question), 170)} → {clip(_answer(answer), 140)}" for question, answer in list(answers.items())[:6]
    ]
    if said:
        return Line(f"Asked the user: {join_within(said, 370, '; ')}", SEEN)
    questions = [
        clip(string(mapping(entry).get("question")), 160) for entry in sequence(call.input.get("questions"))[:6]
    ]
    asked = join_within(filter(None, questions), 250, "; ") or clip(call.word("question"), 250)
    reply = first_text(response, "response") or (call.response if isinstance(call.response, str) else "")
    body = f"{asked} → {clip(reply, 110)}" if reply else asked
    return Line(f"Asked the user: {body}" if body else "Asked the user a question", SEEN if reply else THIN)


def answers(call: Call) -> list[str]:
    """Return what the user answered, without the questions."""
    return [clip(answer, 80) for _, answer in answers_of(call)]


def answers_of(call: Call) -> list[tuple[str, str]]:
    """Return what the user was asked, and answered."""
    given = mapping(mapping(call.response).get("answers")) or mapping(call.input.get("answers"))
    return [(str(question), _answer(answer)) for question, answer in list(given.items())[:6]]


def exit_plan(call: Call) -> Line:
    """The plan that was put to the user: its title, its sections, its first words."""
    plan = call.word("plan") or string(mapping(call.response).get("plan"))
    titles = headings(plan, 8)
    body = join_within(titles, 250, "; ") if titles else informative(plan, 300)
    words = "\n".join(line for line in bounded(plan).split("\n") if not line.startswith("#"))
    extra = informative(words, 360 - len(body)) if titles and len(body) < 200 and words.strip() else ""
    said = f"Plan presented: {body}" if body else "Plan presented"
    return Line(f"{said} — {extra}" if extra else said, SEEN if body else THIN)


def _task_id(value: Any) -> str:
    entry = mapping(value)
    for key in ("taskId", "task_id", "id", "shell_id", "bash_id"):
        given = entry.get(key)
        if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip():
            return clip(str(given)[:200], 40)
    return ""


def _listed(entry: dict[str, Any]) -> str:
    subject = clip(first_text(entry, "subject", "content", "description"), 80)
    status = clip(first_text(entry, "status"), 20)
    return f"{subject} ({status})" if subject and status else subject


def _todo(entry: Any) -> str:
    return clip(first_text(mapping(entry), "content", "step", "subject", "text", "title", "description"), 120)


def _status(entry: Any) -> str:
    return string(mapping(entry).get("status"))


def _part(label: str, names: list[str]) -> str:
    shown = unique(names, 6)
    return f"{label}: {join_within(shown, 150, '; ')}" if shown else ""


def _answer(value: Any) -> str:
    return value if isinstance(value, str) else join_within((string(part) for part in sequence(value)[:8]), 140)


def _spaced(name: str) -> str:
    """ "TaskOutput" reads as "Task output"."""
    return "".join(f" {char.lower()}" if char.isupper() and index else char for index, char in enumerate(name[:40]))
