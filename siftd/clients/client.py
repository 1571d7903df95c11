"""What siftd asks of an agent's program, its client: how its hook's input reads, where it keeps sessions and how they
read, what its hook may print, how it is wired.

One object for each, in a room of its own (`clients/<client>/`), listed in `siftd.clients.registry`. Nothing outside
such a room knows a name, a file or a format of one client's. Files and installer import what they need when they are
first asked: a daemon that only takes captures in loads no reader of transcripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from siftd.finding import Finding
from siftd.install.change import Change
from siftd.model import Event, SessionChange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.clients.support import Support

Moment = Literal["start", "prompt", "failure"]
"""When a hook may be given something to print: at a session's start, for a prompt, after a call that failed."""


class Skipped(msgspec.Struct, frozen=True):
    """A line that should have told something and could not: `reason` is a short, countable name."""

    reason: str


Decoded = Event | SessionChange | Skipped


class Head(NamedTuple):
    """Whose a file is: session, folder, and the subagent where it is one's."""

    session_id: str | None
    cwd: str | None
    agent_id: str | None


class Reader(Protocol):
    """Reads one session's file, line after line. Never raises for what a line holds."""

    def read(self, line: bytes) -> Iterator[Decoded]:
        """Yield what a line tells, once it is known."""

    def finish(self, complete: bool) -> Iterator[Event]:
        """Yield what the end of the file tells; `complete` promises that the file grows no more."""

    @property
    def is_between(self) -> bool:
        """Whether nothing is open: a reader that begins with the next line tells the same as this one."""


class SessionFiles(Protocol):
    """The files in which a client keeps sessions: JSON lines."""

    @property
    def suffix(self) -> str:
        """How their names end."""

    @property
    def reports_outcomes(self) -> bool:
        """Whether they say of calls how they ended, and hooks do not: a call that a hook told as ended well, and that
        failed by its file, is corrected."""

    @property
    def reports_everything(self) -> bool:
        """Whether hooks lose what they tell, or do not tell ends: whatever has the client's own id is taken from a file
        as it grows."""

    def folder(self, environ: Mapping[str, str], user_home: str) -> str | None:
        """Return the folder that holds all of them; None for a client that keeps none of its own."""

    def head(self, path: str, lines: Iterable[bytes]) -> Head:
        """Return whose a file is, as its lines or its place tell; reads no further than needed."""

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:
        """Return what a reader reads of a file: its lines, and among them those of files that belong to it."""

    def reader(self, session_id: str | None) -> Reader:
        """Return a reader; `session_id` stands in where lines name none."""

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:
        """Return which subagent each call of a file's session started, as files beside it tell."""


class StoredSession(NamedTuple):
    """One of the sessions that a file holds."""

    key: str
    """What it is called in the file; "" where the file holds no other."""
    size: int
    """About how many bytes it has to tell."""
    modified_ns: int
    head: Head


@runtime_checkable
class StoredSessions(Protocol):
    """The files of a client that keeps sessions in no lines of JSON: in a database of many, or in a document that is
    written anew whenever something is added.

    Such a file is foreign as any other is: regular, this user's, opened for reading alone, read in bounded memory. All
    that is wrong with it is an OSError.
    """

    @property
    def suffix(self) -> str:
        """How their names end."""

    def folder(self, environ: Mapping[str, str], user_home: str) -> str | None:
        """Return the folder that holds all of them; None for a client that keeps none of its own."""

    def sessions(self, path: str) -> Iterable[StoredSession]:
        """Return the sessions that a file holds. Raises OSError."""

    def lines_of(self, path: str, key: str) -> Iterator[bytes]:
        """Yield what a session's file tells as lines, which `reader` reads, always the same ones in the same order,
        what is new last. Raises OSError."""

    def reader(self, session_id: str | None) -> Reader:
        """Return a reader; `session_id` stands in where lines name none."""

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:
        """Return which subagent each call of a file's session started, as files beside it tell."""


class Where(NamedTuple):
    """What a client is to be wired for."""

    workspace_root: str
    environ: Mapping[str, str]
    user_home: str
    manifest: str
    """The file that remembers what wiring changed."""
    launcher: str
    """What an entry in a client's settings names to run the hook (`siftd.install.launcher`)."""


class Installer(Protocol):
    """Wires siftd into a client and takes it out again without a trace. Both raise SiftdError, every file untouched."""

    @property
    def takes_project(self) -> bool:
        """Whether it can be wired for one workspace alone."""

    @property
    def next_step(self) -> str:
        """What a person still has to do after installing, in a sentence; "" if nothing."""

    def install(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Change]:
        """Wire it for the user, or for this workspace alone; a second time changes nothing, or repairs. `server` is how
        the client starts our tools; None: it is given none."""

    def uninstall(self, where: Where, *, is_project: bool) -> Sequence[Change]:
        """Take it out of this workspace, or out of everything that wiring ever changed."""

    def is_present(self, where: Where) -> bool:
        """Whether the client is on this machine: its folder, or its program."""

    def check(self, where: Where) -> Iterator[Finding]:
        """Yield what keeps the client's hooks from reaching this siftd, and how its agent reaches the memory."""


class Client(Protocol):
    """One agent's program."""

    @property
    def name(self) -> str:
        """As hook frames name it and `_source` keeps it."""

    @property
    def title(self) -> str:
        """For people."""

    @property
    def files(self) -> SessionFiles | StoredSessions:
        """Where it keeps sessions, and how they read."""

    @property
    def installer(self) -> Installer | None:
        """What wires it; None for one that has nothing to be wired."""

    @property
    def support(self) -> Support:
        """What is captured of it, and how sure that is."""

    @property
    def moments(self) -> frozenset[Moment]:
        """When its agent can be given something. Without "start" the brief comes with a session's first prompt."""

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        """Return the fact that a hook's input tells, `ts` being when the hook ran. Raises EnvelopeRejected."""

    def identify_input(self, tool: str, tool_input: Any) -> str:
        """Return a canonical text of what a call was given, the same for hook and session file of one call."""

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any] | str:
        """Return what a hook of the client prints to give its agent `text`, and its person the line `notice`: JSON, or
        text that is printed as it is. Empty: nothing is printed."""

    def name_of(self, moment: Moment) -> str:
        """Return the client's own name for a moment, as the ledger keeps it."""


def is_unhooked(event: Event) -> bool:
    """Whether it is an event that no hook tells, or that its hook may have told to nobody, and that is known again by
    its id wherever reading begins."""
    if event.native_id is None:
        return False
    return event.kind in ("assistant_text", "compaction", "subagent_end") or "_unhooked" in event.payload
