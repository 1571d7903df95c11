"""The page as it is served: an empty shell, its files, and the login that hands a page its token.

The shell holds no data, so that it needs no token. A login by a form, as the file of `launch.py` posts it, is answered
with the shell and the token in it, as JSON that no browser runs; one that accepts JSON is answered with that.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from siftd.errors import HttpRefused
from siftd.web.credentials import Credentials
from siftd.web.limits import Limits, too_often
from siftd.web.problems import response_of
from siftd.web.types import TokenAnswer, encode

FOLDER = Path(__file__).parent / "page"
ISLAND = "<!--island-->"
"""Where the shell takes the token, if it was brought one."""
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
_CODE_CHARS_MAX = 200


class Shell:
    """The page's files, and its login."""

    def __init__(self, credentials: Credentials, limits: Limits, on_login: Any, folder: Path = FOLDER) -> None:
        """`on_login` is called after each, whether it was one."""
        self._credentials = credentials
        self._limits = limits
        self._on_login = on_login
        self._folder = folder
        self._names = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        }

    async def index(self, _: Request) -> Response:
        return self._page("")

    async def file(self, request: Request) -> Response:
        """Answer one of the files that were there at the start: what a path says leads nowhere else."""
        path = self._names.get(request.path_params["path"])
        if path is None:
            return response_of(HttpRefused(404, "not_found", "there is no such file"))
        kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return Response(path.read_bytes(), media_type=kind)

    async def log_in(self, request: Request) -> Response:
        """Take a one-time code as a form's field `code`."""
        form = await request.form(max_files=0, max_fields=2)
        code = form.get("code")
        token = self._credentials.log_in(code[:_CODE_CHARS_MAX]) if isinstance(code, str) else None
        if token is None and not self._limits.logins.take():
            return response_of(too_often(self._limits.logins.wait_seconds))
        self._on_login()
        wants_json = "application/json" in request.headers.get("accept", "")
        if token is None and wants_json:
            return response_of(
                HttpRefused(403, "code_spent", "this code is unknown, spent or too old", hint="run `mem web` again")
            )
        if wants_json:
            return Response(encode(TokenAnswer(token=token or "")), media_type="application/json")
        if token is None:
            return self._page('<script type="application/json" id="spent">true</script>', 403)
        return self._page(f'<script type="application/json" id="token">"{token}"</script>')

    def _page(self, island: str, status: int = 200) -> Response:
        text = (self._folder / "index.html").read_text(encoding="utf-8")
        return Response(text.replace(ISLAND, island, 1), status, media_type="text/html")
