"""The questions of `judgescope init` on a terminal; an empty answer takes what is guessed."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from judgescope.cli.init.cards import Endpoint, Wanted
from judgescope.cli.init.flags import (
    Offered,
    check_column,
    check_free,
    define,
    described,
    rating_text,
    read_ratings,
    read_scale,
    scale_text,
    scales_of,
    undefined,
)
from judgescope.cli.init.guess import Guess
from judgescope.cli.init.judge import address, key_name, model_name
from judgescope.cli.show import plain
from judgescope.core.errors import UserError, UserErrors

Ask = Callable[[str], str]
"""A question -> the line that was typed."""
Split = Callable[[str, Sequence[str]], list[str]]
"""An answer and all columns -> the names in the answer."""
NONE = "-"
"""What is typed for: no such column."""
T = TypeVar("T")


def interview(wanted: Wanted, offered: Offered, ask: Ask) -> Wanted:
    """Return what is wanted after all questions; each answer is checked where it is given."""
    print("Enter takes what stands in [brackets], - means none.\n")
    columns = _columns(wanted.columns, offered, ask)
    told = _ratings(columns, ask, offered)
    columns = replace(columns, ratings=told)
    scales = dict(scales_of(columns, offered.rows, wanted.scales))
    for name, guessed in scales.items():
        seen = described(columns.ratings[name], offered.rows)
        question = f"scale of {name}, {seen}"
        scales[name] = _until(ask, question, scale_text(guessed), read_scale)
    definitions = dict(wanted.definitions)
    for name in undefined(columns, definitions, offered):
        print(f"\n  there is no aspect card {name!r}; {offered.nearest(name)}")
        question = f"what {name} means, in a sentence that judges are told"
        definitions[name] = _until(ask, question, "", partial(define, name))
    endpoint = wanted.endpoint or (None if wanted.judges else _endpoint(ask))
    study = _until(ask, "\nname of the study", wanted.study, offered.study)
    return replace(
        wanted,
        study=study,
        columns=columns,
        scales=scales,
        definitions=definitions,
        endpoint=endpoint,
    )


def _columns(guess: Guess, offered: Offered, ask: Ask) -> Guess:
    """Ask for the column of every role; what an answer takes is no longer proposed."""
    taken: dict[str, list[str]] = {}

    def several(role: str, known: Sequence[str], about: str, split: Split = _split) -> list[str]:
        left = [name for name in known if all(name not in group for group in taken.values())]
        usual = ", ".join(left) or NONE

        def check(answer: str) -> list[str]:
            names = split(answer, offered.columns) if answer != usual else left
            if role == "text" and not names:
                raise UserError("a study judges texts: one column has them", where=role)
            for name in names:
                check_column(name, offered.columns, role)
                check_free(name, taken, role)
            return names

        taken[role] = _until(ask, f"{role} ({about})", usual, check)
        return taken[role]

    def one(role: str, known: str | None, about: str) -> str | None:
        names = several(role, [known] if known else [], about, _whole)
        return names[0] if names else None

    found = replace(
        guess,
        text=one("text", guess.text, "the column with what is judged"),
        source=several("source", guess.source, "what it was written from; several: a, b"),
        references=several("references", guess.references, "texts by people, to compare with"),
        item=one("item", guess.item, "what rows about one source share"),
        system=one("system", guess.system, "who wrote the text"),
    )
    return found


def _whole(answer: str, columns: Sequence[str]) -> list[str]:
    return [answer] if answer else []


def _split(answer: str, columns: Sequence[str]) -> list[str]:
    """Return the names in `a, b`; an answer that is a column as it stands is this column."""
    if answer in columns:
        return [answer]
    return [name.strip() for name in answer.split(",") if name.strip()]


def _ratings(columns: Guess, ask: Ask, offered: Offered) -> dict[str, list[str]]:
    """Ask for the aspects and the columns of their ratings."""
    roles = {columns.text, columns.item, columns.system, *columns.source, *columns.references}
    left = {name: [c for c in group if c not in roles] for name, group in columns.ratings.items()}
    left = {name: group for name, group in left.items() if group}
    known = shlex.join(rating_text(name, group) for name, group in left.items())

    def check(answer: str) -> dict[str, list[str]]:
        return left if answer == known and left else read_ratings(_words(answer, offered), offered)

    return _until(ask, "ratings (aspect=column,column … with a column per rater)", known, check)


def _words(answer: str, offered: Offered) -> list[str]:
    """Return the parts of an answer, as a shell would; one rating needs no quotes."""
    if answer in offered.columns or answer.partition("=")[2] in offered.columns:
        return [answer]
    try:
        return shlex.split(answer)
    except ValueError:
        todo = "put a name with spaces in quotes: 'fluency=Fluency score'"
        raise UserError("a quote is not closed", where="ratings", got=answer, todo=todo) from None


def _endpoint(ask: Ask) -> Endpoint | None:
    """Ask which model judges; none: measures and controls alone."""
    url = _until(ask, "\nendpoint of a model (http://…/v1)", NONE, address)
    if not url:
        return None
    model = _until(ask, "the model's name there", "", model_name)
    key = _until(ask, "NAME of the variable that holds its key (not the key)", NONE, key_name)
    price = _until(ask, "US$ per million tokens: of prompts, of replies", NONE, _price)
    return Endpoint(url, model, key, price)


def _price(answer: str) -> tuple[float, float] | None:
    if not answer:
        return None
    try:
        low, high = map(float, answer.replace(",", " ").split())
    except ValueError:
        raise UserError("two numbers", where="price", got=answer, allowed="like .15, .6") from None
    return low, high


def _until(ask: Ask, question: str, usual: str, check: Callable[[str], T]) -> T:
    """Ask until an answer passes its check; an empty one is the usual one, `-` is none."""
    while True:
        shown = f"{question} [{plain(usual)}]: " if usual else f"{question}: "
        answer = ask(shown).strip() or usual
        try:
            return check("" if answer == NONE else answer)
        except (UserError, UserErrors) as error:
            print(error)
