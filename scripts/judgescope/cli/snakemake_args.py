"""The options that a command passes on to Snakemake, as far as it has to know them itself."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from judgescope.core.errors import UserError
from judgescope.schema.cards import Study
from judgescope.schema.loading import load_yaml, read_card, validate_card

CONFIG = ("--config", "-C")


def apart(words: Iterable[str]) -> Iterator[str]:
    """Yield options with `--config` and its first pair as two words, however they were joined."""
    for word in words:
        flag = next((one for one in ("--config=", "-C=", "-C") if word.startswith(one)), "")
        if flag and len(word) > len(flag):
            yield from (flag.rstrip("="), word.removeprefix(flag))
        else:
            yield word


def is_dry(passed: Sequence[str]) -> bool:
    """Return whether Snakemake is told to run nothing."""
    return bool({"-n", "--dry-run", "--dryrun"}.intersection(passed))


def options_of(profile: Path) -> list[str]:
    """Return the options of a profile, as a command line has them.

    Snakemake tells on every call where a profile lies; of options it tells nothing. What follows on
    the command line goes before them.
    """
    settings, _ = load_yaml(profile / "config.yaml")
    options = ["--workflow-profile=none"]
    for name, value in settings.items():
        if value is True:
            options.append(f"--{name}")
        elif isinstance(value, list):
            options += [f"--{name}", *map(str, value)]
        elif value is not False:
            options.append(f"--{name}={value}")
    return options


def with_config(passed: Sequence[str], *pairs: str) -> list[str]:
    """Return the options with more pairs of key and value, which win over those of a user."""
    end, there = _pairs(passed).stop, set(CONFIG).intersection(passed)
    return [*passed[:end], *([] if there else CONFIG[:1]), *pairs, *passed[end:]]


def study_of(path: Path, passed: Sequence[str] = ()) -> Any:
    """Return the content of a study's file, with the pairs of `--config` over it.

    Raises UserError for a file that is none, and for what is no pair.
    """
    told, _ = load_yaml(path)
    pairs = passed[_pairs(passed)]
    if not pairs or not isinstance(told, dict):
        return told
    from snakemake.cli import parse_config
    from snakemake.utils import update_config

    try:
        update_config(told, parse_config(pairs))
    except ValueError as error:
        raise UserError(str(error), where="--config", got=" ".join(pairs)) from None
    return told


def card_of(path: Path, passed: Sequence[str] = ()) -> Study:
    """Return a study's card, valid by itself; raise UserErrors with one error per problem."""
    if not passed[_pairs(passed)]:
        card: Study = read_card("study", path)
        return card
    changed: Study = validate_card("study", study_of(path, passed), f"{path} with --config")
    return changed


def _pairs(passed: Sequence[str]) -> slice:
    """Return where the pairs of the last `--config` stand, as Snakemake takes them."""
    flags = [at for at, word in enumerate(passed) if word in CONFIG]
    begin = flags[-1] + 1 if flags else len(passed)
    own = takewhile(lambda word: not word.startswith("-"), passed[begin:])
    return slice(begin, begin + len(list(own)))
