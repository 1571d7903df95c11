"""Routes of laptops: they join, push, pull, look who is there, leave (`siftd.team.protocol`)."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import msgspec

import siftd
from siftd.errors import HttpRefused
from siftd.team.protocol import (
    ITEMS_MAX,
    VERSION,
    VERSION_MIN,
    Changes,
    Hello,
    Joined,
    Left,
    Members,
    Push,
    Pushed,
)
from siftd.team_server.routing import Call
from siftd.team_server.types import ChangesQuery, HealthAnswer


async def health(call: Call) -> HealthAnswer:
    return HealthAnswer(ok=True, store=await call.state.store_answers())


async def hello(call: Call) -> Hello:
    versions = Hello(version_min=VERSION_MIN, version_max=VERSION, server=siftd.__version__)
    if call.caller.digest is None:  # answered while PostgreSQL is away too
        return versions
    return msgspec.structs.replace(versions, epoch=(await call.state.store.hello()).epoch)


async def join(call: Call) -> Joined:
    return await call.state.store.join(call.body)


async def push(call: Call) -> Pushed:
    state, digest, project = call.state, call.digest, call.project
    body: Push = call.body
    if len(body.items) > ITEMS_MAX:
        raise HttpRefused(413, "too_many", f"a push has at most {ITEMS_MAX} items", hint="push the rest after it")
    if not state.limits.is_accepted(digest):  # nobody else's items are worth reading
        await state.check_member(digest, project)
    taken, refused = await state.sift(body.items)
    pushed = await state.store.push(digest, project, Push(epoch=body.epoch, items=taken))
    if pushed.put:
        state.filling.want(project, digest)
    return msgspec.structs.replace(pushed, ignored=[*pushed.ignored, *refused])


async def changes(call: Call) -> Changes:
    """Return what is new; where nothing is, what is new within the time that the caller waits."""
    state, digest, project = call.state, call.digest, call.project
    query: ChangesQuery = call.query
    now = asyncio.get_running_loop().time
    until = now() + query.wait
    applied = query.applied
    # Waiting begins before the feed is asked, so that nothing falls in between.
    with state.limits.hold(digest) if query.wait else nullcontext():
        async with state.notifications.waiting(project) as wait:
            while True:
                found = await state.store.changes(digest, project, query.after, query.limit, applied)
                applied = None
                state.limits.accept(digest)
                left = until - now()
                if found.changes or found.cursor != query.after or left <= 0:
                    return found
                if not await wait(min(left, state.notifications.poll_seconds)):
                    return found


async def members(call: Call) -> Members:
    return await call.state.store.members(call.digest, call.project)


async def renew(call: Call) -> Joined:
    return await call.state.store.renew(call.digest, call.project, call.body)


async def leave(call: Call) -> Left:
    return await call.state.store.leave(call.digest, call.project, call.body)
