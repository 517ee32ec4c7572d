"""Requests to a supervisor to merge the errors that an ensemble's members found into
one list.
"""

from collections.abc import Iterator
from typing import Any

from judgescope.core.canonical import JobSpec
from judgescope.core.cells import Block, split, unpack
from judgescope.core.paths import Paths
from judgescope.engines.requests import Request
from judgescope.parsing.text import LocatedSpan
from judgescope.prompts import to_merge_names
from judgescope.replies.asking import asker, prompted
from judgescope.replies.judging import reply_columns
from judgescope.replies.specs import ModelSpec, PromptSpec
from judgescope.schema.cards import PromptedModel
from judgescope.schema.tables import read_part, table_of, texts_of, write_table
from judgescope.scoring.ensembles import heard, with_errors

Row = dict[str, Any]
Cell = tuple[str, str, str]
"""(perturbation, judge, aspect)."""


class MergedJudge(PromptSpec, frozen=True, kw_only=True):
    """An ensemble, and the prompt by which its supervisor merges its members'
    errors.
    """

    members: list[str]
    min_annotators: int


class MergeSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a supervisor merges the errors that members of ensembles
    list.
    """

    dataset: str
    seed: int
    model: ModelSpec
    ensembles: dict[str, MergedJudge]
    models: dict[str, str]
    """Member -> its model."""
    cells: list[Block]
    templates: dict[str, dict[str, str]]
    """Prompt form -> file name -> template."""
    results: str
    output: str

    def texts_file(self, cell: Cell) -> str:
        """Return the file with the texts of a cell."""
        return f"{self.results}/targets/{self.dataset}/{cell[0]}.parquet"

    def members_files(self, cell: Cell) -> list[tuple[str, str]]:
        """Return the files of a cell's judgments and scores, for each member."""
        perturbation, judge, _ = cell
        paths = Paths(self.results)
        places = [
            (self.dataset, self.models[one], perturbation, one)
            for one in self.ensembles[judge].members
        ]
        return [
            (paths.cell("judgments", *one), paths.cell("scores", *one))
            for one in places
        ]


def questions(
    spec: MergeSpec, model: PromptedModel, cell: Cell
) -> Iterator[tuple[Row, Request]]:
    """Yield the requests of one cell of an ensemble, each with the first columns of its
    answer.

    The judgments, scores and texts of the cell must exist.
    """
    _, judge, aspect = cell
    ensemble, (plain, criterion) = spec.ensembles[judge], split(aspect)
    texts = texts_of(spec.texts_file(cell))
    known = {"judge": judge, "kind": "merge", "aspect": plain, "criterion": criterion}
    members = [
        (
            read_part("judgments", judgments, plain, criterion),
            read_part("scores", scores, plain, criterion),
        )
        for judgments, scores in spec.members_files(cell)
    ]
    lists_of = heard(members, min_annotators=ensemble.min_annotators)
    for target, lists in with_errors(lists_of):
        shown = to_merge_names(
            texts[target], [list(map(_shown, one)) for one in lists if one]
        )
        about, templates = (
            f"errors of {target} by {judge}",
            spec.templates[ensemble.form],
        )
        request = prompted(
            ensemble, templates, model, shown, seed=spec.seed, about=about
        )
        yield {**known, "target": target}, request


def _shown(error: LocatedSpan) -> Row:
    """Return an error for a prompt: each text on one line, because labels begin
    lines.
    """
    fields = {
        name: getattr(error, name) for name in ("location", "explanation", "category")
    }
    lines = {
        name: " ".join(text.split()) if text else text for name, text in fields.items()
    }
    return {**lines, "severity": error.severity}


def merge(spec: MergeSpec, *, card: str, store: str, budget: str) -> None:
    """Ask about every text in which a contributing member found an error; write the
    replies.
    """
    with asker(spec.model, card=card, store=store, budget=budget) as (model, obtain):
        asked = [
            one for cell in unpack(spec.cells) for one in questions(spec, model, cell)
        ]
        replies = obtain(request for _, request in asked)
    rows = [{**row, **reply_columns(replies[request.key, 0])} for row, request in asked]
    write_table("answers", table_of("answers", rows), spec.output)
