"""The questions of `metajudge init` on a terminal; an empty answer takes what is guessed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from metajudge.init_cards import Endpoint, Wanted
from metajudge.init_flags import (
    Offered,
    check_column,
    define,
    described,
    key_name,
    read_ratings,
    read_scale,
    scale_text,
    scales_of,
    undefined,
)
from metajudge.init_guess import Guess
from metajudge.schema.errors import UserError, UserErrors

Ask = Callable[[str], str]
"""A question -> the line that was typed."""
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
    """Ask for the column of every role."""

    def one(role: str, known: str | None, about: str) -> str | None:
        def check(answer: str) -> str | None:
            if not answer:
                if role == "text":
                    raise UserError("a study judges texts: one column has them", where=role)
                return None
            return check_column(answer, offered.columns, role)

        return _until(ask, f"{role} ({about})", known or NONE, check)

    def several(role: str, known: Sequence[str], about: str) -> list[str]:
        def check(answer: str) -> list[str]:
            names = [name.strip() for name in answer.split(",") if name.strip()]
            return [check_column(name, offered.columns, role) for name in names]

        return _until(ask, f"{role} ({about})", ", ".join(known) or NONE, check)

    found = replace(
        guess,
        text=one("text", guess.text, "the column with what is judged"),
        source=several("source", guess.source, "what it was written from; several: a, b"),
        references=several("references", guess.references, "texts by people, to compare with"),
        item=one("item", guess.item, "what rows about one source share"),
        system=one("system", guess.system, "who wrote the text"),
    )
    return found


def _ratings(columns: Guess, ask: Ask, offered: Offered) -> dict[str, list[str]]:
    """Ask for the aspects and the columns of their ratings."""
    known = " ".join(f"{name}={','.join(group)}" for name, group in columns.ratings.items())

    def check(answer: str) -> dict[str, list[str]]:
        return read_ratings(answer.split(), offered)

    return _until(ask, "ratings (aspect=column,column … with a column per rater)", known, check)


def _endpoint(ask: Ask) -> Endpoint | None:
    """Ask which model judges; none: measures and controls alone."""
    url = _until(ask, "\nendpoint of a model (http://…/v1)", NONE, _address)
    if not url:
        return None
    model = _until(ask, "the model's name there", "", _needed)
    key = _until(ask, "NAME of the variable that holds its key (not the key)", NONE, key_name)
    price = _until(ask, "US$ per million tokens: of prompts, of replies", NONE, _price)
    return Endpoint(url, model, key, price)


def _address(answer: str) -> str:
    if answer and not answer.startswith(("http://", "https://")):
        raise UserError("this is no address", where="endpoint", allowed="http://… or https://…")
    return answer


def _needed(answer: str) -> str:
    if not answer:
        raise UserError("this has no usual answer", where="the model's name")
    return answer


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
        answer = ask(f"{question} [{usual}]: " if usual else f"{question}: ").strip() or usual
        try:
            return check("" if answer == NONE else answer)
        except (UserError, UserErrors) as error:
            print(error)
