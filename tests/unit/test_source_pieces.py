"""A line becomes items: redacted, plain, in pieces; a shorter telling archives what vanished."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import msgspec
import pytest

from siftd.embed.words import index_words
from siftd.redact import Redactor
from siftd.team.items import METADATA_BYTES_MAX, Forget, Item, Put, content_hash, document_id
from siftd.team.sources.line import Line, decode
from siftd.team.sources.pieces import items_of, priority_of
from siftd.team.sources.plain import plain
from siftd.team.sources.splitting import CHARS_MAX, PIECES_MAX

PROJECT = uuid.UUID("5c0e91d2-0000-4000-8000-000000000001")
KEPT = Path(__file__).parents[1] / "golden" / "source-lines-1.jsonl"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
SCRUB = Redactor(b"0" * 32).text


def items(line: Line, there: int = 0) -> list[Item]:
    return items_of(line, PROJECT, SCRUB, index_words, there)


def puts(line: Line, there: int = 0) -> list[Put]:
    return [item for item in items(line, there) if isinstance(item, Put)]


def issue(text: str, **fields: object) -> Line:
    return msgspec.convert({"source": "issue", "ref": "a/1", "updated": 5_000, "text": text, **fields}, Line)


def test_the_kept_lines_become_these_items() -> None:
    told, comment, job, gone = (items(decode(line))[0] for line in KEPT.read_bytes().splitlines())
    assert isinstance(told, Put)
    assert told.text == ("Login fails\n\nSince 1.4 the login\n\nfails: see the log.\n\n    assert token.exp > now")
    assert told.id == document_id(PROJECT, "issue", "github.com/acme/shop/issues/12")
    assert told.rev == told.ts == 1_795_168_800_000
    assert told.hash == content_hash(told)
    assert told.metadata == {
        "saidBy": "outside",
        "title": "Login fails",
        "status": "open",
        "priority": "high",
        "labels": ["bug", "area/auth"],
        "by": "ana",
        "url": "https://github.com/acme/shop/issues/12",
    }
    assert isinstance(comment, Put)
    assert comment.text == "Seen too, with `python -m shop`."
    assert isinstance(job, Put)
    assert (job.metadata["saidBy"], job.metadata["tools"]) == ("output", ["pytest"])
    assert gone == Forget(id=document_id(PROJECT, "issue", "github.com/acme/shop/issues/9"), rev=1_795_248_000_000)


def test_the_same_line_gives_the_same_items() -> None:
    line = issue("x " * 9_000, title="long")
    assert items(line) == items(line)


def test_a_long_text_is_cut_into_pieces_that_name_each_other() -> None:
    made = puts(issue("word " * 4_000, title="Slow queries"))
    assert [put.source_ref for put in made] == ["a/1", *(f"a/1#{n}" for n in range(2, len(made) + 1))]
    assert len(made) > 3
    assert all(len(put.text) <= CHARS_MAX + 320 for put in made)
    assert all(put.text.startswith("Slow queries\n") for put in made)
    assert made[0].metadata["chunks"] == len(made)
    assert [put.metadata["chunk"] for put in made[1:]] == list(range(2, len(made) + 1))
    assert len({put.id for put in made}) == len(made)


def test_a_shorter_telling_archives_the_pieces_that_vanish() -> None:
    before = puts(issue("word " * 4_000))
    after = puts(issue("word " * 10, updated=6_000), there=len(before))
    assert [put.source_ref for put in after] == [put.source_ref for put in before]
    assert after[0].archived_at is None
    assert [(put.text, put.archived_at, put.rev) for put in after[1:]] == [("", 6_000, 6_000)] * (len(before) - 1)


def test_deleting_takes_every_piece() -> None:
    before = puts(issue("word " * 4_000))
    gone = items(issue("", deleted=True, updated=7_000), there=len(before))
    assert [each.id for each in gone] == [put.id for put in before]
    assert all(isinstance(each, Forget) and each.rev == 7_000 for each in gone)


def test_a_text_without_end_is_bounded_and_says_so() -> None:
    made = puts(issue("word " * 200_000))
    assert len(made) == PIECES_MAX
    assert made[-1].text.endswith("[the rest is left out]")


def secrets() -> list[Line]:
    return [
        issue(f"the token is {TOKEN}"),
        issue(f"the **token** is `{TOKEN}`, [see]({TOKEN})"),
        issue(f"the token is {TOKEN[:12]}**{TOKEN[12:]}**"),
        issue(f"the token is {TOKEN[:12]}<b>{TOKEN[12:]}</b>".replace("<b>", "").replace("</b>", "")),
        issue("", title=f"deploy with {TOKEN}"),
        issue("", labels=[TOKEN], status=TOKEN, priority=TOKEN, by=TOKEN, tools=[TOKEN]),
        issue("", url=f"https://x.example/?token={TOKEN}"),
        issue("word " * 799 + TOKEN),
        issue("word " * 795 + TOKEN + " word" * 900),
        issue(f"::debug:: {TOKEN}", source="job", form="log"),
        issue(
            ("noise " * 20 + "\n") * 900 + f"2026-11-20T10:07:09Z \x1b[31m{TOKEN}\x1b[0m\n", source="job", form="log"
        ),
    ]


@pytest.mark.parametrize("line", secrets(), ids=lambda line: line.text[:30] or "of its metadata")
def test_no_secret_is_in_an_item_wherever_it_stood(line: Line) -> None:
    assert TOKEN not in msgspec.json.encode(items(line)).decode()


@pytest.mark.parametrize(
    "line",
    [
        issue("error: " + "word " * 900 + TOKEN + " w" * 990, source="job"),
        issue("##[group]Run " + "deploy " * 26 + TOKEN + "\nERROR: Job failed: exit code 1\n", source="job"),
        issue(f"ERROR: Job failed\n##[group]Run post\n{TOKEN} " + "line\n" * 592, source="job"),
        issue("", labels=[" " * 380 + TOKEN]),
    ],
    ids=["in a long line", "in a step's name", "behind the step that failed", "behind blanks"],
)
def test_no_half_of_a_secret_is_kept_where_a_text_is_cut(line: Line) -> None:
    kept = msgspec.json.encode(items(line)).decode()
    assert not [at for at in range(len(TOKEN) - 10) if TOKEN[at : at + 10] in kept]


def test_what_is_redacted_already_is_redacted_no_further() -> None:
    for line in secrets():
        for put in puts(line):
            assert SCRUB(put.text) == put.text


def test_metadata_fit_whatever_a_line_holds() -> None:
    many = ["l" * 500 + str(n) for n in range(5_000)]
    put = puts(issue("x", labels=many, tools=many, title="t" * 90_000, url="https://x/" + "u" * 9_000, by="b" * 9_000))[
        0
    ]
    assert len(json.dumps(put.metadata)) <= METADATA_BYTES_MAX
    assert "url" not in put.metadata


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://x/ y", "https://x/\u202e"])
def test_a_link_that_is_none_to_follow_is_left_out(url: str) -> None:
    assert "url" not in puts(issue("x", url=url))[0].metadata


def test_labels_tell_a_priority() -> None:
    assert priority_of(["bug", "P1"]) == "P1"
    assert priority_of(["priority: high"]) == "priority: high"
    assert priority_of(["priority::2", "urgent"]) == "priority::2"
    assert priority_of(["Urgent"]) == "Urgent"
    assert priority_of(["php", "pages", "prio"]) == ""


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("# Title #\n\ntext", "Title\n\ntext"),
        ("Title\n=====\ntext", "Title\n\ntext"),
        ("it says `<!--` here,\n\nand `-->` there", "it says `<!--` here,\n\nand `-->` there"),
        ("```html\n<!-- kept -->\n```\n<!-- gone\n-->after", "    <!-- kept -->\nafter"),
        ("    <!-- kept -->\na<!-- ` -->b `c<!-- -->d` <!-- e", "    <!-- kept -->\nab `c<!-- -->d` <!-- e"),
        ("a **b** *c* ~~d~~ ***e***", "a b c d e"),
        (
            "keep __init__, **kwargs, 2 ** 3, *.py and snake_case",
            "keep __init__, **kwargs, 2 ** 3, *.py and snake_case",
        ),
        ("`a  **b**` stays", "`a **b**` stays"),
        (
            "[text](https://x.y 'no') [text](https://x.y \"t\") ![alt](a.png) [](u)",
            "[text](https://x.y 'no') text alt u",
        ),
        ("<https://x.y> <details><summary>S</summary>in</details>", "https://x.y S in"),
        ("List<String> a<b", "List<String> a<b"),
        ("> said\n>> twice", "said\ntwice"),
        ("* one\n+ two\n- [ ] three", "- one\n- two\n- [ ] three"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a | b\n\n1 | 2"),
        ("x\n\n---\n\ny", "x\n\ny"),
        ("```py\nif a:\n    __b__\n```\nend", "    if a:\n        __b__\nend"),
        ("~~~\n```\n~~~", "    ```"),
        ("<!-- a\nb -->c <!-- never ends", "c <!-- never ends"),
        ("a\r\nb\rc\u2028d\te\xa0f  \n\n\n\ng", "a\nb\nc\nd e f\n\ng"),
        ("", ""),
        (" \n\t\n", ""),
    ],
)
def test_markdown_becomes_what_it_says(markdown: str, said: str) -> None:
    assert plain(markdown) == said
