"""The cards of a new study on a user's table: made, checked as in a run, then
written.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import normalize

from judgescope.cli.commands import NOT_STATED
from judgescope.cli.init.endpoint import Endpoint
from judgescope.cli.init.guess import Guess, columns_of
from judgescope.cli.init.tables import Scale, Table
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.files import about
from judgescope.core.names import RESERVED_JUDGES, slug
from judgescope.core.paths import HOME
from judgescope.data.rated import Rated
from judgescope.data.select import read_dataset
from judgescope.schema.cards import FOLDERS
from judgescope.schema.loading import Cards, write_new_card

CONFIG = Path("config")
STUDIES = "studies"
RESULTS = Path("results")
Card = dict[str, Any]
NewCards = dict[tuple[str, str], Card]
"""(kind, id) -> the content of a new card."""


Replies = tuple[Path, Card]
"""A file of a judge's replies, and the keys of its rows in the card."""


@dataclass(frozen=True)
class StudyDraft:
    """A new study: its table, what the columns hold, and who judges."""

    study: str
    table: Table
    columns: Guess
    scales: Mapping[str, Mapping[str, Any]]
    definitions: Mapping[str, str] = field(default_factory=dict)
    endpoint: Endpoint | None = None
    judges: tuple[str, ...] = ()
    replies: Replies | None = None
    """The stored replies of a judge, to be used as recorded."""
    max_usd: float | None = None
    ratings: str = "human"
    measured: bool = True
    """Whether measures are judges, too; controls are added automatically."""
    judge_scales: Mapping[str, Mapping[str, Scale]] = field(default_factory=dict)
    """Judge with recorded scores -> aspect -> their scale, if it is people's."""
    require: Mapping[str, float] = field(default_factory=dict)
    """Statistic -> the required minimum (bar) for judges."""
    licence: str = NOT_STATED
    citation: str = NOT_STATED

    @property
    def data(self) -> Path:
        """Return the file that the study's cards read: the user's, or a copy."""
        return (
            Path("data", f"{self.study}.jsonl")
            if self.table.copied
            else self.table.file
        )

    @property
    def labelled(self) -> list[str]:
        """Return the aspects that people rate by labels."""
        return [name for name, scale in self.scales.items() if "labels" in scale]

    @cached_property
    def missing(self) -> list[str]:
        """Return the words for missing ratings, scores and lengths."""
        return self.table.missing(self.columns)


def cards_of(draft: StudyDraft) -> NewCards:
    """Return the new cards that a study needs, the study's card last."""
    cards: NewCards = {
        ("aspect", name): {
            "aspect": name,
            "name": _title(name, draft.columns.ratings.get(name, ())),
            "definition": text,
        }
        for name, text in draft.definitions.items()
    }
    cards["dataset", draft.study] = _dataset(draft)
    cards |= _asked(draft, draft.endpoint) if draft.endpoint else {}
    for judge, file, rows, keys in _recorded(draft):
        name = judge_id(judge, draft.study)
        cards["model", name] = {
            "model": name,
            "engine": "recorded",
            "dataset": draft.study,
            "files": os.path.relpath(file, CONFIG / FOLDERS["model"]),
            "rows": {key: value for key, value in rows.items() if value},
        }
        cards["judge", name] = {"judge": name, "model": name, **keys}
    judges = [*draft.judges, *(name for kind, name in cards if kind == "judge")]
    reads = draft.measured and draft.columns.has_texts
    if reads and not draft.labelled:  # for labels they would need a threshold
        judges += ["rouge-l"] if draft.columns.references else []
        judges += ["rouge-l-source"] if draft.columns.source else []
        judges.append("rules")
    judges += ["length"] if draft.measured else []
    methods = ["agreement"] if len(draft.labelled) < len(draft.scales) else []
    methods += ["labels"] if draft.labelled else []
    cards["study", draft.study] = {
        "study": draft.study,
        "seed": 1,
        "datasets": [draft.study],
        "judges": list(dict.fromkeys(judges)),
        "methods": ["pairwise"] if draft.columns.compared else methods,
        **({"require": dict(draft.require)} if draft.require else {}),
        **({} if draft.max_usd is None else {"max_usd": draft.max_usd}),
    }
    return cards


