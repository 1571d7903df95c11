"""Kill -9 at random moments, under load from many hook processes and socket clients: `scripts/torture N [--seed S]`.

Each round loads a real daemon on a throw-away home, kills it at a random moment (now and then the next one too, while
it replays), starts it again, and looks for everything that was acknowledged:

    an event     one row, under the id of its acknowledgement, its payload as it was sent, its hash that of the payload
    a memory     one row, under its id, with its text
    a forget     no row, ever again
    a hook       one row, or a file in the spool, or counted as dropped

What a client has sent and got no answer for it sends again, under the same uid. A home lasts for 50 rounds; then the
spool is drained, everything is looked at again, and once more after `mem rebuild`. The seed decides what is sent and
when is killed; what a kill meets is up to the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from daemons import HOOK, Place, RawClient, is_alive, tool_call, wait_until

from siftd.wire.frames import encode_json

CLIENTS = 3
HOOKS_A_ROUND = 3
HOME_ROUNDS = 50
LIFE_SECONDS = 0.3
"""The longest a daemon lives under load. Arbitrary: some hundred captures, a tick or two, a seal, a snapshot."""
DRAIN_SECONDS = 120
"""Thousands of new vectors are compared with each other, on a machine that does other things as well."""
SMALL = {
    "siftd.log.writer.SEAL_BYTES": 100_000,
    "siftd.daemon.maintenance.SNAPSHOT_MS": 1_000,
}
"""So that sealing, compressing and snapshots happen within a round."""
TICK = {"memory__consolidator__tickMs": 100, "memory__consolidator__supersedeMs": 200}
WORDS = (
    "anchor basil copper delta ember falcon garnet harbor indigo juniper kelp lantern maple nickel orchid pebble quartz"
    " rocket saddle timber umber velvet walnut xenon yarrow zinc acorn bramble cinder dune elder fjord gravel heron"
).split()
"""Texts that are not alike: comparing thousands of near-duplicates would take all of a tick."""
NURSERY = """
import importlib, json, os, signal, sys
for name, value in json.loads(sys.argv[1]).items():
    module, _, constant = name.rpartition(".")
    assert hasattr(importlib.import_module(module), constant), name
    setattr(importlib.import_module(module), constant, value)
import siftd.daemon.server, siftd.embed.blend384, siftd.search.engine, siftd.search.vectors, siftd.summarise.extractive
from siftd.daemon.main import run
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin.buffer:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os._exit(run(sys.argv[2], is_detached=True, flags=()))
    print(pid, flush=True)
