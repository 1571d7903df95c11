"""Installing and uninstalling: every byte comes back, and what others wrote stays."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.claude_code.settings import COMMAND_MARK, EVENTS, Target, Wiring
from siftd.clients.claude_code.wiring import install, uninstall
from siftd.clients.client import Change
from siftd.errors import SettingsUnreadable, SiftdError
from siftd.install import files
from siftd.install.manifest import read_manifest

WIRING = Wiring("/env/bin/python", "/src/hooks/hook.py", "/env/bin/mem")
SERVER = {"command": "/env/bin/python", "args": ["-I", "/env/siftd/__main__.py", "mcp"]}
TOOLS = replace(WIRING, server=SERVER)
MOVED_TOOLS = replace(TOOLS, server={**SERVER, "command": "/new/bin/python"})
MOVED = Wiring("/new/bin/python", "/new/hooks/hook.py", "/new/bin/mem")
FOREIGN = '{\n\t"permissions": {"allow": ["Bash(ls:*)"]},\r\n   "model":"opus"}'


class Place:
    """A person's home with a project in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.manifest = str(self.home / ".siftd" / "default" / "install.json")
        self.user = Target.for_user({}, str(self.home))
        self.local = Target.for_project(str(self.project), {}, str(self.home))
        self.settings = Path(self.user.settings)
        self.command = Path(self.user.slash_command)

    def install(self, wiring: Wiring = WIRING, target: Target | None = None) -> list[str]:
        return [change.what for change in install(target or self.user, wiring, self.manifest)]

    def uninstall(self, *targets: Target) -> list[str]:
        return [change.what for change in uninstall(targets or None, self.manifest)]

    def write(self, data: str | bytes) -> None:
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_bytes(data.encode() if isinstance(data, str) else data)

    def hooks(self, path: Path | None = None) -> dict[str, Any]:
        hooks: dict[str, Any] = json.loads((path or self.settings).read_bytes())["hooks"]
        return hooks

    def tree(self) -> dict[str, tuple[int, bytes | str | None]]:
        """Every path under the root with its mode and content."""
        found: dict[str, tuple[int, bytes | str | None]] = {}
        for path in sorted(self.root.rglob("*")):
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(self.root))] = (path.lstat().st_mode, content)
        return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    leftovers = [path for path in tmp_path.rglob("*") if ".siftd-" in path.name]
    assert leftovers == []


def test_installing_from_nothing_and_uninstalling_leaves_nothing(place: Place) -> None:
    before = place.tree()

    assert place.install() == ["created", "created"]
    assert tuple(place.hooks()) == EVENTS
    assert COMMAND_MARK in place.command.read_text()
    assert place.uninstall() == ["removed", "removed"]
    assert place.tree() == before


@pytest.mark.parametrize("original", [FOREIGN, "{}", "", "\n", '\ufeff{"a": 1}\r\n', '{"hooks": {"Stop": []}}'])
def test_settings_that_were_there_come_back_byte_for_byte(place: Place, original: str) -> None:
    place.write(original)
    before = place.tree()

    assert place.install() == ["changed", "created"]
    assert place.uninstall() == ["restored", "removed"]
    assert place.tree() == before


def test_a_second_install_touches_no_file(place: Place) -> None:
    place.write(FOREIGN)
    place.install()
    paths = [place.settings, place.command, Path(place.manifest)]
    before = [(path.stat().st_mtime_ns, path.stat().st_ino) for path in paths]

    assert place.install() == ["unchanged", "unchanged"]
    assert [(path.stat().st_mtime_ns, path.stat().st_ino) for path in paths] == before


def test_a_moved_siftd_is_repaired_and_the_original_still_comes_back(place: Place) -> None:
    place.write(FOREIGN)
    before = place.tree()
    place.install()

    assert place.install(MOVED) == ["changed", "changed"]
    assert "/env/" not in place.settings.read_text() + place.command.read_text()
    assert place.uninstall() == ["restored", "removed"]
    assert place.tree() == before


