"""Configuration: every key is a field of `Settings`, parsed and checked without touching a file.

A file holds JSON, nested (`{"memory": {"backend": "extractive"}}`) or with dotted keys
(`{"memory.backend": "extractive"}`). A flag, which only a person who starts the daemon by hand can give, beats the file
beats the default. The environment sets none: a cloned project's settings may set any variable for whoever starts a
daemon. Unknown keys are errors that name the nearest one.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from siftd.errors import ConfigInvalid

MS_PER_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key: its name, default, kind of value, bounds, and what it decides."""

    name: str
    field: str
    """Its field of `Settings`."""
    default: Any
    kind: str
    """"int", "float", "bool", "text", "list" (of texts), "lists" (by name), "counts" (by the default's names), "rules"
    or "days" (int; null: for ever)."""
    meaning: str
    low: float | None = None
    high: float | None = None


def _key(name: str, default: Any, meaning: str, low: float | None = None, high: float | None = None) -> Any:
    """Return a field of `Settings`. Its annotation is the kind of value that the key takes."""
    described = {"name": name, "default": default, "meaning": meaning, "low": low, "high": high}
    return field(default_factory=partial(copy, default), metadata=described)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The value of every key; a field is named as its key is, in snake case."""

    memory_consolidator_tick_ms: int = _key(
        "memory.consolidator.tickMs", 30_000, "how often raw events are summarised and embedded", 50, MS_PER_DAY
    )
    memory_consolidator_batch_size: int = _key(
        "memory.consolidator.batchSize", 16, "events per request to a backend", 1, 256
    )
    memory_consolidator_supersede_ms: int = _key(
        "memory.consolidator.supersedeMs", 300_000, "how often near-duplicate summaries are looked for", 50, MS_PER_DAY
    )
    memory_consolidator_supersede_cosine: float = _key(
        "memory.consolidator.supersedeCosine",
        0.95,
        "cosine similarity at which a newer summary supersedes an older one",
        0.5,
        1.0,
    )
    memory_backend: str = _key("memory.backend", "extractive", "backend that writes summaries")
    memory_embedder: str = _key("memory.embedder", "blend-384", "backend that turns text into vectors")
    memory_embedder_url: str = _key(
        "memory.embedderUrl", "", "address of the embedding server on this machine, if not the default one"
    )
    memory_daily_token_cap: int = _key(
        "memory.dailyTokenCap", 0, "tokens per day that a remote backend may use; 0: nothing is sent", 0, 10**12
    )
    memory_fallback_ms: int = _key(
        "memory.fallbackMs",
        600_000,
        "how long a failing backend is retried before the built-in one is used",
        0,
        10 * 365 * MS_PER_DAY,
    )
    memory_base_url: str = _key("memory.baseUrl", "", "address of the model server, if not the default one")
    memory_api_key_file: str = _key(
        "memory.apiKeyFile", "", "a file (mode 0600) that holds the remote backend's API key"
    )
    memory_command: list[str] = _key("memory.command", [], "argv of the `command` backend; {model} is substituted")
    graph_ask_model: bool = _key(
        "graph.askModel", False, "whether a configured model reads documents and facts for relations, beside the rules"
    )
    facts_extract: bool = _key(
        "facts.extract", True, "whether facts are taken from what people and agents say, once a turn is over"
    )
    facts_archive_days: int | None = _key(
        "facts.archiveDays",
        None,
        "days unused after which a taken fact of importance 1 or 2 is not found; null: never",
        1,
        36_500,
    )
    facts_learn: bool = _key(
        "facts.learn", True, "whether facts are learnt from what was done: commands that build and test, and more"
    )
    daemon_idle_exit_ms: int = _key(
        "daemon.idleExitMs", 1_800_000, "idle time after which the daemon exits", 100, 10 * MS_PER_DAY
    )
    log_keep_days: int | None = _key("log.keepDays", 30, "how long sealed log segments are kept", 1, 36_500)
    store_keep_days: int | None = _key("store.keepDays", None, "how long events are kept; null: for ever", 1, 36_500)
    capture_max_payload_bytes: int = _key(
        "capture.maxPayloadBytes", 262_144, "size above which a payload is truncated", 4_096, 4_194_304
    )
    capture_ignore: list[str] = _key(
        "capture.ignore", [], "glob patterns of tool names and file paths that are not captured"
    )
    capture_exclude: list[str] = _key("capture.exclude", [], "folders; workspaces under them are not captured")
    redact_emails: bool = _key("redact.emails", True, "replace email addresses")
    redact_phones: bool = _key("redact.phones", True, "replace phone numbers")
    redact_rules: list[Any] = _key(
        "redact.rules", [], "custom redaction rules: a name, a pattern, an example that it matches"
    )
    search_weights_words: float = _key("search.weights.words", 1.0, "weight of the query's words in a summary", 0, 10)
    search_weights_raw: float = _key(
        "search.weights.raw", 0.75, "weight of the query's words in the event itself", 0, 10
    )
    search_weights_vector: float = _key("search.weights.vector", 1.0, "weight of a summary's vector similarity", 0, 10)
    search_weights_trigram: float = _key(
        "search.weights.trigram", 0.4, "weight of a query word that occurs only inside other words", 0, 10
    )
    search_weights_session: float = _key(
        "search.weights.session", 0.15, "weight of matches elsewhere in the same session", 0, 10
    )
    search_weights_neighbour: float = _key(
        "search.weights.neighbour", 0.25, "weight of matches in sessions shortly before or after", 0, 10
    )
    search_weights_recency: float = _key("search.weights.recency", 0.4, "boost for newer hits", 0, 10)
    search_weights_confidence: float = _key(
        "search.weights.confidence", 0.1, "boost for summaries with a higher confidence", 0, 10
    )
    search_weights_prompt: float = _key(
        "search.weights.prompt", 0.5, "boost for what a person typed, when the query is in the first person", 0, 10
    )
    search_weights_conclusion: float = _key(
        "search.weights.conclusion", 0.6, "boost for statements of an outcome, when the query is a question", 0, 10
    )
    search_weights_diversity: float = _key(
        "search.weights.diversity", 0.15, "penalty for each better hit of the same session", 0, 10
    )
    search_weights_graph: float = _key(
        "search.weights.graph", 0.0, "weight of what names an entity of the question, or one related to it", 0, 10
    )
    search_across_projects: bool = _key(
        "search.acrossProjects", False, "whether agents may search every project's memory, not only their own"
    )
    documents_agents_fetch: bool = _key(
        "documents.agentsFetch", False, "whether agents may have a URL read in; a person always may"
    )
    recall_max_tokens: int = _key("recall.maxTokens", 800, "maximum tokens of recall per prompt; 0: none", 0, 2_400)
    recall_failures: bool = _key(
        "recall.failures", True, "whether a repeated failure shows the agent how it was resolved before"
    )
    recall_notice: bool = _key("recall.notice", True, "whether a line says to the person what the agent was given")
    facts_person: str = _key(
        "facts.person", "", "the name of the person whose own pod is theirs here; empty: the login name"
    )
    recall_brief_tokens: int = _key(
        "recall.briefTokens", 600, "maximum tokens of the brief at a session's start; 0: none", 0, 2_400
    )

    backfill_sources: dict[str, list[str]] = _key(
        "backfill.sources",
        {},
        "by workspace: more session files of yours, as globs; CLIENT:GLOB of a client's",
    )

    notes_curate: bool = _key(
        "notes.curate", False, "whether a model curates the notes: the digest then goes to `notes.curatorCmd`"
    )
    notes_curator_cmd: list[str] = _key(
        "notes.curatorCmd",
        [],
        "argv of the curator, which reads its input; {model} is substituted; none: `claude -p`",
    )
    notes_model: str = _key("notes.model", "haiku", "the curator's model")
    notes_large_model: str = _key(
        "notes.largeModel", "sonnet", "its model for a long digest, at a session's end or when you ask by hand"
    )
    notes_escalate_chars: int = _key(
        "notes.escalateChars", 15_000, "characters of a digest above which it is long", 0, 10_000_000
    )
    notes_digest_chars: int = _key("notes.digestChars", 60_000, "maximum characters of a digest", 2_000, 1_000_000)
    notes_quiet_seconds: int = _key(
        "notes.quietSeconds", 600, "how long nothing must have come before the sweep distils a project", 0, 86_400
    )
    notes_budgets: dict[str, int] = _key(
        "notes.budgets",
        {"state": 10_000, "decisions": 12_000, "todo": 10_000, "mistakes": 22_000},
        "characters of each file",
    )
    notes_git_commit: bool = _key(
        "notes.gitCommit", True, "whether notes in a project's own tree are committed, and nothing else with them"
    )
    notes_auto_scaffold: bool = _key(
        "notes.autoScaffold", False, "whether the sweep makes notes, in siftd's home, for repositories it has seen"
    )
    notes_exclude: list[str] = _key("notes.exclude", [], "folders; no project under them has notes")
    team_share: list[str] = _key(
        "team.share",
        ["memory", "fact", "session", "knowledge"],
        "what `mem team join` shares; `turn` too may be",
    )
    team_push: bool = _key(
        "team.push", True, "whether what is shared goes up by itself, and not at `mem team push` alone"
    )
    team_ca_file: str = _key(
        "team.caFile", "", "a file of certificates that a team's server is checked by, in the place of the usual ones"
    )
    notes_sources: dict[str, list[str]] = _key(
        "notes.sources",
        {},
        "by project: more session files of yours for its notes, as globs; CLIENT:GLOB of a client's",
    )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Return what checked values say, by key name; where they say nothing, the defaults hold."""
        return cls(**{_BY_NAME[name].field: value for name, value in values.items()})

    def by_key(self) -> dict[str, Any]:
        """Return every value by its key's name."""
        return {key.name: getattr(self, key.field) for key in KEYS}


