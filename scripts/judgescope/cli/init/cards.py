"""The cards of a new study on a user's table: made, checked as in a run, then
written.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import normalize

from judgescope.cli.commands import NOT_STATED
from judgescope.cli.init.card_paths import CONFIG, card_path
from judgescope.cli.init.column_values import columns_of
from judgescope.cli.init.endpoint import EndpointDraft
from judgescope.cli.init.functions import function_cards
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.tables import InitTable, LabelScale
from judgescope.cli.init.written_names import (
    judge_names,
    readable_ids,
    with_ids,
)
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.files import naming_path
from judgescope.core.names import RESERVED_JUDGES, slug
from judgescope.core.paths import HOME
from judgescope.data.column_rows import cells_of
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.schema.cards import FOLDERS
from judgescope.schema.cards.columns import part_name
from judgescope.schema.loading import Cards, write_new_card

SEED = 1
"""The seed of a study that `init` writes, and of an audit."""
CardContent = dict[str, Any]
NewCards = dict[tuple[str, str], CardContent]
"""(kind, id) -> the content of a new card."""


RepliesFile = tuple[Path, CardContent]
"""A file of a judge's replies, and the keys of its rows in the card."""


@dataclass(frozen=True)
class StudyDraft:
    """A new study: its table, what the columns hold, and who judges."""

    study: str
    table: InitTable
    columns: Guess
    scales: Mapping[str, Mapping[str, Any]]
    definitions: Mapping[str, str] = field(default_factory=dict)
    endpoint: EndpointDraft | None = None
    judges: tuple[str, ...] = ()
    function: tuple[Path, str] | None = None
    """The file and the name of a Python function that is a judge."""
    replies: RepliesFile | None = None
    """The stored replies of a judge, to be used as recorded."""
    max_usd: float | None = None
    ratings: str = "people"
    measured: bool = True
    """Whether measures are judges, too; controls are added automatically."""
    judge_scales: Mapping[str, Mapping[str, LabelScale]] = field(default_factory=dict)
    """Judge with recorded scores -> aspect -> their scale, if it is people's."""
    require: Mapping[str, float] = field(default_factory=dict)
    """Statistic -> the required minimum (bar) for judges."""
    slices: tuple[str, ...] = ()
    """Columns that are kept with the items: their values are slices."""
    licence: str = NOT_STATED
    citation: str = NOT_STATED

    @property
    def data(self) -> Path:
        """Return the file that the study's cards read: the user's, or a copy."""
        if self.table.copied:
            return Path("data", f"{self.study}.jsonl")
        return self.table.file

    @property
    def labelled(self) -> list[str]:
        """Return the aspects that people rate by labels."""
        return [name for name, scale in self.scales.items() if "labels" in scale]

    @cached_property
    def judge_names(self) -> dict[str, str]:
        """Return the id of each judge of the table -> its name as people wrote it."""
        names = {}
        written = judge_names(self.columns)
        for judge, scores in self.columns.judges.items():
            names[recorded_id(judge)] = written[judge]
            if self.columns.compared and len(scores) > 1:
                for aspect, column in scores.items():
                    names[recorded_id(f"{judge}-{aspect}")] = column
        return names

    @cached_property
    def missing(self) -> list[str]:
        """Return the words for missing ratings, scores and lengths."""
        return self.table.missing(self.columns)


def with_readable_ids(draft: StudyDraft) -> StudyDraft:
    """Return the draft with ids in Latin letters for names of other scripts."""
    aspects, judges = readable_ids(draft.columns)
    scales = {aspects[name]: scale for name, scale in draft.scales.items()}
    definitions = {}
    for name, text in draft.definitions.items():
        definitions[aspects.get(name, name)] = text
    judge_scales = {}
    for judge, of_judge in draft.judge_scales.items():
        by_aspect = {aspects.get(name, name): of_judge[name] for name in of_judge}
        judge_scales[judges.get(judge, judge)] = by_aspect
    return replace(
        draft,
        columns=with_ids(draft.columns, aspects, judges),
        scales=scales,
        definitions=definitions,
        judge_scales=judge_scales,
    )


