"""A project with notes in a home of its own, its session files, and a curator: a real program that says what a test has
it say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench import TurnedClock

from siftd.config import Settings
from siftd.notes import scaffold, sync
from siftd.notes.layout import Bookkeeping, NoteName, Project
from siftd.notes.surroundings import Surroundings
from siftd.notes.sync import Outcome
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home

CURATOR = """
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "model").write_text(sys.argv[2])
with open(folder / "prompts", "a") as file:
    file.write(sys.stdin.read() + "\\0")
during = folder / "during.py"
if during.exists():
    exec(during.read_text())
answer = folder / "answer"
if not answer.exists():
    sys.exit(3)
print(answer.read_text())
"""


class Notebook:
    """One project, made by `mem notes init`'s own function."""

    def __init__(self, root: Path, *, in_tree: bool = False, path: str = "proj", **settings: Any) -> None:
        """`settings` are written with two underscores for each dot."""
        self.root = root
        self.clock = TurnedClock()
        self.home = Home(str(root / "home"))
        self.folder = root / path
        self.folder.mkdir(parents=True, exist_ok=True)
        self.curator = root / "curator"
        self.curator.mkdir(exist_ok=True)
        (self.curator / "curator.py").write_text(CURATOR)
        command = [sys.executable, str(self.curator / "curator.py"), str(self.curator), "{model}"]
        values: dict[str, Any] = {"notes.curatorCmd": command, "memory.dailyTokenCap": 1_000_000}
        values |= {name.replace("__", "."): value for name, value in settings.items()}
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(root)}
        self.around = Surroundings(self.home, Settings.of(values), environ, str(root), self.clock)
        self.project: Project = scaffold.init(str(self.folder), self.around, in_tree=in_tree).project
        self.books = Bookkeeping(self.home, self.project.id)
        self._calls = 0

    def says(self, **edits: Any) -> None:
        """Have the curator answer with these edits."""
        (self.curator / "answer").write_text(json.dumps(edits))

    @property
    def prompts(self) -> list[str]:
        """What the curator was asked so far."""
        file = self.curator / "prompts"
        return file.read_text().split("\0")[:-1] if file.exists() else []

    def sync(self, trigger: str = "manual", **how: Any) -> Outcome:
        return sync.sync(self.project, self.around, trigger=trigger, **how)

    def read(self, name: NoteName) -> str:
        return Path(self.project.file(name)).read_text()

    def body(self, name: NoteName) -> str:
        return self.read(name).partition("\n---\n")[2].strip("\n")

    def write_body(self, name: NoteName, body: str) -> None:
        """Write a file's body as a person does, in place."""
        head = self.read(name).partition("\n---\n")[0]
        Path(self.project.file(name)).write_text(f"{head}\n---\n\n{body}\n")

    def archive(self) -> str:
        """Return what the archive holds, of all months."""
        return "".join(each.read_text() for each in sorted(Path(self.project.folder, "archive").glob("*.md")))

    def drop(self, text: str, name: str = "note.md") -> Path:
        """Put a note into the inbox."""
        path = Path(self.project.inbox, name)
        path.write_text(text)
        return path

    @property
    def workspace_root(self) -> str:
        return find_workspace(str(self.folder)).root

    def transcript(self, *turns: tuple[str, str], session: str = "5e551011-0000-4000-8000-000000000001") -> Path:
        """Add turns (what a person asked, what the agent answered) to a session file of Claude Code's; return it."""
        folder = self.root / ".claude" / "projects" / "proj"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        with path.open("a") as file:
            for asked, answered in turns:
                file.writelines(json.dumps(line) + "\n" for line in self._turn(session, asked, answered))
        return path

    def _turn(self, session: str, asked: str, answered: str) -> list[dict[str, Any]]:
        self._calls += 1
        number = self._calls
        common = {"sessionId": session, "cwd": str(self.folder), "isSidechain": False, "userType": "external"}
        moment = f"2026-11-25T10:00:{number % 60:02}.000Z"
        call = {
            "type": "tool_use",
            "id": f"toolu_{number}",
            "name": "Bash",
            "input": {"command": f"make step-{number}"},
        }
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"built {number}"}
        return [
            {**common, "type": "user", "uuid": f"u{number}", "timestamp": moment, "promptId": f"p{number}",
             "message": {"role": "user", "content": asked}},
            {**common, "type": "assistant", "uuid": f"a{number}", "timestamp": moment,
             "message": {"role": "assistant", "id": f"m{number}", "content": [call], "stop_reason": "tool_use"}},
            {**common, "type": "user", "uuid": f"r{number}", "timestamp": moment, "promptId": f"p{number}",
             "toolUseResult": {"stdout": f"built {number}", "stderr": "", "interrupted": False},
             "message": {"role": "user", "content": [result]}},
            {**common, "type": "assistant", "uuid": f"e{number}", "timestamp": moment,
             "message": {"role": "assistant", "id": f"n{number}", "content": [{"type": "text", "text": answered}],
                         "stop_reason": "end_turn"}},
        ]  # fmt: skip

    def git(self, *arguments: str) -> str:
        """Run git in the project; return what it says."""
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()
