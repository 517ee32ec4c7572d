"""Let a model draft the steps or sub-aspects that a card lacks; people paste them into the card."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Request, request_of
from judgescope.jobs.run import run
from judgescope.parsing.steps import read_steps
from judgescope.parsing.sub_aspects import read_sub_aspects
from judgescope.perturb.made import Made, make_texts
from judgescope.prompts import PARTS, messages
from judgescope.replies.asking import obtain
from judgescope.replies.budget import spending
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.loading import read_card

DECODING = Decoding(max_tokens=2048)
ATTEMPTS = 3


def main(spec: dict[str, Any], *, card: str, store: str, budget: str) -> None:
    """Ask for a draft until a reply can be used; write it as a piece of the card."""
    model = read_card("model", Path(card)).model_copy(update=spec["model"])
    model = settled(model, Path(spec["folder"]), Path(spec["data"]))
    assert isinstance(model, PromptedModel)

    def ask_for(about: str, _: str, problem: str | None) -> Request:
        filled = messages(spec["form"], spec["templates"], **spec["told"], problem=problem)
        return request_of(model, DECODING, filled, seed=0, about=about)

    with (
        Store(Path(store), model.served_name) as shard,
        spending(budget, shard, model) as allowed,
    ):
        engine = asking(model, allowed)
        [made] = make_texts(
            {f"{spec['wanted']} of {spec['card']}": ""},
            ask_for=ask_for,
            obtain=lambda requests: obtain(requests, shard, engine),
            checks=[spec["kind"] if spec["kind"] == PARTS else "steps"],
            attempts=ATTEMPTS,
        ).values()
    if made.status != "ok":
        raise _useless(spec, made)
    keys = [reply.key for _, reply in made.tries]
    text = _head(spec, keys) + _piece(spec, made.text)
    write_text(Path(spec["output"]), text)


def _head(spec: dict[str, Any], keys: Sequence[str]) -> str:
    """Return the comment above a draft; only ids stand in it, nothing that a model wrote."""
    lines = [
        f"A model's draft of {spec['wanted']} for the task {spec['told']['task']}. Nothing uses it "
        "as it is:",
        f"read it, mend it, and paste it into {spec['card']}.",
        f"model: {spec['model']['model']}",
        f"prompt: {spec['form']}",
        "replies (the last is this one):",
        *(f"  {key}" for key in keys),
    ]
    return "".join(f"# {line}\n" for line in lines)


def _piece(spec: dict[str, Any], text: str) -> str:
    """Return what a reply says as YAML, at its place in the card."""
    place: dict[str, Any]
    if spec["kind"] == "perturbation":
        place = {"instructions": read_steps(text).texts}
    elif spec["kind"] == PARTS:
        place = {PARTS: [one._asdict() for one in read_sub_aspects(text)]}
    else:
        place = {"steps": read_steps(text).texts}
    if spec["kind"] != "perturbation":
        place = {"tasks": {spec["told"]["task"]: place}}
    return yaml.safe_dump(place, allow_unicode=True, sort_keys=False, width=100)


def _useless(spec: dict[str, Any], made: Made) -> UserError:
    return UserError(
        f"{len(made.tries)} replies of the drafter cannot be used: the last, because "
        + made.status.removeprefix("failed: "),
        where=f"models/{spec['model']['model']}.yaml, asked for the {spec['wanted']} of "
        f"{spec['card']} for the task {spec['told']['task']}",
        got=made.reply.text,
        todo="the replies are kept, and the same come again: name another `drafter`, write a "
        f"prompts/{spec['form']}.jinja of your own, or write the {spec['wanted']} yourself",
    )


if __name__ == "__main__":
    run(main, "card", "store", "budget")
