"""The perturbation rules by name, their options, and their use on a whole dataset."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judgescope.core.errors import UserError
from judgescope.core.reserved_names import INJECT_ERRORS, WRONG_ENDING
from judgescope.core.rng import stream
from judgescope.perturb.attacks import added
from judgescope.perturb.deletions import delete_characters, delete_sentences, delete_words
from judgescope.perturb.edits import Perturbed
from judgescope.perturb.inject import inject
from judgescope.perturb.orders import exchange_words, reorder_sentences, replace_text, wrong_ending
from judgescope.perturb.specs import Addition, PerturbSpec, RuleUse
from judgescope.perturb.typos import typos

Row = dict[str, Any]


class OptionError(UserError, ValueError):
    """A perturbation card asks a rule for something that it cannot do."""


@dataclass(frozen=True)
class Option:
    """The values an option may take: whole numbers from `minimum`, or one of `words`."""

    minimum: int = 1
    words: tuple[str, ...] = ()

    def allows(self, value: object) -> bool:
        """Return whether a card may give this value."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value >= self.minimum
        return value in self.words

    def __str__(self) -> str:
        """Return the allowed values in words."""
        return " or ".join([f"a whole number from {self.minimum}", *map(repr, self.words)])


@dataclass(frozen=True)
class Rule:
    """A way to damage texts without a model.

    `function(text, rng, **options)` returns a `Perturbed`; with `across_items`, the rule needs all
    texts of a dataset at once: `function(texts, rng, **options)` returns a list of them. With
    `meta`, a key of the items' meta, it needs the text there: `function(text, rng, other,
    **options)`. One that makes several texts `in_a_row` returns a list of them:
    `function(text, rng, kinds=, count=)`.
    """

    function: Callable[..., Any]
    level: Literal["character", "word", "sentence"]
    options: Mapping[str, Option]
    across_items: bool = False
    meta: str | None = None
    in_a_row: bool = False


RULES: dict[str, Rule] = {
    "delete_characters": Rule(delete_characters, "character", {"k": Option()}),
    "typos": Rule(typos, "character", {"k": Option()}),
    "delete_words": Rule(delete_words, "word", {"k": Option()}),
    "exchange_words": Rule(exchange_words, "word", {"k": Option()}),
    "delete_sentences": Rule(delete_sentences, "sentence", {"k": Option()}),
    "reorder_sentences": Rule(reorder_sentences, "sentence", {"k": Option(2, ("all",))}),
    "replace_text": Rule(replace_text, "sentence", {}, across_items=True),
    "wrong_ending": Rule(wrong_ending, "sentence", {}, meta=WRONG_ENDING),
    INJECT_ERRORS: Rule(inject, "sentence", {}, in_a_row=True),
}


def check_options(rule: str, options: Mapping[str, object], *, where: str) -> None:
    """Raise an `OptionError` unless the rule exists and takes exactly these options and values."""
    if rule not in RULES:
        raise OptionError("there is no such rule", where=where, got=rule, allowed=RULES)
    known = RULES[rule].options
    for name in options:
        if name not in known:
            what = f"the rule {rule} has no such option"
            raise OptionError(what, where=where, got=name, allowed=known)
    for name, option in known.items():
        if not option.allows(options.get(name)):
            what = f"the rule {rule} needs another value of {name}"
            raise OptionError(what, where=where, got=options.get(name), allowed=str(option))


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
) -> dict[str, Perturbed]:
    """Return every text (by item) perturbed by the rule, in the order given.

    A text's perturbation depends on the seed, the names of dataset, item, perturbation and degree,
    and the text; not on the order of items. Other items matter only to a rule `across_items`, and
    `meta` (by item) only to a rule that needs a key of it.
    """
    check_options(rule, options, where=f"perturbation {perturbation}, degree {degree}")
    function = RULES[rule].function
    if RULES[rule].across_items:
        names = sorted(texts)
        rng = stream(seed, dataset, perturbation, degree)
        found = dict(zip(names, function([texts[n] for n in names], rng, **options), strict=True))
        return {name: found[name] for name in texts}
    others = _others(rule, meta or {}, texts, where=f"dataset {dataset}")
    return {
        name: function(
            text, stream(seed, dataset, name, perturbation, degree), *others[name], **options
        )
        for name, text in texts.items()
    }


def inject_errors(
    kinds: Sequence[str],
    steps: int,
    texts: Mapping[str, str],
    *,
    seed: int,
    dataset: str,
    perturbation: str,
    degree: str,
) -> dict[str, list[Perturbed]]:
    """Return for every text (by item) those with one error, with two, … and with `steps`.

    Where a text has no room for another, the last says so. A text's errors depend on what
    `perturb_dataset` says.
    """
    return {
        name: inject(
            text, stream(seed, dataset, name, perturbation, degree), kinds=kinds, count=steps
        )
        for name, text in texts.items()
    }


def _others(
    rule: str, meta: Mapping[str, Mapping[str, Any]], items: Iterable[str], *, where: str
) -> dict[str, list[str]]:
    """Return item -> what a rule is given beside the text: one text of its meta, or nothing."""
    key = RULES[rule].meta
    if key is None:
        return {item: [] for item in items}
    found = {item: meta.get(item, {}).get(key) for item in items}
    for item, text in found.items():
        if not isinstance(text, str):
            what = f"the rule {rule} needs a text `{key}` in every item's meta"
            raise UserError(what, where=f"{where}, item {item}", got=text)
    return {item: [str(text)] for item, text in found.items()}


def perturbed_targets(
    spec: PerturbSpec, originals: Iterable[Row], meta: Mapping[str, Row] | None
) -> Iterator[Row]:
    """Yield the perturbed targets of a dataset's originals; in a row, each made from the last.

    `originals` are rows of table `targets`; `meta`: item -> its meta, for rules that need it.
    """
    usable = [row for row in originals if not row["status"].startswith("failed")]
    made = _made(spec, {row["item"]: row["text"] for row in usable}, meta)
    in_a_row = isinstance(spec.change, RuleUse) and RULES[spec.change.rule].in_a_row
    for row in usable:
        parent = row["target"]
        for step, one in enumerate(made[row["item"]], start=1):
            number = f".{step}" if in_a_row else ""
            target = f"{row['item']}:{spec.perturbation}.{spec.degree}{number}"
            yield {
                **row,
                "target": target,
                "perturbation": spec.perturbation,
                "degree": spec.degree,
                "step": step,
                "parent": parent,
                "text": one.text,
                "status": one.status,
                "edits": [edit._asdict() for edit in one.edits],
            }
            parent = target


def _made(
    spec: PerturbSpec, texts: Mapping[str, str], meta: Mapping[str, Row] | None
) -> dict[str, list[Perturbed]]:
    """Return item -> its perturbed text, or its texts in a row."""
    use = spec.change
    if isinstance(use, Addition):
        return {item: [added(text, use.text, use.place)] for item, text in texts.items()}
    names = {"dataset": spec.dataset, "perturbation": spec.perturbation, "degree": spec.degree}
    if RULES[use.rule].in_a_row:
        return inject_errors(use.errors, use.steps, texts, seed=use.seed, **names)
    made = perturb_dataset(use.rule, use.options, texts, meta, seed=use.seed, **names)
    return {item: [one] for item, one in made.items()}
