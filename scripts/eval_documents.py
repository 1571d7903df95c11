"""How well documents are found: questions about documentation that ships in the packages of this environment.

The documents are the descriptions that packages carry in their metadata, and the Markdown and reST files among their
modules. They are read in by `mem ingest` into a throw-away memory, and each question of
tests/data/documents/questions.tsv is asked there. It is answered when one of the five pieces that come back holds
something of the section that answers (R@5).

The yardstick is FTS5 over whole files, which most people would build first: of each of its five best files that part
counts as shown which `snippet()` chooses, grown to the length of a chunk. The same words are asked of both. Every second
question was put away while anything was chosen, and is reported apart.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench_stand import MEM, REPOSITORY, Bench, ask, bench

from siftd.documents.model import DocumentKind
from siftd.documents.sections import Section, markdown, underlined
from siftd.documents.windows import TOKENS_MAX

QUESTIONS = REPOSITORY / "tests" / "data" / "documents" / "questions.tsv"
SHOWN = 5
GOAL = 1.25
CHARS_MIN = 500
"""A shorter file is no documentation."""
CHUNK_CHARS = 4 * TOKENS_MAX
_EXTENSION = {"markdown": ".md", "rest": ".rst"}


class Text(NamedTuple):
    """One document, and where its sections are."""

    name: str
    kind: DocumentKind
    text: str

    def sections(self) -> list[Section]:
        return list((markdown if self.kind == "markdown" else underlined)(self.text))

    def lines_of(self, heading: str) -> tuple[int, int]:
        """Return the first and the last line of the section whose path ends so, below its heading."""
        sections = self.sections()
        at = next(number for number, each in enumerate(sections) if _ends(each.heading, heading))
        end = sections[at + 1].begin if at + 1 < len(sections) else len(self.text)
        return self.text.count("\n", 0, sections[at].body) + 1, self.text.count("\n", 0, end) + 1


def _ends(path: str, heading: str) -> bool:
    return path == heading or path.endswith(f" > {heading}")


class Question(NamedTuple):
    """Of which document, which heading answers, and what is asked."""

    name: str
    heading: str
    text: str


def documents() -> Iterator[Text]:
    """Yield the documentation of the environment's packages."""
    packages = Path(sysconfig.get_paths()["purelib"])
    for path in sorted(packages.rglob("*")):
        name = str(path.relative_to(packages))
        is_text = path.suffix in (".md", ".rst") and ".dist-info" not in name
        if path.name == "METADATA" and not name.startswith("siftd"):
            head, _, text = path.read_text("utf-8", "replace").partition("\n\n")
            named = re.search(r"^Description-Content-Type: *(\S+)", head, re.MULTILINE)
            kind: DocumentKind = "markdown" if named and "markdown" in named[1] else "rest"
            found = Text(name.partition("-")[0], kind, text)
        elif is_text and path.is_file():
            found = Text(name, "markdown" if path.suffix == ".md" else "rest", path.read_text("utf-8", "replace"))
        else:
            continue
        if len(found.text) >= CHARS_MIN:
            yield found


def questions(there: dict[str, Text]) -> list[Question]:
    """Return the questions whose answers are there; packages change."""
    rows = [line.split("\t") for line in QUESTIONS.read_text().splitlines() if not line.startswith("#")]
    found = [Question(*row) for row in rows]
    return [
        each
        for each in found
        if each.name in there and any(_ends(one.heading, each.heading) for one in there[each.name].sections())
    ]


def whole_files(texts: dict[str, Text]) -> sqlite3.Connection:
    """Return an index of whole files, as whoever builds none of chunks would make it."""
    index = sqlite3.connect(":memory:")
    index.execute(
        "CREATE VIRTUAL TABLE files USING fts5 (name, text, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    index.executemany("INSERT INTO files VALUES (?, ?)", [(each.name, each.text) for each in texts.values()])
    return index


def answered_by_files(index: sqlite3.Connection, texts: dict[str, Text], question: Question) -> bool:
    """Whether what is shown of one of the five best files holds something of the section."""
    match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.text))
    rows = index.execute(
        "SELECT name, snippet(files, 1, '', '', '', 64) FROM files WHERE files MATCH ? ORDER BY rank LIMIT ?",
        (match, SHOWN),
    ).fetchall()
    for name, snippet in rows:
        if name == question.name:
            text = texts[name].text
            middle = text.find(snippet) + len(snippet) // 2
            begin, end = max(0, middle - CHUNK_CHARS // 2), middle + CHUNK_CHARS // 2
            return _overlap(
                (text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 1), texts[name].lines_of(question.heading)
            )
    return False


def _overlap(shown: tuple[int, int], wanted: tuple[int, int]) -> bool:
    return shown[0] < wanted[1] and wanted[0] <= shown[1]


def answered_by_chunks(running: Bench, texts: dict[str, Text], question: Question) -> bool:
    """Whether one of five chunks holds something of the section."""
    with running.connect() as connection:
        filters = {"kind": "document"}
        answer = ask(connection, {"kind": "search", "query": question.text, "k": SHOWN, "filters": filters})
    wanted = texts[question.name].lines_of(question.heading)
    return any(
        hit["path"] == file_of(texts[question.name])
        and _overlap((hit["line"], hit["line"] + hit["text"].count("\n")), wanted)
        for hit in answer["documents"]
    )


def file_of(text: Text) -> str:
    return f"docs/{text.name.replace('/', '.').removesuffix(_EXTENSION[text.kind])}{_EXTENSION[text.kind]}"


def read_in(running: Bench, texts: dict[str, Text]) -> dict[str, Any]:
    """Read the documents in, and make their vectors."""
    for each in texts.values():
        path = running.workspace / file_of(each)
        path.parent.mkdir(exist_ok=True)
        path.write_text(each.text)
    command = [MEM, "ingest", "docs", "--json"]
    done = subprocess.run(command, env=running.environment, cwd=running.workspace, capture_output=True, check=True)
    with running.connect() as connection:
        ask(connection, {"kind": "drain"})
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true", help="show which questions of the seen half were missed")
    chosen = parser.parse_args()
    texts = {each.name: each for each in documents()}
    asked = questions(texts)
    index = whole_files(texts)
    with bench() as running:
        made = read_in(running, texts)
        ours = [answered_by_chunks(running, texts, each) for each in asked]
    theirs = [answered_by_files(index, texts, each) for each in asked]
    size = sum(len(each.text) for each in texts.values())
    print(f"{len(texts)} documents of {size / 1e6:.1f} MB, {made['chunks']:,} chunks, {len(asked)} questions\n")
    print("| questions | chunks, R@5 | whole files, R@5 | ratio, goal |\n|---|---|---|---|")
    for name, part in (("seen", slice(0, None, 2)), ("put away", slice(1, None, 2)), ("all", slice(None))):
        one, other = (sum(each[part]) / len(each[part]) for each in (ours, theirs))
        print(f"| {name} ({len(asked[part])}) | {one:.3f} | {other:.3f} | {one / other:.2f} × (≥ {GOAL} ×) |")
    if chosen.missed:
        for each, is_found in list(zip(asked, ours, strict=True))[::2]:
            if not is_found:
                print(f"missed: {each.text} ({each.name}: {each.heading})")


if __name__ == "__main__":
    main()
