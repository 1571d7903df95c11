"""The texts that the renderers gave when this version was released.

A changed text means another version: raise it in `siftd.summarise.extractive`, keep the new texts beside the old.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from known_kinds import item_of

from siftd.clients.tools import tool_named
from siftd.summarise.contract import Item
from siftd.summarise.extractive import RENDERERS, VERSION, render
from siftd.summarise.grounding import Source, unsupported_claims

GOLDEN = Path(__file__).parent.parent / "golden" / "extractive" / f"{VERSION}.jsonl"


def kept() -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in GOLDEN.read_text("utf-8").splitlines()]


def item(case: dict[str, Any]) -> Item:
    return item_of(
        event_id=1,
        tool=case["tool"],
        payload=case["payload"],
        outcome=case["outcome"],
        cwd=case.get("cwd"),
        request=case.get("request"),
        scope=case.get("scope", "event"),
        story=tuple(item({"cwd": case["cwd"], **told}) for told in case.get("story", ())),
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{i}-{case['tool']}") for i, case in enumerate(kept())])
def test_a_kept_event_gives_the_text_of_its_version_word_for_word(case: dict[str, Any]) -> None:
    line = render(item(case))
    assert line.text == case["text"]
    assert line.confidence == case["confidence"]


def test_no_kept_text_claims_what_its_event_does_not_say() -> None:
    wrong = {case["text"]: unsupported_claims(case["text"], Source.of(item(case))) for case in kept()}
    assert {text: claims for text, claims in wrong.items() if claims} == {}


def test_every_claude_code_tool_with_a_renderer_of_its_own_is_kept() -> None:
    shown = {case["tool"].lower() for case in kept()}
    assert set(RENDERERS) - {tool_named(name).operation for name in shown} <= {"language_server", "patch"}
