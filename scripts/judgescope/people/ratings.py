"""First ratings: people rate texts by systems on the aspects' scales.

The answers become a table and a dataset card of format `table`, which any study can use.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.people import form
from judgescope.people.responses import Response, page_id, read_pages
from judgescope.people.tables import Results, Row, formatted, numbers_of
from judgescope.plan import Plan
from judgescope.schema.loading import validate_card
from judgescope.statistics.alpha import krippendorff_alpha

if TYPE_CHECKING:
    from numpy.random import Generator

COLUMNS = ["item", "source", "references", "system", "text"]


class Rating(NamedTuple):
    """The question how good a text is in an aspect."""

    dataset: str
    aspect: str
    subject: Subject


Known = dict[str, Rating]
"""Question id -> what it is about; the id tells people nothing."""


def questions_of(plan: Plan, out: Path) -> Known:
    """Return all questions that a study can ask, in the order of datasets, aspects and texts.

    Raises UserError where texts are not made yet, and where there are none.
    """
    scaled = {
        name: aspects
        for name in plan.evaluated
        if plan.datasets[name].has_systems and plan.datasets[name].has_texts
        for aspects in [
            [each for each in plan.plain_aspects(name) if form.rating_options(plan, name, each)]
        ]
        if aspects
    }
    if not scaled:
        raise UserError(
            "there is nothing to ask: no texts by systems have an aspect with a stepped scale",
            where=plan.study.study,
            todo="use a dataset with texts by systems, and give its aspects' scales a `step`",
        )
    files = [[f"items/{name}.parquet", f"targets/{name}/systems.parquet"] for name in scaled]
    form.check_made([out / path for paths in files for path in paths])
    known: Known = {}
    for name, aspects in scaled.items():
        subjects = sorted(
            Subjects(str(out), name, plan.study.seed).of("systems"), key=lambda each: each.target
        )
        for aspect in aspects:
            shown = [form.wording_of(plan, name, aspect), form.rating_options(plan, name, aspect)]
            for subject in subjects:
                text = canonical([name, subject.target, subject.source, subject.text, *shown])
                number = stream_seed(plan.study.seed, "ratings", "question", text)
                known[f"r{number:032x}"] = Rating(name, aspect, subject)
    return known


def make(plan: Plan, out: Path, folder: Path, *, texts: int, voters: int) -> form.Made[Rating]:
    """Write the pages of a study whose texts are in `out` into a folder.

    So many `texts` of each dataset are drawn, whose systems take turns, and items; all voters rate
    each on every aspect.
    """
    form.check_numbers(texts=texts, voters=voters)
    known = questions_of(plan, out)
    drawn: set[tuple[str, str]] = set()
    for name in dict.fromkeys(question.dataset for question in known.values()):
        subjects = {
            question.subject.target: question.subject
            for question in known.values()
            if question.dataset == name
        }
        chosen = form.balanced(
            list(subjects.values()),
            stream(plan.study.seed, "ratings", "texts", name),
            texts,
            kind=lambda subject: subject.system,
            item=lambda subject: subject.item,
        )
        drawn |= {(name, subject.target) for subject in chosen}
    records = [
        (dataset, name)
        for name, (dataset, _, subject) in known.items()
        if (dataset, subject.target) in drawn
    ]
    items = partial(_items, plan, known)
    pages = form.voter_pages(plan, "ratings", records, items, voters=voters)
    form.write_pages(pages, folder)
    return form.Made(pages, list(known.values()), [form.count(pages, folder)])


def _items(plan: Plan, known: Known, asked: list[str], rng: "Generator") -> list[form.Item]:
    """Return a voter's questions, aspect by aspect."""
    items = []
    for names in form.by_aspect(asked, rng, lambda name: known[name].aspect):
        for which in rng.permutation(len(names)):
            dataset, aspect, subject = known[names[which]]
            options = form.rating_options(plan, dataset, aspect)
            items.append(
                form.Item(
                    (form.Question(names[which], options),),
                    plan.aspect_of(dataset, aspect),
                    (subject.text,),
                    form.visible_source(plan, dataset, aspect, subject.source),
                )
            )
    return items


