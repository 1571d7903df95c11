"""The labelled cases of redaction: rows that say what they are, and an unseen half that stays unseen."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from siftd.redact import Redactor

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "data" / "redaction"
Row = dict[str, Any]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("redaction_cases", ROOT / "scripts" / "redaction_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (CASES / name).read_text().splitlines()]


def secrets_of(row: Row) -> list[str]:
    return [row["secret"]] if isinstance(row["secret"], str) else list(row["secret"])


@pytest.mark.parametrize("name", ["open.jsonl", "unseen.jsonl", "forms-open.jsonl", "forms-unseen.jsonl"])
def test_every_case_holds_the_secret_that_it_is_labelled_with(name: str) -> None:
    """A secret that is not there would always count as caught."""
    strings_of, payload_of = script().strings_of, script().payload_of
    wrong = 0
    for row in rows(name):
        held = list(strings_of(payload_of(row)))
        wrong += not (secrets_of(row) and all(any(secret in text for text in held) for secret in secrets_of(row)))
    assert wrong == 0


@pytest.mark.parametrize("kind", ["", "benign-", "forms-"])
def test_no_case_stands_in_both_halves(kind: str) -> None:
    """What rules may be fitted to must tell nothing of what they are measured on."""
    seen = {row.get("text") or json.dumps(row["value"]) for row in rows(f"{kind}open.jsonl")}
    unseen = {row.get("text") or json.dumps(row["value"]) for row in rows(f"{kind}unseen.jsonl")}
    assert len(seen & unseen) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unseen.jsonl", "benign-unseen.jsonl", "forms-unseen.jsonl"])
def test_a_row_of_the_unseen_half_is_never_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is asked for: of the unseen half, shares are all that is told."""
    script().report(Redactor(b"evaluation"), CASES / name, True)
    told = capsys.readouterr().out.splitlines()
    classes = {row["class"] for row in rows(name)}
    assert told[0].startswith(name.removesuffix(".jsonl"))
    shares = [share.strip() for line in told[1:] for share in line.split(";")]
    assert {share.rsplit(" ", 3)[0] for share in shares} == classes


def test_a_secret_counts_as_caught_only_when_no_string_holds_it() -> None:
    """Escaping in JSON would hide a quote or a backslash from a search of the dump."""
    row = {"text": 'password = "Tulip\\Garden42"\n', "secret": "Tulip\\Garden42", "class": "x", "via": "stdout"}
    assert script().is_hidden(Redactor(b"evaluation"), row)
    assert not script().is_hidden(Redactor(b"evaluation"), {**row, "text": "see Tulip\\Garden42 there\n"})


@pytest.mark.parametrize("name", ["open.jsonl", "unseen.jsonl", "benign-open.jsonl"])
def test_all_read_at_once_none_that_changes_is_taken_for_clean(name: str) -> None:
    """A scrub tells so, hundreds of payloads at a time, what it need not redact."""
    redactor, payload_of = Redactor(b"evaluation"), script().payload_of
    payloads = [payload_of(row) for row in rows(name)]
    missed = 0
    for at in range(0, len(payloads), 256):
        group = payloads[at : at + 256]
        may = redactor.may_change([payload] for payload in group)
        missed += sum(
            redactor.value(each) is not each for each, may_change in zip(group, may, strict=True) if not may_change
        )
    assert missed == 0
