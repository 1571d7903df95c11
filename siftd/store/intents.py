"""Intents: what a person or an agent asked for, kept in the log and applied again by every replay.

Applying one twice changes nothing, save `spend`, and replay begins behind what is applied. Intents name events, never
summaries: those are derived, and a rebuild gives them other ids. Kinds that this siftd does not know are skipped.

    retry   {"event": 12 | null}              skipped events become raw again: one, or all
    resummarise {"since": ms, "until": ms}    summaries of that time are told anew
    opt-out, opt-in                           `siftd.store.opt_outs`
    mute    {"event": 12, "muted": true}       nothing of it is given unasked (`siftd.store.muted`); "item": "…", of a
                                              team's
    undo    {"pairs": [[12, 9]]}              these events' summaries are told apart for good
    spend   {"day": "2026-03-02", "backend", "tokens"}  what a remote backend was paid; adds, so once for each record
    scoring {"w_fts": 0.4, "half_life": null} how this project's searches are weighed (`siftd.store.scoring`); "label":
                                              those under a label
    forget  {"uid": [["…", null]], …}         tombstones: keyed hashes and times (`siftd.store.tombstones`);
                                              "aged": for its age alone
    remember  {"uid", "category", "text", "tags", …}  a fact whose id is the seq of this record; "supersedes": 30
                                              (saidBy: whose words; waits: for a person's, with the pin; label: what
                                              it is kept under; origin, scope, topic, quote, client, sources: events;
                                              `category` was called `type` once)
    verdict {"fact": 31, "what": "supersede", "by": 40, "who": "person", …}  `siftd.store.fact_verdicts`
    update  {"id": 31, "text", "tags", …}     the fields of a fact that change; {"waits": false} accepts it
    link    {"from": 31, "to": 30, "relation": "supersedes"}  between two facts
    pod     {"type", "externalId", "title"}   a pod's row, whose id is the seq of this record
    pod_change  {"pod": 12, "fact": 31, "role": "command"} | {"pod": 12, "status": "archived"}  `siftd.store.pods`
    conversation  {"id", "title", "parent", "relation", "ts"}  a session that somebody named, and its parent
                                              (label; branchesFrom: where it follows up on another one too)
    summary {"event": 12, "uid", "eventTs", "text", "model", …}  an imported summary of this event
    outcome {"event": 12, "uid", "outcome": "failed", "exit": 1, "eventTs"}  how a call ended (`siftd.store.outcomes`)
    entity_merge, entity_unmerge              two entities of the graph count as one (`siftd.store.graph_merges`)
    scrub   {}                                today's rules over all that is stored (`siftd.store.scrubbing`)
    injection  {"event": 12 | "memory": 31, "session", "hook", "ts", "after", …}  imported: what an agent was given
    document  {"path" | "url", "title", "type", "text", …}, document_removed  {"document": 4}  `siftd.store.documents`
    team_join {"project", "name", "url", …}, team_leave   which team is joined (`siftd.store.team_links`)
    supersede  {"newer": [12, "…"], "older": [9, "…"], …}  imported: events, and the hashes of their summaries' texts
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from siftd.log.record import Record
from siftd.store import (
    conversations,
    documents,
    exchange,
    fact_changes,
    fact_verdicts,
    facts,
    graph_merges,
    muted,
    outcomes,
    pods,
    resummary_queue,
    scoring,
    scrubbing,
    summaries,
    team_links,
    token_spend,
)
from siftd.store.opt_outs import opt_in, opt_out
from siftd.store.tombstones import bury


def apply_intent(connection: sqlite3.Connection, record: Record) -> None:
    """Do what an intent's record asks for. Within the caller's transaction."""
    apply = _APPLY.get(record.kind)
    if apply is not None:
        apply(connection, msgspec.json.decode(record.payload), record)


def apply_summaries(connection: sqlite3.Connection, records: Iterable[Record]) -> None:
    """Do the same for a run of imported summaries, all at once."""
    exchange.insert_summaries(connection, [(msgspec.json.decode(record.payload), record) for record in records])


def _summary(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    exchange.insert_summaries(connection, [(payload, record)])


def _retry(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    summaries.retry(connection, payload["event"])
    resummary_queue.retry(connection, payload["event"])


def _resummarise(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    resummary_queue.mark_for_resummary(connection, payload["since"], payload["until"])


def _undo(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    for a_event, b_event in payload["pairs"]:
        summaries.keep_apart(connection, a_event, b_event)


def _link(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    facts.link(connection, payload["from"], payload["to"], payload["relation"], payload.get("ts", record.ts))


def _spend(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    token_spend.spend(connection, payload["day"], payload["backend"], payload["tokens"], is_remote=True)


def _scrub(connection: sqlite3.Connection, _: dict[str, Any], record: Record) -> None:
    scrubbing.ask(connection, record.seq)


_APPLY: dict[str, Callable[[sqlite3.Connection, dict[str, Any], Record], None]] = {
    "retry": _retry,
    "resummarise": _resummarise,
    "opt-out": opt_out,
    "opt-in": opt_in,
    "undo": _undo,
    "mute": muted.apply,
    "remember": facts.insert,
    "link": _link,
    "update": fact_changes.update,
    "verdict": fact_verdicts.apply,
    "pod": pods.insert,
    "pod_change": pods.change,
    "conversation": conversations.insert,
    "document": documents.apply,
    "document_removed": documents.remove,
    "summary": _summary,
    "supersede": exchange.supersede,
    "injection": exchange.insert_injection,
    "forget": bury,
    "scrub": _scrub,
    "entity_merge": graph_merges.apply_merge,
    "entity_unmerge": graph_merges.apply_unmerge,
    "scoring": scoring.apply,
    "spend": _spend,
    "outcome": outcomes.correct,
    "team_join": team_links.apply_join,
    "team_leave": team_links.apply_leave,
}