def test_what_others_wrote_since_stays_and_exactly_ours_goes(place: Place) -> None:
    place.write(FOREIGN)
    place.install()
    place.write(place.settings.read_bytes().replace(b'"opus"', b'"haiku"'))

    assert place.uninstall() == ["changed", "removed"]
    assert place.settings.read_bytes().decode() == FOREIGN.replace('"opus"', '"haiku"')


def test_a_repair_after_others_wrote_does_not_undo_what_they_wrote(place: Place) -> None:
    place.write('{"model": "opus"}')
    place.install()
    place.write(place.settings.read_text().replace("opus", "haiku"))
    place.install(MOVED)

    assert place.uninstall() == ["restored", "removed"]
    assert place.settings.read_text() == '{"model": "haiku"}'


def test_a_file_we_created_stays_when_others_added_to_it(place: Place) -> None:
    place.install()
    place.write(json.dumps({**json.loads(place.settings.read_bytes()), "model": "opus"}, indent=4))
    place.install(MOVED)
    place.uninstall()

    assert json.loads(place.settings.read_bytes()) == {"model": "opus"}


def test_a_file_we_created_goes_with_our_entries_although_a_program_dumped_it_anew(place: Place) -> None:
    before = place.tree()
    place.install()
    place.write(json.dumps(json.loads(place.settings.read_bytes()), indent=4))

    assert place.uninstall() == ["removed", "removed"]
    assert place.tree() == before


def test_without_a_manifest_exactly_our_entries_are_taken(place: Place) -> None:
    place.write(FOREIGN)
    place.install()
    Path(place.manifest).unlink()

    assert place.uninstall(place.user) == ["changed", "removed"]
    assert place.settings.read_bytes().decode() == FOREIGN


def test_installing_over_entries_whose_manifest_is_lost_still_restores_the_original(place: Place) -> None:
    place.write(FOREIGN)
    place.install()
    Path(place.manifest).unlink()

    assert place.install() == ["unchanged", "unchanged"]
    assert place.uninstall() == ["restored", "removed"]
    assert place.settings.read_bytes().decode() == FOREIGN


def test_a_crash_between_manifest_and_files_is_mended_by_either_command(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(FOREIGN)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for mend in (place.install, place.uninstall):
        with monkeypatch.context() as patch:
            patch.setattr("siftd.clients.claude_code.wiring.replace_file", crash)
            with pytest.raises(KeyboardInterrupt):
                place.install()
        mend()
        place.uninstall()
        assert place.settings.read_bytes().decode() == FOREIGN
        assert not place.command.exists()


@pytest.mark.parametrize("bad", ["{", '{"hooks": []}', b"\xff\xfe{\x00}\x00"])
def test_settings_that_do_not_parse_are_refused_and_nothing_at_all_is_written(place: Place, bad: str | bytes) -> None:
    place.write(bad)
    before = place.tree()

    with pytest.raises(SettingsUnreadable, match=r"settings\.json"):
        place.install()
    with pytest.raises(SettingsUnreadable):
        place.uninstall(place.user)
    assert place.tree() == before


def test_a_command_of_the_persons_own_is_refused_and_nothing_at_all_is_written(place: Place) -> None:
    place.command.parent.mkdir(parents=True)
    place.command.write_text("my own /mem")
    before = place.tree()

    with pytest.raises(SiftdError, match="your own") as refused:
        place.install()
    assert "rename it" in refused.value.hint
    assert place.uninstall(place.user) == ["unchanged", "kept"]
    assert place.tree() == before


def test_a_command_file_that_the_person_made_their_own_is_kept(place: Place) -> None:
    place.install()
    place.command.write_text(place.command.read_text().replace(COMMAND_MARK, ""))

    assert place.uninstall() == ["removed", "kept"]
    assert place.command.exists()


def test_a_symbolic_link_stays_and_what_it_leads_to_is_edited(place: Place) -> None:
    dotfiles = place.root / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "settings.json").write_text(FOREIGN, newline="")
    place.settings.parent.mkdir()
    place.settings.symlink_to("../../dotfiles/settings.json")
    before = place.tree()

    place.install()
    assert place.settings.is_symlink()
    assert tuple(place.hooks(dotfiles / "settings.json")) == EVENTS
    place.uninstall()
    assert place.tree() == before


