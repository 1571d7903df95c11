"""Requests about pods, and what an agent is handed of them: looked at, made, archived, explained.

A change is kept as a record and applied by it (`siftd.store.pods`). Whoever asks is the person whose daemon it is:
nobody makes, or sees, a pod that is another person's.
"""

from __future__ import annotations

from collections.abc import Callable

from siftd import ids
from siftd.capture.admission import NAME_CHARS_MAX
from siftd.daemon.group_commit import Committer
from siftd.daemon.handlers.answering import answers
from siftd.daemon.handlers.sessions import find_session
from siftd.daemon.intents import Intents
from siftd.daemon.pod_access import PodAccess
from siftd.daemon.saved_brief import drop_briefs_that_quote
from siftd.daemon.store_access import StoreAccess
from siftd.errors import RequestInvalid
from siftd.facts.blending import Blend, Filled
from siftd.facts.pods import CHARS_MAX, FACTS_MAX, ROLES, SLOTS, Asker, Fact, PodType, slug
from siftd.facts.pods import Pod as Kept
from siftd.redact.redactor import Redactor
from siftd.store import pods
from siftd.wire import requests
from siftd.workspace.paths import WorkspacePaths

LEFT_OUT_MAX = 20
"""Facts of one pod of which is told why they do not stand in it."""
MEMBERS_MAX = 50
PODS_MAX = 200
_KINDS = ", ".join(SLOTS)


class PodRequests:
    """Answers them for one workspace."""

    def __init__(
        self,
        *,
        access: PodAccess,
        store: StoreAccess,
        committer: Committer,
        intents: Intents,
        paths: WorkspacePaths,
        redactor: Callable[[], Redactor],
    ) -> None:
        self._access = access
        self._store = store
        self._committer = committer
        self._intents = intents
        self._paths = paths
        self._redactor = redactor

    @answers(requests.Context)
    async def context(self, request: requests.Context) -> requests.ContextAnswer:
        """Return what an agent is handed, pod by pod."""
        blended = await self._blended(request.session, request.about)
        return {
            "facts": len(blended.facts),
            "factsMax": FACTS_MAX,
            "chars": blended.chars,
            "charsMax": CHARS_MAX,
            "pods": [_shown(filled, is_explained=request.explain) for filled in blended.pods],
        }

    @answers(requests.Pods)
    async def list_pods(self, request: requests.Pods) -> requests.PodsAnswer:
        """Return the pods of who asks, without their facts."""
        blended = await self._blended(request.session, request.about)
        return {"pods": [_listed(filled) for filled in blended.pods]}

    @answers(requests.Pod)
    async def pod(self, request: requests.Pod) -> requests.PodAnswer:
        """Return one pod, what stands in it, and why the rest of its facts does not."""
        asker = await self._asker(request.session, request.about)
        kind, external_id = await self._named(request.pod, asker)
        blended = await self._access.blended(asker)
        found = next(
            (each for each in blended.pods if (each.pod.type, each.pod.external_id) == (kind, external_id)), None
        )
        if found is None:
            raise RequestInvalid("there is no such pod", hint="`mem pods` lists them")
        members: list[requests.PodMember] = [{"id": member.fact, "role": member.role} for member in found.pod.members]
        return {"pod": {**_shown(found, is_explained=True), "memberFacts": members}}

    @answers(requests.CreatePod)
    async def create(self, request: requests.CreatePod) -> requests.CreatePodAnswer:
        """Make a pod's row, unless it is there, and put facts into it, or out of it."""
        asker = await self._asker(None, "")
        kind, external_id, title = await self._names(request, asker)
        if request.role not in ROLES:
            raise RequestInvalid("there is no such role", hint=f"one of {', '.join(ROLES)}")
        numbers = list(dict.fromkeys(ids.parse_number(each, ids.MEMORY) for each in request.ids))
        await self._committer.catch_up()
        known = await self._store.read(lambda c: pods.which_exist(c, numbers))
        if unknown := [each for each in numbers if each not in known]:
            raise RequestInvalid(f"there is no fact m{unknown[0]}", hint="`mem memories` lists them")
        pod_id = await self._store.read(lambda c: pods.find_pod(c, kind, external_id))
        is_new = pod_id is None
        if pod_id is None:
            await self._check_room()
            pod_id = await self._intents.keep("pod", {"type": kind, "externalId": external_id, "title": title})
            await self._committer.catch_up()
        held = await self._store.read(lambda c: pods.count_members(c, pod_id))
        if held + len(numbers) > MEMBERS_MAX:
            raise RequestInvalid(f"a pod has at most {MEMBERS_MAX} members", hint="leave some out, or make another")
        for number in numbers:
            await self._intents.keep("pod_change", {"pod": pod_id, "fact": number, "role": request.role})
        drop_briefs_that_quote(self._paths)
        return {"pod": Kept(kind, external_id).key, "isNew": is_new, "members": len(numbers)}

    @answers(requests.ArchivePod)
    async def archive(self, request: requests.ArchivePod) -> requests.ArchivePodAnswer:
        """Let a pod fill no slot any more, or again."""
        asker = await self._asker(None, "")
        kind, external_id = await self._named(request.pod, asker)
        await self._committer.catch_up()
        pod_id = await self._store.read(lambda c: pods.find_pod(c, kind, external_id))
        if pod_id is None:
            if kind == "playbook":
                raise RequestInvalid(
                    "there is no such playbook", hint="`mem pods` lists them; --global for every project"
                )
            await self._check_room()
            pod_id = await self._intents.keep("pod", {"type": kind, "externalId": external_id})
        status = "active" if request.undo else "archived"
        await self._intents.keep("pod_change", {"pod": pod_id, "status": status})
        drop_briefs_that_quote(self._paths)
        return {"pod": Kept(kind, external_id).key, "status": status}

    async def _names(self, request: requests.CreatePod, asker: Asker) -> tuple[PodType, str, str]:
        """Return a new pod's type, external id and title. Raises RequestInvalid."""
        kind = _kind(request.type)
        if len(request.name) > NAME_CHARS_MAX:
            raise RequestInvalid(f"a name has at most {NAME_CHARS_MAX} characters", hint="choose a short one")
        if kind == "playbook":
            title = " ".join(self._redactor().text(request.name).split())
            if not (external_id := slug(title)):
                raise RequestInvalid("a playbook has a name", hint="`mem pods create playbook:release m3 m4`")
            return kind, external_id, title
        if kind == "session":
            return kind, await find_session(self._store, request.name), ""
        own = _own(kind, asker)
        if request.name not in ("", own):
            raise RequestInvalid("of this type there is your own here", hint="leave the name out")
        return kind, own, ""

    async def _named(self, text: str, asker: Asker) -> tuple[PodType, str]:
        """Return the type and external id of a pod as it is cited: `vital`, `project`, `playbook:release`.

        Raises RequestInvalid for one that is another's.
        """
        named, _, external_id = text.strip().partition(":")
        kind = _kind(named)
        if kind == "playbook":
            return kind, slug(external_id)
        if kind == "session" and external_id:
            return kind, await find_session(self._store, external_id)
        if external_id not in ("", own := _own(kind, asker)):
            raise RequestInvalid("there is no such pod", hint="`mem pods` lists them")
        return kind, own

    async def _check_room(self) -> None:
        if len(await self._store.read(lambda c: pods.list_pods(c, ids.MEMORY))) >= PODS_MAX:
            raise RequestInvalid(f"there are {PODS_MAX} pods already", hint="put facts into one of them")

    async def _asker(self, session: str | None, about: str) -> Asker:
        whole = await find_session(self._store, session) if session else ""
        return self._access.asker(whole, about)

    async def _blended(self, session: str | None, about: str) -> Blend:
        return await self._access.blended(await self._asker(session, about))


