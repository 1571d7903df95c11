"""Each backend through its real client library, against a loopback server that speaks its protocol and has moods."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from known_kinds import item_of
from model_server import KINDS, Kind, Reply, anthropic_reply, needs_library, openai_reply, running, said

from siftd.config import is_loopback
from siftd.errors import ConfigInvalid
from siftd.summarise import KNOWN, known_backends, make_backend
from siftd.summarise.command import CommandServer
from siftd.summarise.contract import Cannot, Item, Summary, TokenBudget, TryLater, Verdict
from siftd.summarise.extractive import NAME, render
from siftd.summarise.model import ModelBackend
from siftd.summarise.prompt import RULES, SCHEMA
from siftd.summarise.sampling import SamplingServer

GOOD = "validate_token in src/auth.py now raises ValueError for expired tokens."
ITEM = item_of(
    event_id=1,
    tool="Edit",
    payload={
        "tool_input": {
            "file_path": "/w/src/auth.py",
            "old_string": "return claims",
            "new_string": "raise ValueError('token expired')",
        },
        "tool_response": {"structuredPatch": [{"lines": [" def validate_token(token):"]}]},
    },
    outcome="ok",
    cwd="/w",
    request="Expired session tokens are accepted.",
    input_hash="h",
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    needs_library(chosen)
    return chosen


async def verdicts(
    kind: Kind, *script: Reply | str, batch: int = 1, seconds: float = 20.0
) -> tuple[list[Verdict], int]:
    async with running() as server:
        server.script = list(script)
        given = await kind.backend(server.url, seconds).summarise([ITEM] * batch)
        return given, len(server.requests)


async def test_an_answer_in_the_schema_becomes_a_summary_with_its_tokens(kind: Kind) -> None:
    (verdict,), asked = (await verdicts(kind, kind.reply(said(GOOD))))[0:2]
    assert verdict == Summary(text=GOOD, confidence=0.9, tokens_in=321, tokens_out=21)
    assert asked == 1


async def test_the_request_carries_rules_schema_and_the_event_fenced_as_data(kind: Kind) -> None:
    async with running() as server:
        server.script = [kind.reply(said(GOOD))]
        await kind.backend(server.url).summarise([ITEM, ITEM])
    path, headers, first = server.requests[0]
    second = server.requests[1][2]
    sent = json.dumps(first)
    assert RULES.split("\n")[0] in sent
    assert json.dumps(SCHEMA) in sent
    assert "Expired session tokens are accepted." in sent
    assert first["messages"][-1] != second["messages"][-1], "the fence is new for each request"
    if kind.name == "ollama":
        assert path == "/api/chat"
        assert first["options"]["num_ctx"] in (2048, 4096, 8192, 16384)
        assert first["keep_alive"] == "5m"
        assert first["think"] is False
        assert first["stream"] is False
    elif kind.name == "anthropic":
        assert path == "/v1/messages"
        assert first["model"] == "claude-haiku-5-5"
        assert first["output_config"]["format"]["type"] == "json_schema"
    else:
        assert path == "/v1/chat/completions"
        assert headers["authorization"] == "Bearer k"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
async def test_a_busy_or_broken_server_means_try_later_for_the_whole_batch_after_one_request(
    kind: Kind, status: int
) -> None:
    given, asked = await verdicts(kind, (status, {}, {"error": {"type": "e", "message": "SECRET"}}), batch=3)
    assert len(given) == 3
    assert all(isinstance(verdict, TryLater) and str(status) in verdict.reason for verdict in given)
    assert not any("SECRET" in verdict.reason for verdict in given if isinstance(verdict, TryLater))
    assert asked == 1


async def test_what_was_summarised_before_an_outage_is_kept(kind: Kind) -> None:
    given, _ = await verdicts(kind, kind.reply(said(GOOD)), (503, {}, {"error": "x"}), batch=3)
    assert [type(verdict) for verdict in given] == [Summary, TryLater, TryLater]


@pytest.mark.parametrize("name", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "17"}, 17.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_a_rate_limit_tells_how_long_to_wait(name: str, headers: dict[str, str], seconds: float | None) -> None:
    kind = next(kind for kind in KINDS if kind.name == name)
    if name == "anthropic":
        pytest.importorskip("anthropic")
    given, _ = await verdicts(kind, (429, headers, {"error": {"type": "rate_limit_error", "message": "x"}}))
    assert isinstance(given[0], TryLater)
    assert given[0].after_seconds == seconds


async def test_a_refused_connection_means_try_later(kind: Kind) -> None:
    async with running() as server:
        url = server.url
    (verdict,) = await kind.backend(url).summarise([ITEM])
    assert isinstance(verdict, TryLater)
    assert "does not answer" in verdict.reason


async def test_a_connection_dropped_before_the_answer_means_try_later(kind: Kind) -> None:
    given, _ = await verdicts(kind, "drop")
    assert isinstance(given[0], TryLater)


async def test_an_answer_that_stalls_means_try_later_when_its_time_is_over(kind: Kind) -> None:
    given, _ = await verdicts(kind, "stall", seconds=0.3)
    assert given == [TryLater(reason="no answer within 0.3 s")]


async def test_a_missing_model_is_told_with_its_remedy(kind: Kind) -> None:
    given, _ = await verdicts(kind, (404, {}, {"error": "model not found"}))
    assert isinstance(given[0], TryLater)
    if kind.name == "ollama":
        assert given[0].reason == "model llama3.2:3b is missing: ollama pull llama3.2:3b"
    else:
        assert "memory.backend" in given[0].reason


async def test_a_refused_key_is_an_outage_and_not_the_events_fault(kind: Kind) -> None:
    given, _ = await verdicts(kind, (401, {}, {"error": {"type": "authentication_error", "message": "x"}}))
    assert isinstance(given[0], TryLater)


async def test_a_refused_request_is_cannot(kind: Kind) -> None:
    given, _ = await verdicts(kind, (400, {}, {"error": {"type": "invalid_request_error", "message": "x"}}))
    assert given == [Cannot(reason="the server refused the request (400)")]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "the model gave an empty answer"),
        ("I cannot do that.", "the answer holds no JSON object"),
        ('{"summary": "half of an ans', "the answer holds no JSON object"),
        ('{"text": "x"}', "the answer has not the form asked for"),
        ('{"summary": 7}', "the answer has not the form asked for"),
        ('{"summary": " — "}', "the model gave an empty summary"),
        (said("the token is old and " * 9), "the model repeats itself"),
        (said("期限切れのトークンは拒否されるようになりました"), "the answer is in another language"),
    ],
)
async def test_an_answer_that_is_no_summary_is_asked_for_once_more_and_then_cannot(
    kind: Kind, answer: str, reason: str
) -> None:
    given, asked = await verdicts(kind, kind.reply(answer))
    assert given == [Cannot(reason=reason, tokens_in=642, tokens_out=42)]
    assert asked == 2


@pytest.mark.parametrize("body", [b"not json", [], {"message": 7, "content": None, "choices": 7, "usage": {}}])
async def test_a_reply_outside_the_protocol_never_raises_and_is_cannot(kind: Kind, body: Any) -> None:
    given, _ = await verdicts(kind, (200, {}, body), batch=2)
    assert [type(verdict) for verdict in given] == [Cannot, Cannot]


async def test_a_redirect_from_this_machine_to_another_is_not_followed() -> None:
    for kind in (KINDS[0], KINDS[2]):
        if kind.name == "ollama":
            pytest.importorskip("ollama")
        async with running() as elsewhere:
            elsewhere.script = [kind.reply(said(GOOD))]
            given, _ = await verdicts(kind, (307, {"location": f"{elsewhere.url}/api/chat"}, {}))
            assert isinstance(given[0], Cannot)
            assert elsewhere.requests == []


@pytest.mark.parametrize("url", ["http://[bad", "http://127.0.0.1:99999", "127.0.0.1:11434", "file:///x", ""])
def test_an_address_that_is_none_is_refused_when_configured(url: str) -> None:
    with pytest.raises(ConfigInvalid):
        make_backend("ollama:m", base_url=url)


async def test_a_good_second_answer_makes_up_for_a_bad_first(kind: Kind) -> None:
    given, asked = await verdicts(kind, kind.reply("no"), kind.reply(said(GOOD)))
    assert isinstance(given[0], Summary)
    assert asked == 2


async def test_half_an_answer_is_none_even_when_it_parses(kind: Kind) -> None:
    given, _ = await verdicts(kind, kind.reply(said("Edited"), kind.cut))
    assert isinstance(given[0], Cannot)


@pytest.mark.parametrize(
    "answer", ["Sure! Here you are:\n```json\n" + said(GOOD) + "\n```", '<think>{"summary": "no"}</think>' + said(GOOD)]
)
async def test_prose_and_thinking_around_the_object_are_no_part_of_it(kind: Kind, answer: str) -> None:
    given, _ = await verdicts(kind, kind.reply(answer))
    assert isinstance(given[0], Summary)
    assert given[0].text == GOOD


async def test_an_invented_name_is_repaired_once(kind: Kind) -> None:
    async with running() as server:
        server.script = [kind.reply(said("Edited src/tokens.py in commit 1a2b3c4d.")), kind.reply(said(GOOD))]
        given = await kind.backend(server.url).summarise([ITEM])
    assert isinstance(given[0], Summary)
    assert given[0].text == GOOD
    assert "src/tokens.py" in json.dumps(server.requests[1][2])


async def test_a_name_invented_twice_gives_the_extractive_text_under_its_own_name(kind: Kind) -> None:
    given, asked = await verdicts(kind, kind.reply(said("Fixed in commit 1a2b3c4d.")))
    assert isinstance(given[0], Summary)
    assert given[0].text == render(ITEM).text
    assert given[0].model == NAME
    assert given[0].tokens_in == 642
    assert asked == 2


def of_one_turn(*commands: str) -> list[Item]:
    return [
        item_of(event_id=n, tool="Bash", payload={"tool_input": {"command": each}}, outcome="ok", turn_id="s/p")
        for n, each in enumerate(commands)
    ]


def said_of(**texts: str) -> str:
    return json.dumps({"summaries": [{"event": int(n[1:]), "summary": text} for n, text in texts.items()]})


async def test_events_of_one_turn_go_in_one_call_and_come_back_apart(kind: Kind) -> None:
    async with running() as server:
        server.script = [kind.reply(said_of(n2="Ran `make two`.", n1="Ran `make one`.", n9="Nobody's."))]
        given = await kind.backend(server.url).summarise(of_one_turn("make one", "make two"))
        ((_, _, request),) = server.requests
    assert [getattr(each, "text", each) for each in given] == ["Ran `make one`.", "Ran `make two`."]
    assert sum(getattr(each, "tokens_in", 0) for each in given) == 321, "the bill is divided, not doubled"
    asked = json.dumps(request)
    assert "There are 2 events of one turn" in asked
    assert "make one" in asked
    assert "make two" in asked
    assert '"summaries"' in asked


async def test_who_is_missing_or_wrong_in_a_common_answer_is_asked_for_alone(kind: Kind) -> None:
    """A name of one event is no fact of another's, though both were in the same call."""
    async with running() as server:
        server.script = [
            kind.reply(said_of(n1="Ran `make one`.", n2="Ran `make one` in two_places.")),
            kind.reply(said("Ran `make two`.")),
            kind.reply(said("Ran `make three`.")),
        ]
        given = await kind.backend(server.url).summarise(of_one_turn("make one", "make two", "make three"))
        requests = len(server.requests)
    assert [getattr(each, "text", each) for each in given] == [
        "Ran `make one`.",
        "Ran `make two`.",
        "Ran `make three`.",
    ]
    assert requests == 3


