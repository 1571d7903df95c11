"""A library that goes before the system's own: its `fdatasync` fails once, with EIO, whenever a file asks for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *wish;

/* Read at once: a daemon takes everything out of its environment that it does not know. */
__attribute__((constructor)) static void begin(void) {
    const char *told = getenv("FAIL_NEXT_SYNC");
    wish = told == NULL ? NULL : strdup(told);
}

int fdatasync(int descriptor) {
    if (wish != NULL && unlink(wish) == 0) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return real(descriptor);
}
"""


class FailingSyncs:
    """The library, and the file that makes the next sync of a program started with `env` fail."""

    def __init__(self, folder: Path) -> None:
        """Build it in `folder`; skips the test where that cannot be done (it is for Linux, with a C compiler)."""
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None or not sys.platform.startswith("linux"):
            pytest.skip("only Linux with a C compiler can play a disk that fails")
        source, library = folder / "syncs.c", folder / "syncs.so"
        source.write_text(SOURCE)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
        self._asked = folder / "fail-next-sync"
        self.env = {"LD_PRELOAD": str(library), "FAIL_NEXT_SYNC": str(self._asked)}

    def fail_next(self) -> None:
        self._asked.touch()

    @property
    def has_failed(self) -> bool:
        return not self._asked.exists()
