"""Documents that somebody had read in: which are known, taking one in, listing, letting go."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from siftd.wire.requests.request import Request

DocumentType = Literal["markdown", "text", "rest", "html", "code", "notebook", "pdf"]
"""As `siftd.documents.model.DocumentKind`, of a floor above; a test compares."""


class KnownDocumentsAnswer(TypedDict):
    """The paths whose content is kept just so: nothing of them need be sent."""

    known: list[str]


class KnownDocuments(Request[KnownDocumentsAnswer], frozen=True, kw_only=True):
    """Which of these files, each with the SHA-256 of its bytes, are kept as they are."""

    files: list[tuple[str, str]]


class IngestedAnswer(TypedDict):
    """The document by its id (d4): "added", "changed", or "unchanged"; how many chunks it has, and how many of them had
    to be made."""

    id: str
    status: Literal["added", "changed", "unchanged"]
    chunks: int
    chunksMade: int


class IngestDocument(Request[IngestedAnswer], frozen=True, kw_only=True):
    """Take in one document as a reader has read it, in the place of what was known of it.

    It is known again by its path (absolute), by its URL, or, where neither is there, by its title. `hash` is the
    SHA-256 of the bytes that were read.
    """

    path: str | None = None
    url: str | None = None
    title: str
    type: DocumentType
    hash: str
    text: str
    metadata: dict[str, str] = {}


class DocumentListed(TypedDict):
    """A document without its text. `path` is below the workspace's root where that is in it."""

    id: str
    path: str | None
    url: str | None
    type: str
    title: str
    chunks: int
    metadata: dict[str, Any]
    ingestedTs: int


class DocumentsAnswer(TypedDict):
    """Documents, how many there are in all, and where the list goes on (null: nowhere)."""

    documents: list[DocumentListed]
    count: int
    nextCursor: str | None


class Documents(Request[DocumentsAnswer], frozen=True, kw_only=True):
    """The documents, the newest first."""

    type: DocumentType | None = None
    limit: int = 50
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class RemovedAnswer(TypedDict):
    """What went: how many documents, and how many chunks."""

    documents: int
    chunks: int


class RemoveDocuments(Request[RemovedAnswer], frozen=True, kw_only=True):
    """Let documents go, by their ids (d4). What they said stays in the log; `forget` erases it too."""

    ids: list[str]


class DocumentHit(TypedDict):
    """A piece of a document (d4:12): what somebody had read in, nobody's word to the agent."""

    id: str
    path: str | None
    url: str | None
    type: str
    title: str
    heading: str
    """Those above it: Install > Linux."""
    line: int
    """Its first one in the document."""
    text: str
    passage: str
    """The lines of it that answer, in short."""
    ts: int
    """When it was read in."""
    score: float
    why: dict[str, Any]
    """What found it, each with `rank` and `score`."""
    workspace: NotRequired[str]
    """Where every workspace was asked: the folder that it is of."""


class ShownDocument(DocumentListed):
    """A document whole, or the piece of it that a line is in."""

    kind: Literal["document"]
    heading: str
    line: int
    """Of the first line of `text`; 1 where the whole is shown."""
    lines: int
    """How many the whole document has."""
    text: str
