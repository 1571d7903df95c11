"""Reading documents in: what is there is read here, sent one by one, and known again by its hash.

Files are asked about in batches: what is unchanged is neither read further nor sent. So an ingest that was stopped goes
on where it ended, and one that is repeated costs its reading. At most `BATCH_BYTES` of files are held, or one file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable

from siftd.cli.context import WORK_SECONDS, Context
from siftd.documents.files import load
from siftd.documents.model import BY_HAND, TITLED, TYPED, DocumentKind, kind_named
from siftd.documents.reading import content_hash, read
from siftd.documents.walking import Found, Skipped
from siftd.errors import DocumentRefused, RequestRefused
from siftd.wire import asking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.documents.fetching import Fetched
    from siftd.wire.requests import DocumentListed

BATCH_FILES = 256
BATCH_BYTES = 8 * 1024 * 1024
LISTED_MAX = 1000
"""Of what was left out, those that are named; all are counted."""


class Ingest:
    """One run of `mem ingest`, and what came of it."""

    def __init__(
        self, context: Context, *, kind: DocumentKind | None = None, title: str = "", is_dry: bool = False
    ) -> None:
        self._context = context
        self._kind: DocumentKind | None = kind
        self._title = title
        self._is_dry = is_dry
        self._batch: list[tuple[str, bytes]] = []
        self._bytes = 0
        self.on_done: Callable[[], object] = lambda: None
        """Called when there is nothing more to do for one file."""
        self.done: Counter[str] = Counter()
        """Documents by what became of them: added, changed, unchanged."""
        self.chunks = self.made = 0
        self.skipped: Counter[str] = Counter()
        self.left_out: list[dict[str, str]] = []
        self.last_id: str | None = None

    def add_files(self, files: Iterable[Found | Skipped]) -> None:
        """Read in files, but for those that are known just so. What is left out is noted with its reason."""
        for each in files:
            if isinstance(each, Skipped):
                self.skip(each.path, each.reason)
            else:
                self._add_file(each.path)
        self._send()

    def say(self, kind: DocumentKind | None, title: str) -> None:
        """Of what is read in from now on, what somebody says that it is."""
        self._kind, self._title = kind, title

    def add_fetched(self, named: str, found: Fetched) -> None:
        """Read in what a URL gave, under the URL that was named."""
        kind = self._kind or found.kind
        moved = {} if found.url == named else {"found_at": found.url[:500]}
        self._keep(named, found.data, kind, encoding=found.encoding, url=named, metadata=moved)

    def add_text(self, data: bytes) -> None:
        """Read in what somebody hands over, known again by its title."""
        self._keep(self._title, data, self._kind or "markdown")

    def skip(self, what: str, reason: str, message: str = "", hint: str = "") -> None:
        """Note that something is left out."""
        self.skipped[reason] += 1
        if len(self.left_out) < LISTED_MAX:
            self.left_out.append({"what": what, "reason": reason, "message": message, "hint": hint})

    def _add_file(self, path: str) -> None:
        try:
            data = load(path)
        except DocumentRefused as refused:
            self._refuse(path, refused)
            return
        if self._bytes + len(data) > BATCH_BYTES:
            self._send()
        self._batch.append((path, data))
        self._bytes += len(data)
        if len(self._batch) >= BATCH_FILES:
            self._send()

    def _send(self) -> None:
        """Send of the batch what is not known just so."""
        batch, self._batch, self._bytes = self._batch, [], 0
        if not batch:
            return
        hashes = [(_sendable(path), self._hash(data)) for path, data in batch]
        known = set() if self._is_dry else set(self._context.ask(asking.KnownDocuments(files=hashes))["known"])
        for (path, data), (sent, _) in zip(batch, hashes, strict=True):
            if sent in known:
                self.done["unchanged"] += 1
                self.on_done()
            else:
                self._keep(path, data, self._kind, path=sent)

    def _hash(self, data: bytes) -> str:
        return content_hash(data, self._kind, self._title)

    def _keep(
        self,
        source: str,
        data: bytes,
        kind: DocumentKind | None,
        *,
        encoding: str = "",
        path: str | None = None,
        url: str | None = None,
        metadata: dict[str, str] | None = None,
    ) -> None:
        try:
            made = read(source, data, kind, title=self._title, encoding=encoding)
        except DocumentRefused as refused:
            self._refuse(source, refused)
            return
        if self._is_dry:
            self.done["added"] += 1
            self.on_done()
            return
        given = {name: BY_HAND for name, value in ((TITLED, self._title), (TYPED, self._kind)) if value}
        request = asking.IngestDocument(
            path=path,
            url=url,
            title=made.title,
            type=made.kind,
            hash=self._hash(data),
            text=made.text,
            metadata=made.metadata | (metadata or {}) | given,
        )
        try:
            answer = self._context.ask(request, timeout=WORK_SECONDS)
        except RequestRefused as error:
            if error.code != "bad_request":
                raise
            self.skip(source, "refused", error.message, error.hint)
        else:
            self.done[answer["status"]] += 1
            self.chunks += answer["chunks"]
            self.made += answer["chunksMade"]
            self.last_id = answer["id"]
        self.on_done()

    def _refuse(self, what: str, refused: DocumentRefused) -> None:
        self.skip(what, refused.reason, refused.message, refused.hint)
        self.on_done()


def refresh(ingest: Ingest, root: str, listed: Iterable[DocumentListed], fetch: Callable[[str], Fetched]) -> None:
    """Read documents again from where they came. What is there no more is noted, and stays as it is."""
    for each in listed:
        extra = each["metadata"]
        ingest.say(
            kind_named(each["type"]) if extra.get(TYPED) == BY_HAND else None,
            each["title"] if extra.get(TITLED) == BY_HAND else "",
        )
        path, url = each["path"], each["url"]
        whole = None if path is None else os.path.join(root, path)  # noqa: PTH118
        if whole is not None and os.path.lexists(whole):
            ingest.add_files([Found(whole, 0)])
        elif whole is not None:
            ingest.skip(whole, "gone", "it is there no more", f"`mem documents remove {each['id']}`")
        elif url is None:
            ingest.skip(each["title"], "handed over", "nobody knows where it came from", "ingest it again")
        else:
            try:
                ingest.add_fetched(url, fetch(url))
            except DocumentRefused as refused:
                ingest.skip(url, refused.reason, refused.message, refused.hint)


def _sendable(path: str) -> str:
    """Return a path as JSON can carry it: bytes that are no UTF-8 become marks."""
    return os.fsencode(path).decode("utf-8", "replace")
