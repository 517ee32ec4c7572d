"""Requests to a supervisor to merge the errors that an ensemble's members found into
one list.
"""

from collections.abc import Iterator

from judgescope.core.cells import split, unpack
from judgescope.engines.requests import Request
from judgescope.parsing.text import LocatedSpan
from judgescope.prompts import to_merge_names
from judgescope.replies.asking import asker, prompted
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import PromptedModel
from judgescope.schema.rows import QuestionKey
from judgescope.schema.tables import read_part, table_of, texts_of, write_table
from judgescope.scoring.aggregate import ScoredCell
from judgescope.scoring.ensembles import heard, with_errors
from judgescope.scoring.merge_specs import MergeSpec, SupervisedCell


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
    members = list[ScoredCell]()
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
    if text:
        return " ".join(text.split())
    return text


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
