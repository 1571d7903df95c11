"""The page's files: what was taken from elsewhere is as it was, and nothing of ours makes elements out of text."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "siftd" / "web" / "page"
VENDORED = {
    "htm-preact/htm-preact.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    "htm-preact/htm.LICENSE": "740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f",
    "htm-preact/preact.LICENSE": "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
    "uplot/uPlot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uplot/uPlot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot/uPlot.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
}
MAKES_ELEMENTS = (
    r"innerHTML|outerHTML|insertAdjacent|document\.write|dangerouslySet|createContextualFragment|DOMParser|setHTML"
    r"|\beval\b|new Function|srcdoc|javascript:|\bon[a-z]+=[\"']"
)
GZIPPED_BYTES_MAX = 80_000
LINES_MAX = 300


def ours() -> list[Path]:
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    return [path for path in files if "vendor" not in path.relative_to(PAGE).parts]


def test_what_was_taken_from_elsewhere_is_as_it_was_published() -> None:
    vendor = PAGE / "vendor"
    found = {
        path.relative_to(vendor).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendor.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    assert found == VENDORED


def test_each_library_stands_beside_its_licence_and_is_named() -> None:
    told = (PAGE / "vendor" / "README.md").read_text()
    for name in VENDORED:
        assert Path(name).name in told, name
    for folder in (PAGE / "vendor").iterdir():
        assert folder.is_file() or list(folder.glob("*.LICENSE")), folder


def test_nothing_of_ours_makes_an_element_or_a_program_out_of_text() -> None:
    for path in ours():
        found = re.search(MAKES_ELEMENTS, path.read_text())
        assert not found, (path, found and found.group())


def test_a_captured_text_is_never_a_link_s_address() -> None:
    """An address begins with `link(`, which writes a place in this page."""
    for path in ours():
        if path.suffix == ".js":
            for address in re.findall(r"\b(?:href|src|action)=(\$\{[^}]*|\"[^\"]*)", path.read_text()):
                assert address.startswith(("${link(", '"#main', '"/login')), (path, address)


def test_nothing_is_fetched_from_elsewhere() -> None:
    for path in ours():
        addresses = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"']*", path.read_text())
        assert [each for each in addresses if "www.w3.org/2000/svg" not in each] == [], path


def test_the_shell_names_files_that_are_there_and_runs_nothing_inline() -> None:
    shell = (PAGE / "index.html").read_text()
    for name in re.findall(r"(?:href|src)=\"/page/([^\"]+)\"", shell):
        assert (PAGE / name).is_file(), name
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=", shell)
    assert shell.count("<!--island-->") == 1


def test_modules_import_files_that_are_there() -> None:
    for path in ours():
        if path.suffix == ".js":
            for name in re.findall(r"from \"([^\"]+)\"", path.read_text()):
                assert name.startswith("."), (path, name)
                assert (path.parent / name).resolve().is_file(), (path, name)


def test_the_shell_asks_for_every_module_at_once() -> None:
    """One would else wait for the other, as deep as they import each other."""
    shell = (PAGE / "index.html").read_text()
    modules = {path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*.js")} - {"vendor/uplot/uPlot.js"}
    assert set(re.findall(r"(?:modulepreload\"|module\") (?:href|src)=\"/page/([^\"]+)\"", shell)) == modules


def test_all_of_it_is_small() -> None:
    files = [path for path in PAGE.rglob("*") if path.suffix in {".js", ".css", ".html", ".svg"}]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < GZIPPED_BYTES_MAX
    for path in ours():
        assert path.read_text().count("\n") < LINES_MAX, path
