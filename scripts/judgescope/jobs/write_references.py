"""Let a model write references for every item of a dataset; keep the most diverse of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from judgescope.core.sampling import share_of
from judgescope.core.set_names import ORIGINAL, REFERENCE
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.jobs.run import run
from judgescope.perturb.diversity import diverse
from judgescope.perturb.made import checked
from judgescope.prompts import messages, to_write
from judgescope.replies.asker import Obtain, asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]
Spec = dict[str, Any]
Replies = list[Reply]


def main(spec: Spec, *, card: str, store: str, budget: str) -> None:
    """Ask for many references of each item; write those that are kept, and the originals."""
    items = read_table("items", spec["items"]).to_pylist()
    share = {"seed": spec["seed"], "dataset": spec["dataset"]}
    chosen = share_of((row["item"] for row in items), spec["share"], **share)
    items = sorted((row for row in items if row["item"] in chosen), key=lambda row: row["item"])
    known = {row["item"]: row["text"] for row in read_table("targets", spec["input"]).to_pylist()}
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        replies = _replies(spec, items, known, model, obtain)
    kept = [row for one in items for row in _kept(spec, one["item"], replies[one["item"]], known)]
    write_table("targets", table_of("targets", kept), spec["kept"])
    originals = [row | {"step": 0} for row in kept if not row["step"]]
    write_table("targets", table_of("targets", originals), spec["output"])
    answers = [row for item, each in replies.items() for row in _answers(item, each)]
    write_table("answers", table_of("answers", answers), spec["replies"])


def _replies(
    spec: Spec, items: Iterable[Row], known: Mapping[str, str], model: PromptedModel, obtain: Obtain
) -> dict[str, Replies]:
    """Return item -> the replies to all draws of its request."""
    told = spec["made"]
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})

    def ask_for(item: Row) -> Request:
        seen = {"source": item["source"], "text": known.get(item["item"], ""), "problem": None}
        filled = messages(
            told["form"], spec["templates"], **to_write(spec["task"], {}, told, **seen)
        )
        about, seed = f"references of {item['item']}", spec["seed"]
        return request_of(model, decoding, filled, seed=seed, draws=told["draws"], about=about)

    requests = {item["item"]: ask_for(item) for item in items}
    replies = obtain(requests.values())
    return {
        item: [replies[request.key, draw] for draw in range(request.draws)]
        for item, request in requests.items()
    }


def _kept(spec: Spec, item: str, replies: Replies, known: Mapping[str, str]) -> list[Row]:
    """Return the references of an item that are kept, the one most like all others first.

    Where none can be used, the data's own takes its place if the card wants it, else none does.
    """
    told = spec["made"]
    parent = known.get(item, "")
    checks = told["checks"] if parent else ["not_refusal"]  # there is no length to be held to
    read = [checked(reply, parent, checks) for reply in replies]
    usable = [text for text, problem in read if problem is None]
    if usable:
        places = diverse(usable, told["keep"])
        return [_row(spec, item, usable[at], "ok", step) for step, at in enumerate(places)]
    why = f"none of {len(read)} can be used: {read[0][1]}"
    status = "kept" if told["keep_failed"] and parent else "failed"
    return [_row(spec, item, parent, f"{status}: {why}", 0)]


def _row(spec: Spec, item: str, text: str, status: str, step: int) -> Row:
    name = f"{item}:{ORIGINAL}" if not step else f"{item}:written.{step}"
    return {
        **{"dataset": spec["dataset"], "target": name, "item": item, "system": REFERENCE},
        **{"perturbation": ORIGINAL, "step": step, "text": text, "status": status, "edits": []},
    }


def _answers(item: str, replies: Replies) -> list[Row]:
    known = {"judge": ORIGINAL, "kind": "write", "target": f"{item}:{ORIGINAL}"}
    return [{**known, **reply_columns(reply)} for reply in replies]


if __name__ == "__main__":
    run(main, "card", "store", "budget")
