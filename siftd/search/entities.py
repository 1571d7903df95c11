"""Finding entities: by the names that stand in a query, else by its words and beginnings of words."""

from __future__ import annotations

from typing import Literal, NamedTuple

from siftd import ids
from siftd.errors import NothingFound, RequestInvalid
from siftd.graph.model import ENTITY_TYPES, EntityType, Named
from siftd.graph.names import name_key
from siftd.search.graph_question import Asked, Run, asked, is_question, longest, runs
from siftd.search.query import Question, any_of, informative, quoted
from siftd.store import graph_names, graph_reading
from siftd.store.access import Database

LIMIT_MAX = 100
How = Literal["name", "alias", "words"]


class NamedEntity(NamedTuple):
    """An entity that a query names, and where."""

    id: int
    how: How
    run: Run


def named_in(connection: Database, query: str) -> list[NamedEntity]:
    """Return the entities whose names, or aliases, stand in a query, in its order; several where a name has several.

    Of names inside of each other the longer one counts: "auth service" rather than "auth".
    """
    found = runs(query)
    keys = {run: _keys(run.text) for run in found}
    known = graph_reading.of_keys(connection, list({key for theirs in keys.values() for key in theirs}))
    by_run: dict[Run, list[NamedEntity]] = {}
    for run, theirs in keys.items():
        best: dict[int, How] = {}
        for key, types in theirs.items():
            for each in known.get(key, ()):
                if each.type in types:
                    best[each.id] = "name" if best.get(each.id) == "name" or not each.is_alias else "alias"
        if best:
            by_run[run] = [NamedEntity(number, how, run) for number, how in best.items()]
    return [each for run in longest(by_run) for each in _best_first(connection, by_run[run])]


def find(connection: Database, query: str, type_: str | None, limit: int) -> list[tuple[int, How]]:
    """Return entities for a query, best first: those whose names it is, or holds, then those that share words with it.

    Raises RequestInvalid for a type that there is not.
    """
    checked_type(type_)
    limit = max(1, min(limit, LIMIT_MAX))
    question = Question.of(query)
    found: dict[int, How] = {}
    for named in named_in(connection, question.text):
        found.setdefault(named.id, named.how)
    if type_ is not None:
        types = graph_reading.names_of(connection, found)
        found = {each: how for each, how in found.items() if types[each]["type"] == type_}
    match = any_of(question.terms)
    if match is not None and len(found) < limit:
        for each in graph_reading.by_words(connection, match, type_, limit):
            found.setdefault(each, "words")
        starts = " OR ".join(f"{quoted(term)}*" for term in informative(question.terms) if len(term) > 1)
        for each in graph_reading.by_words(connection, starts, type_, limit) if starts and len(found) < limit else ():
            found.setdefault(each, "words")
    return list(found.items())[:limit]


def checked_type(type_: str | None) -> str | None:
    """Return a type of entities, or None for all of them. Raises RequestInvalid."""
    if type_ is not None and type_ not in ENTITY_TYPES:
        raise RequestInvalid("there is no such type of entity", hint=f"one of {', '.join(ENTITY_TYPES)}")
    return type_


def resolve(connection: Database, text: str) -> list[int]:
    """Return the entity that an id (x3) or a name is of, and others of the same name behind it.

    Raises NothingFound, with what is near as a remedy.
    """
    named, _ = resolve_question(connection, text)
    return named


def resolve_question(connection: Database, text: str) -> tuple[list[int], Asked | None]:
    """As `resolve`, of a question too ("what does auth depend on?"), and which relation it is after."""
    if (number := ids.parse_entity(text)) is not None:
        standing = graph_names.canonical(connection, number)
        if not graph_reading.names_of(connection, [standing]):
            raise NothingFound("there is no such entity", hint="`mem entity NAME` finds them")
        return [standing], None
    question = Question.of(text).text
    named = named_in(connection, question)
    if named and not is_question(question):
        whole = [each for each in named if each.run.first == 0 and each.run.last == len(question.split()) - 1]
        named = whole or named
    if not named:
        raise NothingFound("no entity has this name", hint="`mem entity` with a part of it lists what is near")
    first = named[0].run
    return [each.id for each in named if each.run == first], asked(question, first)


def resolve_merged(connection: Database, text: str) -> int:
    """Return the merged entity whose own name this is. Raises NothingFound."""
    keys = _keys(Question.of(text).text)
    found = graph_reading.of_keys(connection, list(keys))
    merged = [each.named for key, theirs in found.items() for each in theirs if each.named != each.id]
    if not merged:
        raise NothingFound("no merged entity has this name", hint="`mem entity` shows what was merged into one")
    return min(merged)


def _keys(text: str) -> dict[str, set[EntityType]]:
    """Return what a name would be known by, of each type."""
    keys: dict[str, set[EntityType]] = {}
    for type_ in ENTITY_TYPES:
        keys.setdefault(name_key(Named(type_, text)), set()).add(type_)
    return keys


def _best_first(connection: Database, named: list[NamedEntity]) -> list[NamedEntity]:
    """Return those of one name: its own before an alias, then the most mentioned."""
    mentions = {each["id"]: each["mentions"] for each in graph_reading.list_entities(connection, [n.id for n in named])}
    return sorted(named, key=lambda each: (each.how != "name", -mentions.get(ids.cite_entity(each.id), 0), each.id))
