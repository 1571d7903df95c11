"""Measure redaction: the repository's own cases, and a folder of labelled data: recall by family, false positives, speed.

Without PATH only the cases of tests/data/redaction are read. PATH holds secrets/realistic.jsonl.xz and
secrets/realistic-benign.jsonl.xz, more of the same kind, secrets/secrets.jsonl.xz and secrets/benign.jsonl.xz, and for --transcripts transcripts/transcripts.tar.xz.
A secret is caught when nothing of its labelled spans is left, or, where no span is labelled, when the text changed.
Shares are averaged by group, for many rows are one template. Times are of the processor, not of the wall.

--growth needs no data: it makes hostile texts of every rule's beginning and near miss, from 1 KB to BYTES (10,000,000),
each ten times as long as the last, and compares the times a byte. Linear is 1.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from redaction_cases import Row, report_all, rows_of

from siftd.redact import Redactor
from siftd.redact.rules import RULES

NO_SECRETS = re.compile(
    r"(?i)artifactory-jfrog-url|artifactory\.2|cloud-name|-app-id|app id|planetscale-id|planetscale\.2|project-url|"
    r"firebase domain|azureopenai\.host|azuresearch\.url|jira\.1|eagleeyenetworks\.2|reactapp\.1|algolia\.2|age\.1$|"
    r"plivo-auth-id|weak_password|^uuid$"
)
"""Rules whose labels are no secrets: addresses of hosts, public names and ids, public keys, words without any context."""

DRAWN = re.compile(r"(?i)(.)\1{7}|EXAMPLE|TESTTEST")
"""What stands for a secret in a scanner's test and cannot be one."""

EACH = 3
"""One of so many records of the transcripts is read: enough for two digits of false positives per megabyte."""

WORDS = "the result of the first call is kept for the second one, which reads it from there. " * 200
RUN = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0" * 18
SPACING = 16_000

WORST = 3


class Growth(NamedTuple):
    name: str
    ratio: float
    """Of the time a byte, between a text and one a tenth as long, at the worst."""
    rate: float
    """Megabytes a second at the largest size."""
    size: int


def is_caught(redactor: Redactor, row: Row) -> bool:
    text = redactor.text(row["text"])
    spans = row["secret"]
    if not spans:
        return bool(text != row["text"])
    return all(span not in text for span in ([spans] if isinstance(spans, str) else spans))


