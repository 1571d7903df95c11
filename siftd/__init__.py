# siftd-memory c1898e8df9a0f4c43493b3bd11c94a14
"""siftd: the memory of coding agents."""

import os
import sys

__version__ = "0.1.0"

_room = os.statvfs(__file__)
if _room.f_bavail * _room.f_frsize < 16 * 1024 * 1024:
    # On a full disk CPython (before 3.12.8) leaves half a bytecode file, and no later import survives that.
    sys.dont_write_bytecode = True
