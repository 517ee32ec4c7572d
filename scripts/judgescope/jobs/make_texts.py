"""Let a model make texts of a dataset's originals, at once or step by step; or the originals."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from judgescope.core.sampling import share_of
from judgescope.core.set_names import ORIGINAL
from judgescope.engines.requests import Request, request_of
from judgescope.jobs.run import run
from judgescope.perturb.amounts import Amount
from judgescope.perturb.edits import edit_between
from judgescope.perturb.made import Made, appended, make_texts, whole
from judgescope.perturb.validation import more_than_one_error, undone
from judgescope.prompts import messages, to_write
from judgescope.replies.asker import Obtain, asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]


def main(spec: dict[str, Any], *, card: str, store: str, budget: str) -> None:
    """Read the originals; write the made texts, and the replies that they come from."""
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        targets, answers = _made(spec, model, obtain)
    write_table("targets", table_of("targets", targets), spec["output"])
    write_table("answers", table_of("answers", answers), spec["replies"])


def _made(
    spec: dict[str, Any], model: PromptedModel, obtain: Obtain
) -> tuple[list[Row], list[Row]]:
    """Return the targets of all steps, and the rows of the replies behind them."""
    told = spec["made"]
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})
    items = read_table("items", spec["items"], ["item", "source"]).to_pylist()
    sources = {row["item"]: row["source"] for row in items}

    def ask_for(item: str, text: str, problem: str | None) -> Request:
        seen = {"source": sources[item], "text": text, "problem": problem}
        values = to_write(spec["task"], spec["amount"], told, **seen)
        filled = messages(told["form"], spec["templates"], **values)
        return request_of(model, decoding, filled, seed=spec["seed"], about=f"text of {item}")

    chosen = share_of(sources, spec["share"], seed=spec["seed"], dataset=spec["dataset"])
    originals: list[Row] = read_table("targets", spec["input"]).to_pylist()
    usable = [row for row in originals if not row["status"].startswith("failed")]
    parents = [row for row in usable if row["item"] in chosen]
    first = {row["item"]: row["text"] for row in parents}
    targets: list[Row] = []
    answers: list[Row] = []
    for step in range(1, told["steps"] + 1):
        last = {row["item"]: row["text"] for row in parents}
        made = make_texts(
            last,
            ask_for=ask_for,
            obtain=obtain,
            checks=told["checks"],
            amount=Amount(**spec["amount"]),
            attempts=told["attempts"],
            read=lambda item: appended if told.get("reply") == "appended" else whole,
            also=partial(_step_fault, last, first) if told["steps"] > 1 else _no_fault,
        )
        rows = [_target(spec, parent, made[parent["item"]], step) for parent in parents]
        targets += rows
        answers += [one for row in rows for one in _answers(spec, row, made[row["item"]])]
        # a chain ends where a text could not be made
        parents = [row for row in rows if row["status"] == "ok"]
    return targets, answers


def _step_fault(
    last: Mapping[str, str], first: Mapping[str, str], item: str, text: str
) -> str | None:
    """Tell whether a step changes more than one error does, or takes back what an earlier did."""
    return more_than_one_error(text, last[item]) or undone(text, last[item], first[item])


def _no_fault(item: str, text: str) -> str | None:
    """Find nothing: a text that is made at once has the checks of its card alone."""
    return None


def _target(spec: dict[str, Any], parent: Row, made: Made, step: int) -> Row:
    """Return the target of a made text; an original takes the place of its reference."""
    told = {
        "text": made.text,
        "status": made.status,
        "edits": [edit._asdict() for edit in edit_between(parent["text"], made.text)],
    }
    if spec["perturbation"] == ORIGINAL:
        kept = spec["made"]["keep_failed"]
        status = made.status.replace("failed", "kept", 1) if kept else made.status
        return {**parent, **told, "status": status}
    name = f"{spec['perturbation']}.{spec['degree']}"
    number = f".{step}" if spec["made"]["steps"] > 1 else ""
    return {
        **parent,
        "target": f"{parent['item']}:{name}{number}",
        "perturbation": spec["perturbation"],
        "degree": spec["degree"],
        "step": step,
        "parent": parent["target"],
        **told,
    }


def _answers(spec: dict[str, Any], row: Row, made: Made) -> list[Row]:
    """Return a row for every reply that a text took."""
    return [
        {
            "judge": spec["perturbation"],
            "kind": "edit",
            "target": row["target"],
            "hint": problem,
            **reply_columns(reply),
        }
        for problem, reply in made.tries
    ]


if __name__ == "__main__":
    run(main, "card", "store", "budget")
