"""The perturbed targets of a dataset: by rule, or with an addition that is meant for the judge.

The job reads no card and no prompt.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from judgescope.core.errors import UserError
from judgescope.core.job_spec import JobSpec, SpecPart
from judgescope.core.rng import stream
from judgescope.perturb.edits import Edit, Perturbed, perturbed
from judgescope.perturb.rules import RULES

AdditionPlace = Literal["start", "end"]


class Addition(SpecPart, frozen=True, kw_only=True, tag="addition"):
    """What an attack, or its harmless counterpart, adds to a text, and where."""

    text: str
    position: AdditionPlace


class RuleUse(SpecPart, frozen=True, kw_only=True, tag="rule"):
    """How a rule is used; `errors` and `steps` are of a rule that makes a chain of texts."""

    rule: str
    options: dict[str, int | str]
    errors: list[str]
    steps: int
    seed: int
    items: str
    """The items, for a rule that needs their meta."""


class PerturbSpec(JobSpec, frozen=True, kw_only=True):
    """The job that perturbs a dataset's originals without a model."""

    dataset: str
    perturbation: str
    degree: str
    change: Addition | RuleUse
    input: str
    output: str


Row = dict[str, Any]
TOP: Final = "{top}"
"""In the text of an attack: the top of the scale."""
NOTE = (
    "This line was put here when the texts were gathered from several places. It says nothing "
    "about any of them. Others have such a line too, each of about the same length. It can be "
    "passed over."
)
"""The text of an attack's harmless counterpart, repeated to its length."""


def added(text: str, addition: str, position: AdditionPlace) -> Perturbed:
    """Return the text with an addition before or after it, separated by a blank line."""
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

    A text's perturbation depends on the seed, the names of dataset, item, perturbation and degree,
    and the text; not on the order of items. Other items matter only to a rule `across_items`, and
    `meta` (by item) only to a rule that needs a key of it. Each is a `Perturbed`, or a list of
    them by a rule `in_chain`.
    """
    function, key = RULES[rule].function, RULES[rule].meta
    if RULES[rule].across_items:
        names = sorted(texts)
        rng = stream(seed, dataset, perturbation, degree)
        perturbed = function([texts[name] for name in names], rng, **options)
        by_name = dict(zip(names, perturbed, strict=True))
        return {name: by_name[name] for name in texts}
    others = {} if key is None else _meta_texts(rule, key, meta or {}, texts, f"dataset {dataset}")
    return {
        name: function(
            text,
            stream(seed, dataset, name, perturbation, degree),
            *([others[name]] if others else []),
            **options,
        )
        for name, text in texts.items()
    }


def _meta_texts(
    rule: str, key: str, meta: Mapping[str, Mapping[str, Any]], items: Iterable[str], where: str
) -> dict[str, str]:
    """Return item -> the text of its meta that a rule needs."""
    texts = {}
    for item in items:
        text = meta.get(item, {}).get(key)
        if not isinstance(text, str):
            problem = f"the rule {rule} needs a string `{key}` in every item's meta"
            raise UserError(problem, where=f"{where}, item {item}", got=text)
        texts[item] = text
    return texts


def perturbed_targets(
    spec: PerturbSpec, originals: Iterable[Row], meta: Mapping[str, Row] | None
) -> Iterator[Row]:
    """Yield the perturbed targets of a dataset's originals; in a chain each is made from the last.

    `originals` are rows of table `targets`; `meta`: item -> its meta, for rules that need it.
    """
    usable = [row for row in originals if not row["status"].startswith("failed")]
    texts = {row["item"]: row["text"] for row in usable}
    change = spec.change
    names = {"dataset": spec.dataset, "perturbation": spec.perturbation, "degree": spec.degree}
    in_chain = isinstance(change, RuleUse) and RULES[change.rule].in_chain
    made: dict[str, Any]
    if isinstance(change, Addition):
        made = {item: added(text, change.text, change.position) for item, text in texts.items()}
    else:
        steps = {"kinds": change.errors, "count": change.steps}
        options = steps if in_chain else change.options
        made = perturb_dataset(change.rule, options, texts, meta, seed=change.seed, **names)
    for row in usable:
        parent = row["target"]
        own = made[row["item"]]
        for step, text in enumerate(own if in_chain else [own], start=1):
            number = f".{step}" if in_chain else ""
            target = f"{row['item']}:{spec.perturbation}.{spec.degree}{number}"
            yield {
                **row,
                "target": target,
                "perturbation": spec.perturbation,
                "degree": spec.degree,
                "step": step,
                "parent": parent,
                "text": text.text,
                "status": text.status,
                "edits": [edit._asdict() for edit in text.edits],
            }
            parent = target
