"""How far a claim reaches: for these systems, or also among texts of one system."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from judgescope.methods.claims.base import LOST, SYSTEMS, Claim, Nulls, Rival
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.evaluation_data import TargetSet
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.systems import p_moved
from judgescope.statistics.verdict import LEVEL


@dataclass(frozen=True, eq=False)
class NamedSystems:
    """What is known of a claim and the named systems whose texts it rests on.

    `names` are the systems' names by code; `dense` says whether enough of the judge's
    numbers exist after a permutation. p_moved(permutations): p of the claim's
    number if the judge's columns are permuted; p_worst: the same with lost judgments at
    the worst end. number_beyond(): the number among texts of one system, None where it
    is not defined for this kind. nulls_without(system, family): all nulls without the
    texts of a system, None where they cannot be tested.
    """

    preference: SystemPreference
    dense: bool
    names: dict[int, str]
    p_moved: Callable[[Codes], float]
    p_worst: Callable[[Codes], float]
    number_beyond: Callable[[], Replicated | None]
    nulls_without: Callable[[int, int], Nulls | None]

    @property
    def systems(self) -> int:
        """How many named systems wrote the texts."""
        return self.preference.m

    def asked(self, claim: Claim, family: int) -> Claim:
        """The claim with the null of a preference for systems, where it can pass."""
        if not self.dense or not self.preference.asked(family):
            return claim
        nulls = {**claim.nulls, SYSTEMS: self.p_moved(self.preference.drawn)}
        if LOST in nulls:
            worst = self.p_worst(self.preference.drawn)
            nulls[LOST] = float(np.max([nulls[LOST], worst]))
        rivals = {**claim.rivals, SYSTEMS: Rival()}
        return replace(claim, nulls=nulls, rivals=rivals)

    def beyond(self) -> Replicated | None:
        """The number among texts of one system."""
        return self.number_beyond()

    def hangs_on(self, claim: Claim, family: int) -> str | None:
        """The only system without whose texts the claim fails (raw p), or None."""
        needed = []
        systems, texts = np.unique(self.preference.system, return_counts=True)
        # A system that wrote a larger share of the texts is not left out: any claim
        # may fail without so many.
        most_left_out = 0.3
        for system, written in zip(systems.tolist(), texts.tolist(), strict=True):
            # Without a third of the texts a good judge's claim fails for want of texts
            # in a quarter of studies (three systems, 40 sources), of a fourth in none.
            if written > most_left_out * texts.sum():
                continue
            nulls = self.nulls_without(system, family)
            if nulls is not None and nulls.largest > LEVEL:
                needed.append(self.names[system])
        if len(needed) == 1:
            return needed[0]
        return None


@dataclass(frozen=True, eq=False)
class MovedTexts:
    """The number of a claim where texts change their places between systems.

    moved(text): the number of each row of texts in others' places (see
    `statistics.systems.p_moved`); moved_worst: with lost judgments at the worst end;
    nulls(): the claim's nulls, but for that of systems; `cells`: how many numbers
    `moved` makes of a row.
    """

    preference: SystemPreference
    moved: Callable[[Codes], Floats]
    moved_worst: Callable[[Codes], Floats]
    nulls: Callable[[], Nulls]
    cells: int = 0
    dense: bool = True
    """Whether at least half of the places that a permutation may ask for are filled."""

    def p_systems(self, drawn: Codes, *, worst: bool = False) -> float:
        """p of the number where the judge's columns are permuted as in `drawn`."""
        return p_moved(
            self.moved_worst if worst else self.moved,
            self.preference.source,
            self.preference.blocks.column,
            drawn,
            self.cells,
        )


def named_systems(
    texts: MovedTexts,
    names: dict[int, str],
    number_beyond: Callable[[], Replicated | None],
    without: Callable[[int], MovedTexts | None],
) -> NamedSystems | None:
    """What is known of the systems of a claim; None where none are named.

    without(system): the same without the texts of a system, None if nothing is left.
    """
    if texts.preference.m < 2:
        return None

    def nulls_without(system: int, family: int) -> Nulls | None:
        part = without(system)
        if part is None:
            return None
        nulls = part.nulls()
        if part.dense and part.preference.asked(family):
            p = part.p_systems(part.preference.drawn)
            nulls = nulls.with_null(SYSTEMS, p)
        return nulls

    return NamedSystems(
        texts.preference,
        texts.dense,
        names,
        texts.p_systems,
        lambda drawn: texts.p_systems(drawn, worst=True),
        number_beyond,
        nulls_without,
    )


class TextsOfSystems(Protocol):
    """Texts of one aspect with people's values, of which judges have a number.

    x (texts,): a judge's values, NaN = missing.
    """

    target_set: TargetSet

    @property
    def preference(self) -> SystemPreference:
        """The systems that wrote the rated texts."""

    def number(self, x: Floats, y: Floats | None = None) -> Replicated:
        """The number that decides the claim."""

    def nulls(self, x: Floats, result: Replicated) -> Nulls:
        """The claim's nulls, but for that of systems."""

    def p_systems(self, x: Floats, drawn: Codes) -> float:
        """p of the number where the judge's columns are permuted as in `drawn`."""

    def without(self, system: int) -> Self:
        """The same without the texts of a system."""


def systems_of_texts(
    texts: TextsOfSystems,
    x: Floats,
    worst: Floats,
    number_beyond: Callable[[], Replicated | None],
) -> NamedSystems | None:
    """What is known of the systems of a judge's texts; None where none are named.

    x, worst (texts,): the judge's values, and those with lost ones at the worst end.
    """
    if texts.preference.m < 2:
        return None

    def nulls_without(system: int, family: int) -> Nulls | None:
        part = texts.without(system)
        result = part.number(x)
        if result.estimate.value is None:
            return None
        nulls = part.nulls(x, result)
        if part.preference.asked(family):
            p = part.p_systems(x, part.preference.drawn)
            nulls = nulls.with_null(SYSTEMS, p)
        return nulls

    return NamedSystems(
        texts.preference,
        True,
        system_names(texts.target_set),
        lambda drawn: texts.p_systems(x, drawn),
        lambda drawn: texts.p_systems(worst, drawn),
        number_beyond,
        nulls_without,
    )


def system_names(targets: TargetSet) -> dict[int, str]:
    """Code of a system -> its name."""
    return dict(zip(targets.system.tolist(), targets.systems, strict=True))
