"""Services and what they depend on, of a compose file: the lines of its YAML that say so, and no other.

There is no YAML parser here: anchors, tags and documents of several parts are a stranger's to use, and of a compose
file three keys are asked for. What is written in another way (a flow mapping of a whole service) is passed over.
"""

from __future__ import annotations

import re

from siftd.graph.model import Found, Link, Named

SERVICES_MAX = 500
LINE_CHARS_MAX = 1_000
_KEY = re.compile(
    r"( {0,80})(?:- {1,8})?[\"']?([\w.-]{1,100})[\"']?[ ]{0,20}:(?:[ ]{1,20}(\S[^\n]{0,400}))?[ ]{0,20}\Z"
)
_ITEM = re.compile(r"( {0,80})- {1,8}[\"']?([\w.-]{1,100})")
_WORD = re.compile(r"[\w.-]{1,100}")
_IMAGE = re.compile(r"[\"']?(?:[\w.:-]{1,200}/){0,4}([\w.-]{1,100})")


def read_compose(found: Found, text: str) -> None:
    """Note the services of a compose file. Raises ValueError for a text that has none."""
    _Compose(found).read(text)


class _Compose:
    def __init__(self, found: Found) -> None:
        self._found = found
        self._services_at: int | None = None
        self._service: Named | None = None
        self._service_at: int | None = None
        self._key_at: int | None = None
        self._name_at: int | None = None
        self._key = ""
        self._services = 0

    def read(self, text: str) -> None:
        for number, line in enumerate(text.splitlines(), start=1):
            content = line[:LINE_CHARS_MAX].split(" #", 1)[0].rstrip()
            if content.strip() and not content.lstrip().startswith("#") and self._services < SERVICES_MAX:
                self._line(number, content)
        if not self._services:
            raise ValueError("no services")

    def _line(self, number: int, line: str) -> None:
        indent = len(line) - len(line.lstrip(" "))
        key = _KEY.match(line)
        if indent == 0:
            is_services = key is not None and key[2] == "services" and key[3] is None
            self._services_at = 0 if is_services else None
            self._service = self._service_at = None
        elif self._services_at is None:
            return
        elif key is not None and (self._service_at is None or indent <= self._service_at):
            self._service_at = indent
            self._service = Named("service", key[2])
            self._key_at, self._key = None, ""
            self._services += 1
            self._found.name(self._service, number)
            self._found.complete.add(self._service)
        elif self._service is not None:
            self._inside(number, line, indent, key)

    def _inside(self, number: int, line: str, indent: int, key: re.Match[str] | None) -> None:
        """Read a line of a service."""
        if key is not None and (self._key_at is None or indent <= self._key_at) and not line.lstrip().startswith("-"):
            self._key_at, self._key, self._name_at = indent, key[2], None
            if key[2] == "image" and key[3] and (image := _IMAGE.match(key[3])):
                self._link("USES", Named("tool", image[1].split(":")[0]), number)
            elif key[2] in ("depends_on", "links") and key[3] and key[3].startswith("["):
                for name in _WORD.findall(key[3])[:100]:
                    self._link("DEPENDS_ON", Named("service", name), number)
        elif self._key in ("depends_on", "links"):
            if item := _ITEM.match(line):
                self._link("DEPENDS_ON", Named("service", item[2]), number)
            elif key is not None and (self._name_at is None or indent <= self._name_at):
                self._name_at = indent
                self._link("DEPENDS_ON", Named("service", key[2]), number)

    def _link(self, relation: str, dst: Named, number: int) -> None:
        if self._service is not None and dst.name.lower() != self._service.name.lower():
            self._found.link(Link(self._service, relation, dst, "manifest", number))
