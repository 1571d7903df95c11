"""What is written for Claude Code: commands that a shell understands, whatever the paths hold."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from siftd.clients.claude_code.settings import (
    COMMAND_MARK,
    EVENTS,
    Target,
    Wiring,
    format_command,
    format_slash_command,
    hooks_for,
    is_our_slash_command,
    is_ours,
    parse_command,
)
from siftd.errors import SiftdError

REPOSITORY = Path(__file__).resolve().parents[2]
ODD_NAMES = ["plain", "with space", "it's", 'a "quote"', "$HOME", "`x`", "ünï-日本", "a;b & c|d", "#x", "new\nline"]


def run_shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/sh", "-c", command], input="in", capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_command_runs_the_hook_from_any_path(tmp_path: Path, name: str) -> None:
    hook = tmp_path / name / "hooks" / "hook.py"
    hook.parent.mkdir(parents=True)
    hook.write_text("import sys; print(sys.stdin.read(), sys.flags.isolated, sys.flags.no_site)")
    python = tmp_path / name / "python"
    python.symlink_to(sys.executable)

    command = format_command(str(python), str(hook))

    assert run_shell(command).stdout == "in 1 1\n"
    assert parse_command(command) == (str(python), str(hook))
    assert json.loads(json.dumps(command)) == command


@pytest.mark.parametrize("missing", ["python", "hook"])
def test_the_command_ends_with_status_0_and_says_nothing_when_a_part_is_gone(tmp_path: Path, missing: str) -> None:
    hook = tmp_path / "hooks" / "hook.py"
    if missing != "hook":
        hook.parent.mkdir()
        hook.write_text("")
    python = sys.executable if missing != "python" else str(tmp_path / "python")

    done = run_shell(format_command(python, str(hook)))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "command",
    [
        "python3 /src/hooks/hook.py",
        "python3 -I -S /src/hooks/other.py",
        "python3 -I -S /src/hook.py",
        "echo '-I -S /src/hooks/hook.py'",
        "unbalanced ' -I -S /src/hooks/hook.py",
        "",
    ],
)
def test_commands_of_others_are_not_ours(command: str) -> None:
    assert parse_command(command) is None
    assert not is_ours({"type": "command", "command": command})


@pytest.mark.parametrize("handler", [{}, {"type": "prompt", "prompt": "x"}, {"command": 3}, {"command": None}])
def test_handlers_without_a_command_are_not_ours(handler: dict[str, object]) -> None:
    assert not is_ours(handler)


def test_each_event_has_one_short_lived_handler_of_ours() -> None:
    hooks = hooks_for(Wiring("/env/bin/python", "/src/hooks/hook.py", "/env/bin/mem"))

    assert tuple(hooks) == EVENTS
    assert all(is_ours(handler) and handler["timeout"] == 5 for handler in hooks.values())


def test_a_path_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(SiftdError, match="UTF-8"):
        format_command(os.fsdecode(b"/opt/\xff/python"), "/src/hooks/hook.py")


def test_this_installation_names_its_own_interpreter_and_an_existing_hook() -> None:
    wiring = Wiring.of_this_installation()

    assert wiring.python == sys.executable
    assert Path(wiring.hook).is_file()
    assert wiring.hook.endswith("/hooks/hook.py")
    assert Path(wiring.mem).name == "mem"
    assert Path(wiring.mem).is_absolute()


def test_the_user_scope_follows_claude_config_dir_and_the_project_scope_writes_one_file_in_the_project() -> None:
    assert Target.for_user({}, "/home/a").settings == "/home/a/.claude/settings.json"
    assert Target.for_user({"CLAUDE_CONFIG_DIR": "/c"}, "/home/a") == Target(
        "/c/settings.json", "/c/commands/mem.md", "/c/.claude.json"
    )
    assert Target.for_project("/src/p", {}, "/home/a") == Target(
        "/src/p/.claude/settings.local.json", "/home/a/.claude/commands/mem.md", "/home/a/.claude.json", "/src/p"
    )


HOSTILE = [
    'search it\'s "x" $(touch pwned) `touch pwned`',
    "search x\nEOF\ntouch pwned",
    "search '; touch pwned; '",
    "search \\\n$IFS ${HOME} $ARGUMENTS",
]


@pytest.mark.parametrize("name", ODD_NAMES[:-1])
@pytest.mark.parametrize("typed", HOSTILE)
def test_no_shell_executes_what_is_typed_behind_the_slash_command(tmp_path: Path, name: str, typed: str) -> None:
    """The client puts the text in place of $ARGUMENTS and hands the fenced block to a shell: so does this."""
    mem = tmp_path / name / "mem"
    mem.parent.mkdir()
    mem.write_text('#!/bin/sh\nprintf "%s|" "$@"\ncat\n')
    mem.chmod(0o755)
    text = format_slash_command(str(mem), None)
    block = text.partition("```!\n")[2].partition("\n```")[0].replace("$ARGUMENTS", typed, 1)

    done = subprocess.run(["/bin/sh", "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stdout == f"slash|{typed}\n"
    assert not (tmp_path / "pwned").exists()


def test_the_slash_command_permits_nothing_but_our_own_command() -> None:
    text = format_slash_command("/env/bin/mem", None)

    assert 'allowed-tools: "Bash(/env/bin/mem slash:*)"\n' in text
    assert text.startswith(f"---\n{COMMAND_MARK}\n")
    assert is_our_slash_command(text)
    assert not is_our_slash_command(text.replace(COMMAND_MARK, ""))


def test_the_delimiter_differs_between_installations_and_stays_in_one() -> None:
    first = format_slash_command("/env/bin/mem", None)

    assert format_slash_command("/env/bin/mem", None) != first
    assert format_slash_command("/env/bin/mem", first) == first
    assert format_slash_command("/new/bin/mem", first) == first.replace("/env/", "/new/")


# ---- the plugin ----------------------------------------------------------------------------------------------------


def test_the_plugin_hooks_the_same_events_with_a_time() -> None:
    document = json.loads((REPOSITORY / "hooks" / "hooks.json").read_text())

    assert tuple(document["hooks"]) == EVENTS
    for event, groups in document["hooks"].items():
        [handler] = groups[0]["hooks"]
        assert handler["timeout"] == (60 if event == "UserPromptSubmit" else 5), "what is typed may take a while"
        assert run_shell(handler["command"]).returncode == 0  # no CLAUDE_PLUGIN_ROOT, nothing to run


def test_the_plugin_and_its_marketplace_agree_on_name_and_place() -> None:
    market = json.loads((REPOSITORY / ".claude-plugin" / "marketplace.json").read_text())
    [entry] = market["plugins"]
    plugin = json.loads((REPOSITORY / entry["source"] / ".claude-plugin" / "plugin.json").read_text())

    assert plugin["name"] == entry["name"]
    assert (REPOSITORY / entry["source"] / plugin["hooks"]).is_file()


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A copy of the plugin whose hook tells which interpreter ran it."""
    folder = tmp_path / "the plugin"
    folder.mkdir()
    (folder / "plugin.sh").write_bytes((REPOSITORY / "hooks" / "plugin.sh").read_bytes())
    (folder / "hook.py").write_text("import sys; print(sys.stdin.read(), sys.flags.no_site, sys.orig_argv[0])")
    return folder