_KINDS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "text",
    "list[str]": "list",
    "list[Any]": "rules",
    "dict[str, list[str]]": "lists",
    "dict[str, int]": "counts",
    "int | None": "days",
}
KEYS = tuple(Key(field=each.name, kind=_KINDS[str(each.type)], **each.metadata) for each in fields(Settings))
_BY_NAME = {key.name: key for key in KEYS}


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
    folders = [folder.rstrip("/") for folder in settings.capture_exclude]
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
        values[name] = check(name, _from_text(find_key(name), text))
    return values


def check(name: str, value: Any) -> Any:
    """Return `value` if it is one that key `name` may have."""
    key = find_key(name)
    if key.kind == "days" and value is None:
        return None
    if not _has_kind(key, value):
        raise ConfigInvalid(f"{name} must be {_KIND_WORDS[key.kind]}", hint=f"the default is {json.dumps(key.default)}")
    if key.kind == "counts":
        return _with_defaults(key, value)
    if (key.low is not None and value < key.low) or (key.high is not None and value > key.high):
        raise ConfigInvalid(f"{name} must be between {key.low:g} and {key.high:g}")
    if key.kind == "rules" and value:
        from siftd import custom_rules  # `mem` reads the configuration at every run, and few have such rules

        custom_rules.parse(value)
    return value


