"""What a supervisor is asked: to make one list of the errors that members of an ensemble found."""

from collections.abc import Iterator, Mapping
from typing import Any

from judgescope.core.cells import cell_file, split
from judgescope.engines.requests import Request, request_of
from judgescope.parsing.locate import LocatedSpan
from judgescope.prompts import messages, to_merge_names
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.tables import read_part, texts_of
from judgescope.scoring.annotators import heard, with_errors

Row = dict[str, Any]
Cell = tuple[str, str, str]
"""(perturbation, judge, aspect)."""


def questions(
    spec: Mapping[str, Any], model: PromptedModel, cell: Cell
) -> Iterator[tuple[Row, Request]]:
    """Yield what is asked for one cell of an ensemble, each with the first columns of its answer.

    `spec` is that of the job; judgments, scores and texts of the cell must be there.
    """
    _, judge, aspect = cell
    told, (plain, criterion) = spec["ensembles"][judge], split(aspect)
    texts = texts_of(texts_file(spec, cell))
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})
    known = {"judge": judge, "kind": "merge", "aspect": plain, "criterion": criterion}
    tables = {
        name: [read_part(name, path, plain, criterion) for path in paths]
        for name, paths in members_files(spec, cell).items()
    }
    lists_of = heard(**tables, min_annotators=told["min_annotators"])
    for target, lists in with_errors(lists_of):
        shown = to_merge_names(texts[target], [list(map(_shown, one)) for one in lists if one])
        filled = messages(told["form"], spec["templates"][told["form"]], **shown)
        about = f"errors of {target} by {judge}"
        request = request_of(model, decoding, filled, seed=spec["seed"], about=about)
        yield {**known, "target": target}, request


def texts_file(spec: Mapping[str, Any], cell: Cell) -> str:
    """Return where the texts of a cell are."""
    return f"{spec['results']}/targets/{spec['dataset']}/{cell[0]}.parquet"


def members_files(spec: Mapping[str, Any], cell: Cell) -> dict[str, list[str]]:
    """Return where the members' judgments and scores of a cell are, in the order of the members."""
    perturbation, judge, _ = cell
    place = (spec["dataset"], perturbation)
    members = spec["ensembles"][judge]["members"]
    return {
        kind: [
            cell_file(spec["results"], kind, place[0], spec["models"][member], place[1], member)
            for member in members
        ]
        for kind in ("judgments", "scores")
    }


def _shown(error: LocatedSpan) -> Row:
    """Return an error as a prompt shows it: every text of it in one line, as labels begin lines."""
    told = {name: getattr(error, name) for name in ("location", "explanation", "category")}
    lines = {name: " ".join(text.split()) if text else text for name, text in told.items()}
    return {**lines, "severity": error.severity}