"""
"""Forks a daemon for each line it reads: the real one, without the half second that importing it takes."""


@dataclass
class Sent:
    """What was sent, and what came back."""

    message: dict[str, Any]
    answer: dict[str, Any] | None = None

    @property
    def kind(self) -> str:
        return str(self.message["kind"])


@dataclass
class Account:
    """Everything that was handed over on one home."""

    acknowledged: list[Sent] = field(default_factory=list)
    unanswered: list[Sent] = field(default_factory=list)
    hooked: list[str] = field(default_factory=list)
    """The commands of the tool calls that hooks were given."""
    forgotten: set[int] = field(default_factory=set)
    maybe_forgotten: set[int] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take_unanswered(self, count: int) -> list[Sent]:
        with self.lock:
            taken, self.unanswered = self.unanswered[:count], self.unanswered[count:]
            return taken

    def note(self, batch: list[Sent]) -> None:
        with self.lock:
            for sent in batch:
                if sent.answer is not None and sent.answer["ok"]:
                    self.acknowledged.append(sent)
                    if sent.kind == "forget":
                        self.forgotten.add(int(sent.message["ids"][0][1:]))
                elif sent.kind != "forget":  # one of those takes a client's whole life here
                    self.unanswered.append(sent)


class Torture:
    """One home and its rounds."""

    def __init__(self, seed: int, place: Place | None = None) -> None:
        self.random = random.Random(seed)
        self.place = place or Place()
        self.account = Account()
        self.kills = 0
        self._checked = 0
        self._number = 0
        self.place.configure(**TICK)
        self._nursery = subprocess.Popen(
            [sys.executable, "-I", "-c", NURSERY, json.dumps(SMALL), str(self.place.folder)],
            env=self.place.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )

    def round(self) -> None:
        """Load a daemon, kill it, start it again, and look for what it had acknowledged."""
        pid = self.start()
        is_over = threading.Event()
        clients = [
            threading.Thread(target=self._load, args=(is_over, random.Random(self.random.random())))
            for _ in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        hooks = [self._start_hook() for _ in range(HOOKS_A_ROUND)]
        is_over.wait(self.random.uniform(0, LIFE_SECONDS))
        self.kill(pid)
        is_over.set()
        for client in clients:
            client.join()
        if self.random.random() < 0.3:
            self._kill_while_it_starts()
        for hook in hooks:
            out, _ = hook.communicate(timeout=20)
            assert (hook.returncode, out) == (0, b"")
        self.start()
        self.check_new()

    def start(self) -> int:
        """Return the pid of the daemon that answers; a courier may have started it."""
        while True:
            if (pid := self.place.pid()) is not None:
                return pid
            self._wait_for(self.spawn())

    def _wait_for(self, started: int) -> None:
        wait_until("a daemon answers, or ours has ended", lambda: self.place.pid() or not is_alive(started), 20)

    def wait_for_end(self, pid: int) -> None:
        wait_until("it has ended", lambda: not is_alive(pid), 20)

    def finish(self) -> None:
        """Send again what was never answered, take in what is spooled, look at everything, rebuild, look again."""
        self.start()
        with RawClient(self.place.paths) as client:
            while batch := self.account.take_unanswered(64):
                self._exchange(client, batch)
        self.place.wait_for_couriers()
        wait_until("the spool is taken in", lambda: self._drain() and not self.place.spool_files())
        self.check_all()
        before = self._everything()
        done = subprocess.run(
            [str(Path(sys.executable).with_name("mem")), "rebuild"],
            env=self.place.env,
            cwd=self.place.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert self._everything() == before, "a rebuild changed events"
        self.check_all()

    def _drain(self) -> bool:
        with self.place.client() as client:
            return bool(client.request({"kind": "drain"}, timeout=DRAIN_SECONDS))

    def close(self) -> None:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.close()
        self._nursery.stdout.close()
        self._nursery.wait()
        self.place.end()

    # Looking

    def check_new(self) -> None:
        """Look for what was acknowledged since the last look."""
        new = self.account.acknowledged[self._checked :]
        self._checked += len(new)
        self._check(new)

    def check_all(self) -> None:
        """Look for everything that was ever handed over, and for anything twice."""
        assert self.account.unanswered == []
        self._check(self.account.acknowledged)
        commands = [
            json.loads(row[0])["tool_input"]["command"] for row in self._rows("SELECT payload_json FROM events")
        ]
        assert len(commands) == len(set(commands)), "an event is there twice"
        lost = set(self.account.hooked) - set(commands)
        assert len(lost) <= self.place.dropped(), f"hooks were given {sorted(lost)}, and nobody has them"

    def _check(self, acknowledged: list[Sent]) -> None:
        for sent in acknowledged:
            assert sent.answer is not None
            if sent.kind == "capture":
                self._check_event(sent.answer["eventId"], sent.message["payload"])
            elif sent.kind == "remember":
                text = self._rows("SELECT text FROM facts WHERE id = ?", sent.answer["memoryId"])
                assert text == [(sent.message["text"],)], f"m{sent.answer['memoryId']} was acknowledged"
        for gone in self.account.forgotten:
            assert self._rows("SELECT id FROM events WHERE id = ?", gone) == [], f"e{gone} was forgotten"

    def _check_event(self, event_id: int, payload: dict[str, Any]) -> None:
        if event_id in self.account.forgotten or event_id in self.account.maybe_forgotten:
            return
        rows = self._rows("SELECT input_hash, payload_json FROM events WHERE id = ?", event_id)
        assert rows, f"e{event_id} was acknowledged and is lost"
        [(input_hash, payload_json)] = rows
        assert json.loads(payload_json) == payload | {"_source": "api"}, f"e{event_id} holds something else"
        assert input_hash == hashlib.sha256(payload_json.encode()).hexdigest(), f"e{event_id} is damaged"

    def _everything(self) -> list[tuple[Any, ...]]:
        columns = "id, uid, frame_uid, ts, session_id, tool, input_hash, payload_json"
        return [*self._rows(f"SELECT {columns} FROM events"), *self._rows("SELECT id, text FROM facts")]

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.place.rows(query, *values)

    # Load

    def _load(self, is_over: threading.Event, rng: random.Random) -> None:
        """Send batch after batch until the daemon is gone."""
        with contextlib.suppress(AssertionError, ConnectionError), RawClient(self.place.paths) as client:
            while not is_over.is_set():
                batch = self.account.take_unanswered(4)
                batch += [Sent(self._next_message(rng)) for _ in range(rng.randint(1, 8))]
                if not self._exchange(client, batch):
                    return

    def _exchange(self, client: RawClient, batch: list[Sent]) -> bool:
        """Send a batch and note its answers; return whether all came."""
        client.send(b"".join(encode_json(sent.message) for sent in batch))
        for sent in batch:
            sent.answer = client.answer()
            if sent.answer is None:
                break
        self.account.note(batch)
        return all(sent.answer is not None for sent in batch)

    def _next_message(self, rng: random.Random) -> dict[str, Any]:
        number = self._next_number()
        dice = rng.random()
        words = " ".join(rng.choices(WORDS, k=8))
        if dice < 0.05:
            return {"kind": "remember", "text": f"The {words} of part {number} need {number * 7} bolts"}
        if dice < 0.053 and (event_id := self._pick_victim(rng)) is not None:
            return {"kind": "forget", "ids": [f"e{event_id}"], "dryRun": False}
        lines = 4_000 if dice > 0.99 else rng.randint(1, 60)
        return {
            "kind": "capture",
            "sessionId": f"session-{number % 5}",
            "tool": "Bash",
            "payload": {
                "tool_input": {"command": f"make part-{number} {words}"},
                "tool_response": {"stdout": f"{words}\n" * lines},
            },
            "ts": 1_760_000_000_000 + number,
            "uid": f"part-{number}",
        }

    def _pick_victim(self, rng: random.Random) -> int | None:
        with self.account.lock:
            captures = [sent for sent in self.account.acknowledged[-200:] if sent.kind == "capture"]
            if not captures:
                return None
            answer = rng.choice(captures).answer
            assert answer is not None
            self.account.maybe_forgotten.add(answer["eventId"])
            return int(answer["eventId"])

    def _next_number(self) -> int:
        with self.account.lock:
            self._number += 1
            return self._number

    def _start_hook(self) -> subprocess.Popen[bytes]:
        number = self._next_number()
        envelope = tool_call(number, tool_input={"command": f"hooked {number}"}, tool_use_id=f"toolu_{number:09}")
        self.account.hooked.append(f"hooked {number}")
        hook = subprocess.Popen(
            [sys.executable, "-I", "-S", str(HOOK)],
            env=self.place.env | {"CLAUDE_PROJECT_DIR": str(self.place.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.place.folder,
        )
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(envelope).encode())
        hook.stdin.close()
        hook.stdin = None
        return hook

    # Death

    def spawn(self) -> int:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(b"\n")
        self._nursery.stdin.flush()
        return int(self._nursery.stdout.readline())

    def _kill_while_it_starts(self) -> None:
        pid = self.spawn()
        threading.Event().wait(self.random.uniform(0, 0.08))
        self.kill(pid)

    def kill(self, pid: int) -> None:
        self.kills += 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until("it is dead", lambda: not is_alive(pid))


def run(rounds: int, seed: int) -> dict[str, int]:
    """Torture home after home for `rounds` rounds; return the counts. Raises AssertionError."""
    told = dict.fromkeys(("rounds", "kills", "acknowledged", "hooks", "dropped"), 0)
    while told["rounds"] < rounds:
        torture = Torture(seed + told["rounds"])
        try:
            for _ in range(min(HOME_ROUNDS, rounds - told["rounds"])):
                torture.round()
                told["rounds"] += 1
            torture.finish()
        except BaseException:
            print(f"failed in round {told['rounds'] + 1} of seed {seed}; the home is {torture.place.home}", flush=True)
            raise
        told["kills"] += torture.kills
        told["acknowledged"] += len(torture.account.acknowledged)
        told["hooks"] += len(torture.account.hooked)
        told["dropped"] += torture.place.dropped()
        with contextlib.redirect_stdout(None):
            torture.close()
        print(" ".join(f"{name}={number}" for name, number in told.items()), flush=True)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill the daemon at random moments and look for what it acknowledged.")
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=None, help="default: drawn, and printed")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    run(options.rounds, seed)
    print(f"nothing lost, nothing doubled, every id unchanged by a rebuild; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
