"""The API of a team's server for programs: find, keep, give a word on, forget, make vectors; and its websocket."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Member, Service, join, team_service
from web_page import Socket

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def service(database: TeamDatabase) -> Iterator[Service]:
    with team_service(database.app) as served:
        yield served


@pytest.fixture
def ana(service: Service, database: TeamDatabase) -> Member:
    return join(service, database, "ana", uuid.uuid4().hex, role="admin")


def search(member: Member, query: str) -> Any:
    return member.get(member.api(f"/memory/search?{query}"))


def texts(found: Any) -> list[str]:
    return [each["item"]["text"] for each in found["hits"]]


def wait_until_embedded(member: Member) -> None:
    while search(member, "q=x").get("degraded"):
        time.sleep(0.02)


def socket(member: Member, project: uuid.UUID | None = None) -> Socket:
    return Socket(member.service, f"?project={project or member.project}", [f"token.{member.token}", "siftd.v1"])  # type: ignore[arg-type]  # it is asked for its port and host alone


def test_what_was_pushed_is_found_by_its_words_and_its_meaning_and_says_how(ana: Member) -> None:
    ana.push(ana.put("The job queue runs on Postgres"), ana.put("Colours of the logo are blue and red"))
    wait_until_embedded(ana)
    found = search(ana, "q=job+queue&explain=true")
    assert texts(found)[0] == "The job queue runs on Postgres"
    hit = found["hits"][0]
    assert hit["ranks"] == {"words": 1, "vector": 1}
    assert hit["author"]["name"] == "ana"
    assert 0 < hit["cosine"] <= 1
    assert found["strategy"] == "hybrid"
    assert "ranks" not in search(ana, "q=job+queue")["hits"][0] or search(ana, "q=job+queue")["hits"][0]["ranks"] == {}
    assert search(ana, "q=queue&strategy=keyword&explain=true")["hits"][0]["ranks"] == {"words": 1}
    assert search(ana, "q=queue&strategy=semantic&explain=true")["hits"][0]["ranks"] == {"vector": 1}
    assert search(ana, "q=queue&strategy=graph")["degraded"] == ["no graph in the team's store: hybrid instead"]


def test_a_search_is_narrowed_by_source_and_bounded_by_k(ana: Member) -> None:
    ana.push(ana.put("queue one"), ana.put("queue two", source="fact"), ana.put("queue three", source="summary"))
    assert sorted(texts(search(ana, "q=queue&source=fact,summary"))) == ["queue three", "queue two"]
    assert len(texts(search(ana, "q=queue&k=1"))) == 1
    answer = ana.ask("GET", ana.api("/memory/search?q=queue&source=fact,nonsense"))
    assert (answer.status, answer.code) == (400, "bad_request")
    assert b"nonsense" not in answer.body


def test_a_statement_is_kept_once_and_then_replaced_under_its_reference(ana: Member) -> None:
    first = ana.ask("POST", ana.api("/memory"), {"text": "Deploys happen on Tuesdays", "tags": ["deploy"]})
    assert (first.status, first.json["duplicate"]) == (201, False)
    again = ana.ask("POST", ana.api("/memory"), {"text": "Deploys happen on Tuesdays", "tags": ["deploy"]})
    assert (again.status, again.json["duplicate"], again.json["id"]) == (200, True, first.json["id"])
    for text in ("Lunch is at noon", "Lunch is at one"):
        kept = ana.ask("POST", ana.api("/memory"), {"text": text, "sourceRef": "lunch", "type": "preference"})
        assert kept.status == 201
    item = ana.get(ana.api(f"/memory/{kept.json['id']}"))
    assert (item["item"]["text"], item["item"]["metadata"]["type"]) == ("Lunch is at one", "preference")
    assert texts(search(ana, "q=lunch&strategy=keyword")) == ["Lunch is at one"]


def test_what_says_nearly_the_same_is_named(ana: Member) -> None:
    first = ana.ask("POST", ana.api("/memory"), {"text": "The nightly build takes forty minutes on the old runner"})
    wait_until_embedded(ana)
    second = ana.ask("POST", ana.api("/memory"), {"text": "The nightly build takes fifty minutes on the old runner"})
    assert second.json["similar"] == [first.json["id"]]


@pytest.mark.parametrize(
    ("note", "status", "code"),
    [
        ({"text": f"use {SECRET}"}, 400, "secret_found"),
        ({"text": "a\0b"}, 400, "malformed"),
        ({"text": ""}, 400, "bad_request"),
        ({"text": "x", "source": "issue"}, 400, "bad_request"),
        ({"text": "x", "nonsense": 1}, 400, "bad_request"),
        ({"text": "x", "source": "decision"}, 403, "source_off"),
    ],
    ids=["secret", "zero", "empty", "source of others", "unknown", "source that is off"],
)
def test_what_may_not_be_kept_is_refused_with_the_reason(
    ana: Member, note: dict[str, object], status: int, code: str
) -> None:
    answer = ana.ask("POST", ana.api("/memory"), note)
    assert (answer.status, answer.code) == (status, code)
    assert SECRET.encode() not in answer.body


def test_a_reader_keeps_and_forgets_nothing(service: Service, database: TeamDatabase, ana: Member) -> None:
    put = ana.put("The queue")
    ana.push(put)
    name = ana.joined.project.name
    rob = join(service, database, "rob", name, role="reader")
    assert texts(search(rob, "q=queue")) == ["The queue"]
    assert rob.ask("POST", rob.api("/memory"), {"text": "x"}).status == 403
    confirm = rob.ask("DELETE", f"/api/memory/{put.id}?project={rob.project}").json["confirm"]
    assert rob.ask("DELETE", f"/api/memory/{put.id}?project={rob.project}&confirm={confirm}").code == "reader"
    assert rob.ask("POST", rob.api("/memory/reindex"), {"embedder": "blend-384"}).code == "not_an_admin"


def test_a_word_on_an_item_is_counted(ana: Member) -> None:
    put = ana.put("The queue")
    ana.push(put)
    said = {"id": put.id, "verdict": "useful", "evidence": "it was so today"}
    assert ana.ask("POST", ana.api("/memory/feedback"), said).status == 200
    assert ana.get(ana.api(f"/memory/{put.id}"))["feedback"] == {"useful": 1}
    assert ana.ask("POST", ana.api("/memory/feedback"), {**said, "id": uuid.uuid4()}).status == 404
    assert ana.ask("POST", ana.api("/memory/feedback"), {**said, "evidence": SECRET}).code == "secret_found"


def test_the_latest_items_are_listed_page_by_page(ana: Member) -> None:
    ana.push(*(ana.put(f"item {number}") for number in range(5)))
    first = ana.get(ana.api("/memories?limit=3"))
    rest = ana.get(ana.api(f"/memories?limit=3&before={first['before']}"))
    assert [each["item"]["text"] for each in first["items"] + rest["items"]] == [f"item {n}" for n in (4, 3, 2, 1, 0)]


def test_to_forget_is_to_say_yes_to_exactly_what_was_shown(ana: Member) -> None:
    put = ana.put("to be forgotten")
    ana.push(put)
    path = f"/api/memory/{put.id}?project={ana.project}"
    shown = ana.ask("DELETE", path)
    assert (shown.status, shown.code, shown.json["matched"]) == (409, "confirm_first", [str(put.id)])
    ana.push(ana.put("it says something else by now", ref=put.source_ref, rev=2))
    changed = ana.ask("DELETE", f"{path}&confirm={shown.json['confirm']}")
    assert (changed.status, changed.code) == (409, "confirm_first")
    gone = ana.ask("DELETE", f"{path}&confirm={changed.json['confirm']}")
    assert (gone.status, gone.json["forgotten"]) == (200, [str(put.id)])
    assert ana.ask("GET", ana.api(f"/memory/{put.id}")).status == 404
    assert texts(search(ana, "q=forgotten")) == []
    assert ana.push(ana.put("back", ref=put.source_ref, rev=3)).ignored[0].why == "forgotten"


def test_several_are_forgotten_at_once(ana: Member) -> None:
    puts = [ana.put(f"item {number}") for number in range(3)]
    ana.push(*puts)
    said: dict[str, Any] = {"ids": [each.id for each in puts]}
    shown = ana.ask("POST", ana.api("/forget"), said)
    assert len(shown.json["matched"]) == 3
    gone = ana.ask("POST", ana.api("/forget"), {**said, "confirm": shown.json["confirm"]})
    assert (len(gone.json["forgotten"]), ana.get(ana.api("/memories"))["items"]) == (3, [])


def test_a_read_after_a_write_knows_of_it_or_says_that_it_does_not(ana: Member) -> None:
    head = ana.push(ana.put("okapi")).head
    assert texts(search(ana, f"q=okapi&minSeq={head}")) == ["okapi"]
    behind = ana.ask("GET", ana.api(f"/memory/search?q=okapi&minSeq={head + 1}"))
    assert (behind.status, behind.code) == (409, "behind")


def test_an_item_that_has_its_vector_is_told_to_its_projects_listeners_alone(
    service: Service, database: TeamDatabase, ana: Member
) -> None:
    ben = join(service, database, "ben", ana.joined.project.name)
    eve = join(service, database, "eve", uuid.uuid4().hex)
    with socket(ana) as of_ana, socket(ben) as of_ben, socket(eve) as of_eve:
        shared, private = ana.put("for all"), ana.put("for me alone", visibility="private")
        ana.push(private)
        told = of_ana.message()
        assert isinstance(told, dict)
        assert (told["kind"], told["id"], told["project"], told["source"]) == (
            "memory:indexed", str(private.id), str(ana.project), "memory",
        )  # fmt: skip
        ana.push(shared)
        for each in (of_ana, of_ben):
            said = each.message()
            assert isinstance(said, dict)
            assert said["id"] == str(shared.id)
        theirs = eve.put("elsewhere")
        eve.push(theirs)
        said = of_eve.message()
        assert isinstance(said, dict)
        assert said["id"] == str(theirs.id), "nothing of the other project came before"


def test_nobody_listens_to_a_project_that_is_not_theirs(ana: Member, service: Service, database: TeamDatabase) -> None:
    eve = join(service, database, "eve", uuid.uuid4().hex)
    with socket(eve, ana.project) as refused:
        assert (refused.is_open, refused.message()) == (True, 4403)
    for query, protocols in (("", ["siftd.v1"]), (f"?project={ana.project}", ["siftd.v1"])):
        with Socket(service, query, protocols) as stranger:  # type: ignore[arg-type]
            assert not stranger.is_open
    with Socket(service, "?project=x", [f"token.{ana.token}"]) as nowhere:  # type: ignore[arg-type]
        assert nowhere.message() == 4404
    with Socket(service, "", [f"token.{ana.token}"], {"host": "evil.example"}) as wrong:  # type: ignore[arg-type]
        assert not wrong.is_open


def test_a_token_holds_so_many_connections_and_one_that_is_revoked_is_let_go(database: TeamDatabase) -> None:
    import psycopg

    patches = {"siftd.team_server.sockets.ASK_AGAIN_SECONDS": 0.1, "siftd.team_server.limits.HELD_MAX": 1}
    with team_service(database.app, patches=patches) as service:
        ana = join(service, database, "ana", "let go")
        with socket(ana) as listener, psycopg.connect(database.superuser, autocommit=True) as connection:
            with socket(ana) as one_too_many:
                assert one_too_many.message() == 1013
            assert ana.ask("GET", ana.v1("/changes?wait=20")).status == 429
            connection.execute("UPDATE siftd.tokens SET revoked_at = now() WHERE device = %s", (ana.joined.device,))
            assert listener.message() == 4403


def test_a_listener_that_takes_nothing_is_cut_and_may_come_again(database: TeamDatabase) -> None:
    with team_service(database.app, patches={"siftd.web.live.WAITING_MAX": 3}) as service:
        ana = join(service, database, "ana", "slow")
        with socket(ana) as listener:
            ana.push(*(ana.put(f"item {number}") for number in range(5)))
            assert listener.message() == 1013
        with socket(ana) as again:
            ana.push(ana.put("one more"))
            assert isinstance(again.message(), dict)


def test_vectors_are_made_anew_by_another_model_while_search_goes_on(ana: Member) -> None:
    ana.push(*(ana.put(f"statement {number} of the queue") for number in range(70)))
    wait_until_embedded(ana)
    job = ana.ask("POST", ana.api("/memory/reindex"), {"embedder": "blend-384"})
    assert job.status == 202
    assert texts(search(ana, "q=queue"))
    path = f"/api/jobs/{job.json['id']}"
    while (told := ana.get(path))["state"] == "running":
        assert search(ana, "q=queue+statement&strategy=semantic")["hits"]
    assert (told["state"], told["answer"]) == ("done", {"embedded": 70})
    assert (told["done"], told["total"]) == (70, 70)
    assert ana.get(ana.v1("/members"))["project"]["embedder"] == "blend-384"
    found = search(ana, "q=queue+statement&strategy=semantic")
    assert (len(found["hits"]), found.get("degraded", [])) == (10, [])


def test_a_job_is_told_to_members_alone(service: Service, database: TeamDatabase, ana: Member) -> None:
    job = ana.ask("POST", ana.api("/memory/reindex"), {}).json["id"]
    eve = join(service, database, "eve", uuid.uuid4().hex)
    assert eve.ask("GET", f"/api/jobs/{job}").status == 403
    assert ana.ask("GET", f"/api/jobs/{job}").status == 200


def test_a_model_that_the_server_was_not_given_changes_nothing(ana: Member) -> None:
    for name in ("ollama:nobody", "fastembed:/etc", "nonsense"):
        answer = ana.ask("POST", ana.api("/memory/reindex"), {"embedder": name})
        assert (answer.status, answer.code) == (400, "embedder_unknown")
    assert ana.get(ana.v1("/members"))["project"]["embedder"] == "hash-384"
