"""What kind of document a name promises. What is really in it, its reader finds out."""

from __future__ import annotations

from pathlib import PurePath

from siftd.documents.model import DocumentKind

_EXTENSIONS: dict[DocumentKind, str] = {
    "markdown": "md markdown mdown mkd mdx mdc",
    "rest": "rst rest",
    "text": "txt text log adoc asciidoc org tex textile me 1 2 3 4 5 6 7 8 csv tsv",
    "html": "html htm xhtml",
    "notebook": "ipynb",
    "pdf": "pdf",
    "code": (
        "py pyi pyx js jsx mjs cjs ts tsx mts cts vue svelte astro go rs c h cc cpp cxx hh hpp hxx cu m mm ino java cs"
        " dart groovy rb rake php kt kts swift scala sc sh bash zsh bats lua ex exs fish ps1 bat sql r jl pl pm hs ml"
        " mli fs fsx clj cljs el lisp erl hrl nim zig tcl vb asm s toml yaml yml json jsonc json5 ini cfg conf xml css"
        " scss sass less graphql gql proto thrift tf hcl nix cmake mk make gradle bzl star dockerfile j2 jinja tmpl"
    ),
}
KIND_OF_EXTENSION: dict[str, DocumentKind] = {
    extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions.split()
}
_CODE_NAMES = frozenset(
    "makefile gnumakefile dockerfile containerfile jenkinsfile vagrantfile rakefile gemfile justfile procfile"
    " cmakelists.txt requirements.txt constraints.txt .editorconfig .gitignore .gitattributes .dockerignore".split()
)
_MEDIA: dict[str, DocumentKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/x-rst": "rest",
    "text/prs.fallenstein.rst": "rest",
    "application/pdf": "pdf",
    "application/x-ipynb+json": "notebook",
}
NAMED_BY_PATH = frozenset(
    "text/plain application/octet-stream binary/octet-stream application/json application/yaml application/x-yaml"
    " text/yaml application/toml application/xml application/javascript application/x-javascript"
    " application/typescript application/x-sh application/sql".split()
)
"""Media types under which servers send any text: the path's extension says more."""


def kind_of_name(name: str) -> DocumentKind:
    """Return what a file's name promises; text where it promises nothing."""
    low = PurePath(name).name.lower()
    if low in _CODE_NAMES:
        return "code"
    return KIND_OF_EXTENSION.get(low.rpartition(".")[2], "text") if "." in low else "text"


def find_kind_of_media(media: str, path: str) -> DocumentKind | None:
    """Return the kind that a server's content type promises for a path, or None where it is no document."""
    if media in _MEDIA:
        return _MEDIA[media]
    if not media or media in NAMED_BY_PATH or media.startswith("text/"):
        kind = kind_of_name(path)
        # A page that calls itself plain text and ends in .html is shown as text by a browser too.
        return "text" if media.startswith("text/") and kind in ("html", "pdf", "notebook") else kind
    return None
