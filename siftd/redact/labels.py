"""Secrets that a payload's own structure names: `{"name": "DB_PASSWORD", "value": "…"}`, `["--password", "…"]`."""

from __future__ import annotations

from typing import Any

from siftd.redact.flags import FLAGS, secrets_of_command
from siftd.redact.secret_names import Kind, kind_of_name
from siftd.redact.secret_words import meaning, names_in
from siftd.redact.shape import Shape, is_assigned, shape_of
from siftd.redact.spans import Found

VALUES = frozenset(
    """
    value Value values val text content default Default defaultValue DefaultValue stringValue StringValue plaintext
    plainText plain data secretString SecretString parameterValue ParameterValue string_value
    """.split()
)
LABELS = frozenset(
    """
    name key id label field fieldname variable var selector target locator element env parameter param attribute title
    prompt question description placeholder parameterkey parametername option setting property path
    """.split()
)
HEADS = ("columns", "fields", "headers", "header", "keys")
ROWS = ("rows", "data", "values", "records")
LONGEST_LABEL = 80
MOST_ARGUMENTS = 64
SHORTEST_NUMBER = 6

_SHORT_FLAGS = frozenset(["-p", "-P", "-w", "-pw", "-pass", "/p", "-W"])


def kind_of_key(key: str) -> Kind | None:
    """Return what a value under this key is, by either way of reading names."""
    return kind_of_name(key) or (meaning(key) if len(key) <= LONGEST_LABEL else None)


def kind_of_label(node: dict[Any, Any]) -> Kind | None:
    """Return what the object's own label says that its value is."""
    if node.keys().isdisjoint(VALUES):
        return None
    for key, label in node.items():
        if isinstance(key, str) and isinstance(label, str) and key.lower() in LABELS and len(label) <= LONGEST_LABEL:
            name = next(iter(names_in(label, 0, len(label))), None)
            if name is not None:
                return name.kind
    return None


def columns_of(node: dict[Any, Any]) -> dict[int, Kind]:
    """Return which columns of an object's rows hold secrets, by the heads beside them."""
    if node.keys().isdisjoint(HEADS):
        return {}
    heads = next(node[key] for key in HEADS if key in node)
    if not isinstance(heads, list) or not 0 < len(heads) <= MOST_ARGUMENTS:
        return {}
    names = [head.get("name") if isinstance(head, dict) else head for head in heads]
    return {
        at: kind for at, name in enumerate(names) if isinstance(name, str) and (kind := kind_of_key(name)) is not None
    }


def kind_of_pair(words: list[Any] | tuple[Any, ...]) -> Kind | None:
    """Return what the second of two is, if the first names it: a header in a list of such."""
    if len(words) == 2 and isinstance(words[0], str) and isinstance(words[1], str) and len(words[0]) <= LONGEST_LABEL:
        return kind_of_key(words[0])
    return None


def is_number_of_password(kind: Kind | None, item: Any) -> bool:
    """Whether it is a number that somebody took for a password."""
    return kind == "password" and type(item) is int and len(str(item)) >= SHORTEST_NUMBER


def is_value(kind: Kind, item: str) -> bool:
    """Whether a text is a secret where its key or its label says so."""
    return is_assigned(item.strip(), "password" if kind == "password" else "secret") and kind != "key"


def is_command(words: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list is a program and its arguments."""
    if not 1 < len(words) <= MOST_ARGUMENTS or not isinstance(words[0], str):
        return False
    return words[0].rpartition("/")[2] in FLAGS or not _SHORT_FLAGS.isdisjoint(
        word for word in words if isinstance(word, str)
    )


def secrets_of_arguments(words: list[str]) -> list[Found]:
    """Return the secrets among a program's arguments, as places in the text whose lines they are."""
    if not is_command(words):
        return []
    line = " ".join(word.translate(_JOINED) for word in words)
    found = set(secrets_of_command(line, 0)[1])
    at = 0
    for flag, word in zip(["", *words], words, strict=False):
        if flag in _SHORT_FLAGS and shape_of(word) >= Shape.TWISTED:
            found.add((at, at + len(word), "password"))
        at += len(word) + 1
    apart: list[Found] = []
    for span in sorted(found):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


_JOINED = str.maketrans({" ": "_", "\t": "_", "\n": "_", '"': "_", "'": "_"})
"""An argument is one word, whatever is in it."""
