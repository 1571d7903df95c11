"""The HTTP API as a program and as a page use it, against the real process and the real daemon."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, wait_until
from terminals import MEM
from web_page import Page, serving

POSTGRES = "The job queue runs on Postgres LISTEN/NOTIFY"
HOSTILE = '</script><img src=x onerror="window.pwned=1">\u202e{{7*7}}'


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    place = Place()
    try:
        place.start()
        for number in range(30):
            place.capture(number)
        place.capture(40, payload={"tool_input": {"command": HOSTILE}, "tool_response": {"stdout": HOSTILE}})
        place.ask("drain")
        with serving(place) as served:
            yield served
    finally:
        place.end()


def keep(page: Page, text: str, **fields: Any) -> str:
    answer = page.post("/memory", {"text": text, **fields})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


def test_a_search_finds_and_says_why(page: Page) -> None:
    found = page.get("/memory/search?q=make+target-7&k=3")
    assert found["hits"][0]["eventId"] == 8
    assert found["hits"][0]["why"]
    assert all(hit["why"] == {} for hit in page.get("/memory/search?q=make&explain=false")["hits"])


def test_a_strategy_leaves_the_others_signals_out(page: Page) -> None:
    by_words = page.get("/memory/search?q=make+target-7&strategy=words")["hits"][0]["why"]
    by_meaning = page.get("/memory/search?q=make+target-7&strategy=meaning")["hits"][0]["why"]
    assert "vector" not in by_words
    assert "vector" in by_meaning
    assert "words" not in by_meaning


def test_the_paths_of_the_seed_keep_find_and_forget(page: Page) -> None:
    cited = keep(page, POSTGRES, tags=["queue"], source="note")
    hit = page.get("/memory/search?q=Postgres&source=memory")["hits"][0]
    assert (hit["id"], hit["text"]) == (cited, POSTGRES)
    again = page.post("/memory", {"text": POSTGRES, "source": "note"})
    assert (again.status, again.json["duplicate"], again.json["id"]) == (200, True, cited)
    asked = page.ask("DELETE", f"/api/memory/{cited}?project={page.key}")
    assert (asked.status, asked.code, asked.json["byKind"]["memory"]) == (409, "confirm_first", 1)
    assert page.get("/memory/search?q=Postgres&source=memory")["hits"] != []
    confirmed = f"/api/memory/{cited}?project={page.key}&confirm={asked.json['confirm']}"
    done = page.ask("DELETE", confirmed)
    assert (done.status, done.json["matched"]) == (200, 1)
    assert page.get("/memory/search?q=Postgres&source=memory")["hits"] == []
    gone = page.ask("DELETE", confirmed)
    assert gone.status in (404, 409)


def test_what_was_confirmed_for_one_thing_forgets_no_other(page: Page) -> None:
    first, second = keep(page, "Alder wood burns slowly"), keep(page, "Birch wood burns quickly")
    confirm = page.ask("DELETE", f"/api/memory/{first}?project={page.key}").json["confirm"]
    asked = page.ask("DELETE", f"/api/memory/{second}?project={page.key}&confirm={confirm}")
    assert (asked.status, asked.code) == (409, "confirm_first")
    assert page.get(f"/items/{second}")["item"]["text"] == "Birch wood burns quickly"


def test_what_matches_something_else_by_then_is_shown_anew(page: Page) -> None:
    page.place.capture(50, payload={"tool_input": {"command": "cat maple"}, "tool_response": {"stdout": ""}})
    shown = page.post("/forget", {"query": "maple"})
    assert (shown.status, shown.json["byKind"]["tool"]) == (409, 1)
    page.place.capture(51, payload={"tool_input": {"command": "rm maple"}, "tool_response": {"stdout": ""}})
    again = page.post("/forget", {"query": "maple", "confirm": shown.json["confirm"]})
    assert (again.status, again.json["byKind"]["tool"]) == (409, 2)
    done = page.post("/forget", {"query": "maple", "confirm": again.json["confirm"]})
    assert (done.status, done.json["matched"]) == (200, 2)


def test_a_correction_stands_in_the_place_of_what_it_corrects(page: Page) -> None:
    old = keep(page, "Deploys go out on Fridays")
    new = page.post("/memory/supersede", {"id": old, "text": "Deploys go out on Tuesdays"}).json["id"]
    assert page.get(f"/items/{old}")["item"]["status"] == "superseded"
    assert [hit["id"] for hit in page.get("/memory/search?q=Deploys&source=memory")["hits"]] == [new]
    edges = page.get(f"/graph/{new}")["edges"]
    assert {"from": new, "to": old, "relation": "supersedes"} in edges


def test_what_a_program_pins_waits_for_a_person_and_what_a_person_pins_stands(page: Page) -> None:
    waiting = page.post("/memory", {"text": "Never push to main without a review", "pin": True}).json
    assert waiting["waits"]
    refused = page.post("/memory/accept", {"id": waiting["id"]})
    assert (refused.status, refused.code) == (403, "person_only")
    person = page.person()
    assert page.post("/memory/accept", {"id": waiting["id"]}, token=person).status == 200
    pinned = {each["id"] for each in page.get("/memories?pinned=true")["memories"]}
    mine = page.post("/memory", {"text": "Write commit messages in English", "pin": True}, token=person).json
    assert not mine["waits"]
    assert {each["id"] for each in page.get("/memories?pinned=true")["memories"]} == pinned | {int(mine["id"][1:])}


def test_a_word_on_a_memory_takes_it_out_of_what_is_given(page: Page) -> None:
    cited = keep(page, "The staging host is called heron")
    assert page.post("/memory/feedback", {"id": cited, "verdict": "outdated"}).json["status"] == "superseded"
    assert page.get("/memory/search?q=heron&source=memory")["hits"] == []
    confirmed = {"id": cited, "verdict": "confirmed"}
    assert page.post("/memory/feedback", confirmed).status == 400, "a program overrules nobody"
    assert page.post("/memory/feedback", confirmed, token=page.person()).json["status"] == "active"
    assert page.get(f"/why/{cited}")["story"]["uses"]["confirmed"] == 1


def test_a_memory_is_changed_field_by_field(page: Page) -> None:
    cited = keep(page, "Logs rotate at ten megabytes")
    assert page.post("/memory/update", {"id": cited, "importance": 5, "tags": ["logs"]}).json["id"] == cited
    item = page.get(f"/items/{cited}")["item"]
    assert (item["importance"], item["tags"]) == (5, ["logs"])


def test_lists_go_on_where_their_cursors_say(page: Page) -> None:
    first = page.get("/timeline?before=10&after=0")
    second = page.get(f"/timeline?before=10&after=0&cursor={first['nextCursor']}")
    ids = [[each["eventId"] for each in answer["events"]] for answer in (first, second)]
    assert len(ids[0]) == len(ids[1]) == 10
    assert max(ids[1]) < min(ids[0])
    for cursor in ("x", "W10", "e30", "MTIz", "%00"):
        assert page.ask("GET", f"/api/projects/{page.key}/timeline?cursor={cursor}").status == 400


def test_long_work_goes_on_while_nobody_waits_and_says_how_far_it_is(page: Page) -> None:
    job = page.post("/memory/reindex")
    assert job.status == 202
    path = f"/api/jobs/{job.json['id']}"
    wait_until("it is over", lambda: page.ask("GET", path).json["state"] != "running")
    done = page.ask("GET", path).json
    assert (done["state"], done["error"]) == ("done", None)
    assert done["done"] == done["total"] == done["answer"]["embedded"] > 0
    assert page.ask("GET", "/api/jobs/unknown").status == 404


def test_figures_by_day_and_what_takes_room(page: Page) -> None:
    stats = page.get("/stats?days=7")
    assert sum(day["events"] for day in stats["days"]) >= 30
    assert {"events", "vectors", "log"} <= {each["kind"] for each in stats["storage"]}


def test_what_is_hostile_is_data_and_nothing_else(page: Page) -> None:
    answer = page.ask("GET", f"/api/projects/{page.key}/items/e31")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json["item"]["payload"]["tool_input"]["command"].startswith("</script>")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/memory/search?k=0", None, 400),
        ("GET", "/memory/search?k=many", None, 400),
        ("GET", "/memory/search?q=a&q=b", None, 400),
        ("GET", "/memory/search?qeury=a", None, 400),
        ("GET", "/memory/search?strategy=best", None, 400),
        ("GET", "/items/e99999", None, 404),
        ("GET", "/items/nothing", None, 400),
        ("GET", "/graph/m99999", None, 404),
        ("GET", "/why/x", None, 400),
        ("POST", "/memory", {}, 400),
        ("POST", "/memory", {"text": ""}, 400),
        ("POST", "/memory", {"text": "x", "typo": 1}, 400),
        ("POST", "/memory", {"text": "x", "type": "rumour"}, 400),
        ("POST", "/memory", b"{", 400),
        ("POST", "/memory", b"[" * 100_000, 400),
        ("POST", "/memory", b"\xff\xfe", 400),
        ("POST", "/memory/supersede", {"id": "m99999", "text": "x"}, 404),
        ("POST", "/memory/undo", {"id": "e1"}, 400),
        ("POST", "/forget", {}, 400),
        ("POST", "/forget", {"query": "a", "session": "b"}, 400),
        ("DELETE", "/memory", None, 405),
    ],
)
def test_what_is_not_as_described_is_refused_in_words_that_quote_nothing(
    page: Page, method: str, path: str, body: Any, status: int
) -> None:
    answer = page.ask(method, f"/api/projects/{page.key}{path}", body)
    assert answer.status == status, answer.body
    error = answer.json["error"]
    assert error["message"]
    assert "rumour" not in str(error)
    assert "typo" not in error["message"]


def test_a_body_that_says_it_is_something_else_is_refused(page: Page) -> None:
    """A form of another page can say `text/plain`, and no more."""
    answer = page.post("/memory", b'{"text":"x"}', headers={"content-type": "text/plain"})
    assert (answer.status, answer.code) == (415, "not_json")


def test_memories_for_every_project_are_a_project_of_their_own(page: Page) -> None:
    answer = page.ask("POST", "/api/projects/_global/memory", {"text": "Prefer small commits"}, token=page.person())
    assert answer.status == 201
    cited = answer.json["id"]
    assert page.ask("GET", f"/api/projects/_global/items/{cited}").json["item"]["text"] == "Prefer small commits"
    shared = page.get("/memory/search?q=small+commits&source=memory")["hits"][0]["id"]
    assert shared == f"g{cited[1:]}"
    assert page.get(f"/items/{shared}")["item"]["text"] == "Prefer small commits"
    assert page.get(f"/graph/{shared}")["nodes"][0]["text"] == "Prefer small commits"


def test_the_doctor_says_what_it_says_in_a_terminal(page: Page) -> None:
    command = [MEM, "doctor", "--json", "--workspace", str(page.place.folder)]
    said = json.loads(subprocess.run(command, env=page.place.env, capture_output=True, check=False).stdout)
    links = [(check["link"], check["state"]) for check in said["checks"] if check["link"] != "path"]
    found = page.get("/doctor")
    assert [(check["link"], check["state"]) for check in found["checks"] if check["link"] != "path"] == links
    assert found["ok"] == said["ok"]
    assert {"daemon", "database"} <= {link for link, _ in links}


def test_the_doctor_of_a_daemon_that_does_not_run_says_so_and_starts_none() -> None:
    place = Place()
    try:
        place.start()
        place.capture()
        with serving(place) as served:
            place.stop(hold=True)
            checks = served.get("/doctor")["checks"]
            assert [(each["message"], bool(each["remedy"])) for each in checks if each["link"] == "daemon"] == [
                ("no daemon runs", True)
            ]
            assert place.pid() is None
    finally:
        place.end()


def test_the_doctor_of_what_is_kept_for_every_project_looks_at_that(page: Page) -> None:
    assert page.ask("GET", "/api/projects/_global/doctor").json["checks"] != []


def test_figures_of_one_part_leave_the_others_out(page: Page) -> None:
    assert page.get("/stats?part=stored")["storage"] != []
    assert page.get("/stats?part=given")["storage"] == []
    assert page.ask("GET", f"/api/projects/{page.key}/stats?part=everything").status == 400


def test_the_graph_is_found_shown_and_walked_with_what_says_so(page: Page) -> None:
    kept = [
        keep(page, "The auth service depends on the ledger service."),
        keep(page, "The platform team maintains the auth service."),
    ]
    page.place.ask("drain")
    (found, *_) = page.get("/entities?q=auth+service")["entities"]
    assert (found["name"], found["why"]) == ("auth service", "name")
    for name in (found["id"], "auth%20service", "What+does+the+auth+service+depend+on%3F"):
        shown = page.get(f"/entity?name={name}")
        assert shown["entity"]["id"] == found["id"]
        assert kept[0] in {said["id"] for each in shown["relations"] for said in each["evidence"]}
    around = page.get(f"/walk?start={found['id']}&depth=1")
    assert {each["entity"]["name"] for each in around["nodes"]} == {"ledger service", "platform team"}
    way = page.get("/walk?start=platform+team&target=ledger+service&action=path&depth=6")
    assert [each["entity"]["name"] for each in way["nodes"]] == ["auth service", "ledger service"]
    assert len(page.get("/entities?limit=2")["entities"]) == 2