@pytest.mark.parametrize("answer", ["", "no object", said("one for all"), '{"summaries": 7}'])
async def test_a_model_that_cannot_tell_events_apart_is_asked_for_each(kind: Kind, answer: str) -> None:
    async with running() as server:
        server.script = [kind.reply(answer), kind.reply(said("Ran make.")), kind.reply(said("Ran make."))]
        given = await kind.backend(server.url).summarise(of_one_turn("make", "make"))
    assert [getattr(each, "text", each) for each in given] == ["Ran make.", "Ran make."]


async def test_an_outage_after_a_common_answer_keeps_what_was_told(kind: Kind) -> None:
    async with running() as server:
        server.script = [kind.reply(said_of(n1="Ran `make one`.")), (503, {}, {"error": "x"})]
        given = await kind.backend(server.url).summarise(of_one_turn("make one", "make two", "make three"))
        requests = len(server.requests)
    assert [type(each) for each in given] == [Summary, TryLater, TryLater]
    assert requests == 2


async def test_a_purse_that_is_empty_stops_the_next_call_and_keeps_what_was_paid_for(kind: Kind) -> None:
    budget = TokenBudget(300, refusal="that was all")
    async with running() as server:
        server.script = [kind.reply(said(GOOD))]
        given = await kind.backend(server.url).summarise([ITEM, ITEM], budget)
        requests = len(server.requests)
    assert [type(each) for each in given] == [Summary, TryLater]
    assert given[1] == TryLater(reason="that was all")
    assert (requests, budget.spent) == (1, 342)


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        ([("big:70b", 9), ("small:3b", 2), ("nomic-embed-text", 1)], "ollama:small:3b"),
        ([("nomic-embed-text", 1), ("kimi:1t-cloud", 0)], NAME),
        ([], NAME),
    ],
)
async def test_auto_is_the_smallest_local_model_and_else_the_built_in_backend(
    models: list[tuple[str, int]], chosen: str
) -> None:
    async with running() as server:
        server.script = [(200, {}, {"models": [{"name": name, "size": size} for name, size in models]})]
        assert (await asyncio.to_thread(make_backend, "auto", base_url=server.url)).name == chosen


