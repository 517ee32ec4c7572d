"""Examples at the end of every command's help."""

import argparse
from collections.abc import Iterator, Sequence
from textwrap import fill

Parser = argparse.ArgumentParser
MINE = "config/studies/mine.yaml"
EXAMPLES: dict[str, Sequence[str]] = {
    "": ("init mine.csv", f"check {MINE}", f"run {MINE}"),
    "run": (
        f"run {MINE}",
        f"run {MINE} --cores=4",
        f"run {MINE} --sensitivity",
        f"run {MINE} --unlock",
    ),
    "check": (f"check {MINE}",),
    "draft": (f"draft {MINE}",),
    "audit": (
        "audit scores.csv",
        "audit scores.csv --judge gpt4 --human anna --human ben --require spearman=.5",
        "audit scores.csv --write mine",
    ),
    "init": (
        "init summaries.csv",
        "init summaries.csv --yes",
        "init summaries.csv --provider openai --max-usd 5 --yes",
        "init summaries.csv --recorded replies.jsonl --reply answer --yes",
        "init summaries.csv --text summary --source article --system model \\\n"
        "      --rating fluency=rater_1,rater_2 --scale 1:5:1 \\\n"
        "      --endpoint http://127.0.0.1:8000/v1 --model some-org/some-model --key-env MY_KEY "
        "--yes",
    ),
    "data list": ("data list", "data list summeval"),
    "data fetch": ("data fetch summeval gpt35-0301-summeval",),
    "data verify": ("data verify",),
    "reproduce": ("reproduce hanna", "reproduce --all"),
    "show": (
        "show config/config.yaml",
        "show config/config.yaml agreement --statistic pearson --level pooled",
    ),
    "compare": (
        "compare config/config.yaml --judges rules rouge-l --statistic pearson --level pooled",
        "compare config/studies/usr.yaml config/studies/hanna.yaml --table agreement",
        "compare config/studies/usr.yaml config/studies/forms.yaml --judges rouge-l chrf",
    ),
    "export tables": (f"export {MINE} tables agreement table.tex --statistic spearman",),
    "export card": (f"export {MINE} card RESULTS.md",),
    "export judgments": (
        f"export {MINE} judgments judgments.parquet",
        f"export {MINE} judgments judgments.csv --texts",
    ),
    "replies show": (
        f"replies show {MINE}",
        f"replies show {MINE} --judge some-model --status unparsed",
        f"replies show {MINE} --file replies.jsonl",
    ),
    "replies retry": (f"replies retry {MINE}",),
    "replies stats": ("replies stats", f"replies stats {MINE}"),
    "replies verify": ("replies verify",),
    "replies compact": ("replies compact",),
    "replies dump": ("replies dump replies.parquet",),
    "replies import": (f"replies import replies.parquet {MINE}",),
    "replies prune": (f"replies prune {MINE}", f"replies prune {MINE} --yes"),
    "completion": ("completion bash", "completion zsh", "completion fish"),
    "batch submit": (f"batch submit {MINE}",),
    "batch status": (f"batch status {MINE}",),
    "batch fetch": (f"batch fetch {MINE}",),
    "batch cancel": (f"batch cancel {MINE}",),
    "batch export": (f"batch export {MINE} files",),
    "batch import": (f"batch import {MINE} output.jsonl errors.jsonl",),
    "pilot": (f"pilot {MINE}", f"pilot {MINE} --share .2"),
    "distill export": (f"distill export {MINE}",),
    "distill train": (f"distill train {MINE}",),
    "distill card": (f"distill card {MINE} config/models/small.yaml",),
    "people weights make": (f"people weights make {MINE} pages",),
    "people weights import": (f"people weights import {MINE} answers config/weights/ours.yaml",),
    "people pairs make": (f"people pairs make {MINE} pages --voters 4 --pairs 10",),
    "people pairs import": (f"people pairs import {MINE} answers",),
    "people recheck make": (f"people recheck make {MINE} pages --pairs 50",),
    "people recheck import": (f"people recheck import {MINE} answers",),
    "people errors make": (f"people errors make {MINE} pages --errors 50",),
    "people errors import": (f"people errors import {MINE} answers",),
    "people ratings make": (f"people ratings make {MINE} pages --texts 50",),
    "people ratings import": (f"people ratings import {MINE} answers",),
    "spotcheck": ("spotcheck config/config.yaml",),
    "export replies": (f"export {MINE} replies replies.parquet",),
    "export targets": (f"export {MINE} targets texts.jsonl",),
}
"""Command -> the words after `judgescope`; a group shows the first example of each action."""


def add_examples(parser: Parser) -> None:
    """Add examples to the help of a parser and of all its commands; wrap their descriptions."""
    for name, command in commands_of(parser):
        below = [lines[0] for action, lines in EXAMPLES.items() if action.startswith(f"{name} ")]
        lines = [f"  judgescope {words}" for words in EXAMPLES.get(name, below)]
        command.epilog = "\n".join([f"example{'s'[: len(lines) > 1]}:", *lines])
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        if name and command.description:
            paragraphs = command.description.split("\n\n")
            command.description = "\n\n".join(fill(paragraph, 80) for paragraph in paragraphs)


def commands_of(parser: Parser, name: str = "") -> Iterator[tuple[str, Parser]]:
    """Yield the name and parser of `parser` and of all its commands."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                yield from commands_of(command, f"{name} {word}".strip())
