"""How it stands with the team of a workspace, in a few words, for `mem info` and whoever asks more."""

from __future__ import annotations

from siftd.daemon.store_access import StoreAccess
from siftd.store import team_links, team_outbox
from siftd.team_sync.sync import TeamSync
from siftd.wire.requests import TeamLine


async def team_line(team: TeamSync, store: StoreAccess) -> TeamLine | None:
    """Return how it stands with the team, as far as it is known here."""
    link, (waiting, parked, since) = await store.read(lambda c: (team_links.find_link(c), team_outbox.read_counts(c)))
    if link is None:
        return None
    return {
        "name": link.name,
        "url": link.url,
        "problem": link.problem,
        "awaySince": team.away_since_ms,
        "waiting": waiting,
        "waitingSince": since,
        "parked": parked,
        "pulledTs": link.pulled_ts,
    }