def _asked(draft: StudyDraft, endpoint: Endpoint) -> NewCards:
    """Return a model and its judges: one prompt form for labels, another for
    numbers.
    """
    card = dict(endpoint.card)
    if (name := slug(card["name"])) == card["name"]:
        del card["name"]
    cards: NewCards = {("model", name): {**card, "model": name, "engine": "openai"}}
    reasons = "reasoning_effort" in card.get("extra_body", {})
    numeric = [aspect for aspect in draft.scales if aspect not in draft.labelled]
    forms = {"analyze-rate": numeric, "reason-verdict": draft.labelled}
    if endpoint.form or draft.columns.compared:
        forms = {endpoint.form or "compare": [*draft.scales]}
    forms = {form: aspects for form, aspects in forms.items() if aspects}
    for form, aspects in forms.items():
        judge = name if len(forms) == 1 or form == "analyze-rate" else f"{name}-labels"
        cards["judge", judge] = {
            "judge": judge,
            "model": name,
            "form": form,
            "draws": endpoint.draws,
            "temperature": 1 if endpoint.draws > 1 else 0,
            "max_tokens": 4096
            if reasons
            else 1024,  # the limit includes a model's reasoning
            **({"aspects": aspects} if len(forms) > 1 else {}),
        }
    return cards


def judge_id(judge: str, study: str) -> str:
    """Return an unused id for a judge whose scores are recorded."""
    name = recorded_id(judge)
    taken = any(card_path(kind, name).exists() for kind in ("model", "judge"))
    return f"{name}-{study}" if taken else name


def recorded_id(judge: str) -> str:
    """Return the id of a judge whose scores are recorded, unless the user's own cards
    have it.
    """
    shipped = (HOME / "config" / FOLDERS["judge"] / f"{judge}.yaml").exists()
    return f"{judge}-recorded" if shipped or judge in RESERVED_JUDGES else judge


def _recorded(draft: StudyDraft) -> Iterator[tuple[str, Path, Card, Card]]:
    """Yield recorded judges: name, file, the keys of its rows, further keys of the
    judge's card.

    Each column of choices is a judge.
    """
    columns = draft.columns
    if draft.replies is not None:
        file, rows = draft.replies
        yield slug(file.stem), file, rows, {} if draft.labelled else {"parser": "score"}
    labels = draft.table.labels_of(columns, {*draft.scales} - {*draft.labelled})
    for judge, scores in columns.judges.items():
        several = columns.compared and len(scores) > 1
        for part in [{name: scores[name]} for name in scores] if several else [scores]:
            name = "-".join([judge, *part]) if several else judge
            keys: Card = draft.table.judge_keys(part, labels)
            if scales := draft.judge_scales.get(name):
                keys["scale"] = scales
            if "*" not in part:
                keys["aspects"] = [*part]
            yield name, draft.data, _scored_rows(draft, part), keys


def _scored_rows(draft: StudyDraft, scores: Mapping[str, str]) -> Card:
    """Return the keys that join rows of scores to texts: item, or source and text."""
    columns = draft.columns
    keys: Card = {"item": columns.item} if columns.item else {"source": columns.source}
    if columns.compared:
        by_system = bool(columns.item and columns.systems)
        names = ("system", "system_b") if by_system else ("text", "text_b")
        pair = columns.systems if by_system else columns.texts
        labels, [reply] = (
            _by_choice(columns, ("tie", "text", "text_b")),
            scores.values(),
        )
        rows = {
            **keys,
            **dict(zip(names, pair, strict=True)),
            "reply": reply,
            "labels": labels,
        }
    else:
        by_text = {} if columns.item else {"text": columns.text}
        rows = {**keys, **by_text, "system": columns.system, "scores": dict(scores)}
    return {**rows, "missing": draft.missing}


