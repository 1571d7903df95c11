"""`siftd team serve` as laptops use it: they join, push, wait for what is new; PostgreSQL goes away and comes back."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database, running
from team_service import Member, Service, join, run_team, team_service

from siftd.team.items import Forget

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
POLLS = {"siftd.team_server.notifications.POLL_SECONDS": 0.1, "siftd.team_server.notifications.HEARD_POLL_SECONDS": 60}
"""Who is not woken is not helped by asking again."""
PATIENCE = ["pool.WAIT_SECONDS", "pool.RECONNECT_SECONDS", "notifications.PAUSE_SECONDS_MAX"]


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def service(database: TeamDatabase) -> Iterator[Service]:
    with team_service(database.app, patches=POLLS) as served:
        wait_until_heard(served)
        yield served


def wait_until_heard(service: Service) -> None:
    while "feed_heard" not in service.log():
        time.sleep(0.01)


def wait_for(member: Member, after: int, seconds: int = 20) -> tuple[threading.Thread, list[dict[str, object]]]:
    """Ask for what is new in a thread; return it with where its answer comes."""
    found: list[dict[str, object]] = []

    def ask() -> None:
        found.append(member.get(member.v1(f"/changes?after={after}&wait={seconds}")))

    thread = threading.Thread(target=ask)
    thread.start()
    return thread, found


def test_what_one_device_pushes_another_pulls_with_its_author(service: Service, database: TeamDatabase) -> None:
    ana, ben = join(service, database, "ana"), join(service, database, "ben")
    put = ana.put("The job queue runs on Postgres", metadata={"type": "decision", "tags": ["queue"]})
    pushed = ana.push(put)
    assert pushed.put == 1
    page = ben.get(ben.v1(f"/changes?after={pushed.head - 1}"))
    (change,) = page["changes"]
    assert (page["head"], page["cursor"], change["seq"]) == (pushed.head, pushed.head, pushed.head)
    assert (change["item"]["text"], change["item"]["metadata"]) == (put.text, put.metadata)
    assert (change["author"]["name"], change["device"]) == ("ana", str(ana.joined.device))
    assert ana.push(put).put == 0, "telling the same again changes nothing"


def test_a_secret_is_refused_at_the_door_and_the_rest_is_taken(service: Service, database: TeamDatabase) -> None:
    ana = join(service, database, "ana", "doors")
    bad, good = ana.put(f"use {SECRET}"), ana.put("use the vault")
    pushed = ana.push(bad, good)
    assert (pushed.put, [(each.id, each.why) for each in pushed.ignored]) == (1, [(bad.id, "secret")])
    with psycopg.connect(database.superuser) as connection:
        kept = connection.execute("SELECT text FROM siftd.memories WHERE project_id = %s", (ana.project,)).fetchall()
    assert kept == [("use the vault",)]


def test_who_waits_is_woken_by_a_push_and_by_a_forget(service: Service, database: TeamDatabase) -> None:
    ana, ben = join(service, database, "ana", "waits"), join(service, database, "ben", "waits")
    put = ana.put("one")
    for item in (put, Forget(id=put.id, rev=2)):
        head = ben.get(ben.v1("/changes?after=0"))["head"]
        thread, found = wait_for(ben, head)
        ana.push(item)
        thread.join(30)
        (page,) = found
        assert [each["seq"] for each in page["changes"]] == [head + 1]  # type: ignore[index,union-attr]


def test_what_is_private_wakes_others_with_nothing_but_a_further_cursor(
    service: Service, database: TeamDatabase
) -> None:
    ana, ben = join(service, database, "ana", "private"), join(service, database, "ben", "private")
    thread, found = wait_for(ben, 0)
    ana.push(ana.put("for me alone", visibility="private"))
    thread.join(30)
    assert found == [{"epoch": str(ana.joined.epoch), "head": 1, "cursor": 1}]


def test_who_waits_in_vain_is_answered_when_the_time_is_over(service: Service, database: TeamDatabase) -> None:
    ana = join(service, database, "ana", "vain")
    assert ana.get(ana.v1("/changes?after=0&wait=0.2"))["head"] == 0


def test_a_token_that_is_revoked_while_it_waits_learns_nothing_more(service: Service, database: TeamDatabase) -> None:
    ana, ben = join(service, database, "ana", "revoked"), join(service, database, "ben", "revoked")
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(ben.ask("GET", ben.v1("/changes?after=0&wait=20")).status))
    thread.start()
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        connection.execute("UPDATE siftd.tokens SET revoked_at = now() WHERE device = %s", (ben.joined.device,))
    ana.push(ana.put("after that"))
    thread.join(30)
    assert statuses == [401]


def test_the_members_say_which_device_has_applied_what(service: Service, database: TeamDatabase) -> None:
    ana, ben = join(service, database, "ana", "cursors"), join(service, database, "ben", "cursors")
    ana.push(ana.put("one"), ana.put("two"))
    ben.get(ben.v1("/changes?after=1&applied=1"))
    told = ana.get(ana.v1("/members"))
    assert {each["person"]["name"]: each["seq"] for each in told["devices"]} == {"ana": 0, "ben": 1}
    assert told["used"] == {"memory": 2}


def test_who_has_left_may_do_nothing_more(service: Service, database: TeamDatabase) -> None:
    ana, ben = join(service, database, "ana", "left"), join(service, database, "ben", "left")
    ben.push(ben.put("mine", visibility="private"), ben.put("ours"))
    assert ben.ask("POST", ben.v1("/leave"), {"forgetShared": False}).json == {"forgotten": 1}
    assert ben.ask("GET", ben.v1("/members")).status == 401
    assert [each["person"]["name"] for each in ana.get(ana.v1("/members"))["members"]] == ["ana"]


def test_an_invitation_holds_once(service: Service, database: TeamDatabase) -> None:
    for invite in ("i" * 43, "ÿ" * 43):
        answer = service.ask("POST", "/api/v1/join", {"invite": invite, "device": "d", "store": database_uuid()})
        assert (answer.status, answer.code) == (401, "invitation_refused")


def database_uuid() -> str:
    return "0b6c3c52-5f0e-4d5b-9d0b-6a6f2c4f8a11"


def test_more_items_than_a_push_may_have_are_refused(service: Service, database: TeamDatabase) -> None:
    ana = join(service, database, "ana", "many")
    items = [Forget(id=ana.project, rev=1)] * 501
    answer = ana.ask("POST", ana.v1("/push"), {"epoch": ana.joined.epoch, "items": items})
    assert (answer.status, answer.code) == (413, "too_many")


def test_another_epoch_is_told_and_nothing_is_kept(service: Service, database: TeamDatabase) -> None:
    ana = join(service, database, "ana", "epochs")
    answer = ana.ask("POST", ana.v1("/push"), {"epoch": ana.project, "items": [ana.put("x")]})
    assert (answer.status, answer.code) == (409, "other_epoch")
    assert ana.get(ana.v1("/changes?after=0"))["head"] == 0


def test_who_writes_too_often_is_told_when_to_come_again(database: TeamDatabase) -> None:
    few = {"siftd.team_server.limits.PER_MINUTE": {"write": [1, 2], "read": [600, 600]}}
    with team_service(database.app, patches=few) as service:
        ana, ben = join(service, database, "ana", "often"), join(service, database, "ben", "often")
        said = [ana.ask("POST", ana.v1("/push"), {"epoch": ana.joined.epoch, "items": []}) for _ in range(3)]
        assert [each.status for each in said] == [200, 200, 429]
        assert int(said[-1].headers["retry-after"]) > 0
        ben.push()
        ana.get(ana.v1("/members"))


def test_the_server_starts_before_postgresql_says_so_and_goes_on_once_it_is_there() -> None:
    with running(18) as postgres:
        database = make_team_database(postgres)
        postgres.stop()
        patches = POLLS | {f"siftd.team_server.{name}": 0.5 for name in PATIENCE}
        with team_service(database.app, patches=patches) as service:
            assert service.ask("GET", "/health").json == {"ok": True, "store": False}
            assert service.ask("GET", "/api/v1/hello").status == 200
            said = {"invite": "i" * 43, "device": "d", "store": database_uuid()}
            away = service.ask("POST", "/api/v1/join", said)
            assert (away.status, int(away.headers["retry-after"]) > 0) == (503, True)
            postgres.start()
            while not service.ask("GET", "/health").json["store"]:
                time.sleep(0.05)
            ana = join(service, database, "ana")
            wait_until_heard(service)
            ana.push(ana.put("before"))

            postgres.stop("immediate")
            answer = ana.ask("POST", ana.v1("/push"), {"epoch": ana.joined.epoch, "items": [ana.put("meanwhile")]})
            assert (answer.status, "retry-after" in answer.headers) == (503, True)
            assert ana.ask("GET", ana.v1("/changes?after=0&wait=20")).status == 503
            postgres.start()
            while ana.ask("GET", ana.v1("/changes?after=0")).status != 200:
                time.sleep(0.05)
            assert ana.push(ana.put("after")).head == 2
            assert "meanwhile" not in service.log()


def test_a_lock_that_is_held_too_long_is_a_503_and_nothing_is_half_done(
    service: Service, database: TeamDatabase
) -> None:
    ana = join(service, database, "ana", "locks")
    with psycopg.connect(database.superuser) as connection:
        connection.execute("SELECT 1 FROM siftd.projects WHERE id = %s FOR UPDATE", (ana.project,))
        answer = ana.ask("POST", ana.v1("/push"), {"epoch": ana.joined.epoch, "items": [ana.put("locked out")]})
        assert (answer.status, answer.code, "retry-after" in answer.headers) == (503, "busy", True)
        connection.rollback()
    assert ana.get(ana.v1("/changes?after=0"))["head"] == 0
    assert ana.push(ana.put("afterwards")).head == 1


def test_told_to_end_it_lets_go_who_waits_and_leaves_nothing_behind(database: TeamDatabase) -> None:
    with team_service(database.app, patches=POLLS) as service:
        ana = join(service, database, "ana", "ends")
        thread, found = wait_for(ana, 0)
        with psycopg.connect(database.superuser, autocommit=True) as connection:
            while not connection.execute(
                "SELECT 1 FROM siftd.devices WHERE id = %s AND seen_at IS NOT NULL", (ana.joined.device,)
            ).fetchone():
                time.sleep(0.01)
            service.process.send_signal(signal.SIGTERM)
            thread.join(20)
            assert service.process.wait(20) == 0
            assert len(found) <= 1
            left = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'siftd_app' AND datname = %s"
            while connection.execute(left, (database.name,)).fetchone() == (1,):
                time.sleep(0.01)


def test_who_asks_nothing_and_who_reads_nothing_is_cut(database: TeamDatabase) -> None:
    quick = {f"siftd.team_server.connections.{name}": 0.5 for name in ("ASK_SECONDS", "BODY_SECONDS", "READ_SECONDS")}
    with team_service(database.app, patches=quick) as service:
        ana = join(service, database, "ana", "slow")
        head = f"host: {service.host}\r\nauthorization: Bearer {ana.token}\r\n"
        push = f"POST {ana.v1('/push')} HTTP/1.1\r\n{head}content-type: application/json\r\n"
        for sent in (
            "",
            "GET /api/v1/hel",
            f"GET /health HTTP/1.1\r\nhost: {service.host}\r\nx: ",
            f"{push}content-length: 99\r\n\r\n{{",
        ):
            with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
                connection.sendall(sent.encode())
                assert is_cut(connection), sent
        for _ in range(8):
            ana.push(*(ana.put("x" * 9_000) for _ in range(100)))
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect(("127.0.0.1", service.port))
            connection.sendall(f"GET {ana.v1('/changes')} HTTP/1.1\r\n{head}\r\n".encode() * 3)
            assert is_cut(connection)
        assert ana.get(ana.v1("/members"))


def is_cut(connection: socket.socket) -> bool:
    """Whether the other end resets the connection, seen without reading what it has sent."""
    import select

    poll = select.poll()
    poll.register(connection, select.POLLERR | select.POLLHUP)
    return bool(poll.poll(30_000))


def test_the_command_says_what_is_wrong_before_it_listens(database: TeamDatabase) -> None:
    for options, why in (
        (["--address", "0.0.0.0", "--host", "team.example"], "in clear"),
        (["--certificate", "/nowhere", "--key", "/nowhere"], "certificate"),
        (["--webhooks-file", "/nowhere"], "cannot be read"),
    ):
        done = run_team("serve", *options, environ={"SIFTD_TEAM_DSN": database.app})
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr
    assert "where PostgreSQL is" in run_team("serve").stderr


def test_health_is_asked_by_a_command(service: Service) -> None:
    done = run_team("health", "--port", str(service.port))
    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True, "store": True})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        done = run_team("health", "--port", str(taken.getsockname()[1]))
    assert (done.returncode, done.stdout) == (1, "")