def cards_of(draft: StudyDraft) -> NewCards:
    """Return the new cards that a study needs, the study's card last."""
    cards: NewCards = {}
    for name, text in draft.definitions.items():
        title = aspect_title(draft, name)
        cards["aspect", name] = {"aspect": name, "name": title, "definition": text}
    cards["dataset", draft.study] = _dataset(draft)
    if draft.endpoint:
        cards |= _asked(draft, draft.endpoint)
    if draft.function:
        path = _path_from_card(draft.function[0])
        compared = bool(draft.columns.compared)
        cards |= function_cards(draft.function, path, compared=compared)
    for judge, file, rows, keys in _recorded(draft):
        name = judge_id(judge, draft.study)
        cards["model", name] = {
            "model": name,
            "engine": "recorded",
            "dataset": draft.study,
            "files": _path_from_card(file),
            "rows": {key: value for key, value in rows.items() if value},
        }
        cards["judge", name] = {"judge": name, "model": name, **keys}
    judges = list(draft.judges)
    judges += [name for kind, name in cards if kind == "judge"]
    judges += _measures(draft)
    cards["study", draft.study] = _study_card(draft, judges)
    return cards


def _measures(draft: StudyDraft) -> list[str]:
    """Return the measures that are judges of a study, too."""
    if not draft.measured:
        return []
    measures = []
    # For labels, the scores of measures would need a threshold.
    if draft.columns.has_texts and not draft.labelled:
        if draft.columns.references:
            measures.append("rouge-l")
        if draft.columns.source:
            measures.append("rouge-l-source")
        measures.append("rules")
    measures.append("length")
    return measures


def _study_card(draft: StudyDraft, judges: Iterable[str]) -> CardContent:
    methods = []
    if draft.columns.compared:
        methods.append("pairwise")
    else:
        if len(draft.labelled) < len(draft.scales):
            methods.append("agreement")
        if draft.labelled:
            methods.append("labels")
        if draft.table.points is not None:
            methods.append("rubrics")
    card: CardContent = {
        "study": draft.study,
        "seed": SEED,
        "datasets": [draft.study],
        "judges": list(dict.fromkeys(judges)),
        "methods": methods,
    }
    if draft.table.points:
        card["rubrics"] = {"points": dict(draft.table.points)}
    if draft.require:
        card["require"] = dict(draft.require)
    if draft.max_usd is not None:
        card["max_usd"] = draft.max_usd
    return card


def _asked(draft: StudyDraft, endpoint: EndpointDraft) -> NewCards:
    """Return a model and its judges: one prompt form for labels, another for
    numbers.
    """
    card = dict(endpoint.card)
    name = slug(card["name"])
    if name == card["name"]:
        del card["name"]
    cards: NewCards = {("model", name): {**card, "model": name, "engine": "openai"}}
    reasons = "reasoning_effort" in card.get("extra_body", {})
    forms: dict[str, list[str]] = {}
    if endpoint.form or draft.columns.compared:
        if draft.scales:
            forms[endpoint.form or "compare"] = list(draft.scales)
    else:
        for aspect in draft.scales:
            form = "analyze-rate"
            if aspect in draft.labelled:
                form = "reason-verdict"
            forms.setdefault(form, []).append(aspect)
    for form in sorted(forms):
        judge = name if len(forms) == 1 or form == "analyze-rate" else f"{name}-labels"
        cards["judge", judge] = {
            "judge": judge,
            "model": name,
            "form": form,
            "draws": endpoint.draws,
            "temperature": 1 if endpoint.draws > 1 else 0,
            # The limit includes a model's reasoning.
            "max_tokens": 4096 if reasons else 1024,
        }
        if len(forms) > 1:
            cards["judge", judge]["aspects"] = forms[form]
    return cards


def judge_id(judge: str, study: str) -> str:
    """Return an unused id for a judge whose scores are recorded."""
    name = recorded_id(judge)
    taken = any(card_path(kind, name).exists() for kind in ("model", "judge"))
    return f"{name}-{study}" if taken else name


def _path_from_card(file: Path) -> str:
    """Return the path of a file as a card in a folder of config/ names it.

    It leads through the working folder, also to a file in config/: cards are tried in
    a temporary folder beside config/, which does not have that file.
    """
    return os.path.join("..", "..", os.path.relpath(file))


def recorded_id(judge: str) -> str:
    """Return the id of a judge whose scores are recorded, unless the user's own cards
    have it.
    """
    shipped = (HOME / "config" / FOLDERS["judge"] / f"{judge}.yaml").exists()
    if shipped or judge in RESERVED_JUDGES:
        return f"{judge}-recorded"
    return judge