async def test_auto_never_picks_a_remote_backend_and_survives_a_broken_server() -> None:
    assert make_backend("auto", base_url="https://models.example.com", api_key="k").name == NAME
    async with running() as server:
        for mood in ((200, {}, b"no json"), (500, {}, {}), "drop"):
            server.script = [mood]
            assert (await asyncio.to_thread(make_backend, "auto", base_url=server.url)).name == NAME
    assert make_backend("auto", base_url=server.url).name == NAME


async def test_an_attached_client_that_samples_writes_summaries() -> None:
    asked = []

    async def sampler(rules: str, message: str, max_tokens: int) -> str:
        asked.append((rules, message, max_tokens))
        return f"Here it is: {said(GOOD)}"

    backend = ModelBackend(SamplingServer("any", lambda: sampler))
    (verdict,) = await backend.summarise([ITEM])
    assert isinstance(verdict, Summary)
    assert (backend.name, backend.is_remote, verdict.text) == ("sampling:any", True, GOOD)
    assert verdict.tokens_in > 0
    assert asked[0][0] == RULES


async def test_a_sampler_that_is_not_there_or_goes_away_means_try_later() -> None:
    async def gone(*_: object) -> str:
        raise ConnectionResetError

    for find, reason in ((lambda: None, "no attached client"), (lambda: gone, "does not answer (ConnectionReset")):
        (verdict,) = await ModelBackend(SamplingServer("", find)).summarise([ITEM])
        assert isinstance(verdict, TryLater)
        assert reason in verdict.reason


