"""Let a supervisor make one list of the errors that the members of an ensemble found in a text."""

from collections.abc import Iterator, Mapping
from typing import Any

from metajudge.cells import split, unpack
from metajudge.command import run
from metajudge.engines.asked import Request, request_of
from metajudge.prompts import messages, to_merge_names
from metajudge.replies.asker import asker
from metajudge.replies.judging import reply_columns
from metajudge.schema.cards import Decoding, PromptedModel
from metajudge.schema.tables import read_table, table_of, texts_of, write_table
from metajudge.scoring.annotators import Lists, heard, with_errors

Row = dict[str, Any]
Asked = list[tuple[Row, Request]]
"""The first columns of an answer's row, and what it answers."""


def main(spec: dict[str, Any], *, card: str, store: str, budget: str) -> None:
    """Ask about every text in which a member that is heard found an error; write the replies."""
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        asked = [one for cell in unpack(spec["cells"]) for one in _asked(spec, model, cell)]
        replies = obtain(request for _, request in asked)
    rows = [{**row, **reply_columns(replies[request.key, 0])} for row, request in asked]
    write_table("answers", table_of("answers", rows), spec["output"])


def _asked(spec: Row, model: PromptedModel, cell: tuple[str, str, str]) -> Asked:
    """Return what is asked for one cell of an ensemble."""
    perturbation, judge, aspect = cell
    told, (plain, criterion) = spec["ensembles"][judge], split(aspect)
    texts = texts_of(f"{spec['results']}/targets/{spec['dataset']}/{perturbation}.parquet")
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})
    known = {"judge": judge, "kind": "merge", "aspect": plain, "criterion": criterion}
    asked = []
    for target, lists in with_errors(_heard(spec, told, perturbation, aspect)):
        shown = to_merge_names(texts[target], [list(_shown(one)) for one in lists if one])
        filled = messages(told["form"], spec["templates"][told["form"]], **shown)
        about = f"errors of {target} by {judge}"
        request = request_of(model, decoding, filled, seed=spec["seed"], about=about)
        asked.append(({**known, "target": target}, request))
    return asked


def _heard(
    spec: Row, told: Mapping[str, Any], perturbation: str, aspect: str
) -> Mapping[str, Lists]:
    """Return target -> the members' lists of errors that the supervisor gets to see."""
    place = f"{spec['results']}/{{}}/{spec['dataset']}/{perturbation}/{{}}/{aspect}.parquet"
    tables = {
        name: [read_table(name, place.format(name, member)) for member in told["members"]]
        for name in ("judgments", "scores")
    }
    return heard(**tables, min_annotators=told["min_annotators"])


def _shown(errors: Any) -> Iterator[Row]:
    """Yield the errors as a prompt shows them."""
    names = ("location", "explanation", "severity", "category")
    return ({name: getattr(error, name) for name in names} for error in errors)


if __name__ == "__main__":
    run(main, "card", "store", "budget")
