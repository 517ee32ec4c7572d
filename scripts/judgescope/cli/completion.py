"""Shell completion, and the examples below every command's help."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import dedent, fill

from judgescope.cli.commands import extension_commands

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
    done < <(compgen -W "$words" -- "$word"; [[ "$word" == -* ]] || compgen -f -- \
"$word")
}}
complete -o filenames -F _judgescope judgescope
"""
ZSH = (
    "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
)
INSTALL = """\
# bash: judgescope completion bash > \
~/.local/share/bash-completion/completions/judgescope
# zsh:  judgescope completion zsh > ~/.judgescope.zsh, and `source ~/.judgescope.zsh` \
in ~/.zshrc
# fish: judgescope completion fish > ~/.config/fish/completions/judgescope.fish
"""


def add_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    full_parser: Callable[[], argparse.ArgumentParser],
) -> None:
    """Add the command to a parser's subcommands; `whole` returns the parser of all
    commands.
    """

    def act(args: argparse.Namespace) -> int:
        print(script(args.shell, full_parser()), end="")
        return 0

    parser = commands.add_parser("completion", help="print a shell completion script")
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(act=act)


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return a shell's completion script: it completes commands, actions, options and
    files.
    """
    if shell == "fish":
        return INSTALL + "".join(_fish(parser))
    return INSTALL + (ZSH if shell == "zsh" else "") + _bash(parser)


def words_of(parser: argparse.ArgumentParser) -> tuple[dict[str, str], list[str]]:
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


def _bash(parser: argparse.ArgumentParser) -> str:
    paths = []
    words = []
    for name, command in commands_of(parser):
        commands, options = words_of(command)
        words.append(f'        "{name}") words="{" ".join([*commands, *options])}" ;;')
        if name:
            before, _, last = name.rpartition(" ")
            paths.append(f'            "{before} {last}") path="{name}" ;;')
    return BASH.format(paths="\n".join(paths), words="\n".join(words))


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    for name, command in commands_of(parser):
        commands, options = words_of(command)
        seen = [f"__fish_seen_subcommand_from {word}" for word in name.split()]
        # no command below this one was given yet
        rest = []
        if commands:
            rest = [f"not __fish_seen_subcommand_from {' '.join(commands)}"]
        condition = "; and ".join([*seen, *rest]) or "true"
        for word, about in commands.items():
            plain = dedent(about).replace("\\", "").replace("'", "").replace("%%", "%")
            yield f"complete -c {COMMAND} -n '{condition}' -a {word} -d '{plain}'\n"
        for option in options:
            yield (
                f"complete -c {COMMAND} -n '{condition}' -l "
                f"{option.removeprefix('--')}\n"
            )


MINE = "config/studies/mine.yaml"
EXAMPLES: dict[str, Sequence[str]] = {
    "": ("init mine.csv", f"check {MINE}", f"run {MINE}"),
    "run": (
        f"run {MINE}",
        f"run {MINE} --cores=4",
        f"run {MINE} --sensitivity",
        f"run {MINE} --unlock",
    ),
    "check": (f"check {MINE}", f"check {MINE} --probe --write"),
    "draft": (f"draft {MINE}",),
    "audit": (
        "audit scores.csv",
        "audit scores.csv --judge gpt4 --human anna --human ben --require spearman=.5",
        "audit scores.csv --require spearman=.5 --markdown summary.md "
        "--annotations github --no-texts",
        "audit scores.csv --slice topic --json",
        "audit scores.csv --write mine",
    ),
    "init": (
        "init summaries.csv",
        "init summaries.csv --yes",
        "init summaries.csv --provider openai --max-usd 5 --yes",
        "init summaries.csv --recorded replies.jsonl --reply answer --yes",
        "init summaries.csv --text summary --source article --system model \\\n"
        "      --rating fluency=rater_1,rater_2 --scale 1:5:1 \\\n"
        "      --endpoint http://127.0.0.1:8000/v1 --model some-org/some-model "
        "--key-env MY_KEY --yes",
    ),
    "new": ("new", "new studies", "new demo --demo"),
    "cards": ("cards list judge", "cards copy judge/rouge-l"),
    "cards list": ("cards list", "cards list judge dataset"),
    "cards copy": ("cards copy judge/rouge-l",),
    "cards import": ("cards import aspect_criteria.json GPT4_prompts.py",),
    "schema": ("schema audit", "schema study"),
    "data list": ("data list", "data list summeval"),
    "data fetch": ("data fetch summeval gpt35-0301-summeval",),
    "data verify": ("data verify",),
    "show": (
        "show config/config.yaml",
        "show config/config.yaml agreement --statistic pearson --level pooled",
    ),
    "rate-plan": (
        f"rate-plan {MINE} --half-width .2",
        f"rate-plan {MINE} --half-width .2 --rating-price 0.5 --judgment-price 0.002",
    ),
    "passport": (f"passport {MINE} --judge mine --aspect fluency -o mine.json",),
    "gate": (f"gate {MINE} mine.json", f"gate {MINE} mine.json --fresh"),
    "compare": (
        "compare config/config.yaml --judges rules rouge-l --statistic pearson --level "
        "pooled",
        "compare config/studies/usr.yaml config/studies/hanna.yaml --table agreement",
        "compare config/studies/usr.yaml config/studies/forms.yaml --judges rouge-l "
        "chrf",
    ),
    "replies show": (
        f"replies show {MINE}",
        f"replies show {MINE} --judge some-model --status unparsed",
        f"replies show {MINE} --file replies.jsonl",
    ),
    "replies reread": (f"replies reread {MINE}",),
    "replies retry": (
        f"replies retry {MINE}",
        f"replies retry {MINE} --empty",
        f"replies retry {MINE} --empty --yes",
    ),
    "replies give-up": (f"replies give-up {MINE}", f"replies give-up {MINE} --yes"),
    "replies stats": ("replies stats", f"replies stats {MINE}"),
    "replies verify": ("replies verify",),
    "replies compact": ("replies compact",),
    "replies dump": ("replies dump replies.parquet",),
    "replies import": (f"replies import replies.parquet {MINE}",),
    "replies prune": (f"replies prune {MINE}", f"replies prune {MINE} --yes"),
    "completion": ("completion bash", "completion zsh", "completion fish"),
    "pilot": (f"pilot {MINE}", f"pilot {MINE} --share .2"),
    "spotcheck": ("spotcheck config/config.yaml",),
}
"""Command -> the words after `judgescope`; a group's help shows the first of each
action."""


def examples() -> dict[str, Sequence[str]]:
    """The examples of all commands, with those of extensions."""
    of_commands = dict(EXAMPLES)
    for each in extension_commands():
        of_commands |= each.examples
    return of_commands


def add_examples(
    parser: argparse.ArgumentParser, of_commands: Mapping[str, Sequence[str]]
) -> None:
    """Add examples to the help of a parser and of all its commands; wrap their
    descriptions.
    """
    for name, command in commands_of(parser):
        below = [
            lines[0]
            for action, lines in of_commands.items()
            if action.startswith(f"{name} ")
        ]
        lines = [f"  judgescope {words}" for words in of_commands.get(name, below)]
        command.epilog = "\n".join([f"example{'s'[: len(lines) > 1]}:", *lines])
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        if name and command.description:
            paragraphs = command.description.split("\n\n")
            command.description = "\n\n".join(
                fill(paragraph, 80) for paragraph in paragraphs
            )


def commands_of(
    parser: argparse.ArgumentParser, name: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the name and parser of `parser` and of all its commands."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                yield from commands_of(command, f"{name} {word}".strip())
