"""Shipped cards with examples, from the prompt to the texts that are judged."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from asking import FAST, AskedStudy, rate
from judgescope.perturb.edits import Edit, apply_edits
from judgescope.schema.tables import read_table
from scripted import Body, Said, prompt_of, reply, serve
from validators import card_of

pytestmark = pytest.mark.slow
MORE = "Later on somebody lost an umbrella."
DETAIL = " in borrowed yellow boots"


def write_or_rate(body: Body) -> Said:
    """Go on after a text, or put a detail before its last mark; at the first try, twice
    as much.
    """
    prompt = prompt_of(body)
    if "\nAdjustment: " not in prompt:
        return rate(body)
    again = "An earlier attempt cannot be used: it has 2 " in prompt
    if "Write the new sentence alone" in prompt:
        return reply(MORE if again else f"{MORE} Nobody found it.")
    text = prompt.rsplit("The reply:\n", 1)[1].split("\n\n")[0]
    first = text.index(" ")
    changed = text[:-1] + DETAIL + text[-1]
    return reply(
        changed if again else f"{text[:first]}, green furry gloves,{changed[first:]}"
    )


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / "results/asked/targets/demo-dialogue" / f"{name}.parquet"
    rows: list[dict[str, Any]] = read_table("targets", path).to_pylist()
    return rows


@pytest.mark.long(12)
def test_texts_with_a_single_change_too_many_are_asked_for_again_and_judged(
    tmp_path: Path,
) -> None:
    with serve(write_or_rate) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        fields = {
            "engine": "openai",
            "base_url": endpoint.url,
            "limits": FAST,
            "probe": False,
        }
        study.card("models", "generator", **fields)
        kinds = ["continuation", "complement", "sentence-exchange"]
        study.write(perturbations=kinds, methods=["discernment"])
        done = study.run()
    assert done.returncode == 0, done.stdout
    originals = {row["item"]: row["text"] for row in rows(tmp_path, "original")}
    for row in rows(tmp_path, "continuation.single"):
        assert (
            row["status"] == "ok" and row["text"] == f"{originals[row['item']]} {MORE}"
        )
    for row in rows(tmp_path, "complement.single"):
        text = originals[row["item"]]
        assert row["status"] == "ok" and row["text"] == text[:-1] + DETAIL + text[-1]
        edits = [Edit(**edit) for edit in row["edits"]]
        assert apply_edits(text, edits) == row["text"] and len(edits) == 1
    reasons = Counter(
        row["status"] for row in rows(tmp_path, "sentence-exchange.single")
    )
    assert reasons.keys() <= {"ok", "impossible: fewer than two different sentences"}
    prompts = [prompt for prompt in endpoint.prompts if "\nAdjustment: " in prompt]
    assert len(prompts) == 2 * 2 * len(originals)
    for kind in ("continuation", "complement"):
        shown = card_of(kind).demonstrations
        assert (
            sum(all(each.changed in prompt for each in shown) for prompt in prompts)
            == 48
        )


ITEMS, STEPS = 24, 2
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 30,
    "completion_tokens_details": {"reasoning_tokens": 20},
}
PRICE = {"input": 2, "output": 8}
ONE = (100 * 2 + 30 * 8) / 1e6
"""Dollars for one reply: what was thought is part of its 30 tokens."""
ERROR = " It was blue!"


def write_and_reason(body: Body) -> Said:
    """Put a sentence behind a text after some thought, or rate."""
    prompt = prompt_of(body)
    if "Put exactly one more error" not in prompt:
        return rate(body)
    text = prompt.split("The reply:\n")[1].split("\n\n")[0]
    result = reply(text + ERROR, reasoning_content="Which one? <b>Blue.</b>")
    assert isinstance(result.body, dict)
    return Said(result.body | {"usage": USAGE})


@pytest.mark.long(5)
def test_a_chain_by_a_model_that_takes_no_temperature(tmp_path: Path) -> None:
    with serve(write_and_reason) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        fields = {
            "base_url": endpoint.url,
            "limits": FAST,
            "probe": False,
            "price": PRICE,
        }
        study.change("models", "reasoning-writer", **fields)
        row: dict[str, Any] = {
            "name": "Worse",
            "level": "sentence",
            "method": "inject",
            "form": "inject-error",
        }
        row |= {
            "model": "reasoning-writer",
            "aspects": ["naturalness"],
            "max_tokens": 8192,
        }
        study.card("perturbations", "worse", steps=STEPS, **row)
        study.write(perturbations=["worse"], methods=["perspectives"])
        done = study.make("cost")
    assert done.returncode == 0, done.stdout[-3000:]

    written = [body for body in endpoint.asked if body["model"] == "reasoning-writer"]
    assert len(written) == ITEMS * STEPS
    for body in written:
        by_name = {name: body[name] for name in body.keys() - {"messages", "seed"}}
        assert by_name == {
            "model": "reasoning-writer",
            "max_completion_tokens": 8192,
            "reasoning_effort": "medium",
        }
        assert len(body["messages"]) == 1 and isinstance(body["seed"], int)

    folder = tmp_path / "results/asked/targets/demo-dialogue"
    before = {
        row["item"]: row["text"]
        for row in read_table("targets", folder / "original.parquet").to_pylist()
    }
    made = read_table("targets", folder / "worse.single.parquet").to_pylist()
    assert len(made) == ITEMS * STEPS
    for row in made:
        assert (
            row["status"] == "ok"
            and row["text"] == before[row["item"]] + ERROR * row["step"]
        )

    cost = {
        row["statistic"]: row["value"]
        for row in study.rows("cost")
        if row["perturbation"] == "worse"
    }
    n = len(written)
    assert (cost["replies"], cost["reasoning_tokens"]) == (n, 20 * n)
    assert cost["completion_tokens"] == 30 * n and cost["usd"] == pytest.approx(n * ONE)


def test_a_seed_and_several_draws_at_once_can_be_left_out_as_well(
    tmp_path: Path,
) -> None:
    with serve(rate_unseeded) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        spelling: dict[str, str | None] = {"max_tokens": "max_completion_tokens"}
        spelling |= dict.fromkeys(("temperature", "top_p", "seed", "n"))
        keys = {
            "base_url": endpoint.url,
            "limits": FAST,
            "probe": False,
            "field_names": spelling,
        }
        study.change("models", "reasoning-writer", **keys)
        study.card(
            "judges", "terse", model="reasoning-writer", form="score-only", draws=2
        )
        done = study.ask()
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(endpoint.asked) == 2 * 120
    fields = {"model", "messages", "max_completion_tokens", "reasoning_effort"}
    assert all(body.keys() == fields for body in endpoint.asked)


def rate_unseeded(body: Body) -> Said:
    return reply("Rating: 3")