def test_a_link_that_leads_nowhere_yet_is_followed(place: Place) -> None:
    place.settings.parent.mkdir()
    place.settings.symlink_to(place.root / "dotfiles" / "claude" / "settings.json")
    before = place.tree()

    place.install()
    assert (place.root / "dotfiles" / "claude" / "settings.json").is_file()
    place.uninstall()
    assert place.tree() == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o200])
def test_mode_and_owner_stay(place: Place, mode: int) -> None:
    place.write(FOREIGN)
    if os.geteuid() == 0:
        os.chown(place.settings, 1234, 4321)
    elif not mode & 0o400:
        pytest.skip("only root reads what nobody may read")
    place.settings.chmod(mode)
    before = place.settings.stat()

    place.install()
    after = place.settings.stat()

    assert stat.S_IMODE(after.st_mode) == mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def test_a_read_only_file_is_refused_with_the_remedy(place: Place) -> None:
    place.write(FOREIGN)
    place.settings.chmod(0o444)
    before = place.tree()

    with pytest.raises(SiftdError, match="read-only") as refused:
        place.install()
    assert refused.value.hint
    assert place.tree() == before


def test_a_folder_in_the_place_of_the_settings_is_refused(place: Place) -> None:
    place.settings.mkdir(parents=True)

    with pytest.raises(SiftdError, match=r"settings\.json"):
        place.install()


def test_a_file_that_changes_while_it_is_edited_is_left_to_the_other_program(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("theirs")

    with pytest.raises(SiftdError, match="just now"):
        files.replace_file(str(path), b"ours", expected=b"before")
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]
    assert path.read_text() == "theirs"


def test_the_project_scope_writes_one_file_in_the_project_and_takes_its_folder_away_again(place: Place) -> None:
    before = place.tree()

    place.install(target=place.local)
    in_project = [str(path.relative_to(place.project)) for path in place.project.rglob("*") if path.is_file()]
    place.uninstall(place.local)

    assert in_project == [".claude/settings.local.json"]
    assert place.tree() == before


def test_a_folder_of_ours_with_something_of_others_in_it_stays(place: Place) -> None:
    place.install(target=place.local)
    (place.project / ".claude" / "notes.md").write_text("theirs")

    place.uninstall()

    assert [path.name for path in (place.project / ".claude").iterdir()] == ["notes.md"]
    assert not (place.home / ".claude").exists()


def test_the_slash_command_goes_with_the_last_scope(place: Place) -> None:
    before = place.tree()
    place.install()
    assert place.install(target=place.local) == ["created", "unchanged"]

    assert uninstall([place.user], place.manifest) == [Change(place.user.settings, "removed")]
    assert place.command.exists()
    assert place.uninstall(place.local) == ["removed", "removed"]
    assert place.tree() == before


def test_uninstalling_twice_or_before_installing_changes_nothing(place: Place) -> None:
    before = place.tree()

    assert place.uninstall(place.user) == ["unchanged", "unchanged"]
    assert place.uninstall() == []
    assert place.tree() == before


def test_the_manifest_and_its_folders_are_private_whatever_the_umask(place: Place) -> None:
    old = os.umask(0)
    try:
        place.install()
    finally:
        os.umask(old)
    manifest = Path(place.manifest)

    assert stat.S_IMODE(manifest.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (manifest.parent, manifest.parent.parent)} == {0o700}