def by_group(rows: list[Row], score: list[bool]) -> float:
    """Average by group: many rows are one template."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for row, good in zip(rows, score, strict=True):
        groups[row.get("group") or row["id"]].append(good)
    return statistics.mean(statistics.mean(values) for values in groups.values())


def labelled(row: Row) -> str:
    """Return the labelled spans of a row, or the whole of its text where no span is labelled."""
    spans = row["secret"] or row["text"]
    return spans if isinstance(spans, str) else " ".join(spans)


def family(row: Row) -> str:
    return str(re.split(r"[-_. ]", row["rule"].lower().removeprefix("kingfisher."))[0])


def recall(redactor: Redactor, rows: list[Row], show: bool) -> None:
    secrets = [row for row in rows if row["is_secret"]]
    caught = [is_caught(redactor, row) for row in secrets]
    families: dict[str, list[Row]] = defaultdict(list)
    sources: dict[str, list[Row]] = defaultdict(list)
    for row, good in zip(secrets, caught, strict=True):
        row["caught"] = good
        families[family(row)].append(row)
        sources[row["source"]].append(row)
        if show and not good:
            print("missed", row["rule"], repr(row["text"][:200]), repr(row["secret"])[:80])
    print(
        f"recall                {by_group(secrets, caught):.3f} by group; {sum(caught) / len(caught):.3f} of {len(caught)} rows"
    )
    true = [row for row in secrets if not NO_SECRETS.search(row["rule"]) and not DRAWN.search(labelled(row))]
    print(f"  of true secrets     {by_group(true, [row['caught'] for row in true]):.3f} by group, of {len(true)} rows")
    for source, chosen in sorted(sources.items()):
        print(f"  {source:<20}{by_group(chosen, [row['caught'] for row in chosen]):.3f} of {len(chosen)} rows")
    shares = {name: by_group(chosen, [row["caught"] for row in chosen]) for name, chosen in families.items()}
    whole = sum(1 for share in shares.values() if share == 1)
    print(f"  families complete   {whole} of {len(shares)}; the largest others:")
    for name, chosen in sorted(families.items(), key=lambda entry: -len(entry[1])):
        if shares[name] < 1 and len(chosen) > 4:
            print(f"    {name:<18}{shares[name]:.2f} of {len(chosen)}")


def negatives(redactor: Redactor, rows: list[Row], show: bool) -> None:
    for title, chosen in (
        ("negatives left alone", [row for row in rows if not row["is_secret"]]),
        ("  the strict of them", [row for row in rows if row.get("neg_strict")]),
    ):
        same = [redactor.text(row["text"]) == row["text"] for row in chosen]
        print(f"{title:<22}{by_group(chosen, same):.3f} by group; {sum(same) / len(same):.3f} of {len(same)} rows")
        if show and title.startswith("  "):
            for row, good in zip(chosen, same, strict=True):
                if not good:
                    print("touched", row["rule"], repr(row["text"][:160]), repr(redactor.text(row["text"])[:160]))


def false_positives(title: str, redactor: Redactor, values: list[Any], size: int, show: bool) -> None:
    before = Counter(redactor.counts)
    for value in values:
        cleaned = redactor.value(value)
        if show and cleaned != value:
            for part in differences(value, cleaned):
                print("replaced", part)
    counts = Counter(redactor.counts) - before
    megabytes = size / 1e6
    people = counts.pop("email", 0) + counts.pop("phone", 0)
    print(
        f"{title:<22}{sum(counts.values()) / megabytes:.2f} per MB, emails and phones {people / megabytes:.2f} per MB ({megabytes:.1f} MB) {dict(counts)}"
    )


def differences(value: Any, cleaned: Any) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(cleaned, dict) and value.keys() == cleaned.keys():
        for key in value:
            yield from differences(value[key], cleaned[key])
    elif isinstance(value, list) and isinstance(cleaned, list) and len(value) == len(cleaned):
        for a, b in zip(value, cleaned, strict=True):
            yield from differences(a, b)
    elif isinstance(value, str) and isinstance(cleaned, str) and value != cleaned:
        for place in re.finditer(r"\[REDACTED:(?!email|phone)[a-z0-9-]+(?::[0-9a-f]{4})?\]", cleaned):
            if place[0] not in value:
                begin = cleaned[: place.start()][-60:]
                near = value.find(begin)
                yield repr(begin) + " >> " + repr(value[near + len(begin) :][:60] if near >= 0 else "") + " " + place[0]


def transcript_values(path: Path) -> tuple[list[Any], int]:
    values: list[Any] = []
    size = number = 0
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(".jsonl") else None
            for line in file or ():
                number += 1
                if number % EACH:
                    continue
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict) and "message" in record:
                    values.append([record["message"], record.get("toolUseResult")])
                    size += len(line)
    return values, size


def seconds(redactor: Redactor, text: str, rounds: int = 3) -> float:
    best = 1e9
    for _ in range(rounds):
        begin = time.process_time()
        redactor.text(text)
        best = min(best, time.process_time() - begin)
    return best


def per_second(redactor: Redactor, text: str) -> float:
    return len(text) / seconds(redactor, text) / 1e6


def growth(redactor: Redactor, size: int) -> None:
    """Time every rule on hostile texts of 1 KB to `size`, each ten times the last, and report the worst growth.

    A text of nothing but beginnings goes by at some 200 KB a second: to ten megabytes of one for each rule would take a
    day. So these end at 100 KB, and the longer ones have two beginnings in each SPACING bytes, or one and then a run
    without an end: what a rule does beyond its own match grows with the length of the text there too, and shows the more.
    """
    begin = time.process_time()
    sizes = [1_000 * 10**step for step in range(5) if 1_000 * 10**step <= size]
    worst: dict[str, list[Growth]] = {title: [] for title in ("dense", "sparse", "run")}
    for rule in RULES:
        head = rule.keywords.split()[0] if rule.keywords else rule.example[:16]
        near = rule.near_miss + " "
        block = head + WORDS[:400] + near + RUN + WORDS[:SPACING]
        worst["dense"] += [grown(redactor, rule.name, unit, "", sizes[:3]) for unit in (head, near)]
        worst["sparse"].append(grown(redactor, rule.name, block, "", sizes[2:] or sizes[-1:]))
        worst["run"].append(grown(redactor, rule.name, RUN, head, sizes))
    every = "".join(
        (rule.keywords.split()[0] if rule.keywords else rule.example[:16]) + rule.near_miss for rule in RULES
    )
    worst["all in turn"] = [grown(redactor, "all", every, "", sizes[-2:])]
    print(
        f"growth, {len(RULES)} rules, {time.process_time() - begin:.0f} s of the processor; time a byte against that of a tenth, and MB/s"
    )
    for title, rows in worst.items():
        ratio = max(row.ratio for row in rows)
        print(
            f"    {title:<12}to {rows[0].size:>10} bytes: at the worst {ratio:.2f}, at the slowest {min(row.rate for row in rows):.2f} MB/s"
        )
        for row in sorted(rows, key=lambda row: -row.ratio)[:WORST]:
            print(f"        {row.name:<24}{row.ratio:6.2f}  {row.rate:7.2f} MB/s")


def grown(redactor: Redactor, name: str, unit: str, first: str, sizes: list[int]) -> Growth:
    """Return the worst growth of the time a byte over a text of `first` and the repeated unit."""
    costs = []
    for size in sizes:
        text = first + unit * max(1, (size - len(first)) // len(unit))
        costs.append(seconds(redactor, text, 3 if size < 100_000 else 1) / len(text))
    ratios = [large / small for small, large in pairwise(costs)]
    return Growth(name, max(ratios, default=1.0), 1 / costs[-1] / 1e6, sizes[-1])


def payload_microseconds(redactor: Redactor, size: int) -> float:
    line = "    result = compute(first, second)  # see docs/design.md, line 12\n"
    lines = [line] * (size // len(line) // 2)
    payload = {
        "tool_input": {
            "file_path": "/home/dev/src/app/main.py",
            "old_string": "".join(lines),
            "new_string": "".join(lines),
            "replace_all": False,
        },
        "tool_response": {
            "filePath": "/home/dev/src/app/main.py",
            "userModified": False,
            "type": "update",
            "lines": 12,
        },
    }
    times = []
    for _ in range(2000):
        begin = time.thread_time()
        redactor.value(payload)
        times.append(time.thread_time() - begin)
    return statistics.median(times) * 1e6


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("path", type=Path, nargs="?")
    arguments.add_argument("--growth", type=int, nargs="?", const=10_000_000, metavar="BYTES", help="time hostile text")
    arguments.add_argument("--transcripts", action="store_true", help="count false positives in real sessions, too")
    arguments.add_argument("--misses", action="store_true", help="show what was missed and what was touched wrongly")
    arguments.add_argument("--pure", action="store_true", help="without re2")
    options = arguments.parse_args()
    redactor = Redactor(b"evaluation", pure=options.pure)
    only_secrets = Redactor(b"evaluation", emails=False, phones=False, pure=options.pure)
    if options.growth:
        growth(redactor, options.growth)
    report_all(Redactor(b"evaluation", pure=options.pure), options.path, options.misses)
    if options.path is None:
        return
    rows = rows_of(options.path / "secrets/secrets.jsonl.xz")
    benign = [row["text"] for row in rows_of(options.path / "secrets/benign.jsonl.xz")]
    recall(only_secrets, rows, options.misses)
    negatives(only_secrets, rows, options.misses)
    false_positives("benign lines", redactor, benign, sum(map(len, benign)), options.misses)
    if options.transcripts:
        values, size = transcript_values(options.path / "transcripts/transcripts.tar.xz")
        false_positives("real sessions", redactor, values, size, options.misses)
        session = "\n".join(json.dumps(value, ensure_ascii=False) for value in values[:2000])[:4_000_000]
        print(f"session text          {per_second(redactor, session):.0f} MB/s")
    clean = "    result = compute(first, second)  # see docs/design.md, line 12\n" * 60_000
    laden = "".join(row["text"] + "\n" for row in rows if row["is_secret"])
    print(
        f"clean text            {per_second(redactor, clean):.0f} MB/s; a text of secrets {per_second(redactor, laden):.1f} MB/s"
    )
    print(
        f"clean payload         {payload_microseconds(redactor, 2048):.0f} µs for 2 KB, {payload_microseconds(redactor, 4096):.0f} µs for 4 KB"
    )


if __name__ == "__main__":
    main()
