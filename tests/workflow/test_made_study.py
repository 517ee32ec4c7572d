"""Shipped cards with examples, from the prompt to the texts that are judged."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from asking import FAST, AskedStudy, rate
from judgescope.perturb.edits import Edit, apply_edits
from judgescope.schema.tables import read_table
from scripted import Body, Said, reply, serve
from validators import card_of

pytestmark = pytest.mark.slow
MORE = "Later on somebody lost an umbrella."
DETAIL = " in borrowed yellow boots"


def write_or_rate(body: Body) -> Said:
    """Go on after a text, or put a detail before its last mark; at the first try, twice as much."""
    prompt = body["messages"][0]["content"]
    if "\nAdjustment: " not in prompt:
        return rate(body)
    again = "An earlier attempt cannot be used: it has 2 " in prompt
    if "Write the new sentence alone" in prompt:
        return reply(MORE if again else f"{MORE} Nobody found it.")
    text = prompt.rsplit("The reply in a dialogue:\n", 1)[1].split("\n\n")[0]
    first = text.index(" ")
    changed = text[:-1] + DETAIL + text[-1]
    return reply(changed if again else f"{text[:first]}, green furry gloves,{changed[first:]}")


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / "results/asked/targets/demo-dialogue" / f"{name}.parquet"
    found: list[dict[str, Any]] = read_table("targets", path).to_pylist()
    return found


def test_texts_with_one_change_too_many_are_asked_for_again_and_judged(tmp_path: Path) -> None:
    with serve(write_or_rate) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        own = {"engine": "openai", "base_url": endpoint.url, "limits": FAST, "probe": False}
        study.card("models", "generator", **own)
        kinds = ["continuation", "complement", "sentence-exchange"]
        study.write(perturbations=kinds, methods=["discernment"])
        done = study.run()
    assert done.returncode == 0, done.stdout
    originals = {row["item"]: row["text"] for row in rows(tmp_path, "original")}
    for row in rows(tmp_path, "continuation.single"):
        assert row["status"] == "ok" and row["text"] == f"{originals[row['item']]} {MORE}"
    for row in rows(tmp_path, "complement.single"):
        text = originals[row["item"]]
        assert row["status"] == "ok" and row["text"] == text[:-1] + DETAIL + text[-1]
        edits = [Edit(**edit) for edit in row["edits"]]
        assert apply_edits(text, edits) == row["text"] and len(edits) == 1
    reasons = Counter(row["status"] for row in rows(tmp_path, "sentence-exchange.single"))
    assert reasons.keys() <= {"ok", "impossible: fewer than two different sentences"}
    prompts = [prompt for prompt in endpoint.prompts if "\nAdjustment: " in prompt]
    assert len(prompts) == 2 * 2 * len(originals)
    for kind in ("continuation", "complement"):
        shown = card_of(kind).demonstrations
        assert sum(all(one.changed in prompt for one in shown) for prompt in prompts) == 48
