"""Configuration: every key in one table, parsed and checked without touching a file.

A file holds JSON, nested (`{"memory": {"backend": "extractive"}}`) or with dotted keys
(`{"memory.backend": "extractive"}`). A flag, which only a person who starts the daemon by hand can give, beats the file
beats the default. The environment sets none: a cloned project's settings may set any variable for whoever starts a
daemon. Unknown keys are errors that name the nearest one.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from siftd.errors import ConfigInvalid

MS_PER_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key: its name, default, kind of value, bounds, and what it decides."""

    name: str
    default: Any
    kind: str
    """"int", "float", "bool", "text", "list" (of texts), "rules" or "days" (int, or null for ever)."""
    meaning: str
    low: float | None = None
    high: float | None = None


KEYS: tuple[Key, ...] = (
    Key(
        "memory.consolidator.tickMs", 30_000, "int", "how often raw events are summarised and embedded", 50, MS_PER_DAY
    ),
    Key("memory.consolidator.batchSize", 16, "int", "events a backend is given at once", 1, 256),
    Key("memory.consolidator.supersedeMs", 300_000, "int", "how often near-duplicates are looked for", 50, MS_PER_DAY),
    Key("memory.consolidator.supersedeCosine", 0.95, "float", "how alike two summaries must be to be one", 0.5, 1.0),
    Key("memory.backend", "extractive", "text", "what writes summaries"),
    Key("memory.embedder", "blend-384", "text", "what turns text into vectors"),
    Key("memory.embedderUrl", "", "text", "the embedder's address on this machine, when it is not the usual one"),
    Key("memory.dailyTokenCap", 0, "int", "tokens a day a remote backend may use; 0 lets nothing leave", 0, 10**12),
    Key(
        "memory.fallbackMs",
        600_000,
        "int",
        "how long a backend is waited for before the built-in one stands in",
        0,
        10 * 365 * MS_PER_DAY,
    ),
    Key("memory.baseUrl", "", "text", "the model server's address, when it is not the usual one"),
    Key("memory.apiKeyFile", "", "text", "a file (mode 0600) that holds the remote backend's API key"),
    Key("memory.command", [], "list", "argv of the `command` backend; {model} is substituted"),
    Key("daemon.idleExitMs", 1_800_000, "int", "the daemon ends after so long without a request", 100, 10 * MS_PER_DAY),
    Key("log.keepDays", 30, "days", "how long sealed log segments are kept", 1, 36_500),
    Key("store.keepDays", None, "days", "how long events are kept; null is for ever", 1, 36_500),
    Key("capture.maxPayloadBytes", 262_144, "int", "a larger payload is shortened", 4_096, 4_194_304),
    Key("capture.ignore", [], "list", "globs over tool names and file paths that are not captured"),
    Key("capture.exclude", [], "list", "folders; workspaces under them are not captured"),
    Key("redact.emails", True, "bool", "replace email addresses"),
    Key("redact.phones", True, "bool", "replace phone numbers"),
    Key("redact.rules", [], "rules", "rules of one's own: a name, a pattern, an example that it catches"),
    Key("search.weights.words", 1.0, "float", "what a summary holds of the question", 0, 10),
    Key("search.weights.raw", 0.75, "float", "what the event itself holds of it", 0, 10),
    Key("search.weights.vector", 1.0, "float", "how near a summary's vector is", 0, 10),
    Key("search.weights.trigram", 0.4, "float", "a word of the question inside another", 0, 10),
    Key("search.weights.session", 0.15, "float", "what the rest of a hit's session holds", 0, 10),
    Key("search.weights.neighbour", 0.25, "float", "what a session shortly before or after holds", 0, 10),
    Key("search.weights.recency", 0.4, "float", "how much newer lifts a hit", 0, 10),
    Key("search.weights.confidence", 0.1, "float", "how much a surer summary lifts a hit", 0, 10),
    Key("search.weights.prompt", 0.5, "float", 'how much being typed lifts a hit, if a question says "I"', 0, 10),
    Key(
        "search.weights.conclusion", 0.6, "float", "how much saying what came of it lifts a hit, for a question", 0, 10
    ),
    Key("search.weights.diversity", 0.15, "float", "what a hit loses for each better one of its session", 0, 10),
    Key("search.acrossProjects", False, "bool", "whether agents may search every project's memory, not only their own"),
    Key("recall.maxTokens", 800, "int", "the most that is given back for one prompt; 0 gives nothing", 0, 2_400),
    Key("recall.failures", True, "bool", "whether a command that fails as it did before brings how it was got through"),
    Key("recall.notice", True, "bool", "whether the person sees one line when an agent is given something"),
    Key("recall.briefTokens", 600, "int", "the most that is given at a session's start; 0 gives nothing", 0, 2_400),
)
_BY_NAME = {key.name: key for key in KEYS}


class Settings:
    """The values of every key. Immutable; read one by its name: `settings["memory.backend"]`."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {**{key.name: key.default for key in KEYS}, **values}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def items(self) -> Iterator[tuple[str, Any]]:
        return iter(self._values.items())


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine; a name other than localhost is not trusted to be."""
    import ipaddress
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_excluded(root: str, settings: Settings) -> bool:
    """Whether `capture.exclude` names the workspace at `root` or a folder above it."""
    folders = [folder.rstrip("/") for folder in settings["capture.exclude"]]
    return any(root == folder or root.startswith(f"{folder}/") for folder in folders)


def parse_file(text: str) -> dict[str, Any]:
    """Return the checked values of a configuration file's text, by key name."""
    try:
        document = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigInvalid("config.json is not JSON", hint="correct it; the last good one holds") from error
    if not isinstance(document, dict):
        raise ConfigInvalid("config.json is not an object", hint='begin with {"memory.backend": "extractive"}')
    return {name: check(name, value) for name, value in _flatten(document, "")}


def parse_flags(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the checked values of `KEY=VALUE` flags."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigInvalid("a setting is written KEY=VALUE", hint="for instance memory.backend=extractive")
        values[name] = check(name, _from_text(_key(name), text))
    return values


def check(name: str, value: Any) -> Any:
    """Return `value` if it is one that key `name` may have."""
    key = _key(name)
    if key.kind == "days" and value is None:
        return None
    if not _has_kind(key, value):
        raise ConfigInvalid(f"{name} must be {_KIND_WORDS[key.kind]}", hint=f"the default is {json.dumps(key.default)}")
    if (key.low is not None and value < key.low) or (key.high is not None and value > key.high):
        raise ConfigInvalid(f"{name} must be between {key.low:g} and {key.high:g}")
    if key.kind == "rules" and value:
        from siftd import custom_rules  # `mem` reads the configuration at every run, and few have such rules

        custom_rules.parse(value)
    return value


_KIND_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "a text",
    "list": "a list of texts",
    "rules": "a list of rules",
    "days": "a whole number of days or null",
}


def _has_kind(key: Key, value: Any) -> bool:
    match key.kind:
        case "int" | "days":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "rules":
            return isinstance(value, list)
        case _:
            return isinstance(value, str)


def _from_text(key: Key, text: str) -> Any:
    if key.kind == "text":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return [part for part in text.split(",") if part] if key.kind == "list" else text


def _key(name: str) -> Key:
    if name in _BY_NAME:
        return _BY_NAME[name]
    near = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.0)
    raise ConfigInvalid(f"there is no key {name!r} in the configuration", hint=f"did you mean {near[0]!r}?")


def _flatten(document: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{path}.")
        else:
            yield path, value
