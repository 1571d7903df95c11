"""What hooks and couriers could not do before a daemon answered, for `mem doctor` to tell.

One line each in `<namespace>/logs/hooks.ndjson`: when, who, and the class of the error, never its message, which may
quote what was captured.

    {"ts":1763765000000,"hook":"claude-code","error":"PermissionError"}

At 128 KB the file becomes `hooks.ndjson.1` and a new one begins, so that both together stay below 256 KB. C modules
only, like the hook; a failure to tell is no failure.
"""

import posix
import time

FILE = "hooks.ndjson"
FILE_BYTES = 128 * 1024


def note_failure(namespace: str, hook: str, error: str) -> None:
    """Append one line, if the folder for it is ours and nobody else may write to it."""
    posix.umask(0o077)
    folder = -1
    try:
        for path in (namespace.rpartition("/")[0], namespace, namespace + "/logs"):
            make_folder(path)
        folder = posix.open(namespace + "/logs", posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW)
        found = posix.fstat(folder)
        if found.st_uid == posix.getuid() and not found.st_mode & 0o022:
            append(folder, b'{"ts":%d,"hook":"%s","error":"%s"}\n' % (now_ms(), hook.encode(), error.encode()))
    except OSError:
        pass
    finally:
        if folder >= 0:
            posix.close(folder)


def make_folder(path: str) -> None:
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass


def append(folder: int, line: bytes) -> None:
    fd = open_file(folder)
    if posix.fstat(fd).st_size + len(line) > FILE_BYTES:
        posix.rename(FILE, FILE + ".1", src_dir_fd=folder, dst_dir_fd=folder)
        posix.close(fd)
        fd = open_file(folder)
    posix.write(fd, line)
    posix.close(fd)


def open_file(folder: int) -> int:
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_NONBLOCK
    return posix.open(FILE, flags, 0o600, dir_fd=folder)


def now_ms() -> int:
    return time.time_ns() // 1000000
