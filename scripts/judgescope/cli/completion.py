"""The command `judgescope completion`: what a shell needs to complete commands and options."""

import argparse
from collections.abc import Callable, Iterator
from textwrap import dedent

from judgescope.cli.examples import commands_of

Parser = argparse.ArgumentParser
SHELLS = ("bash", "zsh", "fish")
COMMAND = "judgescope"
BASH = """\
_judgescope() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" path="" next words
    for next in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $next" in
{paths}
        esac
    done
    case "$path" in
{words}
    esac
    COMPREPLY=()
    local reply
    while IFS= read -r reply; do
        COMPREPLY+=("$reply")
    done < <(compgen -W "$words" -- "$word"; [[ "$word" == -* ]] || compgen -f -- "$word")
}}
complete -o filenames -F _judgescope judgescope
"""
ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
INSTALL = """\
# bash: judgescope completion bash > ~/.local/share/bash-completion/completions/judgescope
# zsh:  judgescope completion zsh > ~/.judgescope.zsh, and `source ~/.judgescope.zsh` in ~/.zshrc
# fish: judgescope completion fish > ~/.config/fish/completions/judgescope.fish
"""


def add_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", whole: Callable[[], Parser]
) -> None:
    """Add the command to a parser's subcommands; `whole` returns the parser of all commands."""
    about = "print a script that completes commands in a shell"
    parser = commands.add_parser("completion", help=about)
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(act=lambda args: _print(args.shell, whole()))


def _print(shell: str, parser: Parser) -> int:
    print(script(shell, parser), end="")
    return 0


def script(shell: str, parser: Parser) -> str:
    """Return the completion script of a shell: commands, actions, options; else files."""
    if shell == "fish":
        return INSTALL + "".join(_fish(parser))
    return INSTALL + (ZSH if shell == "zsh" else "") + _bash(parser)


def words_of(parser: Parser) -> tuple[dict[str, str], list[str]]:
    """Return the commands of a parser with their help, and its long options."""
    commands: dict[str, str] = {}
    options = []
    for action in parser._actions:
        options += [name for name in action.option_strings if name.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            abouts = {each.dest: each.help or "" for each in action._get_subactions()}
            commands |= {name: abouts.get(name, "") for name in action.choices}
        elif action.choices and not action.option_strings:
            commands |= {str(name): "" for name in action.choices}
    return commands, options


def _bash(parser: Parser) -> str:
    paths, words = [], []
    for name, command in commands_of(parser):
        commands, options = words_of(command)
        words.append(f'        "{name}") words="{" ".join([*commands, *options])}" ;;')
        if name:
            before, _, last = name.rpartition(" ")
            paths.append(f'            "{before} {last}") path="{name}" ;;')
    return BASH.format(paths="\n".join(paths), words="\n".join(words))


def _fish(parser: Parser) -> Iterator[str]:
    for name, command in commands_of(parser):
        commands, options = words_of(command)
        seen = [f"__fish_seen_subcommand_from {word}" for word in name.split()]
        # of the commands below this one none was given yet
        rest = [f"not __fish_seen_subcommand_from {' '.join(commands)}"] if commands else []
        condition = "; and ".join([*seen, *rest]) or "true"
        for word, about in commands.items():
            yield f"complete -c {COMMAND} -n '{condition}' -a {word} -d '{_plain(about)}'\n"
        for option in options:
            yield f"complete -c {COMMAND} -n '{condition}' -l {option.removeprefix('--')}\n"


def _plain(about: str) -> str:
    return dedent(about).replace("\\", "").replace("'", "").replace("%%", "%")
