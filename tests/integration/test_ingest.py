"""`mem ingest` over a real daemon: files, folders, URLs, standard input; again and unchanged; what is left out."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import DONE, FAILED, MISUSED, run
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspaces.stopping import stop_and_hold

pytestmark = pytest.mark.slow

GUIDE = """# Guide

## Retention

Events are kept for ninety days, and then a keeper with a broom prunes what nobody has pinned.

## Install

Run the installer twice, once with the lamp lit and once in the dark, or the okapi will not come.
"""


class Person:
    """Somebody with one project."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.project = Home(str(root / "home")), root / "project"
        self.project.mkdir()
        self._capsys = capsys

    def mem(self, *arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return (status, *self._capsys.readouterr())

    def ingest(self, *arguments: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.mem("ingest", "--json", *arguments)[1])
        return answer

    def write(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def found(self, query: str) -> list[str]:
        answer = json.loads(self.mem("search", query, "--kind", "document", "--json")[1])
        return [f"{each['path'] or each['url'] or each['title']} {each['heading']}" for each in answer["documents"]]


@pytest.fixture
def person(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    made = Person(tmp_path, capsys)
    monkeypatch.setenv("SIFTD_HOME", made.home.root)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "CURSOR_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(made.project)
    yield made
    stop_and_hold(made.home.for_workspace(find_workspace(str(made.project)).key))


def test_a_file_is_found_by_heading_and_line_and_unchanged_the_second_time(person: Person) -> None:
    person.write("docs/guide.md", GUIDE)
    status, said, _ = person.mem("ingest", "docs/guide.md")
    assert (status, said) == (DONE, "1 document added as d1, 0 changed, 0 unchanged; 2 chunks made\n")
    assert person.found("how long are events kept") == ["docs/guide.md Guide > Retention"]
    assert person.ingest("docs/guide.md")["unchanged"] == 1
    person.write("docs/guide.md", GUIDE.replace("ninety", "thirty"))
    answer = person.ingest("docs/guide.md")
    assert (answer["changed"], answer["chunks"], answer["chunksMade"], answer["id"]) == (1, 2, 1, "d1")


def test_a_folder_is_read_in_and_what_is_left_out_is_told_with_its_reason(person: Person) -> None:
    person.write("docs/guide.md", GUIDE)
    person.write("docs/.env", "TOKEN=abcdefgh12345678")
    person.write("docs/broken.ipynb", "{no json")
    person.write("docs/node_modules/x/README.md", "# No\n")
    (person.project / "docs/again").symlink_to(person.project / "docs")
    (person.project / "docs/picture.md").write_bytes(b"\x89PNG\x00\x00")
    os.mkfifo(person.project / "docs/pipe.md")
    answer = person.ingest("docs")
    assert (answer["added"], answer["skipped"]) == (
        1, {"binary": 1, "broken": 1, "link": 1, "secret": 1, "special": 1, "vendored": 1},
    )  # fmt: skip
    status, _, noted = person.mem("ingest", "docs")
    assert status == DONE
    assert "picture.md left out, binary: it is binary, whatever its name says" in noted
    assert "TOKEN" not in noted


def test_an_ingest_that_was_stopped_goes_on_where_it_ended(person: Person) -> None:
    for number in range(4):
        person.write(f"docs/{number}.md", GUIDE.replace("Guide", f"Guide {number}"))
    person.ingest("docs/0.md", "docs/1.md")
    answer = person.ingest("docs")
    assert (answer["added"], answer["unchanged"]) == (2, 2)


def test_a_dry_run_keeps_nothing(person: Person) -> None:
    person.write("docs/guide.md", GUIDE)
    assert person.mem("ingest", "docs", "--dry-run")[1] == "1 document would be read in\n"
    assert json.loads(person.mem("documents", "--json")[1])["count"] == 0


def test_one_refused_file_fails_the_command_and_the_others_are_kept(person: Person) -> None:
    person.write("a.md", GUIDE)
    person.write("large.txt", "word " * 1_000_000)
    status, _, noted = person.mem("ingest", "large.txt", "gone.md", "a.md")
    assert status == FAILED
    assert "large.txt left out, too large: its text is larger than 4 MiB (split it)" in noted
    assert "gone.md left out, not found" in noted
    assert json.loads(person.mem("documents", "--json")[1])["count"] == 1


def test_standard_input_is_known_again_by_its_title(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    assert person.mem("ingest", "-")[0] == MISUSED
    for text, status in ((GUIDE, "added"), (GUIDE, "unchanged"), (GUIDE + "\nMore of it.\n", "changed")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert person.ingest("-", "--title", "Keeping okapis")[status] == 1
    assert person.found("how long are events kept")[0] == "Keeping okapis Guide > Retention"


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Guide</title><h1>Lamps</h1><p>A lamp is lit before the installer runs.</p>" * 2)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_private_url_is_fetched_only_where_a_person_allows_it(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = HTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/lamps"
    try:
        status, _, noted = person.mem("ingest", url)
        assert status == FAILED
        assert "left out, private" in noted
        assert person.ingest(url, "--private")["added"] == 1
        assert person.found("when is a lamp lit")[0] == f"{url} Lamps"
        assert json.loads(person.mem("documents", "refresh", "--private", "--json")[1])["unchanged"] == 1
        monkeypatch.setenv("CLAUDECODE", "1")
        assert "an agent has nothing read in from a private address" in person.mem("ingest", url, "--private")[2]
        assert "the person lets no agent have a URL read in" in person.mem("ingest", url)[2]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_documents_are_read_again_from_where_they_came(person: Person) -> None:
    person.write("a.md", GUIDE)
    gone = person.write("b.md", GUIDE + "\nAnother.\n")
    person.ingest("a.md", "--title", "Mine", "--type", "text")
    person.ingest("b.md")
    assert json.loads(person.mem("documents", "refresh", "--json")[1])["unchanged"] == 2
    person.write("a.md", GUIDE.replace("ninety", "ten"))
    gone.unlink()
    answer = json.loads(person.mem("documents", "refresh", "--json")[1])
    assert (answer["changed"], answer["skipped"]) == (1, {"gone": 1})
    assert "mem documents remove d2" in answer["leftOut"][0]["hint"]
    first = json.loads(person.mem("documents", "--json")[1])["documents"][-1]
    assert (first["title"], first["type"]) == ("Mine", "text")


def test_a_secret_in_a_document_is_redacted_before_it_is_kept(person: Person) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    person.write("a.md", GUIDE + f"\nThe token is {token} today.\n")
    person.ingest("a.md")
    kept = b"".join(path.read_bytes() for path in Path(person.home.root).rglob("*") if path.is_file())
    assert token.encode() not in kept
