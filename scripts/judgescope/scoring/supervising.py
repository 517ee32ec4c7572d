"""Requests to a supervisor to merge the errors that an ensemble's members found into
one list.
"""

from collections.abc import Iterator
from typing import Annotated

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.cells import CellBlock, split, unpack
from judgescope.core.job_files import IN, OUT
from judgescope.engines.requests import Request
from judgescope.parsing.text import LocatedSpan
from judgescope.prompts import TextWords, to_merge_names
from judgescope.replies.asking import asker, prompted
from judgescope.replies.judging import reply_columns
from judgescope.replies.specs import ModelSpec, StoppedPrompt
from judgescope.schema.cards import PromptedModel
from judgescope.schema.rows import QuestionKey
from judgescope.schema.tables import read_part, table_of, texts_of, write_table
from judgescope.scoring.aggregate import Scored
from judgescope.scoring.ensembles import heard, with_errors

SupervisedCell = tuple[str, str, str]
"""(perturbation, judge, aspect)."""


class MergedJudge(StoppedPrompt, frozen=True, kw_only=True):
    """An ensemble, and the prompt by which its supervisor merges its members'
    errors.
    """

    members: list[str]
    min_annotators: int


class MemberFiles(SpecPart, frozen=True, kw_only=True):
    """The files of a member's cells; `{}` stands for `<perturbation>/<judge>`."""

    judgments: str
    scores: str
    hashes: Annotated[str, IN]
    """The file of the hashes of these files."""


class MergeSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a supervisor merges the errors that members of ensembles
    list.
    """

    dataset: str
    seed: int
    about: TextWords
    """What prompts say about the kind of the texts."""
    model: ModelSpec
    ensembles: dict[str, MergedJudge]
    members: dict[str, MemberFiles]
    """Member -> the files of its cells."""
    cells: list[CellBlock]
    templates: dict[str, dict[str, str]]
    """Prompt form -> file name -> template."""
    targets: Annotated[dict[str, str], IN]
    """Set of texts -> its file."""
    output: Annotated[str, OUT]

    def members_files(self, cell: SupervisedCell) -> list[tuple[str, str]]:
        """Return the files of a cell's judgments and scores, for each member."""
        perturbation, judge, _ = cell
        files = list[tuple[str, str]]()
        for member in self.ensembles[judge].members:
            name = f"{perturbation}/{member}"
            member_files = self.members[member]
            judgments = member_files.judgments.format(name)
            files.append((judgments, member_files.scores.format(name)))
        return files


def questions(
    spec: MergeSpec, model: PromptedModel, cell: SupervisedCell
) -> Iterator[tuple[QuestionKey, Request]]:
    """Yield the requests of one cell of an ensemble, each with the first columns of its
    answer.

    The judgments, scores and texts of the cell must exist.
    """
    perturbation, judge, worded_aspect = cell
    ensemble = spec.ensembles[judge]
    aspect, criterion = split(worded_aspect)
    texts = texts_of(spec.targets[perturbation])
    members = list[Scored]()
    for judgments_file, scores_file in spec.members_files(cell):
        judgments = read_part("judgments", judgments_file, aspect, criterion)
        scores = read_part("scores", scores_file, aspect, criterion)
        members.append((judgments, scores))
    lists_of = heard(members, min_annotators=ensemble.min_annotators)
    for target, lists in with_errors(lists_of):
        errors = list[list[dict[str, object]]]()
        for member in lists:
            if member:
                errors.append([_shown(error) for error in member])
        request = prompted(
            ensemble,
            spec.templates[ensemble.form],
            model,
            to_merge_names(spec.about, texts[target], errors),
            seed=spec.seed,
            about=f"errors of {target} by {judge}",
        )
        question: QuestionKey = {
            "judge": judge,
            "kind": "merge",
            "target": target,
            "target_b": None,
            "aspect": aspect,
            "criterion": criterion,
            "hint": None,
        }
        yield question, request


def _shown(error: LocatedSpan) -> dict[str, object]:
    """Return an error for a prompt: each text on one line, because labels begin
    lines.
    """
    return {
        "location": _on_one_line(error.location),
        "explanation": _on_one_line(error.explanation),
        "category": _on_one_line(error.category),
        "severity": error.severity,
    }


def _on_one_line(text: str | None) -> str | None:
    """Return a text with single spaces; an empty one unchanged."""
    return " ".join(text.split()) if text else text


def merge(spec: MergeSpec, *, card: str, store: str, budget: str) -> None:
    """Ask about every text in which a contributing member found an error; write the
    replies.
    """
    with asker(spec.model, card=card, store=store, budget=budget) as (model, obtain):
        asked = list[tuple[QuestionKey, Request]]()
        for cell in unpack(spec.cells):
            asked += questions(spec, model, cell)
        replies = obtain(request for _, request in asked)
    rows = list[dict[str, object]]()
    for question, request in asked:
        rows.append({**question, **reply_columns(replies[request.key, 0])})
    write_table("answers", table_of("answers", rows), spec.output)
