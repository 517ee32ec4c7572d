"""Texts that models have yet to write, as far as a plan needs them: the longest that may come."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from judgescope.core.set_names import ORIGINAL, REFERENCES, new_target
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.perturb.validation import LONGEST
from judgescope.plan.generators import analyses_of, waiting
from judgescope.plan.study import Plan
from judgescope.replies.pricing import CHARACTERS
from judgescope.schema.cards import (
    AttackPerturbation,
    GivenPerturbation,
    GradedPerturbation,
    References,
    RulePerturbation,
)


class Imagined(Subjects):
    """The targets of a dataset; for texts that are not made yet, the longest that may come."""

    def __init__(self, plan: Plan, dataset: str) -> None:
        sample = plan.paths.sample() if dataset in plan.taught else None
        super().__init__(plan.results, dataset, plan.study.seed, sample)
        self.plan = plan

    def analyses(self, judge: str, aspect: str, model: str) -> Mapping[str, str]:
        """Return the analyses that are there; any other is as long as it may be."""
        written = Path(self.analysed.format(model)).is_file()
        card = analyses_of(self.plan, judge)
        longest = "?" * (card.max_tokens * CHARACTERS if card else 0)
        return _Known(super().analyses(judge, aspect, model) if written else {}, longest)

    def _read(self, perturbation: str) -> list[Subject]:
        if perturbation not in unmade(self.plan, self.dataset):
            return super()._read(perturbation)
        if perturbation == ORIGINAL:
            return self._originals()
        if perturbation in self.plan.new_sets(self.dataset):
            return self._new(perturbation)
        card = self.plan.perturbations[perturbation.partition(".")[0]]
        assert not isinstance(card, GivenPerturbation)  # nobody has to make those
        by_rule = isinstance(card, RulePerturbation | AttackPerturbation) or not card.model
        texts = card.targets if isinstance(card, GradedPerturbation) else card.steps
        return [
            replace(
                original,
                target=f"{original.item}:{perturbation}.{step}",
                # unlike every other imagined text: equal ones would be asked about once
                text=f"{text} {perturbation} {step}",
                step=step,
            )
            for original in self.of(ORIGINAL)
            for text in [original.text if by_rule else longest(original.text)]
            for step in range(1, texts + 1)
        ]

    def _new(self, perturbation: str) -> list[Subject]:
        """Return the texts that a model has yet to write for a judge to learn from."""
        new = self.plan.distillation.write
        assert new is not None
        longest_text = "?" * (new.max_tokens * CHARACTERS)
        drawn = [targets for (name, _), targets in self.drawn.items() if name == perturbation]
        wanted = frozenset().union(*drawn)
        return [
            Subject(
                target=target,
                item=item,
                system=perturbation,
                perturbation=perturbation,
                text=f"{longest_text} {target}",
                source=row["source"],
            )
            for item, row in self.items.items()
            for target in [new_target(item, perturbation)]
            if target in wanted
        ]

    def _originals(self) -> list[Subject]:
        """Return the originals that a model has yet to write, from references or from nothing."""
        written = self.plan.improved(self.dataset)
        if not isinstance(written, References):
            return [replace(one, text=longest(one.text)) for one in self.of(REFERENCES)]
        longest_text = "?" * (written.max_tokens * CHARACTERS)
        return [
            Subject(
                target=f"{item}:{ORIGINAL}",
                item=item,
                system=None,
                perturbation=ORIGINAL,
                text=f"{longest_text} {item}",
                source=row["source"],
                references=tuple(row["references"]),
            )
            for item, row in self.items.items()
        ]


class _Known(dict[str, str]):
    """Analyses, and what stands in for those that are not there."""

    def __init__(self, known: Mapping[str, str], other: str) -> None:
        super().__init__(known)
        self.other = other

    def __missing__(self, _: str) -> str:
        return self.other


def longest(text: str) -> str:
    """Return a text as long as the longest that a model may make of it."""
    return text * math.ceil(LONGEST)


def unmade(plan: Plan, dataset: str) -> set[str]:
    """Return the sets of targets that a model has yet to make."""
    names = waiting(plan, dataset)
    return {name for name in names if not Path(plan.paths.targets(dataset, name)).exists()}
