"""`mem completion SHELL`: what completes the commands and their options, made from the same table as `mem --help`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.command_table import ALSO, HIDDEN, VERBS, load, parser_of
from siftd.cli.context import Context
from siftd.cli.output import say, say_json

SHELLS = ("bash", "zsh", "fish")
_BASH = """\
_mem() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" verb="" each
    for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$each" in -*) ;; *) verb="$each"; break;; esac
    done
    local words=""
    case "$verb" in
        "") words="{verbs} --workspace --version --help";;
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}}
complete -o filenames -F _mem mem
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell: its own start-up file reads what is printed")
    parser.epilog = "bash: source <(mem completion bash); zsh: the same; fish: mem completion fish | source"


def run(context: Context, options: Namespace) -> int:  # noqa: ARG001 - every verb is given it
    script = _script(options.shell)
    say_json({"shell": options.shell, "script": script}) if options.json else say(script.rstrip())
    return 0


def options_of(verb: str) -> list[tuple[str, str]]:
    """Return the long options of a verb with what each does; argparse tells of its parts by `_actions` alone."""
    actions = parser_of(verb, load(verb))._actions
    return [(name, str(each.help or "")) for each in actions for name in each.option_strings if name.startswith("--")]


def _script(shell: str) -> str:
    shown = {verb: summary for verb, summary in VERBS.items() if verb not in HIDDEN} | dict.fromkeys(ALSO, "")
    if shell == "fish":
        return _fish(shown)
    cases = [
        f'        {verb}) words="{" ".join(name for name, _ in options_of(ALSO.get(verb, verb)))}";;' for verb in shown
    ]
    script = _BASH.format(verbs=" ".join(shown), cases="\n".join(cases))
    return f"autoload -U +X bashcompinit && bashcompinit\n{script}" if shell == "zsh" else script


def _fish(shown: dict[str, str]) -> str:
    lines = []
    for verb, summary in shown.items():
        description = f" -d {_quoted(summary)}" if summary else ""
        lines.append(f"complete -c mem -n __fish_use_subcommand -a {verb}{description}")
        for name, help_ in options_of(ALSO.get(verb, verb)):
            seen = f"'__fish_seen_subcommand_from {verb}'"
            lines.append(f"complete -c mem -n {seen} -l {name[2:]} -d {_quoted(help_)}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
