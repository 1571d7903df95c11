"""A project as lines of JSON: the operator's copy, private items too; no tokens, no vectors, no feedback, no audit.

    {"siftdTeam":1,"project":{"id":…,"name":…,"embedder":…},"sources":[…]}
    {"person":{"id":…,"name":…},"role":"writer"}            members, and whoever wrote or forgot something
    {"item":{…},"author":…,"device":…}                      as on the wire; the order is the feed's
    {"gone":…,"at":…,"by":…,"author":…,"wasShared":…,"isFinal":…}

Ids are made from the project's id, so that a project is imported under the id that it had, and importing it twice, or
into one that has gone on, is an update: the later `rev` counts, and what was forgotten stays so. Devices join again by
invitation. For an exact copy of a whole store, its devices too, there is pg_dump.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import msgspec

from siftd.errors import RequestInvalid
from siftd.team.items import Moment, Put
from siftd.team.protocol import Person, Role
from siftd.team_server.feed import put
from siftd.team_server.operator import Connection, note
from siftd.team_server.pushing import columns

VERSION = 1
BATCH = 500
T = TypeVar("T")


class _Line(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """Any line; which fields it has says what it is."""

    siftd_team: int | None = None
    project: dict[str, str] | None = None
    sources: list[str] = []
    person: Person | None = None
    role: Role | None = None
    item: Put | None = None
    author: uuid.UUID | None = None
    device: uuid.UUID | None = None
    gone: uuid.UUID | None = None
    at: Moment | None = None
    by: uuid.UUID | None = None
    was_shared: bool = True
    is_final: bool = True


_DECODER = msgspec.json.Decoder(_Line)


def export(connection: Connection, project: uuid.UUID) -> Iterator[bytes]:
    """Yield the lines of a project, as it is in one moment."""
    row = connection.execute("SELECT id::text, name, embedder FROM projects WHERE id = %s", (project,)).fetchone()
    assert row is not None
    sources = connection.execute("SELECT source FROM sources WHERE project_id = %s AND is_on", (project,)).fetchall()
    about = {"id": row[0], "name": row[1], "embedder": row[2]}
    yield _line(_Line(siftd_team=VERSION, project=about, sources=sorted(each for (each,) in sources)))
    people = connection.execute(
        """
        SELECT n.id, n.name, m.role FROM persons n LEFT JOIN members m ON m.person = n.id AND m.project_id = %(p)s
        WHERE m.person IS NOT NULL
            OR n.id IN (SELECT author FROM memories WHERE project_id = %(p)s)
            OR n.id IN (SELECT unnest(ARRAY[author, by_person]) FROM tombstones WHERE project_id = %(p)s)
        ORDER BY n.name
        """,
        {"p": project},
    )
    for person, name, role in people.fetchall():
        yield _line(_Line(person=Person(id=person, name=name), role=role))
    with connection.cursor(name="items") as cursor:
        cursor.execute(
            """
            SELECT jsonb_build_object('id', id, 'rev', rev, 'hash', encode(hash, 'hex'), 'source', source, 'source_ref',
                source_ref, 'text', text, 'words', words, 'metadata', metadata, 'visibility', visibility,
                'ts', milliseconds(ts), 'valid_from', milliseconds(valid_from), 'valid_to', milliseconds(valid_to),
                'superseded_by', superseded_by, 'archived_at', milliseconds(archived_at)), author, device
            FROM memories WHERE project_id = %s ORDER BY seq
            """,
            (project,),
        )
        for item, author, device in cursor:
            yield _line(_Line(item=put(_typed(item)), author=author, device=device))
        cursor.close()
    with connection.cursor(name="gone") as cursor:
        cursor.execute(
            "SELECT id, milliseconds(at), by_person, author, was_shared, is_final FROM tombstones"
            " WHERE project_id = %s ORDER BY seq",
            (project,),
        )
        for item, at, by, author, was_shared, is_final in cursor:
            yield _line(_Line(gone=item, at=at, by=by, author=author, was_shared=was_shared, is_final=is_final))


def _typed(item: dict[str, Any]) -> dict[str, Any]:
    after = item["superseded_by"]
    return {**item, "id": uuid.UUID(item["id"]), "superseded_by": uuid.UUID(after) if after else None}


def _line(line: _Line) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def read(connection: Connection, lines: Iterable[bytes]) -> tuple[str, int, int]:
    """Import lines, and return (the project's name, how many items, how many tombstones) were new.

    Raises RequestInvalid with the number of a line that is none; then nothing is imported.
    """
    decoded = _decoded(lines)
    first = next(decoded, None)
    if first is None or first.siftd_team != VERSION or first.project is None:
        raise RequestInvalid("this is no export of a team's project", hint="siftd team export writes one")
    about = first.project
    project = uuid.UUID(about["id"])
    connection.execute(
        "INSERT INTO projects (id, name, embedder) VALUES (%s, %s, %s) ON CONFLICT (id) DO NOTHING",
        (project, about["name"], about["embedder"]),
    )
    connection.execute("SELECT 1 FROM projects WHERE id = %s FOR UPDATE", (project,))
    for source in first.sources:
        connection.execute(
            "INSERT INTO sources (project_id, source, is_on) VALUES (%s, %s, true)"
            " ON CONFLICT (project_id, source) DO UPDATE SET is_on = true",
            (project, source),
        )
    people: dict[uuid.UUID, uuid.UUID] = {}
    items = gone = 0
    for batch in _batches(decoded, BATCH):
        for each in batch:
            if each.person is not None:
                people[each.person.id] = _ensure_person(connection, project, each.person, each.role)
        gone += _put_gone(connection, project, people, [each for each in batch if each.gone is not None])
        items += _put_items(connection, project, people, [each for each in batch if each.item is not None])
    note(connection, project, f"imported {items} items and {gone} tombstones")
    return about["name"], items, gone


def _decoded(lines: Iterable[bytes]) -> Iterator[_Line]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _DECODER.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise RequestInvalid(f"line {number} is no line of an export", hint="nothing was imported") from error


def _batches(lines: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(lines, size)):
        yield batch


def _ensure_person(connection: Connection, project: uuid.UUID, person: Person, role: Role | None) -> uuid.UUID:
    """Return the id of who has this name here; a member there is one here."""
    connection.execute(
        "INSERT INTO persons (id, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", (person.id, person.name)
    )
    row = connection.execute(
        "SELECT id FROM persons WHERE name = %s OR id = %s ORDER BY name = %s DESC",
        (person.name, person.id, person.name),
    ).fetchone()
    assert row is not None
    if role is not None:
        connection.execute(
            "INSERT INTO members (project_id, person, role) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            (project, row[0], role),
        )
    return uuid.UUID(str(row[0]))


def _put_items(
    connection: Connection, project: uuid.UUID, people: dict[uuid.UUID, uuid.UUID], lines: list[_Line]
) -> int:
    known = [each for each in lines if each.item is not None and each.author in people]
    if not known:
        return 0
    sent = columns([each.item for each in known if each.item is not None], with_vectors=False)[:-2]
    authors = [people[each.author] for each in known if each.author is not None]
    row = connection.execute(
        """
        WITH sent AS (
            SELECT * FROM unnest(%s::uuid[], %s::bigint[], %s::bytea[], %s::text[], %s::text[], %s::text[], %s::text[],
                %s::text[]::jsonb[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::uuid[], %s::bigint[],
                %s::uuid[], %s::uuid[]) WITH ORDINALITY AS u(id, rev, hash, source, ref, text, words, metadata,
                visibility, ts, valid_from, valid_to, superseded_by, archived_at, author, device, n)
        ), stored AS (
            INSERT INTO memories AS m (project_id, id, seq, rev, hash, source, source_ref, author, device, visibility,
                was_shared, text, words, metadata, ts, valid_from, valid_to, superseded_by, archived_at)
            SELECT p.id, s.id, p.head + n, rev, hash, source, ref, author, coalesce(device,
                '00000000-0000-0000-0000-000000000000'), visibility, visibility = 'project', text, words, metadata,
                moment(ts), moment(valid_from), moment(valid_to), superseded_by, moment(archived_at)
            FROM sent s, projects p WHERE p.id = %s
                AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.project_id = p.id AND t.id = s.id AND t.is_final)
            ON CONFLICT (project_id, id) DO UPDATE SET seq = excluded.seq, rev = excluded.rev, hash = excluded.hash,
                author = excluded.author, device = excluded.device, visibility = excluded.visibility,
                was_shared = m.was_shared OR excluded.was_shared, text = excluded.text, words = excluded.words,
                metadata = excluded.metadata, ts = excluded.ts, valid_from = excluded.valid_from,
                valid_to = excluded.valid_to, superseded_by = excluded.superseded_by,
                archived_at = excluded.archived_at, stored_at = now(), embedding_model = NULL, vector = NULL,
                embedded_at = NULL
            WHERE m.rev < excluded.rev RETURNING 1
        ), moved AS (UPDATE projects SET head = head + %s WHERE id = %s)
        SELECT count(*) FROM stored
        """,
        (*sent, authors, [each.device for each in known], project, len(known), project),
    ).fetchone()
    return 0 if row is None else int(row[0])


def _put_gone(
    connection: Connection, project: uuid.UUID, people: dict[uuid.UUID, uuid.UUID], lines: list[_Line]
) -> int:
    new = 0
    for each in lines:
        by, author = (people.get(one, one) if one else None for one in (each.by, each.author))
        nobody = uuid.UUID(int=0)
        done = connection.execute(
            "INSERT INTO tombstones AS t (project_id, id, seq, at, by_person, author, was_shared, is_final)"
            " SELECT id, %s, head + 1, moment(coalesce(%s::bigint, 0)), %s, %s, %s, %s FROM projects WHERE id = %s"
            " ON CONFLICT (project_id, id) DO UPDATE SET is_final = true WHERE NOT t.is_final AND excluded.is_final",
            (each.gone, each.at, by or nobody, author or nobody, each.was_shared, each.is_final, project),
        )
        if done.rowcount:
            new += 1
            connection.execute("UPDATE projects SET head = head + 1 WHERE id = %s", (project,))
            if each.is_final:
                connection.execute("DELETE FROM memories WHERE project_id = %s AND id = %s", (project, each.gone))
    return new