def _recorded(
    draft: StudyDraft,
) -> Iterator[tuple[str, Path, CardContent, CardContent]]:
    """Yield recorded judges: name, file, the keys of its rows, further keys of the
    judge's card.

    Each column of choices is a judge.
    """
    columns = draft.columns
    if draft.replies is not None:
        file, rows = draft.replies
        yield slug(file.stem), file, rows, {} if draft.labelled else {"parser": "score"}
    stated = set(draft.scales).difference(draft.labelled)
    labels = draft.table.labels_of(columns, stated)
    for judge, scores in columns.judges.items():
        parts = {judge: scores}
        if columns.compared and len(scores) > 1:
            parts = {f"{judge}-{name}": {name: scores[name]} for name in scores}
        for name, part in parts.items():
            keys: CardContent = draft.table.judge_keys(part, labels)
            scales = draft.judge_scales.get(name)
            if scales:
                keys["scale"] = scales
            if "*" not in part:
                keys["aspects"] = list(part)
            yield name, draft.data, _scored_rows(draft, part), keys


def _scored_rows(draft: StudyDraft, scores: Mapping[str, str]) -> CardContent:
    """Return the keys that join rows of scores to texts: item, or source and text."""
    columns = draft.columns
    rows: CardContent = {}
    if columns.item:
        rows["item"] = columns.item
    else:
        rows["source"] = columns.source
    if columns.compared:
        pair = {"text": columns.texts, "text_b": columns.texts}
        if columns.item and columns.systems:
            pair = {"system": columns.systems, "system_b": columns.systems}
        for number, (key, of_pair) in enumerate(pair.items()):
            rows[key] = of_pair[number]
        [column] = scores.values()
        rows["reply"] = column
        if column in columns.swapped:
            rows["reply_swapped"] = columns.swapped[column]
        rows["labels"] = _by_choice(columns, ("tie", "text", "text_b"))
    else:
        if not columns.item:
            rows["text"] = columns.text
        rows["system"] = columns.system
        rows["scores"] = dict(scores)
    rows["missing"] = draft.missing
    return rows


