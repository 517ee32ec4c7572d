"""Write what a judge learns: prompts about the sample, and what its teacher said as replies."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.cells import cell_file, split
from judgescope.core.errors import UserError
from judgescope.distill.prompts import prompts
from judgescope.distill.replies import taught_reply, taught_score
from judgescope.engines.subjects import Subjects
from judgescope.jobs.run import run
from judgescope.parsing.locate import LocatedSpan
from judgescope.prompts import as_messages
from judgescope.schema.tables import read_part, read_table
from judgescope.scoring.annotators import first_lists

Row = dict[str, Any]
Spec = dict[str, Any]
Place = tuple[str, str, str]
"""(dataset, set of targets or split, aspect)."""
SPLITS = {False: "train", True: "held_out"}


class Said(NamedTuple):
    """A text and an aspect of the sample, and the example it makes, or why it makes none."""

    row: Row
    example: Row | None
    why: str

    @property
    def place(self) -> Place:
        """Return dataset, split and aspect."""
        return self.row["dataset"], SPLITS[self.row["held_out"]], self.row["aspect"]


def main(spec: Spec) -> None:
    """Join the sample with the teacher's judgments; write an example a line, and their counts."""
    names = ["dataset", "item", "target", "perturbation", "aspect", "held_out"]
    cells: dict[Place, list[Row]] = {}
    for row in read_table("samples", spec["sample"], names).to_pylist():
        cells.setdefault((row["dataset"], row["perturbation"], row["aspect"]), []).append(row)
    texts = {name: Subjects(spec["results"], name, spec["seed"]) for name, *_ in cells}
    said = [
        one
        for place, rows in sorted(cells.items())
        for one in _said(spec, place, rows, texts[place[0]])
    ]
    left = Counter(one.why for one in said if one.example is None)
    for why, count in sorted(left.items()):
        print(f"left out, {why}: {count:,}")
    for name in SPLITS.values():
        own = [one.example for one in said if one.example and one.place[1] == name]
        print(f"{name}: {len(own):,} examples")
        if not own:
            raise _empty(name, left)
        _write(spec["examples"][name], "".join(sorted(f"{canonical(one)}\n" for one in own)))
    planned = Counter(one.place for one in said)
    there = Counter(one.place for one in said if one.example)
    examples = [
        {"dataset": dataset, "split": split, "aspect": aspect, "n": there[dataset, split, aspect]}
        | {"n_missing": n - there[dataset, split, aspect]}
        for (dataset, split, aspect), n in sorted(planned.items())
    ]
    _write(spec["output"], canonical({"examples": examples}) + "\n")


def _write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def _said(spec: Spec, place: Place, rows: list[Row], texts: Subjects) -> list[Said]:
    """Return what a cell's sample makes."""
    dataset, name, aspect = place
    scores, judgments = (
        read_part(
            kind,
            cell_file(spec["results"], kind, dataset, spec["model"], name, spec["teacher"]),
            *split(aspect),
        )
        for kind in ("scores", "judgments")
    )
    known = dict(zip(scores["target"].to_pylist(), scores["value"].to_pylist(), strict=True))
    errors = first_lists(judgments)
    wanted = {row["target"] for row in rows}
    subjects = [one for one in texts.of(name) if one.target in wanted]
    told = prompts(spec["student"], dataset, aspect, subjects)
    shown = {one.target: prompt for one, prompt in zip(subjects, told, strict=True)}
    return [Said(row, *_example(row, shown, known, errors)) for row in rows]


def _example(
    row: Row,
    shown: Mapping[str, str],
    known: Mapping[str, float | None],
    errors: Mapping[str, list[LocatedSpan]],
) -> tuple[Row | None, str]:
    target = row["target"]
    if target not in shown:
        return None, "no text could be written"
    value = known.get(target)
    if value is None:
        return None, "the teacher has no score"
    if target not in errors:
        return None, "the teacher has no list of errors"
    score = taught_score(value)
    told = {name: row[name] for name in ("dataset", "item", "target", "aspect")}
    reply = taught_reply(errors[target], score)
    return {**told, "score": score, "messages": as_messages(shown[target]), "reply": reply}, ""


def _empty(split: str, reasons: Mapping[str, int]) -> UserError:
    why = ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
    return UserError(
        f"there is no example to {'train on' if split == 'train' else 'hold out'}",
        where="the study, key distill",
        got=why,
        todo="look at coverage.csv for what became of the teacher's judgments",
    )


if __name__ == "__main__":
    run(main)
