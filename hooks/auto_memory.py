"""Which files are Claude Code's auto memory, for the guard to refuse.

The client keeps it in one folder for each repository, `MEMORY.md` and a file for each topic:

    <its folder>/projects/<name>/memory/     its folder is CLAUDE_CONFIG_DIR, else ~/.claude
    <autoMemoryDirectory>/                   where a settings file names another

Any project's is refused, not only this one's. A path counts as the client reads it (`~`, relative to its folder, `..`
taken by name) and as it lies on the disk, links followed: one way into the folder is enough. Not refused are what a
subagent remembers (`agent-memory`: whoever wrote the agent asked for it), a folder that holds the project, the home or
the client's own files as well, and a folder inside of the project that the project's settings name: a checkout may not
choose what cannot be edited. What cannot be read or understood names no folder.
"""

import posix
from _json import make_scanner

EDITING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
MANAGED = "/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"
SETTINGS_BYTES_MAX = 1024 * 1024
OPENED = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC
LINKS_MAX = 40
REASON = (
    "siftd keeps the memory of this project, and the person has closed Claude Code's own memory folder to writing: "
    "call siftd's tool `remember` instead, or run `mem remember TEXT` where there is no such tool. Remember only what "
    "code and history do not tell: decisions with their reason, preferences, procedures, facts about the surroundings. "
    "One self-contained statement each, of one or two sentences, true without this conversation; what it says of code "
    "with `path:line` and symbol. Never store secrets, passing states, or what a look at the code tells."
)
DENIED = '"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"' + REASON + '"'
REFUSAL = ('{"hookSpecificOutput":{' + DENIED + "}}").encode()


class Form:
    """How JSON is read."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = str


def answer(raw: bytes) -> bytes:
    """Return the refusal of a call that would write into auto memory, as the client wants it; nothing for any other."""
    call = parse(raw)
    if call.get("hook_event_name") != "PreToolUse" or call.get("tool_name") not in EDITING:
        return b""
    given = call.get("tool_input")
    path = (given.get("file_path") or given.get("notebook_path")) if isinstance(given, dict) else None
    cwd = call.get("cwd")
    if not isinstance(path, str) or not path.strip():
        return b""
    here = cwd if isinstance(cwd, str) and cwd[:1] == "/" else posix.getcwd()
    return REFUSAL if is_auto_memory(path.strip(), here) else b""


def is_auto_memory(path: str, here: str) -> bool:
    """Whether a file is in a folder of auto memory; `here` is where a relative path begins."""
    home = variable("HOME") or password_home()
    own = variable("CLAUDE_CONFIG_DIR") or home + "/.claude"
    if path[:2] == "~/":
        path = home + path[1:]
    named = as_named(path if path[:1] == "/" else here + "/" + path)
    ways = named, as_lies(named)
    for projects in both(own + "/projects"):
        for way in ways:
            below = way[len(projects) :].split("/") if way.startswith(projects + "/") else []
            if len(below) >= 4 and below[2] == "memory":
                return True
    project = variable("CLAUDE_PROJECT_DIR") or here
    return any(way.startswith(folder + "/") for folder in custom(home, own, project) for way in ways)


def custom(home: str, own: str, project: str) -> list[str]:
    """Return the folders that settings name, each as it is named and as it lies."""
    files = [(path, True) for path in (*MANAGED, own + "/settings.json")]
    files += [(project + "/.claude/settings.local.json", False), (project + "/.claude/settings.json", False)]
    found: list[str] = []
    for file, is_own in files:
        folder = parse(read(file, follow=is_own)).get("autoMemoryDirectory")
        if not isinstance(folder, str):
            continue
        folder = home + folder[1:] if folder[:2] == "~/" else folder
        if folder[:1] != "/":
            continue
        ways = both(folder)
        if any(holds(way, each) for way in ways for place in (home, own, project) for each in both(place)):
            continue
        if is_own or not any(holds(each, way) for way in ways for each in both(project)):
            found += ways
    return found


def holds(folder: str, path: str) -> bool:
    return (path + "/").startswith(folder.rstrip("/") + "/")


def both(folder: str) -> tuple[str, str]:
    named = as_named(folder)
    return named, as_lies(named)


def as_named(path: str) -> str:
    """The path without `.` and `..`, which the client takes by name."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def as_lies(path: str) -> str:
    """The path with its links followed, also those that lead to nothing yet; in a circle, as it is named."""
    left = path.split("/")[::-1]
    found, links = "", 0
    while left:
        name = left.pop()
        if name == "..":
            found = found.rpartition("/")[0]
        elif name not in ("", "."):
            try:
                target = posix.readlink(found + "/" + name)
            except OSError:
                found += "/" + name
                continue
            links += 1
            if links > LINKS_MAX:
                return path
            found = "" if target[:1] == "/" else found
            left += target.split("/")[::-1]
    return found or "/"


def variable(name: str) -> str:
    """An absolute path out of the environment: a relative one is a cloned project's."""
    value = posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")
    return value if value[:1] == "/" else ""


def password_home() -> str:
    import pwd

    return pwd.getpwuid(posix.getuid()).pw_dir


def read(path: str, *, follow: bool) -> bytes:
    """A short regular file; nothing for anything else."""
    try:
        fd = posix.open(path, OPENED | (0 if follow else posix.O_NOFOLLOW))
    except OSError:
        return b""
    try:
        found = posix.fstat(fd)
        is_read = found.st_mode & 0o170000 == 0o100000 and found.st_size <= SETTINGS_BYTES_MAX
        return posix.read(fd, SETTINGS_BYTES_MAX) if is_read else b""
    except OSError:
        return b""
    finally:
        posix.close(fd)


def parse(raw: bytes) -> dict[str, object]:
    """The object that stands there as JSON; an empty one for anything else."""
    text = raw.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    try:
        found, end = make_scanner(Form)(text, 0)  # type: ignore[arg-type]
    except (ValueError, StopIteration, RecursionError):
        return {}
    return found if isinstance(found, dict) and end == len(text) else {}
