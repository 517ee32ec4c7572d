"""A sample of perturbed texts, to check by eye whether each perturbation does what its
card says.

Texts are drawn by the study's seed. They come from data and models: all of it is
escaped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from judgescope.core.files import write_text
from judgescope.core.rng import stream
from judgescope.perturb.edits import Edit, undone_edits
from judgescope.report.elements import Excerpt
from judgescope.report.html import environment_of, page_from
from judgescope.report.marked import Piece, compared, marked, shortened, states
from judgescope.report.specs import PerturbationCard, PerturbedSet, SpotcheckSpec
from judgescope.report.words import count
from judgescope.schema.tables import read_table, texts_of

DRAWN = 10
"""Perturbed texts of a cell that are shown."""
UNDONE = 3
"""Texts of a cell that are shown of those that could not be perturbed."""
DONE = ("ok", "short")
"""Outcomes of a planned perturbation that took effect, as wanted or in part."""


@dataclass(frozen=True)
class SpotcheckExample:
    """One text as it is shown: its item, its outcome, and its views."""

    item: str
    status: str
    views: Sequence[Excerpt]


@dataclass(frozen=True)
class SpotcheckSample:
    """What is shown of one perturbation of a dataset: a perturbation in one degree."""

    id: str
    card: PerturbationCard
    degree: str
    asked: str
    counts: Mapping[str, int]
    done: Sequence[SpotcheckExample]
    undone: Sequence[SpotcheckExample]


def render(spec: SpotcheckSpec) -> str:
    """Return the page."""
    environment = environment_of("texts")
    environment.filters["counted"] = count
    return page_from(
        environment.get_template("page.html.jinja"),
        ["report/style.css", "texts/style.css"],
        study=spec.study,
        datasets=[
            (name, spec.datasets[name].name or name, list(samples(spec, name)))
            for name in spec.order
        ],
        drawn=DRAWN,
        outcomes=(*DONE, "impossible", "failed"),
    )


def samples(spec: SpotcheckSpec, dataset: str) -> Iterator[SpotcheckSample]:
    """Yield the samples of a dataset, in the order in which the study names its
    perturbation.
    """
    card = spec.datasets[dataset]
    originals = texts_of(card.originals)
    for perturbation in card.sets:
        yield _sample(spec, originals, dataset, perturbation)


def _sample(
    spec: SpotcheckSpec,
    originals: Mapping[str, str],
    dataset: str,
    perturbation: PerturbedSet,
) -> SpotcheckSample:
    name = perturbation.perturbation
    degree = perturbation.degree
    card = spec.perturbations[name]
    table = read_table("targets", perturbation.targets)
    done, undone = drawn(table, spec.seed, dataset, name, degree)
    replies: dict[str, str] = {}  # the last reply for a text decided its outcome
    if undone and perturbation.replies:
        answers = read_table("answers", perturbation.replies, ["target", "text"])
        replies = {row["target"]: row["text"] for row in answers.to_pylist()}
    # a text of a chain was made from the one before
    chain = {}
    if card.kind == "chain":
        chain = texts_of(perturbation.targets)
    before = {**originals, **chain}

    def example(row: dict[str, Any]) -> SpotcheckExample:
        text = row["text"]
        edits = [Edit(**edit) for edit in row["edits"] or ()]
        if card.kind == "graded":  # made from any reference of the item
            original = undone_edits(text, edits)
        else:
            original = before[row["parent"]]
        if _outcome(row["status"]) in DONE:
            views = _perturbed(original, text, edits, card)
        else:
            views = [_unperturbed(original, replies.get(row["target"]))]
        step = ""
        if card.kind == "chain":
            step = f"step {row['step']}, "
        elif card.kind == "graded":
            step = f"{row['step']} errors, "
        status = _cut_status(row["status"])
        return SpotcheckExample(row["item"], f"{step}{status}", views)

    amounts = []
    for key, value in perturbation.amount.items():
        if value is not None:
            amounts.append(f"{key} = {value}")
    return SpotcheckSample(
        id=f"{dataset}.{name}.{degree}",
        card=card,
        degree="" if degree == "single" else degree,
        asked=", ".join(amounts),
        counts=Counter(map(_outcome, table["status"].to_pylist())),
        done=list(map(example, done)),
        undone=list(map(example, undone)),
    )


def _cut_status(status: str, longest: int = 300) -> str:
    """A status of a bearable length: an endpoint's message may be a page of its own."""
    if len(status) > longest:
        return f"{status[:longest]} …"
    return status


def _outcome(status: str) -> str:
    return status.partition(":")[0]


def drawn(
    table: pa.Table, seed: int, dataset: str, name: str, degree: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return some perturbed texts and some that could not be, in the order of the
    table.

    Which ones they are depends on the names of the texts and not on that order.
    """
    outcomes = list(map(_outcome, table["status"].to_pylist()))
    names = table["target"].to_pylist()
    rng = stream(seed, "spotcheck", dataset, name, degree)
    drawn_rows = []
    for limit, done in ((DRAWN, True), (UNDONE, False)):
        candidates = []
        for at, outcome in enumerate(outcomes):
            if (outcome in DONE) == done:
                candidates.append(at)
        candidates.sort(key=names.__getitem__)
        order = rng.permutation(len(candidates)).tolist()
        chosen = sorted(candidates[at] for at in order[:limit])
        drawn_rows.append(table.take(pa.array(chosen, pa.int64())).to_pylist())
    perturbed, undone = drawn_rows
    return perturbed, undone


def _perturbed(
    before: str, after: str, edits: list[Edit], card: PerturbationCard
) -> list[Excerpt]:
    """Return both states of a text in one, or beside each other where sentences
    moved.
    """
    shown = [shortened(pieces) for pieces in states(before, after, edits, card)]
    names = ("Original", "Perturbed") if shown[1:] else ("",)
    return [Excerpt(name, pieces) for pieces, name in zip(shown, names, strict=True)]


def _unperturbed(before: str, reply: str | None) -> Excerpt:
    """Return a text as it is, or as the reply has it that could not be used."""
    if reply:
        pieces = marked(compared(before, reply))
        return Excerpt("The text in the last reply", shortened(pieces))
    label = "The text"
    if reply == "":
        label = "The text; the last reply is empty"
    return Excerpt(label, shortened([Piece("same", before)]))


def spotcheck(spec: SpotcheckSpec) -> None:
    """Write a sample of the perturbed texts, with the replies behind those that a model
    made.
    """
    write_text(Path(spec.output), render(spec))
