"""Take the texts that a dataset brings for one aspect, with their ratings or in their order."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgescope.data.dualeval import Given, given
from judgescope.data.files import resolve
from judgescope.jobs.run import Spec, run
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import CHOSEN, read_table, table_of, write_table

SYSTEM = "given"
"""Who wrote the texts: nobody that is known."""
Row = dict[str, Any]


def main(spec: Spec) -> None:
    """Read the texts of one role and aspect; write the targets, and the ratings if they have any.

    Those of items that the study's selection left out are left out, too.
    """
    folder, role = Path(spec["folder"]), spec["role"]
    where = str(folder / f"{spec['dataset'].get('dataset')}.yaml")
    card: Dataset = validate_card("dataset", spec["dataset"], where)
    files = resolve(card.files, role, folder, Path(spec["data"]), where=where)
    items = read_table("items", spec["items"], ["item", "source"]).to_pylist()
    texts = given(card, files, role, spec["aspect"])
    rows = list(_targets(spec, texts, {row["source"]: row["item"] for row in items}))
    write_table("targets", table_of("targets", [target for target, _ in rows]), spec["output"])
    if role == "global":
        graded = [_graded(spec, target, one) for target, one in rows]
        write_table("graded", table_of("graded", graded), spec["graded"])


def _targets(spec: Spec, texts: list[Given], items: dict[str, str]) -> Iterator[tuple[Row, Given]]:
    """Yield each text as a target; a text in a row has its place as a number, others count."""
    counted: Counter[str] = Counter()
    for one in texts:
        if (item := items.get(one.source)) is None:
            continue
        counted[item] += 1
        number = counted[item] if spec["role"] == "global" else one.step
        yield (
            {
                "dataset": spec["dataset"]["dataset"],
                "target": f"{item}:{spec['perturbation']}.{spec['degree']}.{number}",
                "item": item,
                "system": SYSTEM,
                "perturbation": spec["perturbation"],
                "degree": spec["degree"],
                "step": one.step,
                "text": one.text,
                "status": "ok",
                "edits": [],
            },
            one,
        )


def _graded(spec: Spec, target: Row, one: Given) -> Row:
    assert one.rating is not None  # `given` says so
    return {
        **{name: target[name] for name in ("dataset", "target", "item")},
        "aspect": spec["aspect"],
        "rating": min(spec["classes"], key=lambda value: abs(value - one.rating)),
        "n_tied": 0,
        "status": CHOSEN,
    }


if __name__ == "__main__":
    run(main)
