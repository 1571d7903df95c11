"""Every configuration key changes what siftd does: one test each, against the real daemon."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from team_stand_in import TeamStandIn, team_server

from siftd.config import KEYS
from siftd.errors import DocumentRefused, RequestInvalid
from siftd.mcp.document_tools import DocumentTools
from siftd.mcp.link import Link
from siftd.search.candidate_pool import NEAREST
from siftd.wire.asking import Search
from siftd.wire.client import connect
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home

pytestmark = pytest.mark.slow

MEM = str(Path(sys.executable).with_name("mem"))
LONG = 86_400_000


HOOK = Path(__file__).resolve().parents[2] / "hooks" / "hook.py"


class Desk:
    """A throw-away home and workspace whose daemon runs with the settings given."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SIFTD_WORKSPACE": str(self.workspace),
        }
        self.paths = Home(f"{folder}/.siftd").for_workspace(find_workspace(str(self.workspace)).key)
        config = Path(self.paths.home.config)
        config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        config.write_text(json.dumps(settings))

    def mem(self, *arguments: str) -> Any:
        done = self.try_mem(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def try_mem(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [MEM, *arguments, "--json"]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def ask(self, request: dict[str, Any], on_progress: Callable[[Any], None] | None = None) -> dict[str, Any]:
        with connect(self.paths) as client:
            return client.request(request, timeout=30, on_progress=on_progress)

    def capture(self, command: str = "make", output: str = "done", **fields: Any) -> dict[str, Any]:
        payload = {"tool_input": {"command": command}, "tool_response": {"stdout": output, "stderr": ""}}
        return self.ask(
            {"kind": "capture", "sessionId": "s", "tool": "Bash", "payload": payload, "ts": 10**12, **fields}
        )

    def hook(self, **envelope: Any) -> dict[str, Any]:
        """Return what a hook prints."""
        hook = [sys.executable, "-I", "-S", str(HOOK)]
        environment = self.environment | {"CLAUDE_PROJECT_DIR": str(self.workspace)}
        raw = json.dumps({"session_id": "s", "cwd": str(self.workspace), **envelope})
        done = subprocess.run(hook, env=environment, input=raw, capture_output=True, text=True, timeout=60, check=True)
        output: dict[str, Any] = json.loads(done.stdout or "{}")
        return output

    def payload(self, event: int) -> Any:
        return self.mem("show", f"e{event}")["payload"]

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = self.mem("info")["counts"]
        return counts

    def until(self, is_reached: Callable[[], bool]) -> None:
        """Wait for something the daemon does by itself, at most 30 s."""
        deadline = time.monotonic() + 30
        while not is_reached():
            assert time.monotonic() < deadline, "the daemon did not get there"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    made: list[Desk] = []

    def start(**settings: Any) -> Desk:
        quiet = {"memory.consolidator.tickMs": LONG}
        made.append(Desk(tmp_path, quiet | {name.replace("__", "."): value for name, value in settings.items()}))
        made[-1].mem("start")
        made[-1].try_mem("drain")  # waits for the tick with which a daemon begins
        return made[-1]

    yield start
    for each in made:
        each.try_mem("stop")


@pytest.fixture
def model_server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A loopback server that speaks /v1/chat/completions and /api/embed, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append({"path": self.path, "key": self.headers["authorization"], "body": body})
            if self.path == "/api/embed":
                answer: Any = {"embeddings": [[1.0, 0.0, 0.0]] * len(body["input"])}
            else:
                text = json.dumps({"summary": "Ran `make`: done"})
                answer = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                          "usage": {"prompt_tokens": 10, "completion_tokens": 5}}  # fmt: skip
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def models(desk: Desk) -> set[str]:
    return {each["model"] for each in desk.mem("show", "e1")["summaries"]}


def test_tick_ms_decides_how_soon_an_event_is_summarised(desk: Callable[..., Desk]) -> None:
    quick = desk(memory__consolidator__tickMs=100)
    quick.capture()
    quick.until(lambda: quick.counts()["summarized"] == 1)


def test_batch_size_is_how_many_events_go_together(desk: Callable[..., Desk]) -> None:
    by_three = desk(memory__consolidator__batchSize=3)
    for number in range(7):
        by_three.capture(f"make {number}")
    seen: list[int] = []
    by_three.ask({"kind": "drain"}, on_progress=lambda progress: seen.append(progress["done"]))
    assert seen == [3, 6, 7]


def test_supersede_ms_decides_how_soon_a_repeat_is_hidden(desk: Callable[..., Desk]) -> None:
    quick = desk(memory__consolidator__tickMs=100, memory__consolidator__supersedeMs=100)
    quick.capture()
    quick.capture()
    quick.until(lambda: quick.counts()["superseded"] == 1)


def test_supersede_cosine_is_how_alike_two_must_be(desk: Callable[..., Desk]) -> None:
    """Told just now: an idle session would get a summary of its own."""
    settings = {"memory__consolidator__tickMs": 100, "memory__consolidator__supersedeMs": 100}
    now = int(time.time() * 1000)
    strict = desk(**settings, memory__consolidator__supersedeCosine=1.0)
    for prompt in ("Fix the login bug", "Fix login bug now"):
        strict.capture(tool="UserPromptSubmit", payload={"prompt": prompt}, ts=now)
    strict.until(lambda: strict.counts()["embeddings"] == 2)
    strict.mem("drain")
    assert strict.counts()["superseded"] == 0
    strict.mem("stop")
    usual = desk(**settings, memory__consolidator__supersedeCosine=0.9)
    usual.capture(tool="UserPromptSubmit", payload={"prompt": "Fix a login bug"}, ts=now)
    usual.until(lambda: usual.counts()["superseded"] >= 1)


def test_backend_base_url_and_api_key_file_decide_who_writes_summaries(
    desk: Callable[..., Desk], model_server: tuple[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    url, asked = model_server
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("a-key-for-tests\n")
    by_model = desk(memory__backend="openai:tiny", memory__baseUrl=f"{url}/v1", memory__apiKeyFile=str(key))
    by_model.capture()
    by_model.mem("drain")
    assert models(by_model) == {"openai:tiny"}
    assert [(each["path"], each["key"]) for each in asked] == [("/v1/chat/completions", "Bearer a-key-for-tests")]


def test_an_api_key_file_that_others_can_read_is_refused(desk: Callable[..., Desk], tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a-key-for-tests\n")
    key.chmod(0o644)
    refused = Desk(tmp_path, {"memory.backend": "openai:tiny", "memory.apiKeyFile": str(key)}).try_mem("start")
    assert refused.returncode == 3
    assert "can be read by others" in refused.stderr


def test_embedder_and_its_url_decide_who_makes_vectors(
    desk: Callable[..., Desk], model_server: tuple[str, list[dict[str, Any]]]
) -> None:
    url, asked = model_server
    by_model = desk(memory__embedder="ollama:nomic-embed-text", memory__embedderUrl=url)
    by_model.capture()
    assert by_model.mem("drain")["embedded"] == 1
    assert by_model.mem("info")["embedder"] == {"name": "ollama:nomic-embed-text", "dim": 3, "state": "ready"}
    assert by_model.mem("search", "make")["hits"]
    assert {each["path"] for each in asked} == {"/api/embed"}


@pytest.mark.parametrize(("cap", "summarised", "told"), [(0, 0, "dailyTokenCap is 0"), (1, 1, "cap of 1 tokens")])
def test_daily_token_cap_bounds_what_a_remote_backend_may_use(
    desk: Callable[..., Desk], cap: int, summarised: int, told: str
) -> None:
    """A command counts as remote: nobody knows where it sends what it is given."""
    program = [sys.executable, "-c", 'print(\'{"summary": "Ran `make`: done"}\')']
    capped = desk(memory__backend="command", memory__command=program, memory__dailyTokenCap=cap,
                  memory__consolidator__batchSize=1)  # fmt: skip
    capped.capture("make one")
    capped.capture("make two")
    result = capped.mem("drain") if summarised else json.loads(capped.try_mem("drain").stdout)
    assert (result["processed"], capped.counts()["raw"]) == (summarised, 2 - summarised)
    assert told in result["firstError"]


def test_fallback_ms_is_how_long_a_backend_is_waited_for(desk: Callable[..., Desk]) -> None:
    """And a person may name another backend for one drain; what it writes is no stand-in."""
    waiting = desk(memory__backend="ollama:m", memory__baseUrl="http://127.0.0.1:9", memory__fallbackMs=86_400_000)
    waiting.capture("make one")
    assert waiting.try_mem("drain").returncode == 1
    assert waiting.counts()["raw"] == 1
    assert waiting.mem("drain", "--backend", "extractive")["processed"] == 1
    assert waiting.mem("resummarise", "--since", "1d")["summaries"] == 0, "the capture is of long ago"
    waiting.mem("stop")
    impatient = desk(memory__backend="ollama:m", memory__baseUrl="http://127.0.0.1:9", memory__fallbackMs=0)
    captured = impatient.capture("make two")
    result = impatient.mem("drain")
    assert (result["processed"], result["errors"]) == (1, 0)
    assert "ollama" in result["firstError"].lower()
    assert impatient.mem("show", captured["id"])["summaries"][0]["waitsFor"] == "ollama:m"


def test_command_is_the_program_that_the_command_backend_runs(desk: Callable[..., Desk]) -> None:
    program = [sys.executable, "-c", 'print(\'{"summary": "Ran `make`: done"}\')']
    by_program = desk(memory__backend="command", memory__command=program, memory__dailyTokenCap=100_000)
    by_program.capture()
    by_program.mem("drain")
    assert models(by_program) == {f"command:{Path(sys.executable).name}"}


def test_idle_exit_ms_is_how_long_an_idle_daemon_stays(desk: Callable[..., Desk]) -> None:
    short = desk(daemon__idleExitMs=300)
    short.until(lambda: not Path(short.paths.socket).exists())


def test_max_payload_bytes_is_where_payloads_are_shortened(desk: Callable[..., Desk]) -> None:
    small = desk(capture__maxPayloadBytes=4096)
    small.capture(output="begin " + "x" * 20_000 + " end")
    stdout = small.payload(1)["tool_response"]["stdout"]
    assert len(stdout) < 4096
    assert stdout.startswith("begin ")
    assert stdout.endswith(" end")
    assert "bytes left out" in stdout


def test_ignore_names_tools_and_files_that_are_not_captured(desk: Callable[..., Desk]) -> None:
    picky = desk(capture__ignore=["Grep", "*.lock"])
    read = {"tool_input": {"file_path": "/src/poetry.lock"}, "tool_response": {}}
    assert picky.capture(tool="Grep")["eventId"] is None
    assert picky.capture(tool="Read", payload=read)["eventId"] is None
    assert picky.capture()["eventId"] is not None
    assert picky.counts()["events"] == 1


def test_exclude_keeps_a_daemon_from_starting_for_a_workspace(tmp_path: Path) -> None:
    excluded = Desk(tmp_path, {"capture.exclude": [str(tmp_path)]})
    refused = excluded.try_mem("start")
    assert refused.returncode == 3
    assert "capture.exclude" in refused.stderr


@pytest.mark.parametrize(
    ("key", "text"), [("redact.emails", "ann.lee@example.org"), ("redact.phones", "+1 (555) 234-5678")]
)
def test_redact_switches_let_contact_details_through(desk: Callable[..., Desk], key: str, text: str) -> None:
    usual = desk()
    usual.capture("ls", output=f"write to {text} please")
    assert text not in json.dumps(usual.payload(1))
    usual.mem("stop")
    open_minded = desk(**{key.replace(".", "__"): False})
    open_minded.capture("ls", output=f"write to {text} please")
    assert text in json.dumps(open_minded.payload(2))


def test_redact_rules_are_rules_of_ones_own(desk: Callable[..., Desk]) -> None:
    rule = {"name": "customer-number", "pattern": "KD-[0-9]{8}", "example": "KD-20417733"}
    own = desk(redact__rules=[rule])
    own.capture(output="for KD-20417734 only")
    assert "KD-20417734" not in json.dumps(own.payload(1))
    assert "[REDACTED:customer-number:" in json.dumps(own.payload(1))


def test_store_keep_days_is_how_long_events_stay(desk: Callable[..., Desk]) -> None:
    forgetful = desk(store__keepDays=30)
    forgetful.capture("an old one", ts=int(time.time() * 1000) - 40 * 86_400_000)
    forgetful.capture("a new one", ts=int(time.time() * 1000))
    forgetful.mem("prune")
    assert forgetful.counts()["events"] == 1
    assert forgetful.payload(2)["tool_input"]["command"] == "a new one"


@pytest.mark.parametrize(("days", "pruned"), [(1, 1), (36_500, 0)])
def test_log_keep_days_is_how_long_sealed_segments_stay(desk: Callable[..., Desk], days: int, pruned: int) -> None:
    """The captures fill more than one segment of 16 MiB; the sealed one is then made two days old."""
    keeping = desk(log__keepDays=days, store__keepDays=36_500)
    for number in range(75):
        keeping.capture(f"make {number}", output="x " * 120_000)
    assert keeping.mem("prune")["segments"] == 0
    (sealed,) = Path(keeping.paths.folder).glob("wal-*.ndjson.gz")
    os.utime(sealed, (time.time() - 2 * 86_400,) * 2)
    assert keeping.mem("prune")["segments"] == pruned
    assert keeping.counts()["events"] == 75


@pytest.mark.parametrize(("most", "is_given"), [(800, True), (0, False)])
def test_recall_max_tokens_is_the_most_that_is_given_back(desk: Callable[..., Desk], most: int, is_given: bool) -> None:
    asked = desk(recall__maxTokens=most)
    asked.ask({"kind": "remember", "text": "The payment gateway wants amounts in cents, never in euros."})
    recalled = asked.ask({"kind": "recall", "prompt": "In which unit does the payment gateway want amounts?"})
    assert bool(recalled["items"]) == is_given
    assert recalled["tokens"] <= most


@pytest.mark.parametrize(("most", "is_given"), [(600, True), (0, False)])
def test_recall_brief_tokens_is_the_most_that_a_start_is_given(
    desk: Callable[..., Desk], most: int, is_given: bool
) -> None:
    asked = desk(recall__briefTokens=most)
    asked.ask({"kind": "remember", "text": "Never push to main without a review.", "pin": True, "typed": True})
    brief = asked.ask({"kind": "brief"})
    assert bool(brief["items"]) == is_given
    assert brief["tokens"] <= most


@pytest.mark.parametrize("person", ["anna", "ben"])
def test_facts_person_is_whose_own_pod_stands_here(desk: Callable[..., Desk], person: str) -> None:
    asked = desk(facts__person=person)
    asked.ask({"kind": "remember", "text": "I like short answers.", "type": "preference", "typed": True})
    pods = asked.ask({"kind": "context"})["pods"]
    assert [pod["pod"] for pod in pods if pod["type"] == "person" and pod["facts"]] == [f"person:{person}"]


@pytest.mark.parametrize("is_wanted", [True, False])
def test_recall_failures_is_whether_a_failure_brings_what_got_through(
    desk: Callable[..., Desk], is_wanted: bool
) -> None:
    asked = desk(recall__failures=is_wanted)
    failure = {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "error": "Exit code 1\nunknown flag: --stat",
    }
    asked.hook(**failure, tool_input={"command": "gh pr diff 1 --stat"}, tool_use_id="t1")
    asked.capture("gh pr diff 1 --name-only", ts=10**14)

    def is_given(session: str) -> bool:
        Path(asked.paths.slow).unlink(missing_ok=True)  # or none is waited for after a hook that waited in vain
        call = {"tool_input": {"command": "gh pr diff 2 --stat"}, "tool_use_id": f"of {session}"}
        output = asked.hook(**failure, **call, session_id=session)
        return "additionalContext" in output.get("hookSpecificOutput", {})

    # A hook waits for 0.25 s and gives nothing then: on a busy machine the answer comes with another try.
    assert any(is_given(f"s{number}") for number in range(20)) == is_wanted


@pytest.mark.parametrize("is_wanted", [True, False])
def test_facts_extract_is_whether_facts_are_taken_from_what_is_said(desk: Callable[..., Desk], is_wanted: bool) -> None:
    asked = desk(facts__extract=is_wanted)
    asked.hook(hook_event_name="UserPromptSubmit", prompt="Never push to main without a review.", prompt_id="p1")
    asked.hook(hook_event_name="Stop", last_assistant_message="Understood.", prompt_id="p1")
    asked.ask({"kind": "drain"})
    with closing(sqlite3.connect(asked.paths.database)) as connection:
        assert connection.execute("SELECT count(*) FROM facts").fetchone() == (int(is_wanted),)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_graph_ask_model_is_whether_a_model_reads_facts_for_relations(
    desk: Callable[..., Desk], model_server: tuple[str, list[dict[str, Any]]], is_wanted: bool
) -> None:
    url, requests = model_server
    asked = desk(memory__backend="openai:tiny", memory__baseUrl=f"{url}/v1", graph__askModel=is_wanted)
    text = "The auth service depends on Redis, and on nothing else that anybody here knows of."
    asked.ask({"kind": "remember", "text": text})
    asked.ask({"kind": "drain"})
    assert any('{"relations"' in json.dumps(each["body"]).replace("\\", "") for each in requests) == is_wanted


@pytest.mark.parametrize(("days", "status"), [(1, "archived"), (None, "active")])
def test_facts_archive_days_is_how_long_a_fact_that_nobody_uses_is_found(
    desk: Callable[..., Desk], days: int | None, status: str
) -> None:
    old = desk(facts__archiveDays=days)
    old.ask({"kind": "drain"})
    with closing(sqlite3.connect(old.paths.database)) as connection, connection:
        connection.execute(
            "INSERT INTO facts (ts, updated_ts, text, importance, origin, uid) VALUES (1, 1, 'Hay.', 1, 'learnt', 'a')"
        )
    old.ask({"kind": "drain"})
    with closing(sqlite3.connect(old.paths.database)) as connection:
        assert connection.execute("SELECT status FROM facts").fetchone() == (status,)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_facts_learn_is_whether_facts_are_learnt_from_what_was_done(desk: Callable[..., Desk], is_wanted: bool) -> None:
    asked = desk(facts__learn=is_wanted)
    asked.capture("npm test", ts=10**12)
    asked.ask({"kind": "drain"})
    with closing(sqlite3.connect(asked.paths.database)) as connection:
        assert connection.execute("SELECT count(*) FROM facts").fetchone() == (int(is_wanted),)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_recall_notice_is_whether_the_person_sees_a_line(desk: Callable[..., Desk], is_wanted: bool) -> None:
    noticed = desk(recall__notice=is_wanted)
    noticed.ask({"kind": "remember", "text": "Never push to main without a review.", "pin": True, "typed": True})
    output = noticed.hook(hook_event_name="SessionStart", source="startup")
    assert "additionalContext" in output["hookSpecificOutput"]
    assert output.get("systemMessage", "").startswith("siftd remembered #m1") == is_wanted
    assert [each["piece"] for each in noticed.mem("injections", "--last")["injections"]] == ["m1"]


@pytest.mark.parametrize("may", [True, False])
def test_search_across_projects_is_whether_an_agent_may_ask_them(desk: Callable[..., Desk], may: bool) -> None:
    asked = desk(search__acrossProjects=may)
    asked.ask({"kind": "remember", "text": "The ferry is late in winter."})
    link = Link.from_environment({**asked.environment, "SIFTD_HOME": asked.paths.home.root})
    if may:
        assert link.ask_every_project(Search(query="when is the ferry late", k=3))["degraded"] is None
    else:
        with pytest.raises(RequestInvalid):
            link.ask_every_project(Search(query="when is the ferry late", k=3))


@pytest.mark.parametrize("may", [True, False])
def test_documents_agents_fetch_is_whether_an_agent_may_have_a_url_read_in(
    desk: Callable[..., Desk], may: bool
) -> None:
    asked = desk(documents__agentsFetch=may)
    link = Link.from_environment({**asked.environment, "SIFTD_HOME": asked.paths.home.root})
    refused = DocumentRefused if may else RequestInvalid
    with pytest.raises(refused, match="not public" if may else "lets no agent"):
        DocumentTools(link).ingest(url="http://127.0.0.1/")


WEIGHTS = {
    "search.weights.words": 2.0,
    "search.weights.raw": 3.0,
    "search.weights.vector": 0.5,
    "search.weights.trigram": 4.0,
    "search.weights.session": 0.25,
    "search.weights.neighbour": 0.125,
    "search.weights.recency": 0.75,
    "search.weights.confidence": 1.5,
    "search.weights.prompt": 0.375,
    "search.weights.conclusion": 0.1875,
    "search.weights.diversity": 0.0625,
    "search.weights.graph": 0.5,
}


def test_each_weight_is_what_its_signal_counts(desk: Callable[..., Desk]) -> None:
    """The hits' own arithmetic, done again: two sessions, one right after the other, the first with two events."""
    weighed = desk(**{name.replace(".", "__"): value for name, value in WEIGHTS.items()})
    now = int(time.time() * 1000)
    for session, command in (("one", "make okapi"), ("one", "make okapi twice"), ("two", "make okapi zebra")):
        weighed.capture(command, sessionId=session, ts=now)
    weighed.mem("drain")
    hits = {hit["eventId"]: hit for hit in weighed.ask({"kind": "search", "query": "okapi", "k": 5})["hits"]}
    why = {event: hit["why"] for event, hit in hits.items()}
    by_leg = {"words": 2.0, "raw": 3.0, "vector": 0.5}
    for event, each in why.items():
        own = sum(weight * each[retriever]["score"] for retriever, weight in by_leg.items() if retriever in each)
        assert each["own"] == pytest.approx(own, rel=0.01), event
        assert each["recency"] == pytest.approx(0.75, rel=0.01)
        confidence = weighed.mem("show", hits[event]["id"])["confidence"]
        assert each["confidence"] == pytest.approx(1.5 * (confidence - 0.5))
    second = min((1, 2), key=lambda event: why[event]["own"])
    few = 2 / 10  # of so few sessions a hit cannot be blamed for its own
    assert why[second]["diversity"] == pytest.approx(-0.0625 * few * why[second]["own"], rel=0.01)
    assert [each["diversity"] for event, each in why.items() if event != second] == [0, 0]
    alone = weighed.ask({"kind": "search", "query": "okapi", "weights": {"neighbour": 0}})["hits"]
    one, two = (next(hit["why"]["session"] for hit in alone if hit["sessionId"] == each) for each in ("one", "two"))
    assert why[1]["session"] == pytest.approx(one + 0.125 * two, rel=0.01)
    nearest = NEAREST * by_leg["vector"] * why[3]["vector"]["score"]
    assert two == pytest.approx(0.25 * (why[3]["own"] + nearest), rel=0.01)
    weighed.capture(tool="UserPromptSubmit", payload={"prompt": "a quagga please"})
    weighed.mem("drain")
    for query, lift in (("when did I want a quagga", 0.375), ("did you see a quagga", 0), ("quagga", 0)):
        assert weighed.ask({"kind": "search", "query": query})["hits"][0]["why"]["prompt"] == lift, query
    weighed.capture(tool="Stop", payload={"last_assistant_message": "The quokka sleeps because it ate."}, ts=now)
    weighed.mem("drain")
    for query, lift in (("why does the quokka sleep", 0.1875), ("quokka sleep", 0)):
        assert weighed.ask({"kind": "search", "query": query})["hits"][0]["why"]["conclusion"] == lift, query
    (piece, *_) = weighed.ask({"kind": "search", "query": "zebr"})["hits"]
    assert piece["why"]["own"] >= 4.0 * piece["why"]["trigram"]["score"] > 0


def test_backfill_sources_are_more_files_that_are_read(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """`"backfill.sources"`: more of it in tests/integration/test_backfill_clients.py."""
    file = tmp_path / "old.jsonl"
    file.write_text('{"session":"s","ts":1760000000000,"kind":"prompt","text":"Why is the kiln cold?"}\n')
    named = {str(tmp_path / "workspace"): [f"generic:{tmp_path}/*.jsonl"]}
    read = desk(backfill__sources=named).mem("backfill", "--client", "generic")
    assert read["captured"] == 1, read


@pytest.fixture
def team() -> Iterator[TeamStandIn]:
    with team_server() as found:
        yield found


def join(desk: Desk, team: TeamStandIn) -> subprocess.CompletedProcess[str]:
    invitation = desk.workspace.parent / "invite"
    invitation.write_text("ana" * 20)
    return desk.try_mem("team", "join", team.url, "--project", "okapi", "--yes", "--invite-file", str(invitation))


@pytest.mark.parametrize(("shares", "texts"), [(["memory"], {"Okapis eat hay."}), (["session"], set())])
def test_team_share_says_what_goes_up(
    desk: Callable[..., Desk], team: TeamStandIn, shares: list[str], texts: set[str]
) -> None:
    keeper = desk(team__share=shares)
    keeper.mem("remember", "Okapis eat hay.")
    assert join(keeper, team).returncode == 0
    keeper.mem("team", "push")
    assert set(team.texts()) == texts


def test_team_push_off_lets_nothing_go_up_by_itself(desk: Callable[..., Desk], team: TeamStandIn) -> None:
    keeper = desk(team__push=False)
    assert join(keeper, team).returncode == 0
    keeper.mem("remember", "Okapis eat hay.")
    keeper.mem("team", "pull")
    assert not team.texts()
    keeper.mem("team", "push")
    assert set(team.texts()) == {"Okapis eat hay."}


def test_team_ca_file_is_what_a_teams_server_is_checked_by(
    desk: Callable[..., Desk], team: TeamStandIn, tmp_path: Path
) -> None:
    refused = join(desk(team__caFile=str(tmp_path / "none.pem")), team)
    assert refused.returncode != 0
    assert "team.caFile" in refused.stdout + refused.stderr


def test_every_key_has_a_test_here() -> None:
    """But for those of notes, which no daemon reads: what is written for notes tries them."""
    own = Path(__file__)
    of_notes = [*own.parents[1].rglob("test_notes_*.py"), own.parents[1] / "support" / "notebook.py"]
    for key in KEYS:
        files = of_notes if key.name.startswith("notes.") else [own]
        source = "".join(file.read_text(encoding="utf-8") for file in files)
        assert key.name.replace(".", "__") in source or f'"{key.name}"' in source, key.name
