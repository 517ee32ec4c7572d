"""The options of `audit` and `init`: the columns of a table, ratings and judges."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROVIDERS: Final = (
    "openai",
    "openai-reasoning",
    "azure",
    "azure-token",
    "anthropic",
    "gemini",
    "openrouter",
    "ollama",
    "vllm",
    "llama-cpp",
)
"""Model cards that judgescope includes, one for each way to access a provider."""


@dataclass(frozen=True)
class CommandOption:
    """An option of a command; by default, it takes one text."""

    flag: str
    metavar: str | tuple[str, str] | None
    about: str
    repeated: bool = False
    """Whether the option can be repeated; without any, its value is []."""
    count: int | None = None
    """The number of its values, if there are several."""
    several: bool = False
    """Whether it takes one or more values, and can be repeated."""
    default: tuple[str, ...] | None = None
    switch: bool = False
    """Whether it takes no value."""
    type: Callable[[str], object] | None = None
    choices: tuple[str, ...] | None = None
    short: str = ""
    """The same option with one letter, such as -q."""

    def add_to(self, group: "argparse._ActionsContainer") -> None:
        """Add the option to a parser or to a group of one."""
        settings: dict[str, Any] = {"help": self.about}
        if self.metavar is not None:
            settings["metavar"] = self.metavar
        if self.repeated:
            settings["action"] = "append"
            settings["default"] = []
        if self.several:
            settings |= {"action": "extend", "nargs": "+", "default": []}
        if self.switch:
            settings["action"] = "store_true"
        if self.count is not None:
            settings["nargs"] = self.count
        if self.default is not None:
            settings["default"] = list(self.default)
        if self.type is not None:
            settings["type"] = self.type
        if self.choices is not None:
            settings["choices"] = self.choices
        names = [self.short, self.flag] if self.short else [self.flag]
        group.add_argument(*names, **settings)


def add_options(
    group: "argparse._ActionsContainer", options: Sequence[CommandOption]
) -> None:
    """Add options to a parser or to a group of one."""
    for option in options:
        option.add_to(group)


def column_options() -> list[CommandOption]:
    """The options on the columns of a table, which `audit` and `init` share."""
    return [*_text_options(), *_value_options(), *_pair_options()]


def _text_options() -> list[CommandOption]:
    """The options on the columns of the judged texts."""
    return [
        CommandOption(
            "--tool",
            "NAME",
            "the tool that exported the file, found by its keys if you do not name it; "
            "`table` for none",
        ),
        CommandOption("--text", "COLUMN", "the text that is judged"),
        CommandOption(
            "--source",
            "[NAME=]COLUMN",
            "the source of the text, with a name for prompts such as Fact; repeat it "
            "for several columns",
            repeated=True,
        ),
        CommandOption(
            "--references",
            "COLUMN",
            "reference texts; repeat it for several columns",
            repeated=True,
        ),
        CommandOption("--item", "COLUMN", "the id that rows of one source share"),
        CommandOption("--system", "COLUMN", "the system that wrote the text"),
        CommandOption(
            "--length",
            "COLUMN",
            "the length of the judged text, in any unit, if the table has no texts",
        ),
    ]


def _value_options() -> list[CommandOption]:
    """The options on the values of ratings and labels."""
    return [
        CommandOption(
            "--scale",
            "[ASPECT=]MIN:MAX[:STEP]",
            "the scale of the ratings; MIN is the lowest value",
            repeated=True,
        ),
        CommandOption(
            "--labels",
            "WORST,…,BEST",
            "the words of labels, the worst first; with --unordered in any order",
        ),
        CommandOption(
            "--unordered",
            None,
            "none of the labels is better than another",
            switch=True,
        ),
        CommandOption("--positive", "WORD", "the good one of two labels"),
        CommandOption(
            "--missing",
            "VALUE",
            "cells that stand for no rating and no score, such as -1",
            several=True,
        ),
        CommandOption(
            "--decimal",
            None,
            "the sign before decimals, if numbers such as 1,234 can be read in two "
            "ways",
            choices=("comma", "point"),
        ),
    ]


def _pair_options() -> list[CommandOption]:
    """The options on two texts between which people chose."""
    columns = ("FIRST", "SECOND")
    return [
        CommandOption(
            "--texts",
            columns,
            "if people chose between two texts: the columns of the first and the "
            "second",
            count=2,
            default=(),
        ),
        CommandOption(
            "--systems",
            columns,
            "the columns of the systems that wrote the two texts",
            count=2,
            default=(),
        ),
        CommandOption(
            "--lengths",
            columns,
            "the columns of the two texts' lengths, if the table has no texts",
            count=2,
            default=(),
        ),
    ]


def rating_options() -> list[CommandOption]:
    """Return the options of `init` on ratings, and on what was written."""
    return [
        CommandOption(
            "--rating",
            "ASPECT=COLUMN,…",
            "the ratings of an aspect, one column per rater; repeat it for each aspect",
            repeated=True,
        ),
        CommandOption(
            "--define",
            "ASPECT=TEXT",
            "a definition for judges, if the aspect has no card",
            repeated=True,
        ),
        CommandOption(
            "--task",
            None,
            "what systems had to write: summarization, dialogue, translation, …",
        ),
    ]


def rating_kind_options() -> list[CommandOption]:
    """Return the options of `init` on where the ratings come from."""
    return [
        CommandOption("--mean", None, "the ratings are means over raters", switch=True),
        CommandOption(
            "--planned",
            None,
            "the ratings were planned, not given by people",
            switch=True,
        ),
    ]


def judge_options() -> list[CommandOption]:
    """The options of `init` on judges and their endpoint."""
    return [*_endpoint_options(), *_judge_source_options()]


def _endpoint_options() -> list[CommandOption]:
    """The options of `init` on the endpoint of a judge's model."""
    return [
        CommandOption(
            "--provider",
            "NAME",
            f"a provider that judgescope has a card for: {', '.join(PROVIDERS)}",
            choices=PROVIDERS,
        ),
        CommandOption(
            "--endpoint", "URL", "the URL of an OpenAI-compatible endpoint: …/v1"
        ),
        CommandOption("--model", "NAME", "the model's name at the endpoint"),
        CommandOption(
            "--key-env",
            "VARIABLE",
            "the NAME of the environment variable that holds the key",
        ),
        CommandOption(
            "--key-file", "FILE", "a file with only the key, instead of --key-env"
        ),
        CommandOption(
            "--proxy",
            "URL",
            "the proxy in front of the endpoint; variables such as HTTPS_PROXY are "
            "ignored",
        ),
        CommandOption(
            "--proxy-auth-env",
            "VARIABLE",
            "the NAME of the variable that holds the proxy's user:password",
        ),
        CommandOption(
            "--proxy-auth-file",
            "FILE",
            "a file with only user:password, instead of --proxy-auth-env",
        ),
        CommandOption(
            "--ca-file", "FILE", "certificates (PEM) to trust instead of the system's"
        ),
    ]