# --- answers ---------------------------------------------------------------------------------


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the rated datasets that a folder of answers makes: a table and a card of each.

    The raters are the pages' voters. Raises UserErrors for what are no answers to its questions.
    """
    known = questions_of(plan, out)

    def allowed(name: str) -> list[str] | None:
        if name not in known:
            return None
        return [value for value, _ in form.rating_options(plan, *known[name][:2])]

    responses = read_pages(folder, allowed)
    ratings = _ratings(plan, known, responses)
    tables, cards, lines = {}, [], []
    for dataset in dict.fromkeys(each.dataset for each in ratings):
        rated = {each: values for each, values in ratings.items() if each.dataset == dataset}
        aspects = list(dict.fromkeys(each.aspect for each in rated))
        table = list(_rows(rated))
        card = _card(plan, dataset, aspects, table)
        tables[card["files"]] = ([*COLUMNS, *map(column_of, aspects)], table)
        cards.append(card)
        lines += [
            f"{dataset}, {each}: {_agreement(plan, dataset, each, rated)}" for each in aspects
        ]
    count = sum(value is not None for values in ratings.values() for value in values)
    lines.append("copy a table and its card to config/datasets: a study names it in `datasets`")
    return Results("rated", len(responses), f"{count} ratings", tables, lines, cards)


def _ratings(
    plan: Plan, known: Known, responses: Sequence[Response]
) -> dict[Rating, list[float | None]]:
    """Return the ratings of each question, a place for each rater of its task.

    Pages with other questions, as of a second round with more texts, have other raters.
    """
    raters: Counter[str] = Counter()
    first: dict[str, int] = {}
    given: dict[str, dict[int, float]] = {}
    for response in sorted(responses, key=lambda response: response.survey):
        questions, (voter, voters) = page_id(response.answers), response.voter_number or (1, 1)
        if questions not in first:
            task = plan.datasets[known[min(response.answers)].dataset].task
            first[questions] = raters[task]
            raters[task] += voters
        for name, answer in response.answers.items():
            given.setdefault(name, {})[first[questions] + voter - 1] = float(answer)
    return {
        question: [
            given[name].get(at) for at in range(raters[plan.datasets[question.dataset].task])
        ]
        for name, question in known.items()
        if name in given
    }


def column_of(aspect: str) -> str:
    """Return the column of an aspect's ratings: a list, with null for who gave none."""
    return f"rating_{aspect}"


def _rows(rated: Mapping[Rating, Sequence[float | None]]) -> Iterator[Row]:
    """Yield a row for each text."""
    rows: dict[str, Row] = {}
    for (_, aspect, subject), values in rated.items():
        references = json.dumps(subject.references, ensure_ascii=False)
        texts = subject.item, subject.source, references, subject.system, subject.text
        row = rows.setdefault(subject.target, dict(zip(COLUMNS, texts, strict=True)))
        row[column_of(aspect)] = json.dumps(values)
    yield from rows.values()


def _card(plan: Plan, dataset: str, aspects: Sequence[str], table: Sequence[Row]) -> Row:
    """Return the card of a rated dataset: that of the texts, with its table and its raters."""
    card, name = plan.datasets[dataset], f"{dataset}-rated"
    columns: Row = {"item": "item", "system": "system", "text": "text"}
    columns |= {"source": "source"} if any(row["source"] for row in table) else {}
    columns |= (
        {"references": "references"} if any(row["references"] != "[]" for row in table) else {}
    )
    columns["ratings"] = {aspect: column_of(aspect) for aspect in aspects}
    scales = {
        aspect: card.aspects[aspect].model_dump(
            mode="json", exclude_defaults=True, exclude={"column"}
        )
        for aspect in aspects
    }
    rated: Row = {"dataset": name, "name": f"{card.name}, rated for {plan.study.study}"}
    rated |= {"task": card.task, "format": "table", "files": f"{name}.csv", "columns": columns}
    rated |= {"raters": "persons", "aspects": scales}
    rated |= {"licence": card.licence, "citation": card.citation}
    validate_card("dataset", rated, name)
    return rated


def _agreement(
    plan: Plan, dataset: str, aspect: str, rated: Mapping[Rating, Sequence[float | None]]
) -> str:
    """Return how far the raters of an aspect agree, for people."""
    values = {each: row for each, row in rated.items() if each.aspect == aspect}
    items = sorted({each.subject.item for each in values})
    width = max(map(len, values.values()))
    ratings = np.full((width, len(values)), np.nan)
    for at, row in enumerate(values.values()):
        ratings[: len(row), at] = [np.nan if value is None else value for value in row]
    alpha = krippendorff_alpha(
        ratings,
        level="ordinal",
        domain=plan.scale_of(dataset, aspect).values() or [],
        source=np.array([items.index(each.subject.item) for each in values]),
        weights=None,
    )
    return f"{np.isfinite(ratings).sum()} ratings, alpha_ordinal {formatted(numbers_of(alpha))}"