def _with_defaults(key: Key, value: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are set; for the others the defaults stay."""
    for name in value:
        if name not in key.default:
            raise ConfigInvalid(f"{key.name} knows no {name!r}", hint=f"it knows {', '.join(key.default)}")
    return {**key.default, **value}


_KIND_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "a text",
    "list": "a list of texts",
    "rules": "a list of rules",
    "lists": "an object whose values are lists of texts",
    "counts": "an object whose values are whole numbers above 0",
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
            return _is_list_of_texts(value)
        case "lists":
            return isinstance(value, dict) and all(_is_list_of_texts(item) for item in value.values())
        case "counts":
            return isinstance(value, dict) and all(_is_count(item) for item in value.values())
        case "rules":
            return isinstance(value, list)
        case _:
            return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _from_text(key: Key, text: str) -> Any:
    if key.kind == "text":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return [part for part in text.split(",") if part] if key.kind == "list" else text


def find_key(name: str) -> Key:
    """Return the key of that name. Raises ConfigInvalid, which names the nearest one."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    near = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.0)
    raise ConfigInvalid(f"there is no key {name!r} in the configuration", hint=f"did you mean {near[0]!r}?")


def _flatten(document: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        path = f"{prefix}{name}"
        is_value = path in _BY_NAME and _BY_NAME[path].kind in ("lists", "counts")
        if isinstance(value, dict) and not is_value:
            yield from _flatten(value, f"{path}.")
        else:
            yield path, value