def _by_choice(columns: Guess, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the words for each choice, by the names that a card has for a tie and two
    texts.
    """
    words = dict(zip(names, map(columns.choice_words.get, range(3)), strict=True))
    return {name: of for name, of in words.items() if of}


def _title(name: str, written: Iterable[str]) -> str:
    """Return an id as a title, its words as they are `written`: Güte of güte_1 for
    gute.
    """
    words = re.split(r"[\W\d_]+", normalize("NFC", " ".join(written)))
    originals = {slug(word): word for word in words}
    title = name.replace("-", " ").replace("_", " ")
    return " ".join(originals.get(word, word) for word in title.split(" ")).capitalize()


def _dataset(draft: StudyDraft) -> Card:
    guess, source = draft.columns, draft.columns.source
    columns = {
        "item": guess.item,
        "source": source[0] if len(source) == 1 else source,
        "references": guess.references,
        "system": guess.system,
        "text": guess.text,
        "texts": guess.texts,
        "systems": guess.systems,
        "length": guess.length,
        "lengths": guess.lengths,
        "preferences" if guess.compared else "ratings": {
            name: group
            for name, group in guess.ratings.items()
            if guess.compared or group != [name]
        },
        "choices": _choices(guess),
    }
    hidden = {} if source else {"source_visible": False}
    return {
        "dataset": draft.study,
        "name": _title(draft.study, [draft.table.file.stem]),
        "task": guess.task,
        "format": "table",
        "files": os.path.relpath(draft.data, CONFIG / FOLDERS["dataset"]),
        "columns": {name: value for name, value in columns.items() if value},
        **({"ratings": draft.ratings} if draft.ratings != "human" else {}),
        **({"raters": "mean"} if guess.means else {}),
        **({"missing": draft.missing} if draft.missing else {}),
        "aspects": {name: {**draft.scales[name], **hidden} for name in guess.ratings},
        **({"select": {"original": "none"}} if guess.compared else {}),
        "licence": draft.licence,
        "citation": draft.citation,
    }


def _choices(guess: Guess) -> dict[str, list[str]]:
    """Return the words for choices that the data's reader does not know by default."""
    if not guess.compared:
        return {}
    known = {
        "1",
        "a",
        "2",
        "b",
        "tie",
        *(name.casefold() for name in guess.texts + guess.systems),
    }
    words = _by_choice(guess, ("tie", *guess.compared))
    new = {
        name: [word for word in of if word not in known] for name, of in words.items()
    }
    return {name: of for name, of in new.items() if of}


def card_path(kind: str, name: str) -> Path:
    """Return the file of a card, below the working directory."""
    return CONFIG / (STUDIES if kind == "study" else FOLDERS[kind]) / f"{name}.yaml"


def new_study(name: str) -> str:
    """Return a name as a study's id; UserError if a card, a study or results already
    use it.
    """
    name = slug(name)
    named = re.compile(rf"^study:\s*['\"]?{re.escape(name)}['\"]?\s*(#.*)?$", re.M)
    files = [*sorted(CONFIG.glob("*.yaml")), *sorted((CONFIG / STUDIES).glob("*.yaml"))]
    places = [card_path("study", name), card_path("dataset", name), RESULTS / name]
    taken = [path for path in places if path.exists()]
    taken += [
        path
        for path in files
        if named.search(path.read_text("utf-8", errors="replace"))
    ]
    if taken:
        results = taken[0] == RESULTS / name
        raise UserError(
            "results with this name already exist"
            if results
            else "a card with this name already exists",
            where=str(taken[0]),
            got=name,
            todo="choose another name: --study NAME",
        )
    return name


def _cell(cell: object) -> object:
    """Return a cell as cards read it: no NaN, and 1 for true."""
    if isinstance(cell, bool):
        return int(cell)
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _write_copy(draft: StudyDraft, file: Path) -> None:
    """Write the used columns of the table, if the study needs a copy of it."""
    if not draft.table.copied:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    rows, columns = draft.table.rows, draft.columns
    names = dict.fromkeys([*columns.columns_of("item"), *columns_of(rows)])
    used = [name for name in names if name in columns.used]
    copied = ({name: _cell(row.get(name)) for name in used} for row in rows)
    lines = [f"{json.dumps(row, default=str)}\n" for row in copied]
    file.write_text("".join(lines), encoding="ascii")


def check_new(draft: StudyDraft, cards: NewCards) -> None:
    """Raise UserErrors for files that already exist: nothing is overwritten."""
    errors = []
    if draft.table.copied and draft.data.exists():
        todo = "choose another --study, or another folder"
        errors.append(
            UserError("this file already exists", where=str(draft.data), todo=todo)
        )
    for kind, name in cards:
        todo = {
            "dataset": "choose another --study",
            "study": "choose another --study",
            "model": f"use it with --judge, or choose another --model: {name} is taken",
            "judge": f"use this judge with `--judge {name}` instead of --endpoint and "
            "--model",
            "aspect": "omit its --define: the existing card is used unchanged",
        }[kind]
        if (path := card_path(kind, name)).exists():
            what = "a card with this name already exists"
            errors.append(UserError(what, where=str(path), todo=todo))
    if errors:
        raise UserErrors(errors)


def tried(draft: StudyDraft, cards: NewCards) -> Rated:
    """Return the dataset's texts and ratings, read as a run reads them.

    Raises the same errors as `judgescope check`, with the final paths of the cards.
    """
    from judgescope.plan.loading import load_plan

    study, path = cards["study", draft.study], card_path("study", draft.study)
    with about(CONFIG):
        temporary = TemporaryDirectory(
            prefix=".config-", dir=".", ignore_cleanup_errors=True
        )
    # next to config/: relative paths mean the same in both; from Python 3.12 on `name`
    # is absolute
    folder = Path(Path(temporary.name).name)
    with temporary, naming_table(draft, folder):
        _write_copy(draft, folder / draft.data)
        for (kind, name), card in cards.items():
            if draft.table.copied and card.get("files") == f"../../{draft.data}":
                card = {**card, "files": f"../{draft.data}"}
            if kind != "study":
                write_new_card(card, folder / FOLDERS[kind] / f"{name}.yaml")
        load_plan(study, HOME, source=str(path), first=[folder])
        dataset = Cards([folder]).read("dataset", draft.study, where="")
        return read_dataset(dataset, folder / FOLDERS["dataset"], Path("data"))


@contextmanager
def naming_table(draft: StudyDraft, folder: Path | None = None) -> Iterator[None]:
    """Name the user's file in errors, instead of the study's copy of its rows.

    Name config/ instead of the temporary `folder`, and a table's path from the working
    directory; name the option --require instead of the study's key.
    """
    required = re.compile(
        rf"{re.escape(str(card_path('study', draft.study)))}[:\d]*, key require.*"
    )
    try:
        yield
    except (UserError, UserErrors) as error:
        for each in error.errors if isinstance(error, UserErrors) else [error]:
            if folder is not None:
                each.where = each.where.replace(str(folder), str(CONFIG))
            each.where = required.sub("--require", each.where)
            each.where = in_original(draft, each.where)
        raise


def in_original(draft: StudyDraft, text: str) -> str:
    """Return a text with the user's file and its rows instead of those of the study's
    copy.
    """
    if not draft.table.copied:
        return text
    name = re.escape(draft.data.name)
    copy = re.compile(
        rf"(?<![^,;\s])(?:[^,;\s]*[/\\])?{name}(?P<rows>, rows? \d+(?:, \d+)*)?"
    )
    file, numbers = str(draft.table.file), draft.table.numbers

    def original(match: re.Match[str]) -> str:
        rows = match["rows"] or ""
        return file + re.sub(r"\d+", lambda row: str(numbers[int(row[0]) - 1]), rows)

    return copy.sub(original, text)


def write(draft: StudyDraft, cards: NewCards) -> list[Path]:
    """Write the copy of the table, if there is one, and the cards, the study's last.

    Returns their files.
    """
    check_new(draft, cards)
    _write_copy(draft, draft.data)
    for key, card in cards.items():
        write_new_card(card, card_path(*key))
    copy = [draft.data] if draft.table.copied else []
    return [*copy, *(card_path(*key) for key in cards)]
