"""Pods as `mem context` and `mem pods show` print them: slot by slot, and why each stands there."""

from __future__ import annotations

import os
import sys

from siftd.cli.output import clean, is_terminal, one_line, paint, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import PodFact, PodShown

_ID_WIDTH = 6


def say_pod(pod: PodShown, *, is_explained: bool) -> None:
    """Print a pod with what stands in it and, explained, why, and why the rest does not."""
    title = f" «{clean(pod['title'])}»" if pod["title"] and pod["title"] != pod["pod"].partition(":")[2] else ""
    say(f"{paint(clean(pod['pod']) + title, 'bold')}  {paint(_state(pod), 'dim')}")
    for each in pod["facts"]:
        _say_fact(str(each["slot"]), each, is_explained=is_explained)
    for each in pod["leftOut"]:
        _say_fact("-", each, is_explained=is_explained)
    if pod["leftOutMore"]:
        say(paint(f"  - {pod['leftOutMore']} more", "dim"))


def _state(pod: PodShown) -> str:
    if pod["inactive"]:
        return f"rests: {pod['inactive']}"
    return f"{pod['filled'] or 'none'} of {pod['slots']} slots"


def _say_fact(place: str, fact: PodFact, *, is_explained: bool) -> None:
    """Print a fact in its line; why it stands there behind it, where both fit, else in a line below."""
    head = f"{place:>3}  {fact['id']:<{_ID_WIDTH}} "
    style = "dim" if place == "-" else "cyan"
    text = one_line(fact["text"], len(head))
    behind = _behind(fact["why"], len(head) + len(text)) if is_explained else ""
    say(f"{paint(head, style)}{paint(text, 'dim') if place == '-' else text}{behind}")
    if is_explained and not behind:
        why = f"({fact['why']})"
        say(f"{' ' * len(head)}{paint(one_line(why, len(head)), 'dim')}")


def _behind(why: str, used: int) -> str:
    """Return why, as it stands behind a text; empty where the line has no room for it."""
    if not is_terminal():
        return f"  ({why})"
    columns = os.get_terminal_size(sys.stdout.fileno()).columns or 80
    return paint(f"  ({why})", "dim") if used + 4 + len(why) <= columns else ""
