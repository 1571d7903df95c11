"""A library that goes before the system's own: it lets a program start so many threads and then no more, with EAGAIN,
as the system does when a user has too many processes. (A limit does not hold for root.)"""

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
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static atomic_int started;
static int most = -1;

/* Read at once: a daemon takes everything out of its environment that it does not know. */
__attribute__((constructor)) static void begin(void) {
    const char *told = getenv("THREADS_MAX");
    most = told == NULL ? -1 : atoi(told);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
    if (most >= 0 && atomic_fetch_add(&started, 1) >= most) {
        return EAGAIN;
    }
    return ((create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, work, argument);
}
"""


def few_threads(folder: Path, most: int) -> dict[str, str]:
    """Return the environment of a program that may start `most` threads. Skips the test where none can be made."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("only Linux with a C compiler can play a system without threads")
    source, library = folder / "threads.c", folder / "threads.so"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl", "-lpthread"], check=True)
    return {"LD_PRELOAD": str(library), "THREADS_MAX": str(most)}
