"""Pods and their members, from an exported file: known by their type and external id.

A person's pod is private: it comes from an export of their own, and from nobody else's file.
"""

from __future__ import annotations

from siftd.capture.admission import NAME_CHARS_MAX
from siftd.errors import EnvelopeRejected
from siftd.exchange.format import MemberLine, PodLine
from siftd.exchange.import_context import Forgotten, ImportContext, here, payload_of
from siftd.facts.pods import NAMED, ROLES, SLOTS
from siftd.store import pods


class PodImporter:
    """Takes them in. `facts` leads from the file's ids of facts to those here."""

    def __init__(self, context: ImportContext, facts: dict[int, int | None]) -> None:
        self._context = context
        self._facts = facts
        self._ids: dict[int, int | None] = {}

    async def take_pod(self, line: PodLine) -> bool:
        """Keep a pod, unless it is here; return whether it is new. Raises Forgotten."""
        _check(line)
        if line.type == "person" and not self._context.is_own_export:
            raise EnvelopeRejected("private_to_another")
        fields = {"type": line.type, "externalId": line.external_id, "title": line.title, "ts": line.ts}
        intent = self._context.admit_intent("pod", fields)
        external_id = str(payload_of(intent)["externalId"])
        self._ids[line.id] = None
        known = await self._context.ask(lambda c: pods.find_pod(c, line.type, external_id))
        pod_id = await self._context.keep_or_raise(intent) if known is None else known
        if not pod_id:
            raise Forgotten
        self._ids[line.id] = pod_id
        if known is None and line.is_archived:
            change = {"pod": pod_id, "status": "archived"}
            await self._context.keep_or_raise(self._context.admit_intent("pod_change", change))
        return known is None

    async def take_member(self, line: MemberLine) -> bool:
        """Keep a member, unless it is one here, in whatever role. Raises KeyError, Forgotten."""
        if line.role not in ROLES:
            raise EnvelopeRejected("no_such_role")
        pod_id, fact_id = here(self._ids, line.pod), here(self._facts, line.fact)
        if await self._context.ask(lambda c: pods.is_member(c, pod_id, fact_id)):
            return False
        fields = {"pod": pod_id, "fact": fact_id, "role": line.role}
        await self._context.keep_or_raise(self._context.admit_intent("pod_change", fields))
        return True


def _check(line: PodLine) -> None:
    """Raise EnvelopeRejected for what could not have been made here either."""
    if line.type not in SLOTS or (line.external_id != "") != (line.type in NAMED):
        raise EnvelopeRejected("no_such_pod")
    if max(len(line.external_id), len(line.title)) > NAME_CHARS_MAX:
        raise EnvelopeRejected("text_too_long")
