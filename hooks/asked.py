"""What a person typed behind `/siftd:mem`, the plugin's command: `siftd answer` takes the hook's place.

The client gives a hook the typed text as JSON, so that no shell ever reads a word of it. The answer is printed as a
prompt that is not sent on, which the client shows to the person: the model is asked nothing, and nothing is captured.
"""

import posix
import sys
from _signal import ITIMER_REAL, SIG_DFL, SIGALRM, setitimer, signal

from courier import PASSED_ON, PATH, is_ours, note, own_package

TYPED = b'"prompt":"/siftd:mem'
ENDS = (b'"', b" ", b"\\")
FROM_CLIENT = ("CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR")


def reply(raw: bytes, env: dict[str, str], run: str) -> None:
    """Become `siftd answer`; return when something else was typed, or no package of ours is there."""
    end = raw.find(TYPED) + len(TYPED)
    if raw[end : end + 1] not in ENDS:
        return  # /siftd:memory, for one
    package = sys.argv[2] if sys.argv[2:] else own_package()
    if not is_ours(package):
        note(run, "PackageNotOurs")
        return
    setitimer(ITIMER_REAL, 0)
    signal(SIGALRM, SIG_DFL)
    reader, writer = posix.pipe()
    if posix.fork() == 0:
        try:
            posix.close(reader)
            rest = memoryview(raw)
            while rest:
                rest = rest[posix.write(writer, rest) :]
        finally:
            posix._exit(0)
    posix.close(writer)
    posix.dup2(reader, 0)
    given = {name: env[name] for name in (*PASSED_ON, *FROM_CLIENT) if name in env}
    home, _, namespace = run.rpartition("/")[0].rpartition("/")
    given |= {"PATH": PATH, "SIFTD_HOME": home, "SIFTD_NS": namespace}
    posix.execve(sys.executable, [sys.executable, "-I", package + "/__main__.py", "answer"], given)
