"""Show the way of a tool call on a throw-away home: hook, daemon, store, summary, search.

Everything happens in .quickstart/ of this checkout, which is removed at the end with the daemon that ran on it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from siftd.cli.hits import parts_of

REPOSITORY = Path(__file__).resolve().parent.parent
HOOK = REPOSITORY / "hooks" / "hook.py"
ENVELOPES = REPOSITORY / "tests" / "data" / "claude-code" / "envelopes.jsonl"
MEM = Path(sys.executable).with_name("mem")
STAGE = REPOSITORY / ".quickstart"
CAPTURED = {
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
}
SETTLE_SECONDS = 60.0
WIDTH = min(113, shutil.get_terminal_size((113, 24)).columns)
QUESTION = "why were outdated tokens let in?"


def settled(mem: Callable[..., Any], sent: int) -> tuple[Any, Any]:
    """Summarise once all that hooks sent is there: on a busy machine the last of it is still on its way."""
    patience = time.monotonic() + SETTLE_SECONDS
    while True:
        drained, info = mem("drain"), mem("info")
        if info["captures"]["accepted"] + info["captures"]["rejected"] >= sent or time.monotonic() > patience:
            return drained, info["counts"]
        time.sleep(0.2)


def main() -> None:
    shutil.rmtree(STAGE, ignore_errors=True)
    workspace = STAGE / "workspace"
    workspace.mkdir(parents=True)
    # A workspace of its own: a plain folder in here would belong to this checkout's.
    subprocess.run(["git", "init", "--quiet", str(workspace)], check=True)
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(STAGE),
        "SIFTD_HOME": str(STAGE / "home"),
        "CLAUDE_PROJECT_DIR": str(workspace),
    }

    def mem(*arguments: str) -> Any:
        done = subprocess.run([MEM, *arguments, "--json"], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"mem {arguments[0]} failed: {done.stderr.strip()}")
        return json.loads(done.stdout)

    try:
        show(mem, environment)
    finally:
        subprocess.run([MEM, "stop"], env=environment, capture_output=True)
        shutil.rmtree(STAGE, ignore_errors=True)


def show(mem: Any, environment: dict[str, str]) -> None:
    print("siftd quickstart: a recorded Claude Code session, through the real hooks\n")
    mem("start")
    milliseconds = []
    for line in ENVELOPES.read_bytes().splitlines():
        if json.loads(line)["hook_event_name"] in CAPTURED:
            started = time.perf_counter()
            hook = [sys.executable, "-I", "-S", str(HOOK)]
            subprocess.run(hook, input=line, env=environment, stdout=subprocess.DEVNULL, check=True)
            milliseconds.append((time.perf_counter() - started) * 1000)
    median = sorted(milliseconds)[len(milliseconds) // 2]
    print(f"1. captured   {len(milliseconds)} hook processes, {median:.0f} ms each, the interpreter's start included")

    drained, counts = settled(mem, len(milliseconds))
    told = counts["events"] - counts["raw"]  # a session and its turns have summaries besides
    print(f"2. summarised {told} of {counts['events']} events by {drained['backend']}, no model, no network\n")
    for event in mem("timeline", "--before", "60")["events"]:
        print(f"   e{event['eventId']:<3} {event['tool']:<17} {event['text']}"[:WIDTH])

    started = time.perf_counter()
    hits = mem("search", QUESTION, "-k", "3")["hits"]
    took = (time.perf_counter() - started) * 1000
    print(f'\n3. found      "{QUESTION}" in {took:.0f} ms, the process included\n')
    for hit in hits:
        retrievers = ", ".join(
            f"{retriever} no. {why['rank']}" for retriever, why in hit["why"].items() if isinstance(why, dict)
        )
        answer, _ = parts_of(hit)
        for number, told_line in enumerate(textwrap.wrap(answer, WIDTH - 8, max_lines=3, placeholder=" …")):
            print("        " if number else f"   {hit['id']:<4} ", told_line, sep="")
        print(f"        proof: e{hit['eventId']} ({hit['tool']}); found by {retrievers}")

    print(f"""
4. yours      Let Claude Code remember (`mem uninstall` undoes it to the byte):

   {MEM.relative_to(REPOSITORY)} install
   {MEM.relative_to(REPOSITORY)} doctor

Nothing is left running, and nothing was written outside this repository.""")


if __name__ == "__main__":
    main()