async def test_openai_servers_without_schemas_are_asked_in_words_from_then_on() -> None:
    refused: Reply = (400, {}, {"error": {"message": "response_format is not supported"}})
    async with running() as server:
        server.script = [refused, openai_reply(said(GOOD))]
        given = await KINDS[2].backend(server.url).summarise([ITEM, ITEM])
    assert all(isinstance(verdict, Summary) for verdict in given)
    assert ["response_format" in body for _, _, body in server.requests] == [True, False, False]


async def test_a_reply_that_is_no_completion_is_cannot() -> None:
    given, _ = await verdicts(KINDS[2], (200, {}, {"choices": []}))
    assert given == [Cannot(reason="the server's reply is not a chat completion")]


async def test_an_anthropic_refusal_is_cannot_and_a_missing_key_is_told_without_a_request() -> None:
    pytest.importorskip("anthropic")
    given, _ = await verdicts(KINDS[1], anthropic_reply("", "refusal"))
    assert given == [Cannot(reason="the model declined to answer")]
    (verdict,) = await make_backend("anthropic").summarise([ITEM])
    assert isinstance(verdict, TryLater)
    assert "memory.apiKeyFile" in verdict.reason


def program(tmp_path: Path, body: str) -> list[str]:
    path = tmp_path / "summariser.py"
    path.write_text(f"import json, os, sys, time\n{body}\n")
    return [sys.executable, str(path), "{model}"]