def _by_choice(columns: Guess, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the words for each choice, by the names that a card has for a tie and two
    texts.
    """
    by_name = {}
    for choice, name in enumerate(names):
        words = columns.choice_words.get(choice)
        if words:
            by_name[name] = words
    return by_name


def aspect_title(draft: StudyDraft, aspect: str) -> str:
    """Return the name of an aspect as its columns or a flag have it."""
    title = draft.columns.names.get(aspect, "")
    if title and not title.isascii():
        return f"{title[:1].upper()}{title[1:]}"
    return _title(aspect, draft.columns.ratings.get(aspect, ()))


def shown_aspect(draft: StudyDraft, aspect: str) -> str:
    """Return an aspect's id, or its name where this has other letters."""
    title = aspect_title(draft, aspect)
    return aspect if title.isascii() else title


def _title(name: str, written: Iterable[str]) -> str:
    """Return an id as a title, its words as they are `written`: Güte of güte_1 for
    gute.
    """
    words = re.split(r"[\W\d_]+", normalize("NFC", " ".join(written)))
    originals = {slug(word): word for word in words}
    title = name.replace("-", " ").replace("_", " ")
    return " ".join(originals.get(word, word) for word in title.split(" ")).capitalize()


def _dataset(draft: StudyDraft) -> CardContent:
    guess = draft.columns
    card: CardContent = {
        "dataset": draft.study,
        "name": _title(draft.study, [draft.table.file.stem]),
        "task": guess.task,
        "format": "table",
        "files": _path_from_card(draft.data),
        "columns": _column_keys(guess),
    }
    if draft.slices:
        card["columns"]["meta"] = list(draft.slices)
    if draft.ratings != "people":
        card["ratings"] = draft.ratings
    if guess.means:
        card["raters"] = "mean"
    if draft.missing:
        card["missing"] = draft.missing
    aspects = {}
    for name in guess.ratings:
        aspects[name] = dict(draft.scales[name])
        if not guess.source:
            aspects[name]["source_visible"] = False
    card["aspects"] = aspects
    if guess.compared:
        card["select"] = {"original": "none"}
    card["licence"] = draft.licence
    card["citation"] = draft.citation
    return card


def _column_keys(guess: Guess) -> CardContent:
    """Return the key `columns` of a dataset's card."""
    ratings = {}
    for name, group in guess.ratings.items():
        # A column with the name of its aspect is read without being named.
        if guess.compared or group != [name]:
            ratings[name] = group
    columns = {
        "item": guess.item,
        "source": _source(guess),
        "references": guess.references,
        "system": guess.system,
        "anonymous": guess.anonymous,
        "text": guess.text,
        "texts": guess.texts,
        "systems": guess.systems,
        "length": guess.length,
        "lengths": guess.lengths,
        "preferences" if guess.compared else "ratings": ratings,
        "choices": _choices(guess),
    }
    return {name: value for name, value in columns.items() if value}


def _source(guess: Guess) -> str | list[str] | dict[str, str]:
    """Return the columns of the source as a card has them: with names if flags give
    any.
    """
    names = guess.part_names
    source = guess.source
    if any(column in names for column in source):
        return {names.get(column) or part_name(column): column for column in source}
    if len(source) == 1:
        return source[0]
    return source


def _choices(guess: Guess) -> dict[str, list[str]]:
    """Return the words for choices that the data's reader does not know by default."""
    if not guess.compared:
        return {}
    known = {"1", "a", "2", "b", "tie"}
    known.update(name.casefold() for name in guess.texts + guess.systems)
    choices = {}
    for name, words in _by_choice(guess, ("tie", *guess.compared)).items():
        new = [word for word in words if word not in known]
        if new:
            choices[name] = new
    return choices


def _cell(cell: object) -> object:
    """Return a cell as cards read it: no NaN, and 1 for true, also in lists."""
    if isinstance(cell, list):
        return [_cell(entry) for entry in cell]
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell


def _write_copy(draft: StudyDraft, file: Path) -> None:
    """Write the used columns of the table, if the study needs a copy of it."""
    if not draft.table.copied:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    cells = copied_cells(draft)
    encode = json.JSONEncoder(default=str).encode
    with file.open("w", encoding="ascii") as opened:
        for of_row in zip(*cells.values(), strict=True):
            opened.write(f"{encode(dict(zip(cells, of_row, strict=True)))}\n")


def copied_cells(draft: StudyDraft) -> dict[str, list[object]]:
    """Return the used columns of a table as a study's copy has them."""
    columns = draft.columns
    names = dict.fromkeys([*columns.columns_of("item"), *columns_of(draft.table.rows)])
    cells = {}
    for name in names:
        if name in columns.used or name in draft.slices:
            cells[name] = list(map(_cell, cells_of(draft.table.rows, name)))
    return cells


def check_new(draft: StudyDraft, cards: NewCards) -> None:
    """Raise UserErrors for files that already exist: nothing is overwritten."""
    errors = []
    if draft.table.copied and draft.data.exists():
        todo = "choose another --study, or another folder"
        errors.append(
            UserError("this file already exists", where=str(draft.data), todo=todo)
        )
    for kind, name in cards:
        path = card_path(kind, name)
        if not path.exists():
            continue
        todo = {
            "dataset": "choose another --study",
            "study": "choose another --study",
            "model": f"use it with --judge, or choose another --model: {name} is taken",
            "judge": f"use this judge with `--judge {name}` instead of --endpoint and "
            "--model",
            "aspect": "omit its --define: the existing card is used unchanged",
        }[kind]
        what = "a card with this name already exists"
        errors.append(UserError(what, where=str(path), todo=todo))
    if errors:
        raise UserErrors(errors)


def tried(draft: StudyDraft, cards: NewCards) -> DatasetContent:
    """Return the dataset's texts and ratings, read as a run reads them.

    Raises the same errors as `judgescope check`, with the final paths of the cards.
    """
    from judgescope.plan.loading import load_plan

    study = cards["study", draft.study]
    path = card_path("study", draft.study)
    with naming_path(CONFIG):
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
    file = str(draft.table.file)
    numbers = draft.table.numbers

    def original(match: re.Match[str]) -> str:
        rows = match["rows"] or ""
        return file + re.sub(r"\d+", lambda row: str(numbers[int(row[0]) - 1]), rows)

    return copy.sub(original, text)


def write(draft: StudyDraft, cards: NewCards, read: Iterable[str] = ()) -> list[Path]:
    """Write the copy of the table, if there is one, and the cards, the study's last.

    read: lines on how the columns were read, for the card of the dataset. Returns the
    files.
    """
    check_new(draft, cards)
    _write_copy(draft, draft.data)
    files = []
    if draft.table.copied:
        files = [draft.data]
    for key, card in cards.items():
        path = card_path(*key)
        write_new_card(card, path, list(read) if key[0] == "dataset" else ())
        files.append(path)
    return files
