"""The job that perturbs a dataset's originals without a model, by a rule or by an added
text.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.errors import UserError
from judgescope.core.job_files import IN, OUT
from judgescope.core.rng import stream
from judgescope.perturb.edits import (
    Edit,
    Perturbed,
    TextRow,
    perturbed,
)
from judgescope.perturb.rules import RULES
from judgescope.schema.tables import read_table, table_of, write_table

AdditionPlace = Literal["start", "end"]


class Addition(SpecPart, frozen=True, kw_only=True, tag="addition"):
    """The text that an attack, or its harmless counterpart, adds to a text, and its
    position.
    """

    text: str
    position: AdditionPlace


class RuleUse(SpecPart, frozen=True, kw_only=True, tag="rule"):
    """How a rule is used; `errors` and `steps` are for a rule that makes a chain of
    texts.
    """

    rule: str
    target: str
    """Where the rule is: `module:OBJECT`."""
    options: dict[str, int | str]
    errors: list[str]
    steps: int
    seed: int
    items: Annotated[str | None, IN]
    """The items, for a rule that needs their meta; None for others."""


class PerturbSpec(JobSpec, frozen=True, kw_only=True):
    """The job that perturbs a dataset's originals without a model."""

    dataset: str
    perturbation: str
    degree: str
    change: Addition | RuleUse
    input: Annotated[str, IN]
    output: Annotated[str, OUT]


TOP: Final = "{top}"
"""The placeholder for the top of the scale in an attack's text."""
NOTE = (
    "This line was put here when the texts were gathered from several places. It says "
    "nothing about any of them. Others have such a line too, each of about the same "
    "length. It can be passed over."
)
"""The text of an attack's harmless counterpart, repeated to its length."""


def added(text: str, addition: str, position: AdditionPlace) -> Perturbed:
    """Return the text with an addition before or after it, separated by a blank
    line.
    """
    edit = Edit(0, "", f"{addition}\n\n")
    if position == "end":
        edit = Edit(len(text), "", f"\n\n{addition}")
    return perturbed(text, [edit], done=1, planned=1)


def inert(attack: str) -> str:
    """Return a meaningless note that is as long as an attack, to the nearest word."""
    length = len(attack)
    words = re.findall(r"\S+", NOTE) * (1 + length // len(NOTE))
    note = words[0]
    for word in words[1:]:
        if len(f"{note} {word}") > length:
            break
        note = f"{note} {word}"
    return f"{note.rstrip('.,')}."


def perturb_dataset(
    rule: str,
    options: Mapping[str, object],
    texts: Mapping[str, str],
    meta: Mapping[str, Mapping[str, Any]] | None = None,
    /,
    *,
    seed: int,
    dataset: str,
    perturbation: str,
    degree: str,
) -> dict[str, Any]:
    """Return every text (by item) perturbed by the rule, in the order given.

    A text's perturbation depends on the seed, the names of dataset, item, perturbation
    and degree, and the text, but not on the order of items. Other items matter only to
    a rule `across_items`, and `meta` (by item) only to a rule that needs a key of it.
    Each result is a `Perturbed`, or a list of `Perturbed` for a rule `in_chain`.
    """
    function = RULES[rule].function
    key = RULES[rule].meta
    if RULES[rule].across_items:
        names = sorted(texts)
        rng = stream(seed, dataset, perturbation, degree)
        perturbed = function([texts[name] for name in names], rng, **options)
        by_name = dict(zip(names, perturbed, strict=True))
        return {name: by_name[name] for name in texts}
    others: dict[str, str] = {}
    if key is not None:
        others = _meta_texts(rule, key, meta or {}, texts, f"dataset {dataset}")
    results = dict[str, Any]()
    for name, text in texts.items():
        rng = stream(seed, dataset, name, perturbation, degree)
        if others:
            results[name] = function(text, rng, others[name], **options)
        else:
            results[name] = function(text, rng, **options)
    return results


def _meta_texts(
    rule: str,
    key: str,
    meta: Mapping[str, Mapping[str, Any]],
    items: Iterable[str],
    where: str,
) -> dict[str, str]:
    """Return item -> the text in its meta that a rule needs."""
    texts = {}
    for item in items:
        text = meta.get(item, {}).get(key)
        if not isinstance(text, str):
            problem = f"the rule {rule} needs a string `{key}` in every item's meta"
            raise UserError(problem, where=f"{where}, item {item}", got=text)
        texts[item] = text
    return texts


def perturbed_targets(
    spec: PerturbSpec, originals: Iterable[TextRow], meta: Mapping[str, TextRow] | None
) -> Iterator[TextRow]:
    """Yield a dataset's perturbed targets; in a chain, each is made from the previous
    one.

    `originals` are rows of table `targets`; `meta`: item -> its meta, for rules that
    need it.
    """
    usable = [row for row in originals if not row["status"].startswith("failed")]
    texts = {row["item"]: row["text"] for row in usable}
    change = spec.change
    names = {
        "dataset": spec.dataset,
        "perturbation": spec.perturbation,
        "degree": spec.degree,
    }
    in_chain = isinstance(change, RuleUse) and RULES[change.rule].in_chain
    made: dict[str, Any]
    if isinstance(change, Addition):
        made = {}
        for item, text in texts.items():
            made[item] = added(text, change.text, change.position)
    else:
        steps = {"kinds": change.errors, "count": change.steps}
        options = steps if in_chain else change.options
        made = perturb_dataset(
            change.rule, options, texts, meta, seed=change.seed, **names
        )
    for row in usable:
        target = row
        texts_of = made[row["item"]] if in_chain else [made[row["item"]]]
        for step, text in enumerate(texts_of, start=1):
            target = text.target(
                target, spec.perturbation, spec.degree, step, in_chain=in_chain
            )
            yield target


def perturb(spec: PerturbSpec) -> None:
    """Read the originals, perturb each, write the perturbed targets with their
    edits.
    """
    originals = read_table("targets", spec.input).to_pylist()
    meta = None
    if isinstance(spec.change, RuleUse):
        RULES.load(spec.change.target)
    if isinstance(spec.change, RuleUse) and spec.change.items:
        items = read_table("items", spec.change.items, ["item", "meta"]).to_pylist()
        meta = {row["item"]: json.loads(row["meta"]) for row in items}
    targets = list(perturbed_targets(spec, originals, meta))
    write_table("targets", table_of("targets", targets), spec.output)
