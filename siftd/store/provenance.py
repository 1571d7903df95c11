"""What a thing comes from, for a picture: a memory from its summary's events, a summary from its events, those from the
prompt that they answer. Each step is one look-up by an index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from siftd import ids
from siftd.store.answers import as_rows
from siftd.wire.requests.overview import EdgesAnswer, GraphEdge, GraphNode

NODES_MAX = 200
OF_ONE_MAX = 50
"""Edges that are followed from one thing. A session's summary stands on all of its events."""

_NODES = {
    ids.EVENT: """
SELECT 'e' || e.id AS id, CASE e.kind WHEN 'prompt' THEN 'prompt' ELSE 'event' END AS kind, e.ts, e.said_by,
coalesce((SELECT s.text FROM summaries s WHERE s.event_id = e.id ORDER BY s.confidence DESC, s.id DESC LIMIT 1), '')
AS text FROM events e WHERE e.id = ?
""",
    ids.SUMMARY: "SELECT 's' || id AS id, 'summary' AS kind, ts, said_by, text FROM summaries WHERE id = ?",
    ids.MEMORY: "SELECT 'm' || id AS id, 'memory' AS kind, ts, said_by, text FROM facts WHERE id = ?",
}
_EDGES = {
    ids.EVENT: """
SELECT 'e' || dst_id, edge FROM provenance_edges
WHERE src_kind = 'event' AND src_id = ?1 AND dst_kind = 'event' AND dst_id <> ?1
UNION SELECT 'e' || p.id, 'answers' FROM events e JOIN events p ON p.id = (
    SELECT q.id FROM events q WHERE q.session_id = e.session_id AND q.kind = 'prompt' AND q.prompt_id = e.prompt_id
    ORDER BY q.id LIMIT 1)
WHERE e.id = ?1 AND e.prompt_id IS NOT NULL AND p.id <> e.id LIMIT ?2
""",
    ids.SUMMARY: """
SELECT 'e' || event_id, 'derives_from' FROM summaries WHERE id = ?1
UNION SELECT 'e' || dst_id, edge FROM provenance_edges
WHERE src_kind = 'summary' AND src_id = ?1 AND dst_kind = 'event' LIMIT ?2
""",
    ids.MEMORY: """
SELECT 'e' || event_id, 'derives_from' FROM fact_sources WHERE fact_id = ?1
UNION SELECT 'm' || to_id, relation FROM fact_links WHERE from_id = ?1 LIMIT ?2
""",
}


def walk(connection: sqlite3.Connection, kind: str, number: int, depth: int) -> EdgesAnswer | None:
    """Return what a thing comes from, so many steps deep; None where it is not there."""
    nodes: dict[str, GraphNode] = {}
    edges: list[GraphEdge] = []
    level = [ids.cite(kind, number)]
    is_whole = True
    for step in range(depth + 1):
        following: list[str] = []
        for cited in level:
            found = None if cited in nodes else _find(connection, cited)
            if found is None:
                continue
            if len(nodes) >= NODES_MAX:
                is_whole = False
                break
            nodes[cited] = found
            for target, relation in _list_edges(connection, cited):
                if step == depth or len(edges) >= 2 * NODES_MAX:
                    is_whole = False
                    break
                edges.append({"from": cited, "to": target, "relation": relation})
                following.append(target)
        level = following
    if not nodes:
        return None
    return {"nodes": [*nodes.values()], "edges": [e for e in edges if e["to"] in nodes], "isWhole": is_whole}


def _find(connection: sqlite3.Connection, cited: str) -> GraphNode | None:
    rows = as_rows(connection.execute(_NODES[cited[0]], (int(cited[1:]),)), GraphNode)
    return rows[0] if rows else None


def _list_edges(connection: sqlite3.Connection, cited: str) -> Iterator[tuple[str, str]]:
    for target, relation in connection.execute(_EDGES[cited[0]], (int(cited[1:]), OF_ONE_MAX)):
        yield str(target), str(relation)