def _kind(text: str) -> PodType:
    found = next((kind for kind in SLOTS if kind == text), None)
    if found is None:
        raise RequestInvalid("there is no such type of pod", hint=f"one of {_KINDS}")
    return found


def _own(kind: PodType, asker: Asker) -> str:
    """Return the external id of the pod of a type that is who asks' own."""
    return {"session": asker.session, "person": asker.person, "project": asker.project}.get(kind, "")


def _listed(filled: Filled) -> requests.PodListed:
    pod = filled.pod
    return {
        "pod": pod.key,
        "type": pod.type,
        "title": pod.title,
        "slots": filled.size,
        "filled": len(filled.slots),
        "members": sum(member.role != "left out" for member in pod.members),
        "inactive": filled.inactive,
    }


def _shown(filled: Filled, *, is_explained: bool) -> requests.PodShown:
    left_out = filled.left_out if is_explained else []
    return {
        **_listed(filled),
        "facts": [_fact(slot.fact, slot.why, slot.number) for slot in filled.slots],
        "leftOut": [_fact(each.fact, each.why, None) for each in left_out[:LEFT_OUT_MAX]],
        "leftOutMore": max(0, len(left_out) - LEFT_OUT_MAX),
    }


def _fact(fact: Fact, why: str, slot: int | None) -> requests.PodFact:
    return {
        "id": fact.id,
        "text": fact.text,
        "category": fact.category,
        "importance": fact.importance,
        "saidBy": fact.said_by,
        "ts": fact.said_ts,
        "why": why,
        "slot": slot,
    }
