"""Wiring any client by its list of edits: all files or none, every byte back, what others wrote stays."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.client import Where
from siftd.clients.installer import FilesInstaller
from siftd.errors import RequestInvalid, SettingsUnreadable, SiftdError
from siftd.install.edits import OWN_MARK, Edit, JsonFile, MarkedBlock, OwnFile, TomlFile
from siftd.install.manifest import read_manifest
from siftd.install.wiring import unwire, wire
from siftd.resources import server_entry

SERVER = {"command": "/env/bin/python", "args": ["-I", "/env/siftd/__main__.py", "mcp"]}


class Some(FilesInstaller):
    client, title, programs = "some", "Some", ("some",)
    takes_project = True
    timeout_limits = {"Stop": 3}  # noqa: RUF012 - as rooms write it
    stop_timeout = 3

    def folders(self, where: Where) -> list[str]:
        return [f"{where.user_home}/.some"]

    def edits(self, where: Where, *, is_project: bool, server: Any) -> Sequence[Edit]:
        folder = f"{where.workspace_root if is_project else where.user_home}/.some"
        inside = where.workspace_root if is_project else None
        group = {"hooks": [{"type": "command", "command": self.command(where), "timeout": self.stop_timeout}]}
        edits: list[Edit] = [
            JsonFile(f"{folder}/hooks.json", hooks={"Stop": group}, base={"version": 1}, inside=inside),
            OwnFile(f"{folder}/plugins/siftd.js", f"// {OWN_MARK}\n", inside=inside),
            MarkedBlock(f"{folder}/RULES.md", "Search the memory.", inside=inside),
        ]
        if server is not None:
            edits.append(TomlFile(f"{folder}/config.toml", tables={("mcp_servers", "siftd"): server}, inside=inside))
        return edits


class Place:
    """A person's home with a project in it, and a client that keeps its files in `.some`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "home" / ".siftd" / "default").mkdir(parents=True)
        (root / "project").mkdir()
        self.some = root / "home" / ".some"
        self.launcher = root / "home" / ".siftd" / "default" / "hook.sh"
        self.launcher.write_text(":\n")
        manifest = str(root / "home" / ".siftd" / "default" / "install.json")
        self.where = Where(str(root / "project"), {"PATH": ""}, str(root / "home"), manifest, str(self.launcher))

    def install(self, *, is_project: bool = False, server: Any = SERVER) -> list[str]:
        return [change.what for change in Some().install(self.where, is_project=is_project, server=server)]

    def uninstall(self, *, is_project: bool = False) -> list[str]:
        return [change.what for change in Some().uninstall(self.where, is_project=is_project)]

    def write(self, name: str, text: str) -> Path:
        path = self.some / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(text.encode())
        return path

    def said(self) -> list[tuple[str, str]]:
        return [(finding.state, finding.message) for finding in Some().check(self.where)]

    def tree(self) -> dict[str, tuple[int, bytes | str | None]]:
        found: dict[str, tuple[int, bytes | str | None]] = {}
        for path in sorted(self.root.rglob("*")):
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(self.root))] = (path.lstat().st_mode, content)
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_wiring_from_nothing_and_taking_out_leaves_nothing(place: Place) -> None:
    before = place.tree()

    assert place.install() == ["created"] * 4
    assert place.install() == ["unchanged"] * 4
    assert json.loads((place.some / "hooks.json").read_bytes()).keys() == {"version", "hooks"}
    assert place.uninstall() == ["removed"] * 4
    assert place.tree() == before


def test_files_that_were_there_come_back_byte_for_byte(place: Place) -> None:
    place.write("hooks.json", '{"hooks": {}, // mine\n}')
    place.write("config.toml", 'key = "sk-secret"')
    place.write("RULES.md", "# Mine")
    before = place.tree()

    assert place.install() == ["changed", "created", "changed", "changed"]
    assert place.uninstall() == ["restored", "removed", "restored", "changed"]
    assert place.tree() == before


@pytest.mark.parametrize("blank", ["", "\n"])
def test_blank_files_come_back_blank(place: Place, blank: str) -> None:
    for name in ("hooks.json", "config.toml", "RULES.md"):
        place.write(name, blank)
    before = place.tree()
    place.install()
    place.uninstall()

    assert place.tree() == before


def test_of_a_file_that_holds_keys_no_byte_is_kept(place: Place) -> None:
    place.write("config.toml", 'key = "sk-secret"\n')
    place.install()
    manifest = Path(place.where.manifest)

    kept = [base64.b64decode(each["before"] or "") for each in json.loads(manifest.read_bytes())["files"].values()]
    assert not any(b"secret" in each for each in kept)
    assert stat.S_IMODE(manifest.stat().st_mode) == 0o600
    assert stat.S_IMODE((place.some / "hooks.json").stat().st_mode) == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_from_files_that_others_changed_since_exactly_ours_goes(place: Place) -> None:
    place.write("hooks.json", '{"hooks": {}, "theme": "dark"}')
    place.install()
    hooks = place.some / "hooks.json"
    hooks.write_bytes(hooks.read_bytes().replace(b"dark", b"light"))
    with (place.some / "config.toml").open("a") as file:
        file.write("# mine\n[mine]\n")
    with (place.some / "RULES.md").open("a") as file:
        file.write("mine\n")
    (place.some / "plugins" / "siftd.js").write_text("mine\n")

    assert place.uninstall() == ["changed", "kept", "changed", "changed"]
    assert hooks.read_text() == '{"hooks": {}, "theme": "light"}'
    assert (place.some / "config.toml").read_text() == "# mine\n[mine]\n"
    assert (place.some / "RULES.md").read_text() == "mine\n"
    assert (place.some / "plugins" / "siftd.js").read_text() == "mine\n"


