"""What a hook needs of the rarer folders: pointers of git, and paths that are not UTF-8.

An ordinary repository's `.git` is a folder, and nothing here is loaded for it. A `.git` that is a file or a link leads
to another folder, which an unpacked archive can choose: it is followed only when what it leads to points back, by the
rule in siftd/workspace/identity.py. What is read is a short regular file; no link, pipe or device is opened.
"""

import posix

POINTER_BYTES = 4096
CONFIG_BYTES = 65536
OPENED = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
LINK = 0o120000
FILE = 0o100000
DIRECTORY = 0o040000


def follow(folder: str, git: str, kind: int) -> str:
    """Return the common directory that `.git` of `folder` leads to and that points back, else nothing."""
    pointer = "gitdir: " + git if kind == LINK else read(git, POINTER_BYTES)
    git_dir = canonical(folder, pointer[8:]) if pointer.startswith("gitdir: ") else ""
    if not git_dir:
        return ""
    pointer = read(git_dir + "/commondir", POINTER_BYTES)
    if pointer:
        common = canonical(git_dir, pointer)
        back, _, name = read(git_dir + "/gitdir", POINTER_BYTES).rpartition("/")
        is_registered = common and git_dir.rpartition("/")[0] == common + "/worktrees" and is_git_dir(common)
        return common if is_registered and name == ".git" and canonical(git_dir, back) == folder else ""
    parent, _, name = git_dir.rpartition("/")
    is_inside = parent == folder and name[:1] == "." and name != ".git"
    return git_dir if is_git_dir(git_dir) and (is_inside or worktree_of(git_dir) == folder) else ""


def canonical(folder: str, path: str) -> str:
    """The canonical path of a folder that exists; a relative one begins at `folder`."""
    try:
        posix.chdir(path if path[:1] == "/" else folder + "/" + path)
        return posix.getcwd()
    except (OSError, ValueError):
        return ""


def worktree_of(git_dir: str) -> str:
    """The canonical path of `core.worktree`, as the configuration in `git_dir` says it."""
    for name in ("/config.worktree", "/config"):
        is_core = False
        found = ""
        for line in read(git_dir + name, CONFIG_BYTES).splitlines():
            line = line.strip()
            if line[:1] == "[":
                section, _, line = line[1:].partition("]")
                is_core = section.strip().lower() == "core"
            key, equals, value = line.partition("=")
            if is_core and equals and key.strip().lower() == "worktree":
                value = value.strip()
                found = value[1:-1] if value[:1] == value[-1:] == '"' else value
        if found:
            return canonical(git_dir, found.replace('\\"', '"').replace("\\\\", "\\"))
    return ""


def is_git_dir(path: str) -> bool:
    return mode(path + "/HEAD") == FILE and mode(path + "/objects") == mode(path + "/refs") == DIRECTORY


def mode(path: str) -> int:
    try:
        return posix.stat(path).st_mode & 0o170000
    except OSError:
        return 0


def read(path: str, most: int) -> str:
    """The beginning of a regular file, without the line's end."""
    try:
        fd = posix.open(path, OPENED)
    except (OSError, ValueError):
        return ""
    try:
        if posix.fstat(fd).st_mode & 0o170000 != FILE:
            return ""
        return posix.read(fd, most).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except OSError:
        return ""
    finally:
        posix.close(fd)


def as_text(path: str) -> str:
    """The path as a frame's header tells it: itself, or a `file:` URL where it is not UTF-8."""
    try:
        path.encode()
        return path
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogateescape")
        return "file://" + "".join(
            chr(b) if (chr(b).isalnum() and b < 128) or b in b"/-._~" else f"%{b:02X}" for b in data
        )
