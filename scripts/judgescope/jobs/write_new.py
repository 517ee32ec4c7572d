"""Let a model write texts for a judge to learn from, where they are drawn."""

from typing import Any

from judgescope.core.set_names import new_target
from judgescope.engines.requests import Reply, request_of
from judgescope.jobs.run import run
from judgescope.perturb.made import checked
from judgescope.prompts import messages, to_write
from judgescope.replies.asker import asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import Decoding
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]
Spec = dict[str, Any]


def main(spec: Spec, *, card: str, store: str, budget: str) -> None:
    """Ask for the texts that are drawn; write them, and the replies behind them."""
    told = spec["made"]
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})
    items = _drawn(spec)
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        asked = {}
        for item in items:
            names = to_write(spec["task"], {}, {}, source=item["source"], text="")
            filled = messages(told["form"], spec["templates"], **names)
            about = f"a text about {item['item']}"
            asked[item["item"]] = request_of(
                model, decoding, filled, seed=spec["seed"], about=about
            )
        replies = obtain(asked.values())
    said = {item: replies[request.key, 0] for item, request in asked.items()}
    rows = [_row(spec, item, reply) for item, reply in said.items()]
    write_table("targets", table_of("targets", rows), spec["output"])
    answers = [
        {"judge": spec["set"], "kind": "write", "target": new_target(item, spec["set"])}
        | reply_columns(reply)
        for item, reply in said.items()
    ]
    write_table("answers", table_of("answers", answers), spec["replies"])


def _drawn(spec: Spec) -> list[Row]:
    """Return the items about which a text of this model is drawn."""
    names = ["dataset", "item", "perturbation"]
    wanted = {
        row["item"]
        for row in read_table("samples", spec["sample"], names).to_pylist()
        if (row["dataset"], row["perturbation"]) == (spec["dataset"], spec["set"])
    }
    items = read_table("items", spec["items"]).to_pylist()
    return sorted((row for row in items if row["item"] in wanted), key=lambda row: row["item"])


def _row(spec: Spec, item: str, reply: Reply) -> Row:
    text, problem = checked(reply, "", ["not_refusal"])
    name, _, writer = spec["set"].partition(".")
    return {
        **{"dataset": spec["dataset"], "target": new_target(item, spec["set"]), "item": item},
        **{"system": spec["set"], "perturbation": name, "degree": writer, "step": 0},
        **{"text": text, "status": f"failed: {problem}" if problem else "ok", "edits": []},
    }


if __name__ == "__main__":
    run(main, "card", "store", "budget")
