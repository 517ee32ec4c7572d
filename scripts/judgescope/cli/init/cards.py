"""The cards of a new study on somebody's own table: made, tried as `check` would, then written."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from judgescope.cli.init.guess import Guess
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.slugs import slug
from judgescope.data import read_dataset
from judgescope.data.rated import Rated
from judgescope.schema.cards import FOLDERS
from judgescope.schema.loading import Cards, validate_card, write_new_card

CONFIG = Path("config")
STUDIES = "studies"
RESULTS = Path("results")
MEASURES = ["rules", "length"]
NOT_STATED = "not stated"
Card = dict[str, Any]
Made = dict[tuple[str, str], Card]
"""(kind, id) -> the content of a new card."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint; `key_env` is the name of a variable, never a key."""

    url: str
    model: str
    key_env: str | None = None
    price: tuple[float, float] | None = None
    form: str = "analyze-rate"
    draws: int = 1


@dataclass(frozen=True)
class Wanted:
    """What a new study is to be: its table, what the columns hold, and who judges."""

    study: str
    file: Path
    columns: Guess
    scales: Mapping[str, Mapping[str, float]]
    definitions: Mapping[str, str] = field(default_factory=dict)
    endpoint: Endpoint | None = None
    judges: tuple[str, ...] = ()
    ratings: str = "human"
    missing: Sequence[str] = ()
    licence: str = NOT_STATED
    citation: str = NOT_STATED


def cards_of(wanted: Wanted) -> Made:
    """Return all cards that a study needs and that are not there: the study's own comes last."""
    made: Made = {
        ("aspect", name): {"aspect": name, "name": told_name(name), "definition": text}
        for name, text in wanted.definitions.items()
    }
    made["dataset", wanted.study] = _dataset(wanted)
    judges = list(wanted.judges)
    if (end := wanted.endpoint) is not None:
        judge = slug(end.model)
        made["model", judge] = _model(end, judge)
        made["judge", judge] = _judge(end, judge)
        judges.append(judge)
    made["study", wanted.study] = {
        "study": wanted.study,
        "seed": 1,
        "datasets": [wanted.study],
        "judges": list(dict.fromkeys([*judges, *_measures(wanted.columns)])),
        "methods": ["agreement"],
    }
    return made


def told_name(name: str) -> str:
    """Return an id as a report shows it."""
    return name.replace("-", " ").replace("_", " ").capitalize()


def _dataset(wanted: Wanted) -> Card:
    told, of = wanted.columns, wanted.columns.source
    columns = {
        "item": told.item,
        "source": of[0] if len(of) == 1 else of,
        "references": told.references,
        "system": told.system,
        "text": told.text,
        "ratings": {name: group for name, group in told.ratings.items() if group != [name]},
    }
    hidden = {} if of else {"source_visible": False}
    return {
        "dataset": wanted.study,
        "name": told_name(wanted.study),
        "task": told.task,
        "format": "table",
        "files": os.path.relpath(wanted.file, CONFIG / FOLDERS["dataset"]),
        "columns": {name: value for name, value in columns.items() if value},
        **({"ratings": wanted.ratings} if wanted.ratings != "human" else {}),
        **({"raters": "mean"} if told.means else {}),
        **({"missing": list(wanted.missing)} if wanted.missing else {}),
        "aspects": {name: {**wanted.scales[name], **hidden} for name in told.ratings},
        "licence": wanted.licence,
        "citation": wanted.citation,
    }


def _model(end: Endpoint, name: str) -> Card:
    card: Card = {"model": name, "engine": "openai", "base_url": end.url}
    if end.model != name:
        card["name"] = end.model
    if end.key_env:
        card["api_key_env"] = end.key_env
    if end.price:
        card["price"] = dict(zip(("input", "output"), end.price, strict=True))
    return card


def _judge(end: Endpoint, name: str) -> Card:
    card = {"judge": name, "model": name, "form": end.form, "draws": end.draws}
    return {**card, "temperature": 1 if end.draws > 1 else 0, "max_tokens": 1024}