@pytest.mark.parametrize(("name", "text"), [("config.toml", "a = ="), ("hooks.json", "{"), ("plugins/siftd.js", "x")])
def test_when_one_file_cannot_be_edited_none_is(place: Place, name: str, text: str) -> None:
    place.write(name, text)
    before = place.tree()

    with pytest.raises(SettingsUnreadable, match=name):
        place.install()
    assert place.tree() == before


def test_a_file_that_is_read_only_or_somebody_elses_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.write("config.toml", "a = 1\n")
    path.chmod(0o444)
    before = place.tree()
    with pytest.raises(SiftdError, match="read-only"):
        place.install()
    path.chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(SiftdError, match="another user"):
        place.install()
    path.chmod(0o444)

    assert place.tree() == before


def test_a_persons_own_link_is_followed_and_a_projects_link_out_of_it_is_not(place: Place) -> None:
    real = place.root / "dotfiles.toml"
    real.write_text("a = 1\n")
    place.write("x", "")
    (place.some / "config.toml").symlink_to(real)
    place.install()
    assert "siftd" in real.read_text()
    place.uninstall()
    assert real.read_text() == "a = 1\n"

    (place.root / "project" / ".some").symlink_to(place.some)
    before = place.tree()
    with pytest.raises(SiftdError, match="out of the project"):
        place.install(is_project=True)
    assert place.tree() == before


def test_a_projects_files_go_without_the_users(place: Place) -> None:
    place.install()
    before = place.tree()
    assert place.install(is_project=True) == ["created"] * 4

    assert place.uninstall(is_project=True) == ["removed"] * 4
    assert {path: each for path, each in place.tree().items() if "install.json" not in path} == {
        path: each for path, each in before.items() if "install.json" not in path
    }


def test_a_client_without_files_of_one_project_says_so(place: Place) -> None:
    class Global(Some):
        takes_project = False

    with pytest.raises(RequestInvalid):
        Global().install(place.where, is_project=True, server=None)


def test_one_client_is_taken_out_and_another_stays(place: Place) -> None:
    place.install()
    other = [OwnFile(str(place.root / "home" / "other.js"), f"// {OWN_MARK}\n")]
    wire("other", other, place.where.manifest)
    place.uninstall()

    assert (place.root / "home" / "other.js").exists()
    assert [change.what for change in unwire("other", place.where.manifest)] == ["removed"]
    assert not Path(place.where.manifest).exists()


def test_a_client_is_there_by_its_folder_or_its_program(place: Place) -> None:
    assert not Some().is_present(place.where)
    programs = place.root / "bin"
    programs.mkdir()
    (programs / "some").write_text("#!/bin/sh\n")
    (programs / "some").chmod(0o755)
    assert Some().is_present(place.where._replace(environ={"PATH": str(programs)}))
    place.some.mkdir()
    assert Some().is_present(place.where)


def test_what_is_wrong_with_the_wiring_is_told(place: Place) -> None:
    assert [state for state, _ in place.said()] == ["note"]
    place.install(server=server_entry())
    assert [state for state, _ in place.said()] == ["ok", "ok"]

    place.launcher.unlink()
    assert place.said()[0][1].endswith(f"starts what cannot be read: {place.launcher}")
    place.launcher.write_text(":\n")
    hooks = place.some / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 3', '"timeout": 5'))
    assert place.said()[0][1].endswith("asks 5 for Stop; Some takes 3 at most")
    hooks.write_text(hooks.read_text().replace("default", "older").replace('"timeout": 5', '"timeout": 3'))
    assert place.said()[0] == ("problem", f"{hooks} does not hold our hooks as they should be")
    hooks.unlink()
    assert place.said()[0] == ("problem", f"{hooks} is gone: Some is not wired to siftd any more")


def test_how_the_agent_reaches_the_memory_is_told(place: Place) -> None:
    place.install(server=None)
    assert place.said()[1:] == [("note", "the agent of Some is given what matters, but cannot search by itself")]
    place.install(server=SERVER)
    assert place.said()[1:] == [("problem", f"{place.some}/config.toml starts the tools of another siftd")]


def test_a_manifest_of_version_1_is_read_and_stays_readable_for_an_older_siftd(place: Place) -> None:
    old = (
        b'{\n  "version": 1,\n  "files": {\n    "/home/a/.claude/settings.json": {\n      "kind": "settings",\n'
        b'      "before": "e30K",\n      "after": "' + b"0" * 64 + b'"\n    }\n  },\n'
        b'  "folders": [\n    "/home/a/.claude"\n  ]\n}\n'
    )
    manifest = Path(place.where.manifest)
    manifest.write_bytes(old)
    record = read_manifest(str(manifest)).files["/home/a/.claude/settings.json"]
    assert (record.kind, record.before, record.client, record.is_verbatim) == ("settings", b"{}\n", "", True)

    place.install()
    assert json.loads(manifest.read_bytes())["version"] == 2
    place.uninstall()
    assert json.loads(manifest.read_bytes())["files"] == json.loads(old)["files"]
    assert json.loads(manifest.read_bytes())["version"] == 1