def test_the_manifest_holds_the_bytes_before_and_the_hash_after(place: Place) -> None:
    place.write(FOREIGN)
    place.install()

    manifest = read_manifest(place.manifest)
    record = manifest.files[place.user.settings]

    assert (record.kind, record.before) == ("settings", FOREIGN.encode())
    assert record.is_as_left(place.settings.read_bytes())
    assert manifest.files[place.user.slash_command].before is None
    assert json.loads(Path(place.manifest).read_text())["version"] == 1


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"version": 2}', '{"version": 1, "files": {"/x": {"kind": "odd"}}, "folders": []}']
)
def test_a_manifest_that_cannot_be_understood_stops_before_anything_is_written(place: Place, text: str) -> None:
    Path(place.manifest).parent.mkdir(parents=True)
    Path(place.manifest).write_text(text)
    before = place.tree()

    for command in (place.install, place.uninstall):
        with pytest.raises(SiftdError) as refused:
            command()
        assert refused.value.hint
    assert place.tree() == before


# ---- the agent's tools ---------------------------------------------------------------------------------------------

CLIENTS_FILE = """{
  "numStartups": 3,
  "primaryApiKey": "a-key-of-the-person",
  "mcpServers": {},
  "projects": {
    "PROJECT": {
      "allowedTools": [],
      "mcpServers": {
        "other": {"command": "other"}
      }
    }
  }
}
"""


def servers(place: Place) -> Path:
    file = Path(place.user.servers)
    file.write_text(CLIENTS_FILE.replace("PROJECT", str(place.project)))
    return file


def test_the_agent_is_given_its_tools_and_the_clients_file_comes_back_byte_for_byte(place: Place) -> None:
    file = servers(place)
    before = place.tree()

    assert place.install(TOOLS) == ["created", "created", "changed"]
    assert json.loads(file.read_bytes())["mcpServers"] == {"siftd": SERVER}
    assert place.install(TOOLS) == ["unchanged"] * 3
    assert place.install(MOVED_TOOLS)[2] == "changed"
    assert place.uninstall() == ["removed", "removed", "changed"]
    assert place.tree() == before


def test_a_clients_file_that_is_not_there_yet_is_made_and_goes_again(place: Place) -> None:
    before = place.tree()
    assert place.install(TOOLS) == ["created"] * 3
    assert stat.S_IMODE(Path(place.user.servers).stat().st_mode) == 0o600, "the client will keep keys in it"
    assert place.uninstall() == ["removed"] * 3
    assert place.tree() == before


def test_each_scope_has_a_server_of_its_own_in_the_one_file(place: Place) -> None:
    file = servers(place)
    original = file.read_bytes()
    place.install(TOOLS)
    place.install(TOOLS, place.local)
    project = json.loads(file.read_bytes())["projects"][str(place.project)]
    assert set(project["mcpServers"]) == {"other", "siftd"}

    place.uninstall(place.local)
    held = json.loads(file.read_bytes())
    assert "siftd" in held["mcpServers"]
    assert set(held["projects"][str(place.project)]["mcpServers"]) == {"other"}
    assert "changed" in place.uninstall()
    assert file.read_bytes() == original


def test_what_the_client_wrote_anew_keeps_all_but_our_server(place: Place) -> None:
    file = servers(place)
    place.install(TOOLS)
    document = json.loads(file.read_bytes()) | {"numStartups": 4}
    file.write_text(json.dumps(document, indent=2))
    place.uninstall()
    del document["mcpServers"]
    assert json.loads(file.read_bytes()) == document


def test_no_byte_of_the_clients_file_is_kept_in_ours(place: Place) -> None:
    servers(place)
    place.install(TOOLS)
    record = read_manifest(place.manifest).files[place.user.servers]
    assert record.before == b""


def test_a_server_of_that_name_that_is_not_ours_is_refused_and_nothing_is_written(place: Place) -> None:
    file = Path(place.user.servers)
    file.write_text('{"mcpServers": {"siftd": {"command": "docker", "args": ["run", "siftd"]}}}')
    before = place.tree()
    with pytest.raises(SettingsUnreadable, match="not ours"):
        place.install(TOOLS)
    assert place.tree() == before
    assert place.install() == ["created", "created"], "hooks alone are possible"