def run_plugin(plugin: Path, path: Path) -> subprocess.CompletedProcess[str]:
    command = json.loads((REPOSITORY / "hooks" / "hooks.json").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    environment = {"PATH": str(path), "CLAUDE_PLUGIN_ROOT": str(plugin), "HOME": str(plugin)}
    return subprocess.run(
        ["/bin/sh", "-c", command], env=environment, input="in", capture_output=True, text=True, check=False
    )


def make_program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def make_environment(folder: Path) -> Path:
    """An environment as installers make it, with a package of ours in it; return its interpreter."""
    packages = folder / "lib" / "python3.11" / "site-packages" / "siftd"
    packages.mkdir(parents=True)
    for name in ("__init__.py", "__main__.py"):
        (packages / name).write_bytes((REPOSITORY / "siftd" / name).read_bytes())
    make_program(folder / "bin", "siftd", f"#!{folder}/bin/python3\nprint('the daemon')\n")
    (folder / "bin" / "python3").symlink_to(sys.executable)
    return folder / "bin" / "python3"


def test_the_plugin_runs_by_the_interpreter_of_the_siftd_on_the_path(plugin: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "environment")

    done = run_plugin(plugin, python.parent)

    assert done.stdout == f"in 1 {python}\n"


@pytest.mark.parametrize("unmarked", ["__init__.py", "__main__.py"])
def test_the_plugin_takes_a_package_only_when_both_files_that_are_run_are_marked(
    plugin: Path, tmp_path: Path, unmarked: str
) -> None:
    """An installer that puts one package over another leaves what only the older one has."""
    python = make_environment(tmp_path / "environment")
    (python.parent.parent / "lib/python3.11/site-packages/siftd" / unmarked).write_text("print('another')\n")

    done = run_plugin(plugin, python.parent)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_plugin_without_siftd_runs_nothing(plugin: Path, tmp_path: Path) -> None:
    """Not a Python either: it would be believed for its name."""
    bin_folder = tmp_path / "bin"
    make_program(bin_folder, "siftd", "#!/bin/sh\nexit 3\n")
    for name in ("python3", "python3.11"):
        make_program(bin_folder, name, f"#!/bin/sh\ntouch {tmp_path}/ran\n")

    done = run_plugin(plugin, bin_folder)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "ran").exists()


def test_mark_is_one_and_the_same_wherever_it_is_looked_for() -> None:
    marks = {(REPOSITORY / "siftd" / name).read_text().splitlines()[0] for name in ("__init__.py", "__main__.py")}
    [mark] = marks
    assert re.fullmatch(r"# siftd-memory [0-9a-f]{32}", mark)
    assert f"\nmark='{mark}'\n" in (REPOSITORY / "hooks" / "plugin.sh").read_text()
    assert f'\nMARK = b"{mark}\\n"\n' in (REPOSITORY / "hooks" / "courier.py").read_text()


def test_the_plugin_says_nothing_when_it_is_half_removed(plugin: Path, tmp_path: Path) -> None:
    (plugin / "hook.py").unlink()

    done = run_plugin(plugin, Path(sys.executable).parent)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_shell_words_of_the_plugin_command_hold_paths_with_spaces() -> None:
    command = json.loads((REPOSITORY / "hooks" / "hooks.json").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]

    assert shlex.split(command).count("${CLAUDE_PLUGIN_ROOT}/plugin.sh") == 1