def _judge_source_options() -> list[CommandOption]:
    """The options of `init` on how judges judge, and on judgments that exist."""
    return [
        CommandOption(
            "--form", None, "the prompt form (template); default: analyze-rate"
        ),
        CommandOption("--judge", "CARD", "an existing judge card", repeated=True),
        CommandOption(
            "--function",
            "FILE.py:NAME",
            "a Python function that is a judge: it receives a text, returns a score",
        ),
        CommandOption(
            "--metric",
            "[ASPECT=]COLUMN",
            "a column with the scores of a judge or metric; repeat it for more",
            repeated=True,
        ),
        CommandOption(
            "--recorded",
            "FILE",
            "a file with a judge's replies about the texts",
            type=Path,
        ),
        CommandOption(
            "--reply",
            "COLUMN",
            "the column with the replies in the file of --recorded",
        ),
        CommandOption("--max-usd", "US$", "the most that the study may cost in total"),
    ]


def cost_options() -> list[CommandOption]:
    """Return the options of `init` on what replies cost."""
    return [
        CommandOption(
            "--price",
            ("IN", "OUT"),
            "US$ per million tokens of prompts, and of replies",
            count=2,
            type=float,
        ),
        CommandOption(
            "--draws",
            None,
            "replies to request for each question; default: 1",
            type=int,
        ),
    ]


def audit_options() -> list[CommandOption]:
    """Return the options of `audit` on the columns of a table."""
    judge = CommandOption(
        "--judge",
        "[ASPECT=]COLUMN",
        "a judge's scores, for one aspect or for all; repeat it for more columns",
        repeated=True,
    )
    human = CommandOption(
        "--human",
        "[ASPECT=]COLUMN,…",
        "people's ratings, one column per rater; without an aspect: overall",
        repeated=True,
    )
    on = CommandOption(
        "--on", "COLUMN", "the column by which rows of several files are joined"
    )
    return [judge, human, *column_options(), on]


def audit_page_options() -> list[CommandOption]:
    """Return the options of `audit` on what it writes."""
    return [
        CommandOption(
            "--require",
            "STATISTIC[.LEVEL]=VALUE",
            "a minimum (bar) that every judge must reach, such as spearman=.5; repeat "
            "it for more",
            repeated=True,
        ),
        CommandOption(
            "--slice",
            "COLUMN",
            "also show the numbers on each value of a column, such as a topic; repeat "
            "it for more columns; without it, columns named topic, language, subset, "
            "dataset … are shown if each value has enough rated texts",
            repeated=True,
        ),
        CommandOption(
            "--require-slices",
            None,
            "every minimum must also be reached on each part that --slice shows",
            switch=True,
        ),
        CommandOption("--json", None, "print JSON instead of the page", switch=True),
        CommandOption(
            "--yes",
            None,
            "ask no question: take what is assumed, and stop where a reading is open",
            switch=True,
        ),
        CommandOption(
            "--quiet", None, "print verdicts and bars only", switch=True, short="-q"
        ),
        CommandOption(
            "--errors",
            "FILE",
            "also write every row in which judge and people disagree to a CSV file, "
            "the table's own columns first; cells stay as they are, and a spreadsheet "
            "may run those that begin with =, +, - or @",
            type=Path,
        ),
        CommandOption("--html", "FILE", "also write the page as HTML", type=Path),
        CommandOption(
            "--markdown", "FILE", "also append the page to a Markdown file", type=Path
        ),
        CommandOption(
            "--annotations",
            None,
            "also print bars that are not met, and rows in which judge and people "
            "disagree, as annotations of this CI service, to standard error",
            choices=("github",),
        ),
        CommandOption(
            "--no-texts",
            None,
            "show no text and no other cell of the table anywhere",
            switch=True,
        ),
        CommandOption(
            "--write",
            "DIR",
            "write a study for these data, with all its YAML files, to DIR",
            type=Path,
        ),
    ]
