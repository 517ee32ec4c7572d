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

DRAWN, UNDONE = 10, 3
"""Texts of a cell that are shown: perturbed ones, and those that could not be."""
LONGEST_STATUS = 300
"""Characters."""
DONE = ("ok", "short")
"""Outcomes of a planned perturbation that took effect, as wanted or in part."""
OUTCOMES = (*DONE, "impossible", "failed")

Row = dict[str, Any]


@dataclass(frozen=True)
class Example:
    """One text as it is shown: its item, its outcome, and its views."""

    item: str
    status: str
    views: Sequence[Excerpt]


@dataclass(frozen=True)
class Sample:
    """What is shown of one perturbation of a dataset: a perturbation in one degree."""

    id: str
    card: PerturbationCard
    degree: str
    asked: str
    counts: Mapping[str, int]
    done: Sequence[Example]
    undone: Sequence[Example]


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
        outcomes=OUTCOMES,
    )


def samples(spec: SpotcheckSpec, dataset: str) -> Iterator[Sample]:
    """Yield the samples of a dataset, in the order in which the study names its
    perturbation.
    """
    originals = texts_of(f"{spec.results}/targets/{dataset}/original.parquet")
    for perturbation in spec.datasets[dataset].sets:
        yield _sample(spec, originals, dataset, perturbation)


def _sample(
    spec: SpotcheckSpec,
    originals: Mapping[str, str],
    dataset: str,
    perturbation: PerturbedSet,
) -> Sample:
    name, degree = perturbation.perturbation, perturbation.degree
    card, file = spec.perturbations[name], f"{dataset}/{name}.{degree}.parquet"
    table = read_table("targets", f"{spec.results}/targets/{file}")
    done, undone = drawn(table, spec.seed, dataset, name, degree)
    replies: dict[str, str] = {}  # the last reply for a text decided its outcome
    if undone and card.method != "rule":
        answers = read_table(
            "answers", f"{spec.results}/made/{file}", ["target", "text"]
        )
        replies = {row["target"]: row["text"] for row in answers.to_pylist()}
    # a text of a chain was made from the one before
    chain = texts_of(f"{spec.results}/targets/{file}") if card.kind == "chain" else {}
    before = {**originals, **chain}

    def example(row: Row) -> Example:
        edits = [Edit(**edit) for edit in row["edits"] or ()]
        graded = card.kind == "graded"  # made from any reference of the item
        text = undone_edits(row["text"], edits) if graded else before[row["parent"]]
        if _outcome(row["status"]) in DONE:
            views = _perturbed(text, row["text"], edits, card)
        else:
            views = [_unperturbed(text, replies.get(row["target"]))]
        steps = {"chain": f"step {row['step']}, ", "graded": f"{row['step']} errors, "}
        status = row["status"]  # an endpoint's message may be a page of its own
        cut = f"{status[:LONGEST_STATUS]} …" if len(status) > LONGEST_STATUS else status
        return Example(row["item"], steps.get(card.kind, "") + cut, views)

    amount = perturbation.amount.items()
    return Sample(
        id=f"{dataset}.{name}.{degree}",
        card=card,
        degree="" if degree == "single" else degree,
        asked=", ".join(
            f"{key} = {value}" for key, value in amount if value is not None
        ),
        counts=Counter(map(_outcome, table["status"].to_pylist())),
        done=[example(row) for row in done],
        undone=[example(row) for row in undone],
    )


def _outcome(status: str) -> str:
    return status.partition(":")[0]


def drawn(
    table: pa.Table, seed: int, dataset: str, name: str, degree: str
) -> tuple[list[Row], list[Row]]:
    """Return some perturbed texts and some that could not be, in the order of the
    table.

    Which ones they are depends on the names of the texts and not on that order.
    """
    outcomes = list(map(_outcome, table["status"].to_pylist()))
    names = table["target"].to_pylist()
    rng = stream(seed, "spotcheck", dataset, name, degree)
    found = []
    for limit, done in ((DRAWN, True), (UNDONE, False)):
        places = [
            at for at, outcome in enumerate(outcomes) if (outcome in DONE) == done
        ]
        places.sort(key=names.__getitem__)
        chosen = sorted(
            places[at] for at in rng.permutation(len(places))[:limit].tolist()
        )
        found.append(table.take(pa.array(chosen, pa.int64())).to_pylist())
    return found[0], found[1]


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
        return Excerpt(
            "The text in the last reply", shortened(marked(compared(before, reply)))
        )
    label = "The text; the last reply is empty" if reply == "" else "The text"
    return Excerpt(label, shortened([Piece("same", before)]))


def spotcheck(spec: SpotcheckSpec) -> None:
    """Write a sample of the perturbed texts, with the replies behind those that a model
    made.
    """
    write_text(Path(spec.output), render(spec))
