"""A team as `mem team status`, `mem team members` and `mem forget --status` show it. What its server says is anybody's
text: shown, not believed."""

from __future__ import annotations

import time

from siftd.cli.output import clean, count, format_bytes, format_duration, format_time, one_line, paint, print_table, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import TeamForget, TeamLine, TeamMembersAnswer, TeamStatusAnswer

PARKED_SHOWN = 10
REASONS = {
    "older": "the server always has a later telling of it",
    "forgotten": "it was forgotten for the team; `mem forget` takes it from here too",
    "not yours": "somebody else told it",
    "too large": "it is larger than the team takes",
    "secret": "the server's rules find a secret in it; `mem scrub`, or word it otherwise",
    "malformed": "the server does not understand it",
    "source off": "the team's project does not take this kind",
    "reader": "you may only read here; ask the team's admin",
}


def say_status(answer: TeamStatusAnswer) -> None:
    """Print everything about the team of this workspace."""
    team = answer["team"]
    if team is None:
        say("this workspace has joined no team; `mem team join URL --project NAME` joins one")
        return
    _line("team", f"{team['name']} at {team['url']}")
    _line("you", f"{answer['person']}, since {format_time(answer['joinedTs'])}")
    _line("shares", ", ".join(answer["share"]) or "nothing")
    _line("state", _state(answer, team))
    _line("up", _up(answer, team))
    _line("down", _down(answer))
    for words in forgetting(answer):
        _line("forgotten", words)
    if team["parked"]:
        _line("parked", f"{count(team['parked'], 'item')} that the server does not take:")
        for parked in answer["parked"][:PARKED_SHOWN]:
            say(f"{'':<9}  {one_line(parked['name'] + '  ' + REASONS.get(parked['reason'], parked['reason']), 11)}")
        if team["parked"] > PARKED_SHOWN:
            say(f"{'':<9}  and {team['parked'] - PARKED_SHOWN:,} more, in --json")
    members = answer["members"]
    if members is None:
        _line("devices", "unknown: the server was not asked, or does not answer")
        return
    used = [f"{number:,} {source}" for source, number in members["used"].items() if number]
    _line("ever used", ", ".join(used) or "nothing yet")
    say()
    _print_devices(members)


def say_members(answer: TeamMembersAnswer) -> None:
    """Print who is in the project, and how far each device has come."""
    rows = [[each["name"], each["role"], "disabled" if each["disabled"] else ""] for each in answer["members"]]
    print_table(("member", "role", ""), rows)
    say()
    _print_devices(answer)


def forgetting(answer: TeamStatusAnswer) -> list[str]:
    """Return a line for each forgetting that is not known to have come to every device of the team."""
    waiting = answer.get("forgetsWaiting", 0)
    unsent = [f"{count(waiting, 'item')}: the team's server does not know of it yet"] if waiting else []
    return unsent + [_forget(each) for each in answer.get("forgets", [])]


def team_words(team: TeamLine) -> str:
    """Return the team in one line, for `mem info`."""
    parts = [team["name"]]
    if team["waiting"]:
        parts.append(f"{count(team['waiting'], 'item')} waiting{_since(team['waitingSince'])}")
    parts += [f"{team['parked']:,} parked"] if team["parked"] else []
    if team["problem"]:
        parts.append(f"stopped: {team['problem']}")
    elif team["awaySince"]:
        parts.append(f"its server is away since {format_time(team['awaySince'])}")
    return ", ".join(parts)


def _line(name: str, value: str) -> None:
    say(f"{paint(f'{name:<9}', 'dim')}  {clean(' '.join(value.split()))}")


def _state(answer: TeamStatusAnswer, team: TeamLine) -> str:
    if team["problem"]:
        return f"stopped: {team['problem']}"
    if team["awaySince"]:
        return f"away since {format_time(team['awaySince'])}: {answer['lastError']}"
    return f"up to date at {format_time(team['pulledTs'])}" if team["pulledTs"] else "nothing came down yet"


def _up(answer: TeamStatusAnswer, team: TeamLine) -> str:
    shared = ", ".join(f"{number:,} {source}" for source, number in answer["shared"].items()) or "nothing"
    waiting = f"{count(team['waiting'], 'item')} waiting{_since(team['waitingSince'])}" if team["waiting"] else ""
    return "; ".join(filter(None, (f"{shared} shared", waiting)))


def _down(answer: TeamStatusAnswer) -> str:
    others = ", ".join(f"{number:,} {source}" for source, number in answer["replica"].items()) or "nothing"
    return f"{others} of others, {format_bytes(answer['replicaBytes'])}"


def _forget(forget: TeamForget) -> str:
    what = f"{count(forget['items'], 'item')}, {format_time(forget['ts'])}"
    if not forget["devices"]:
        return f"{what}: which devices have applied it is unknown"
    behind = "; ".join(f"{name} last seen {_seen(seen)}" for name, seen in forget["behind"])
    return f"{what}: applied by {forget['applied']} of {count(forget['devices'], 'device')}" + (
        behind and f"; {behind}"
    )


def _print_devices(members: TeamMembersAnswer) -> None:
    rows = [
        [
            f"{each['name']} (this one)" if each["isThis"] else each["name"],
            each["person"],
            "all" if each["seq"] >= members["head"] else f"{each['seq']:,} of {members['head']:,}",
            _seen(each["seenAt"]),
        ]
        for each in members["devices"]
    ]
    print_table(("device", "of", "has applied", "seen"), rows)


def _seen(ts: int | None) -> str:
    return "never" if ts is None else f"{format_duration(max(0, _now_ms() - ts))} ago"


def _since(ts: int | None) -> str:
    return "" if ts is None else f" since {format_time(ts)}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
