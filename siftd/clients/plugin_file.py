"""The one file that an agent loads as its plugin: what all of ours have in common, and what is that agent's own."""

from __future__ import annotations

import json

from siftd.resources import hooks_folder

_COMMON = "teller.js"
_COMMAND = '"@COMMAND@"'


def plugin_text(name: str, command: str) -> str:
    """Return the plugin of this name, which runs the hook by a shell command."""
    common, own = ((hooks_folder() / each).read_text(encoding="utf-8") for each in (_COMMON, name))
    return common.replace(_COMMAND, json.dumps(command)) + "\n" + own