async def test_a_command_reads_the_prompt_and_prints_an_object_anywhere(tmp_path: Path) -> None:
    body = f"""
prompt = sys.stdin.read()
assert os.environ["SIFTD_OFF"] == "1" and "Expired session tokens" in prompt and sys.argv[1] == "tiny"
print("thinking...", json.dumps({{"summary": {GOOD!r}}}), "done")"""
    backend = make_backend("command:tiny", command=program(tmp_path, body))
    (verdict,) = await backend.summarise([ITEM])
    assert backend.name == "command:tiny"
    assert backend.is_remote
    assert isinstance(verdict, Summary)
    assert verdict.text == GOOD
    assert verdict.tokens_in > 100


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sys.exit(3)", TryLater(reason="the command PYTHON ended with status 3")),
        ("time.sleep(60)", TryLater(reason="no answer within 1 s")),
        ("print('no')", "the answer holds no JSON object"),
        ("sys.stdout.write('x' * 3_000_000)", "the command printed too much"),
    ],
)
async def test_a_command_in_a_bad_mood_is_mapped(tmp_path: Path, body: str, expected: Verdict | str) -> None:
    answer_seconds = 1 if "sleep" in body else 60
    backend = ModelBackend(CommandServer(program(tmp_path, body)), answer_seconds=answer_seconds)
    (verdict,) = await backend.summarise([ITEM])
    if isinstance(expected, str):
        assert isinstance(verdict, Cannot)
        assert verdict.reason == expected
    else:
        assert isinstance(verdict, TryLater)
        assert verdict.reason == expected.reason.replace("PYTHON", Path(sys.executable).name)


async def test_a_late_command_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    """Every descendant holds the same pipe open: it hangs up when the last of them is gone."""
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    body = f"os.write(os.open({str(pipe)!r}, os.O_WRONLY), b'up'); os.fork(); time.sleep(600)"
    backend = ModelBackend(CommandServer(program(tmp_path, body)), answer_seconds=3)
    try:
        await backend.summarise([ITEM])
        assert os.read(reading, 10) == b"up"
        hung_up = select.poll()
        hung_up.register(reading, select.POLLHUP)
        assert hung_up.poll(5_000)
    finally:
        os.close(reading)


async def test_a_command_that_does_not_exist_is_told_by_name() -> None:
    (verdict,) = await make_backend("command", command=["no-such-program-here"]).summarise([ITEM])
    assert verdict == TryLater(reason="the command no-such-program-here is not installed or not on the daemon's PATH")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://localhost:1234/v1", True),
        ("http://[::1]:8080", True),
        ("127.0.0.1:11434", True),
        ("http://192.168.1.5:11434", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1@example.com/", False),
        ("https://openrouter.ai/api/v1", False),
        ("", False),
    ],
)
def test_a_server_that_is_not_on_loopback_counts_as_remote(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
    if url.startswith("http"):
        assert make_backend("openai:m", base_url=url).is_remote is not expected
        assert make_backend("ollama:m", base_url=url).is_remote is not expected


def test_every_known_backend_can_be_made_and_shows_what_the_store_will_name() -> None:
    names = [
        make_backend("extractive").name,
        make_backend("ollama:llama3.2:3b").name,
        make_backend("anthropic").name,
        make_backend("anthropic:claude-haiku-4-5-20251001").name,
        make_backend("openai:qwen/qwen3").name,
        make_backend("command", command=["/usr/bin/llm", "-m"]).name,
        make_backend("sampling").name,
    ]
    assert names == [
        NAME,
        "ollama:llama3.2:3b",
        "anthropic:claude-haiku-5-5",
        "anthropic:claude-haiku-4-5-20251001",
        "openai:qwen/qwen3",
        "command:llm",
        "sampling",
    ]
    assert [known.name for known in known_backends()] == list(KNOWN)


@pytest.mark.parametrize("spec", ["", "olama:x", "ollama", "openai:", "command", "gpt"])
def test_a_backend_that_cannot_be_is_refused_with_a_hint(spec: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        make_backend(spec)
    assert caught.value.hint


def test_the_prompt_hash_of_a_model_backend_knows_the_request_and_not_the_fence() -> None:
    backend = make_backend("ollama:m")
    assert backend.prompt_hash(ITEM) == backend.prompt_hash(msgspec.structs.replace(ITEM, event_id=2, ts=5))
    assert backend.prompt_hash(ITEM) != backend.prompt_hash(msgspec.structs.replace(ITEM, request="Other"))


async def test_a_daemon_on_the_default_backend_loads_no_client_library() -> None:
    code = (
        "import sys, siftd.summarise as s; s.make_backend('extractive'); s.known_backends();"
        "print(sorted({'httpx', 'ollama', 'anthropic', 'anyio.abc', 'openai'} & set(sys.modules)))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    assert printed.decode().strip() == "[]"


async def test_a_library_that_is_missing_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ollama", None)
    (verdict,) = await make_backend("ollama:m").summarise([ITEM])
    assert verdict == TryLater(reason="the library ollama is missing: pip install ollama")