def _measures(columns: Guess) -> list[str]:
    """Return measures that ask nobody; the controls come by themselves."""
    more = ["rouge-l"] if columns.references else []
    return [*more, *(["rouge-l-source"] if columns.source else []), *MEASURES]


def place(kind: str, name: str) -> Path:
    """Return where a card is written, under the working directory."""
    return CONFIG / (STUDIES if kind == "study" else FOLDERS[kind]) / f"{name}.yaml"


def check_study(name: str) -> None:
    """Raise UserError for an id that a card, a study's file or results have already."""
    named = re.compile(rf"^study:\s*['\"]?{re.escape(name)}['\"]?\s*(#.*)?$", re.M)
    files = [*sorted(CONFIG.glob("*.yaml")), *sorted((CONFIG / STUDIES).glob("*.yaml"))]
    places = [place("study", name), place("dataset", name), RESULTS / name]
    there = [path for path in places if path.exists()]
    there += [path for path in files if named.search(path.read_text("utf-8", errors="replace"))]
    if there:
        raise UserError(
            "there is a card of this name" if there[0] != RESULTS / name else "there are results",
            where=str(there[0]),
            got=name,
            todo="choose another name: --study NAME",
        )


def check_new(made: Made) -> None:
    """Raise UserErrors for the cards that are there already: nothing is overwritten."""
    there = [key for key in made if place(*key).exists()]
    if there:
        raise UserErrors([_there(*key) for key in there])


def _there(kind: str, name: str) -> UserError:
    todo = {
        "dataset": "choose another --study",
        "study": "choose another --study",
        "model": f"use it with --judge, or ask by another --model: {name} is taken",
        "judge": f"take this judge with `--judge {name}` in the place of --endpoint and --model",
        "aspect": "leave out its --define: the card is used as it is",
    }
    return UserError("there is a card of this name", where=str(place(kind, name)), todo=todo[kind])


def tried(made: Made, home: Path) -> Rated:
    """Return the dataset's texts and ratings, read as a run reads them.

    Raises the UserError or UserErrors that `check` would, with the places that cards will have.
    """
    from judgescope.plan import load_plan

    [study] = [card for (kind, _), card in made.items() if kind == "study"]
    with _staged(made) as folder:
        load_plan(study, home, source=str(place("study", study["study"])), first=[folder])
        dataset = study["datasets"][0]
        card = Cards([folder]).read("dataset", dataset, where="")
        return read_dataset(card, folder / FOLDERS["dataset"], Path("data"))


@contextmanager
def _staged(made: Made) -> Iterator[Path]:
    """Write cards where the paths in them mean what they mean in config/.

    What an error says of this folder, it says of config/.
    """
    folder = Path(tempfile.mkdtemp(prefix=".config-", dir="."))
    try:
        for (kind, name), card in made.items():
            if kind != "study":
                write_new_card(card, folder / FOLDERS[kind] / f"{name}.yaml")
        yield folder
    except UserErrors as errors:
        raise UserErrors([_moved(one, folder) for one in errors.errors]) from None
    except UserError as error:
        raise _moved(error, folder) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _moved(error: UserError, folder: Path) -> UserError:
    """Name the place that a card will have, and a table as it is reached from here."""
    where = error.where.replace(str(folder), str(CONFIG))
    error.where = where.replace(f"{CONFIG / FOLDERS['dataset']}/../../", "")
    return error


def write(made: Made) -> list[Path]:
    """Write the cards, the study's last; return their files."""
    check_new(made)
    for (kind, name), card in made.items():
        validate_card(kind, card, str(place(kind, name)))
        write_new_card(card, place(kind, name))
    return [place(*key) for key in made]


def shown(made: Made) -> str:
    """Return cards as their files will read."""
    return "\n".join(
        f"# {place(*key)}\n{yaml.safe_dump(card, sort_keys=False)}" for key, card in made.items()
    )
