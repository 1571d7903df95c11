"""One stream of what happens: what it has not taken waits for it, up to a bound."""

from __future__ import annotations

import asyncio

from siftd.web.live import WAITING_MAX, Listener, Said


def said(number: int) -> Said:
    return Said(f"a.{number}", "captured", b"{}")


async def test_what_waits_is_taken_at_once_and_in_order() -> None:
    listener = Listener()
    listener.say([said(1), said(2)])
    listener.say([said(3)])
    assert [each.id for each in await listener.next()] == ["a.1", "a.2", "a.3"]


async def test_whoever_waits_is_woken() -> None:
    listener = Listener()
    waiting = asyncio.ensure_future(listener.next())
    watching = asyncio.ensure_future(listener.when_cut())
    await asyncio.sleep(0)
    listener.say([said(1)])
    assert await waiting == [said(1)]
    assert not watching.done()
    listener.cut()
    await watching
    assert await listener.next() == []


async def test_a_reader_that_is_too_slow_is_cut_and_holds_nothing_more() -> None:
    listener = Listener()
    for number in range(WAITING_MAX):
        listener.say([said(number)])
    assert not listener.is_cut
    listener.say([said(WAITING_MAX)])
    await listener.when_cut()
    assert await listener.next() == []
