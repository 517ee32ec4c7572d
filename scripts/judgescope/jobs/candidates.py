"""Put more or fewer errors into a dataset's references, by rule or by a model: candidates."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import ceil
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.sampling import share_of
from judgescope.core.set_names import REFERENCE
from judgescope.data.rated import BY_REFERENCE
from judgescope.engines.requests import Request, request_of
from judgescope.jobs.run import run
from judgescope.parsing.text import without_reasoning
from judgescope.perturb.candidates import (
    Base,
    Candidate,
    bases_of,
    by_rule,
    drawn_parts,
    evenly,
    of_each_rating,
    on_trial,
)
from judgescope.perturb.edits import Edit
from judgescope.perturb.grading import by_anchors, counts_of_each, usable
from judgescope.perturb.made import Made, Read, make_texts
from judgescope.perturb.marks import marked_edits, unmarked
from judgescope.prompts import messages, to_write
from judgescope.replies.asker import Obtain, asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]
Spec = dict[str, Any]


def main(spec: Spec, *, card: str, store: str, budget: str) -> None:
    """Read references, choose those that get errors, make the candidates of one part."""
    items = {row["item"]: row for row in read_table("items", spec["items"]).to_pylist()}
    wanted = list(_wanted(spec, _bases(spec, items)))
    if "made" not in spec:
        write_table("targets", table_of("targets", _by_rule(spec, wanted)), spec["output"])
        return
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        made = _by_model(spec, items, wanted, model, obtain)
    rows = [_of_model(spec, one, made.get(_name(spec, one))) for one in wanted]
    write_table("targets", table_of("targets", rows), spec["output"])
    answers = [row for about, one in made.items() for row in _answers(spec, about, one)]
    write_table("answers", table_of("answers", answers), spec["replies"])


def _bases(spec: Spec, items: Mapping[str, Row]) -> dict[str, list[Base]]:
    """Return item -> the references that get errors, for the items of this part."""
    share = spec["share"] * spec.get("trial", 1)
    chosen = share_of(items, share, seed=spec["seed"], dataset=spec["dataset"])
    rows = read_table("targets", spec["input"]).to_pylist()
    used = [one for one in rows if not one["status"].startswith("failed")]
    first = {one["item"]: (one["target"], one["text"]) for one in used if one["item"] in chosen}
    return bases_of(first, _others(spec, items), spec["references"])


def _others(spec: Spec, items: Mapping[str, Row]) -> Callable[[str], list[Base]]:
    """Return what tells an item's further references: written ones, or those of the data."""
    if spec["written"]:
        found: dict[str, list[Base]] = {}
        for row in read_table("targets", spec["written"]).to_pylist():
            found.setdefault(row["item"], []).append((row["target"], row["text"]))
        return lambda item: found.get(item, [])[1:]

    def of_data(item: str) -> list[Base]:
        own = json.loads(items[item]["meta"]).get("original_reference")
        numbered = enumerate(items[item]["references"])
        return [(f"{item}{BY_REFERENCE}{at}", text) for at, text in numbered if at != own]

    return of_data


def _wanted(spec: Spec, bases: Mapping[str, list[Base]]) -> Iterator[Candidate]:
    """Return the candidates of this part."""
    if spec["part"] == "all":
        return evenly(bases, spec["targets"], spec["counts"])
    if spec["part"] == "trial":
        return on_trial(bases, spec["most_errors"])
    rows, _ = usable(read_table("targets", spec["tried"]).to_pylist())
    compared = read_table("comparisons", spec["compared"]).to_pylist()
    grades = by_anchors(rows, compared, spec["classes"])
    if all(one.rating is None for one in grades.values()):
        raise UserError(
            "no text on trial could be rated: every comparison is a tie, or has no answer",
            where=f"perturbations/{spec['perturbation']}.yaml, key anchors",
            got=f"{len(rows)} texts of {spec['dataset']}",
            todo="name another comparator or form",
        )
    counts = counts_of_each(rows, grades, len(spec["classes"]))
    each = ceil(spec["surplus"] * spec["targets"] / len(counts))
    names = [spec["dataset"], spec["perturbation"]]
    return of_each_rating(bases, each, counts, seed=spec["seed"], names=names)


def _by_rule(spec: Spec, wanted: list[Candidate]) -> list[Row]:
    """Return the candidates' targets, with errors that rules make."""
    named = {"seed": spec["seed"], "names": [spec["dataset"], spec["perturbation"]]}
    made = [(one, by_rule(one, spec["errors"], **named)) for one in wanted]
    return [_target(spec, one, text.text, text.status, text.edits) for one, text in made]


def _by_model(
    spec: Spec,
    items: Mapping[str, Row],
    wanted: list[Candidate],
    model: PromptedModel,
    obtain: Obtain,
) -> dict[str, Made]:
    """Return target -> the text that the model makes of it; one without errors needs no model."""
    told = spec["made"]
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})
    known = {_name(spec, one): one for one in wanted if one.errors}
    names = [spec["dataset"], spec["perturbation"]]
    parts = told["aspect"]["sub_aspects"]

    def ask_for(about: str, text: str, problem: str | None) -> Request:
        one = known[about]
        drawn = drawn_parts(one, len(parts), seed=spec["seed"], names=names)
        seen = {"source": items[one.item]["source"], "text": text, "problem": problem}
        values = to_write(spec["task"], {"k": one.errors}, told, **seen)
        values["errors"] = [parts[place] for place in drawn]
        filled = messages(told["form"], spec["templates"], **values)
        return request_of(model, decoding, filled, seed=spec["seed"], about=about)

    def read(about: str) -> Read:
        def marked(said: str, parent: str) -> tuple[str, str | None]:
            return unmarked(said), marked_edits(said, parent, known[about].errors)[1]

        return marked

    return make_texts(
        {about: one.base[1] for about, one in known.items()},
        ask_for=ask_for,
        obtain=obtain,
        checks=["differs", "not_refusal", "length"],
        attempts=told["attempts"],
        read=read,
        apart=True,
    )


def _of_model(spec: Spec, one: Candidate, made: Made | None) -> Row:
    """Return the target of a candidate that a model made; None for one without errors."""
    if made is None:
        return _target(spec, one, one.base[1], "ok", [])
    said, _ = without_reasoning(made.reply.text)
    edits = marked_edits(said, one.base[1], one.errors)[0] if made.status == "ok" else []
    return _target(spec, one, made.text, made.status, edits)


def _target(spec: Spec, one: Candidate, text: str, status: str, edits: Iterable[Edit]) -> Row:
    return {
        "dataset": spec["dataset"],
        "target": _name(spec, one),
        "item": one.item,
        "system": REFERENCE,
        "perturbation": spec["perturbation"],
        "degree": spec["degree"],
        "step": one.errors,
        "parent": one.base[0],
        "text": text,
        "status": status,
        "edits": [edit._asdict() for edit in edits],
    }


def _name(spec: Spec, one: Candidate) -> str:
    return f"{one.item}:{spec['perturbation']}.{spec['degree']}.{one.number}"


def _answers(spec: Spec, about: str, made: Made) -> list[Row]:
    """Return a row for every reply that a text took."""
    known = {"judge": spec["perturbation"], "kind": "edit", "target": about}
    return [{**known, "hint": problem, **reply_columns(reply)} for problem, reply in made.tries]


if __name__ == "__main__":
    run(main, card="", store="", budget="")
