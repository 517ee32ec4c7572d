"""Asks a model of engine vllm as the asking scripts do, for tests that run in another
interpreter.

As a program it reads orders, one JSON object a line, from its standard input, and
answers each with one line: `{"card": FILE, "store": FOLDER, "prompts": [...], "draws":
1, "decoding": {...}, "asked": {...}}` -> the replies of each prompt, draw by draw. An
engine is kept from one order to the next, as a job keeps it.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgescope.core.errors import UserError
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Ask, Request, request_of
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.loading import read_card


def requests(model: PromptedModel, order: dict[str, Any]) -> list[Request]:
    """Return the requests of an order."""
    decoding = Decoding(
        **{"temperature": 1.0, "max_tokens": 12, **order.get("decoding", {})}
    )
    made = [
        request_of(
            model,
            decoding,
            [{"role": "user", "content": prompt}],
            seed=0,
            about=prompt[:9],
        )
        for prompt in order["prompts"]
    ]
    return [
        Request({**each.asked, **order.get("asked", {})}, order["draws"])
        for each in made
    ]


def answer(order: dict[str, Any], engines: dict[str, Ask]) -> Any:
    """Return the replies of an order, or why there are none."""
    path = Path(order["card"])
    model = settled(read_card("model", path), path.parent, Path("data"))
    assert isinstance(model, PromptedModel)
    engine = engines.setdefault(order["card"], asking(model))
    wanted = requests(model, order)
    try:
        with Store(Path(order["store"]), model.served_name) as store:
            result = obtain(wanted, AskingJob(store, engine))
    except UserError as error:
        return {"error": str(error)}
    return [
        [asdict(result[each.key, draw]) for draw in range(each.draws)]
        for each in wanted
    ]


def main() -> None:
    """Answer orders until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what vLLM prints is for the log
    engines: dict[str, Ask] = {}
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), engines)), file=answers, flush=True)


if __name__ == "__main__":
    main()
