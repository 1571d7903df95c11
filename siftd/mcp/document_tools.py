"""Reading a document in, as an agent asks for it: of the whole surface, since one more tool would cost every session.

An agent hands a text over, or names a file of the project it works in. A URL is fetched because a person named it: for
an agent, which a page may have told to, only where they have allowed it (`documents.agentsFetch`).
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from siftd.documents.model import BY_HAND, TITLED, TYPED, DocumentKind, Read
from siftd.documents.private_files import is_secret
from siftd.documents.reading import content_hash, read
from siftd.errors import RequestInvalid
from siftd.mcp.link import Link
from siftd.mcp.shown import labelled
from siftd.wire.asking import IngestDocument

Found = dict[str, Any]
SourceType = Literal["", "markdown", "text", "rest", "html", "code", "notebook", "pdf"]


class DocumentTools:
    """The tool over one workspace's documents."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def ingest(
        self,
        content: str = "",
        filePath: Annotated[str, Field(description="of this project")] = "",  # noqa: N803 - as other memories call it
        url: str = "",
        title: str = "",
        sourceType: SourceType = "",  # noqa: N803 - as above
    ) -> Found:
        """Keep a document so that its parts are found later, cited by line (d4:12): a text with its title, or a file.
        Again under the same name replaces it. Only what will be asked for: documents of the project, not its output."""
        if sum(map(bool, (content, filePath, url))) != 1:
            raise RequestInvalid("one document is read in at a time", hint="give content, or filePath, or url")
        kind: DocumentKind | None = sourceType or None
        if content:
            if not title:
                raise RequestInvalid("a text is known again by its title", hint="give a title")
            data = content.encode()
            return self._keep(read(title, data, kind or "markdown", title=title), data, kind, title)
        if filePath:
            path = self._file_of(filePath)
            from siftd.documents.files import load  # late, as below

            data = load(path)
            return self._keep(read(path, data, kind, title=title), data, kind, title, path=path)
        self._check_is_allowed()
        from siftd.documents.fetching import fetch  # late: a tenth of a second of every server's start

        # In a thread of its own: this one may have an event loop.
        with ThreadPoolExecutor(1) as thread:
            fetched = thread.submit(fetch, url).result()
        found = read(fetched.url, fetched.data, kind or fetched.kind, title=title, encoding=fetched.encoding)
        return self._keep(found, fetched.data, kind, title, url=url)

    def _keep(
        self,
        found: Read,
        data: bytes,
        kind: DocumentKind | None,
        title: str,
        *,
        path: str | None = None,
        url: str | None = None,
    ) -> Found:
        """Have a document kept, `kind` and `title` as the agent gave them: so it is read again by `mem documents`."""
        given = {name: BY_HAND for name, value in ((TITLED, title), (TYPED, kind)) if value}
        request = IngestDocument(
            path=path,
            url=url,
            title=found.title,
            type=found.kind,
            hash=content_hash(data, kind, title),
            text=found.text,
            metadata=found.metadata | given,
        )
        return labelled({**self._link.ask(request)})

    def _file_of(self, named: str) -> str:
        """Return the path of a file of the project. Raises RequestInvalid for any other, and for one of secrets."""
        root = Path(self._link.workspace.root).resolve()
        path = (root / named).resolve()
        if not path.is_relative_to(root):
            raise RequestInvalid("the file is not of this project", hint="a person may: `mem ingest FILE`")
        if is_secret(path.name):
            raise RequestInvalid("a file of this name is there to hold secrets", hint="name another file")
        return str(path)

    def _check_is_allowed(self) -> None:
        if not self._link.settings.documents_agents_fetch:
            raise RequestInvalid(
                "the person lets no agent have a URL read in",
                hint="they may: `mem ingest URL`, or `mem config documents.agentsFetch true`",
            )
