"""Pods and their blending: each declared number acts, and nothing crosses to whom it is not for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from siftd.facts.blending import Blend, Filled, blend
from siftd.facts.pods import NAMED, PERSON_ACTIVE_MS, SLOTS, Asker, Fact, Member, Pod, PodType

NOW = 1_760_000_000_000
ASKER = Asker("here", NOW, session="s-1", person="anna")


def fact(number: int, **fields: Any) -> Fact:
    given = {"text": f"statement number {number}", "project": "here", "said_ts": NOW - 1_000}
    return Fact(f"m{number}", **given | fields)


def preference(number: int, **fields: Any) -> Fact:
    return fact(number, category="preference", said_by="person", **fields)


def vital(number: int, **fields: Any) -> Fact:
    return fact(number, importance=5, said_by="person", **fields)


MAKE = {
    "directive": lambda number: fact(number, is_pinned=True),
    "vital": vital,
    "session": lambda number: fact(number, session="s-1"),
    "person": preference,
    "project": fact,
    "playbook": fact,
}


def pod_of(blended: Blend, key: str) -> Filled:
    return next(filled for filled in blended.pods if filled.pod.key == key)


def ids_in(blended: Blend, key: str) -> list[str]:
    return [slot.fact.id for slot in pod_of(blended, key).slots]


def why_not(blended: Blend, key: str, fact_id: str) -> str:
    return next(each.why for each in pod_of(blended, key).left_out if each.fact.id == fact_id)


@pytest.mark.parametrize(
    ("kind", "slots"),
    [("directive", 5), ("vital", 6), ("playbook", 3), ("session", 6), ("person", 4), ("project", 4)],
)
def test_a_pod_fills_as_many_slots_as_it_declares_and_says_so_of_the_next_one(kind: PodType, slots: int) -> None:
    assert SLOTS[kind] == slots
    facts = [MAKE[kind](number) for number in range(10, 11 + slots)]
    members = tuple(Member(each.id) for each in facts) if kind == "playbook" else ()
    rows = [Pod("playbook", "release", "release", members=members)] if members else []
    asker = replace(ASKER, about="do the release", session="s-1" if kind == "session" else "")
    asker = replace(asker, person="anna" if kind == "person" else "")
    blended = blend(rows, facts, asker)
    key = {"playbook": "playbook:release", "session": "session:s-1", "person": "person:anna", "project": "project"}
    filled = pod_of(blended, key.get(kind, kind))
    assert len(filled.slots) == slots
    assert [slot.number for slot in filled.slots] == list(range(1, slots + 1))
    assert f"its {slots} slots are taken" in {each.why for each in filled.left_out}


def test_at_most_twenty_facts_stand_though_the_pods_have_twenty_eight_slots() -> None:
    facts = [MAKE[kind](100 * place + number) for place, kind in enumerate(MAKE, 1) for number in range(9)]
    steps = tuple(Member(each.id) for each in facts if each.id.startswith("m6"))
    rows = [Pod("playbook", "release", "release", members=steps)]
    blended = blend(rows, facts, replace(ASKER, about="release"))
    assert sum(filled.size for filled in blended.pods) == 28
    assert len(blended.facts) == 20
    assert "20 facts stand already" in {each.why for filled in blended.pods for each in filled.left_out}


def test_facts_stand_whole_within_4800_characters_and_a_shorter_one_takes_the_place_of_one_that_does_not_fit() -> None:
    long = [vital(number, text=f"{number}" + "x" * 1_598) for number in (1, 2)]
    facts = [*long, vital(3, text="y" * 1_601, said_ts=NOW - 2), vital(4, text="z" * 1_600, said_ts=NOW - 9_000)]
    blended = blend([], facts, ASKER)
    assert ids_in(blended, "vital") == ["m3", "m2", "m1"]
    assert why_not(blended, "vital", "m4") == "does not fit whole into 4,800 characters"
    shorter = blend([], [*facts, vital(5, text="short", said_ts=NOW - 9_999)], ASKER)
    assert ids_in(shorter, "vital") == ["m3", "m2", "m1"]  # 4,801 - 4,800 is no room for five characters either
    fitting = [*long, vital(3, text="y" * 1_590, said_ts=NOW - 2), vital(4, text="z" * 1_600, said_ts=NOW - 9_000)]
    blended = blend([], [*fitting, vital(5, text="short", said_ts=NOW - 9_999)], ASKER)
    assert ids_in(blended, "vital") == ["m3", "m2", "m1", "m5"]
    assert blended.chars <= 4_800


def test_a_slot_that_a_pod_does_not_fill_is_not_filled_from_elsewhere() -> None:
    blended = blend([], [fact(number) for number in range(1, 12)], ASKER)
    assert len(blended.facts) == SLOTS["project"]
    assert [filled.pod.key for filled in blended.pods if filled.slots] == ["project"]


def test_only_importance_five_that_a_person_said_or_confirmed_is_vital_however_many_claim_to_be() -> None:
    claimed = [fact(number, importance=5, said_by="agent") for number in range(1, 300)]
    blended = blend([], [*claimed, vital(400), fact(401, importance=5, is_confirmed=True)], ASKER)
    assert set(ids_in(blended, "vital")) == {"m400", "m401"}
    assert not {"m400", "m401"} & {each.fact.id for each in pod_of(blended, "vital").left_out}
    assert why_not(blended, "vital", "m7") == "importance 5, but no person said or confirmed it"
    assert pod_of(blend([], [fact(1, importance=4, said_by="person")], ASKER), "vital").slots == []


def test_no_row_makes_a_fact_vital_or_a_standing_instruction() -> None:
    rows = [Pod("vital", members=(Member("m1"),)), Pod("directive", members=(Member("m1"),))]
    blended = blend(rows, [fact(1, importance=4, said_by="person")], ASKER)
    assert not ids_in(blended, "vital")
    assert not ids_in(blended, "directive")
    assert why_not(blended, "vital", "m1") == "a member, but of importance 4"
    assert why_not(blended, "directive", "m1") == "a member, but not pinned"


def test_of_vital_and_directive_there_is_one_each_whatever_rows_say() -> None:
    rows = [Pod("vital", "more", members=(Member("m8"),)), Pod("directive", "more")]
    blended = blend(rows, [vital(number) for number in range(1, 10)], ASKER)
    assert sum(filled.pod.type in ("vital", "directive") for filled in blended.pods) == 2
    assert {"vital", "directive"}.isdisjoint(NAMED)


@pytest.mark.parametrize("since", [PERSON_ACTIVE_MS, PERSON_ACTIVE_MS + 1])
def test_a_persons_pod_rests_once_none_of_its_facts_was_said_or_used_for_24_hours(since: int) -> None:
    assert PERSON_ACTIVE_MS == 24 * 60 * 60 * 1_000
    old = preference(1, said_ts=NOW - 90 * PERSON_ACTIVE_MS, used_ts=NOW - since)
    resting = blend([], [old], replace(ASKER, project="there"))
    assert not resting.facts
    resting = blend([], [old], ASKER)
    assert pod_of(resting, "person:anna").inactive == "none of its facts was said or used in the last 24 hours"
    used = replace(old, used_ts=NOW - PERSON_ACTIVE_MS + 1)
    assert ids_in(blend([], [used], ASKER), "person:anna") == ["m1"]
    said = replace(old, said_ts=NOW - 5)
    assert ids_in(blend([], [said], ASKER), "person:anna") == ["m1"]


def test_a_preference_that_is_said_to_be_used_later_than_now_keeps_no_persons_pod_awake() -> None:
    old = preference(1, said_ts=NOW - 90 * PERSON_ACTIVE_MS, used_ts=NOW + PERSON_ACTIVE_MS)
    assert pod_of(blend([], [old], ASKER), "person:anna").inactive


def test_what_is_in_one_persons_pod_stands_in_no_pod_of_another_persons_view_and_no_page_tells_of_it() -> None:
    mine = vital(1, text="anna dislikes tabs", is_pinned=True, session="s-1")
    rows = [Pod("person", "anna", members=(Member("m1"),))]
    assert ids_in(blend(rows, [mine], ASKER), "directive") == ["m1"]
    bens = blend(rows, [mine, fact(2)], replace(ASKER, person="ben"))
    assert [each.id for each in bens.facts] == ["m2"]
    assert not [each for filled in bens.pods for each in filled.left_out]
    assert "person:anna" not in [filled.pod.key for filled in bens.pods]
    nobodys = blend(rows, [mine], replace(ASKER, person=""))
    assert not nobodys.facts


def test_what_is_no_more_than_one_sessions_stands_in_that_sessions_pod_alone() -> None:
    mine = fact(1, session="s-1", is_of_session=True)
    assert ids_in(blend([], [mine], ASKER), "session:s-1") == ["m1"]
    assert not blend([], [mine], replace(ASKER, session="s-2")).facts


def test_an_empty_scope_gives_nothing() -> None:
    facts = [fact(1, project=""), vital(2), preference(3), fact(4, is_pinned=True), fact(5, session="")]
    rows = [Pod("project", "", members=(Member("m1"),)), Pod("person", "", members=(Member("m3"),))]
    assert blend(rows, facts, Asker("", NOW)).pods == []
    nowhere = blend([], [fact(1, project="")], ASKER)
    assert not nowhere.facts
    keys = [filled.pod.key for filled in blend(rows, facts, Asker("here", NOW)).pods]
    assert keys == ["directive", "vital", "project"]


def test_no_project_is_handed_anothers_facts_by_any_pod() -> None:
    there = [MAKE[kind](place) for place, kind in enumerate(MAKE, 1)]
    there = [replace(each, project="there") for each in there]
    rows = [Pod("playbook", "release", "release", members=tuple(Member(each.id) for each in there))]
    rows += [Pod("project", "there", members=(Member("m1"),))]
    blended = blend(rows, [*there, fact(9)], replace(ASKER, about="release"))
    assert [each.id for each in blended.facts] == ["m9"]
    assert not [each for filled in blended.pods for each in filled.left_out]


def test_what_holds_in_every_project_stands_beside_the_projects_own() -> None:
    shared = replace(vital(1), id="g1", project="_global")
    assert ids_in(blend([], [shared, vital(2)], ASKER), "vital") == ["m2", "g1"]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("superseded", "a newer fact has taken its place"),
        ("expired", "holds no longer"),
        ("not yet", "does not hold yet"),
        ("archived", "archived"),
        ("waits", "waits for a person: `mem pins --accept`"),
    ],
)
def test_what_does_not_hold_or_waits_never_stands(state: Any, told: str) -> None:
    facts = [replace(MAKE[kind](place), state=state) for place, kind in enumerate(MAKE, 1)]
    rows = [Pod("playbook", "release", "release", members=(Member("m1"), Member("m2")))]
    blended = blend(rows, facts, replace(ASKER, about="release"))
    assert not blended.facts
    assert why_not(blended, "directive", "m1") == told


def test_a_fact_stands_once_in_the_first_pod_that_it_belongs_to() -> None:
    everything = vital(1, is_pinned=True, session="s-1", category="preference")
    blended = blend([], [everything], ASKER)
    assert [filled.pod.key for filled in blended.pods if filled.slots] == ["directive"]
    assert why_not(blended, "vital", "m1") == "stands in directive"


def test_two_that_say_the_same_stand_once_and_two_that_differ_in_a_number_or_a_sign_stand_both() -> None:
    same = [fact(1, text="Use the pnpm workspace."), fact(2, text="use pnpm workspace", importance=2)]
    blended = blend([], same, ASKER)
    assert ids_in(blended, "project") == ["m1"]
    assert why_not(blended, "project", "m2") == "says the same as m1"
    for one, other in (
        ("port 8080 in dev", "port 8081 in prod"),
        ("latency < 5 ms", "latency > 5 ms"),
        ("we use C", "we use C++"),
        ("commits are signed", "commits are not signed"),
    ):
        assert len(blend([], [fact(1, text=one), fact(2, text=other)], ASKER).facts) == 2


def test_a_playbook_is_active_while_its_whole_name_stands_in_what_is_asked_and_keeps_its_steps_in_order() -> None:
    steps = (Member("m3", "command"), Member("m1"), Member("m2", "command"))
    rows = [Pod("playbook", "hot-fix", "hot fix", members=steps)]
    facts = [fact(number, importance=number) for number in (1, 2, 3)]
    blended = blend(rows, facts, replace(ASKER, about="Make a fix, hot, please"))
    assert ids_in(blended, "playbook:hot-fix") == ["m3", "m1", "m2"]
    assert [slot.why for slot in pod_of(blended, "playbook:hot-fix").slots][:2] == [
        "a member, as a command",
        "a member",
    ]
    for about in ("", "fix it", "a hotfix"):
        resting = pod_of(blend(rows, facts, replace(ASKER, about=about)), "playbook:hot-fix")
        assert resting.inactive == "its name does not stand in what is asked"
        assert not resting.slots


def test_an_archived_pod_fills_no_slot_and_a_fact_that_was_left_out_stands_in_no_slot_of_that_pod() -> None:
    for rows in ([Pod("vital", is_archived=True)], [Pod("vital", is_archived=True), Pod("vital")]):
        assert pod_of(blend(rows, [vital(1)], ASKER), "vital").inactive == "archived"
    archived = blend([Pod("vital", is_archived=True)], [vital(1)], ASKER)
    assert ids_in(archived, "project") == ["m1"]
    left = blend([Pod("project", "here", members=(Member("m1", "left out"),))], [fact(1), fact(2)], ASKER)
    assert ids_in(left, "project") == ["m2"]
    assert why_not(left, "project", "m1") == "left out by a person"


def test_rows_of_both_stores_about_one_pod_are_one_pod() -> None:
    rows = [Pod("person", "anna", members=(Member("m1"),)), Pod("person", "anna", members=(Member("g1"),))]
    facts = [fact(1), replace(fact(2), id="g1", project="_global")]
    blended = blend(rows, facts, ASKER)
    assert ids_in(blended, "person:anna") == ["m1", "g1"]
    assert [filled.pod.key for filled in blended.pods].count("person:anna") == 1
