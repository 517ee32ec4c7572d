"""Planted judges: simulated judges with one known defect, and simulated texts for them.

Quality and judgments are in points of a scale of five around its middle, so that 0 is
the middle and one point a standard deviation of quality. A planted judge sees the
quality of a text as one more rater does (`RATER_NOISE`) and then has its defect. Every
random number belongs to one text, one source or one draw: it does not depend on which
other texts are judged.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from judgescope.core.rng import stream, stream_seed
from judgescope.statistics.arrays import Codes, Flags, Floats

RATER_NOISE: Final = 0.7
"""Standard deviation of a rater's error, in points."""
BROKEN: Final = 2.0
"""By how many points the texts of a broken system are worse."""

PlantedKind = Literal["scores", "labels", "pairs"]


@dataclass(frozen=True)
class PlantedDefect:
    """What a planted judge does wrong.

    strengths: weak, stated and strong ones, in units that `unit` names; `stated`: the
    one at which the product must find the defect.
    """

    does: str
    unit: str = ""
    strengths: tuple[float, ...] = (0.0,)
    stated: float = 0.0


LENGTH = "correlation of its score with length"
ALONE = "SD of the noise added to length, in points"
SLOPE = "slope of the logit of being right on the logit of its confidence"
DEFECTS: Final[Mapping[str, PlantedDefect]] = {
    "none": PlantedDefect("rates as one more rater"),
    "copy": PlantedDefect("gives the mean of people's ratings"),
    "noisy": PlantedDefect(
        "varies between draws", "reliability of one draw", (0.8, 0.5, 0.3), 0.5
    ),
    "first-position": PlantedDefect(
        "prefers the text shown first",
        "share of decided pairs for the first text",
        (0.6, 0.7, 0.8),
        0.8,
    ),
    "longer": PlantedDefect("prefers long texts", LENGTH, (0.2, 0.4, 0.6), 0.4),
    "shorter": PlantedDefect("prefers short texts", LENGTH, (0.2, 0.4, 0.6), 0.4),
    "middling": PlantedDefect(
        "prefers a middling length",
        "correlation of its score with closeness to the best length",
        (0.2, 0.4, 0.6),
        0.4,
    ),
    "longer-only": PlantedDefect("scores by length", ALONE, (0.7, 0.0), 0.0),
    "shorter-only": PlantedDefect("scores by minus length", ALONE, (0.7, 0.0), 0.0),
    "middling-only": PlantedDefect(
        "scores by closeness to the best length", ALONE, (0.7, 0.0), 0.0
    ),
    "own-family": PlantedDefect(
        "prefers texts of its own family", "points", (0.25, 0.5, 1.0), 0.5
    ),
    "halo": PlantedDefect(
        "gives one score for all aspects",
        "weight of the common score",
        (0.7, 0.9, 1.0),
        0.9,
    ),
    "random": PlantedDefect("gives random scores"),
    "source-only": PlantedDefect("knows only the source"),
    "author-only": PlantedDefect("knows only who wrote the text"),
    "broken-system": PlantedDefect("knows only one broken system"),
    "dead": PlantedDefect(
        "gives unreadable replies", "share of replies", (0.06, 0.25, 0.5), 0.25
    ),
    "always-pass": PlantedDefect(
        "gives the best verdict", "share of verdicts", (0.98, 1.0), 1.0
    ),
    "always-fail": PlantedDefect(
        "gives the worst verdict", "share of verdicts", (0.98, 1.0), 1.0
    ),
    "over-confident": PlantedDefect(
        "is surer than it may be", SLOPE, (0.5, 1 / 3), 1 / 3
    ),
    "under-confident": PlantedDefect(
        "is less sure than it may be", SLOPE, (2.0, 3.0), 3.0
    ),
}
"""The defects of judges that rate or compare, by the name that a model's card gives."""


@dataclass(frozen=True, eq=False)
class TextsToJudge:
    """Texts that a planted judge rates, sorted by target; arrays (texts,).

    quality: aspect -> latent quality in points, NaN where unknown; people: aspect ->
    people's mean rating in points, NaN where there is none; `log_length` (base 2).
    """

    targets: Sequence[str]
    items: Sequence[str]
    systems: Sequence[str]
    log_length: Floats
    quality: Mapping[str, Floats]
    people: Mapping[str, Floats]

    def mean_of(self, groups: Sequence[str], aspect: str) -> Floats:
        """Return each text's mean quality over the texts of its group, (texts,)."""
        codes = np.unique(groups, return_inverse=True)[1]
        known = ~np.isnan(self.quality[aspect])
        total = np.bincount(codes[known], weights=self.quality[aspect][known])
        count = np.bincount(codes[known])
        size = int(codes.max()) + 1
        total = np.pad(total, (0, size - total.size))
        count = np.pad(count, (0, size - count.size))
        return np.where(known, (total / np.maximum(count, 1))[codes], np.nan)


@dataclass(frozen=True)
class PlantedJudge:
    """A planted judge: its defect, and the names of its random streams.

    `systems`: those that the defect concerns (own family, broken system).
    """

    defect: str
    strength: float
    seed: int
    names: tuple[str, ...]
    systems: frozenset[str] = field(default_factory=frozenset)

    def points(self, texts: TextsToJudge, aspect: str, draw: int = 0) -> Floats:
        """Return the judge's scores of one draw in points, (texts,).

        NaN: the reply is unreadable, or the text's quality is unknown. Infinite: the
        best or the worst verdict that the scale has.
        """
        if self.defect == "copy":
            return texts.people[aspect]
        if self.defect in ("over-confident", "under-confident"):
            return texts.quality[aspect]
        if self.defect == "dead":
            unread = self._uniform(texts.targets, "unread", aspect) < self.strength
            return np.asarray(np.where(unread, np.nan, self._rated(texts, aspect)))
        if self.defect in ("always-pass", "always-fail"):
            return self._always(texts, aspect)
        if self.defect == "random":
            return self._marked(texts, aspect)
        if self.defect == "source-only":
            return texts.mean_of(texts.items, aspect) + self._marked(texts, aspect)
        if self.defect == "author-only":
            return texts.mean_of(texts.systems, aspect) + self._marked(texts, aspect)
        if self.defect == "broken-system":
            fault = np.where(self._concerned(texts), -BROKEN, 0.0)
            return fault + self._marked(texts, aspect)
        if self.defect.endswith("-only"):
            noise = self._normal(texts.targets, "length", aspect)
            return self._by_length(texts) + self.strength * noise
        return self._biased(texts, aspect, draw)

    def confidences(self, texts: TextsToJudge, aspect: str, raters: int) -> Floats:
        """Return the judge's stated chances of being right on two labels, (texts,).

        It knows the quality of a text and says the label that so many raters are likely
        to give. Its chance is theirs, p, on the logit scale: logit(p) / strength, so
        that a strength of 1 is calibrated, below 1 over-, above 1 under-confident.
        """
        passing = chance_of_pass(texts.quality[aspect], raters)
        chance = np.clip(np.maximum(passing, 1 - passing), 0.5, 1 - 1e-9)
        logit = (np.log(chance) - np.log1p(-chance)) / self.strength
        return np.asarray(1 / (1 + np.exp(-logit)))

    def _biased(self, texts: TextsToJudge, aspect: str, draw: int) -> Floats:
        """Return a rater's scores with a bias that is added to them."""
        rated = self._rated(texts, aspect)
        if self.defect == "noisy":
            variance = 1.0 + RATER_NOISE**2
            noise = self._normal(texts.targets, "draw", aspect, draw)
            spread = math.sqrt(variance * (1 - self.strength) / self.strength)
            return rated + spread * noise
        if self.defect in ("longer", "shorter", "middling"):
            size = math.sqrt(1.0 + RATER_NOISE**2)
            rest = math.sqrt(1 - self.strength**2)
            return rest * rated + self.strength * size * self._by_length(texts)
        if self.defect == "own-family":
            return rated + self.strength * self._concerned(texts)
        if self.defect == "halo":
            each = [self._rated(texts, name) for name in texts.quality]
            common = np.asarray(np.mean(each, axis=0))
            return self.strength * common + (1 - self.strength) * rated
        return rated

    def votes(
        self,
        texts: TextsToJudge,
        aspect: str,
        first: Codes,
        second: Codes,
        draw: int = 0,
    ) -> Floats:
        """Return the vote on each pair of texts as shown: 1 the first, -1 the second.

        first, second (pairs,): places of the texts; 0: the scores are equal, NaN: one
        of them is missing. A judge that prefers the first text chooses it whatever it
        says in a share 2s - 1 of the pairs, s the strength.
        """
        scores = np.nan_to_num(self.points(texts, aspect, draw), nan=np.nan)
        votes = np.sign(scores[first] - scores[second])
        if self.defect != "first-position":
            return votes
        shown = zip(first.tolist(), second.tolist(), strict=True)
        pairs = [f"{texts.targets[a]} {texts.targets[b]}" for a, b in shown]
        swayed = self._uniform(pairs, "position", aspect, draw) < 2 * self.strength - 1
        return np.where(swayed & ~np.isnan(votes), 1.0, votes)

    def _rated(self, texts: TextsToJudge, aspect: str) -> Floats:
        noise = self._normal(texts.targets, "rater", aspect)
        return texts.quality[aspect] + RATER_NOISE * noise

    def _marked(self, texts: TextsToJudge, aspect: str) -> Floats:
        # Noise of a judge that knows only the source or the author, in points.
        noise = 1.0
        return noise * self._normal(texts.targets, "marked", aspect)

    def _always(self, texts: TextsToJudge, aspect: str) -> Floats:
        verdict = np.inf if self.defect == "always-pass" else -np.inf
        uniform = self._uniform(texts.targets, "exception", aspect)
        # Exceptions are random: they do not depend on the text's quality.
        other = self._normal(texts.targets, "exception's verdict", aspect)
        return np.where(uniform < self.strength, verdict, other)

    def _concerned(self, texts: TextsToJudge) -> Flags:
        return np.isin(texts.systems, sorted(self.systems))

    def _by_length(self, texts: TextsToJudge) -> Floats:
        """Return length, minus length, or closeness to the best one, with SD about
        1.
        """
        length = standardised(texts.log_length)
        if self.defect.startswith("shorter"):
            return -length
        if self.defect.startswith("middling"):
            return closeness(length)
        return length

    def _normal(self, units: Iterable[str], *names: str | int) -> Floats:
        return normal_noise(self.seed, (*self.names, *names), units)

    def _uniform(self, units: Iterable[str], *names: str | int) -> Floats:
        return uniform_noise(self.seed, (*self.names, *names), units)


def chance_of_pass(quality: Floats, raters: int) -> Floats:
    """Return the chance that more than half of the raters pass texts, (texts,).

    A rater sees the quality with an error (`RATER_NOISE`) and passes a text above 0.

    >>> chance_of_pass(np.array([0.0]), 3)
    array([0.5])
    """
    from scipy.special import bdtrc, ndtr  # here: asking and parsing load no scipy

    return np.asarray(bdtrc(raters // 2, raters, ndtr(quality / RATER_NOISE)))


def uniform_noise(
    seed: int, names: Sequence[str | int], units: Iterable[str]
) -> Floats:
    """Return a number between 0 and 1 for each unit, from a stream of its own."""
    bits = 53  # as many as a float's fraction has
    integers = list[int]()
    for unit in units:
        # The leading bits of 128.
        number = stream_seed(seed, "planted", *names, unit)
        integers.append(number >> (128 - bits))
    return (np.array(integers, dtype=np.float64) + 0.5) / 2.0**bits


def normal_noise(seed: int, names: Sequence[str | int], units: Iterable[str]) -> Floats:
    """Return a standard normal number for each unit, from a stream of its own."""
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    return np.asarray(ndtri(uniform_noise(seed, names, units)))


def standardised(values: Floats) -> Floats:
    """Return values minus their mean, over their standard deviation; 0 if all are
    equal.

    >>> standardised(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    spread = float(values.std())
    return (values - values.mean()) / spread if spread else np.zeros(values.size)


def closeness(length: Floats) -> Floats:
    """Return how close standardised lengths are to the mean, with SD 1 for normal ones.

    >>> closeness(np.array([0.0, 1.0])).round(3)
    array([0.707, 0.   ])
    """
    return (1 - length**2) / math.sqrt(2)


def on_scale(
    points: Floats, low: float, high: float, values: Sequence[float] | None
) -> Floats:
    """Return points as values of a scale, the nearest one if it has steps.

    A scale of five from 1 to 5 has its middle, 3, at 0 points and steps of one point;
    others have the same share of their range. NaN stays.

    >>> on_scale(np.array([-9.0, -0.4, 0.6]), 1, 5, [1, 2, 3, 4, 5])
    array([1., 3., 4.])
    >>> on_scale(np.array([-0.4, 0.6]), 0, 1, [0, 1])
    array([0., 1.])
    """
    middle = (low + high) / 2
    point = (high - low) / 4
    on_range = np.clip(middle + point * points, low, high)
    if values is None:
        return on_range
    grid = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(on_range)
    nearest = np.abs(on_range[known][:, None] - grid).argmin(axis=1)
    on_range[known] = grid[nearest]
    return on_range


def in_points(values: Floats, low: float, high: float) -> Floats:
    """Return values of a scale in points: the inverse of `on_scale` without steps.

    >>> in_points(np.array([1.0, 3.0]), 1, 5)
    array([-2.,  0.])
    """
    return (values - (low + high) / 2) * 4 / (high - low)


# --- simulated texts ------------------------------------------------------------------


@dataclass(frozen=True)
class PlantedDesign:
    """The sizes of a simulated dataset.

    texts: how many texts, or pairs of texts, the sources have: its numbers in turn.
    `broken`: one system is much worse than the others, which are equally good;
    `prefix`: of the aspects' names, the kind by default.
    """

    kind: PlantedKind = "scores"
    sources: int = 60
    systems: int = 6
    raters: int = 3
    aspects: int = 2
    texts: tuple[int, ...] = (6,)
    broken: bool = False
    prefix: str = ""

    @property
    def aspect_names(self) -> list[str]:
        """Return the names of the aspects."""
        prefix = self.prefix or self.kind
        return [f"{prefix}-{number}" for number in range(1, self.aspects + 1)]


@dataclass(frozen=True, eq=False)
class SimulatedTexts:
    """A simulated dataset; texts are sorted by target.

    texts: what a judge sees; lengths (texts,) in characters; ratings: aspect ->
    (raters, texts), values of the scale; first, second (pairs,): places of the texts
    that people compare; choices: aspect -> (raters, pairs), 1 for the first text, -1
    for the second.
    """

    design: PlantedDesign
    texts: TextsToJudge
    lengths: Codes
    ratings: Mapping[str, Floats]
    first: Codes
    second: Codes
    choices: Mapping[str, Floats]

    def pair(self, number: int) -> tuple[str, str]:
        """Return the two texts of a pair, as people saw it."""
        targets = self.texts.targets
        return targets[int(self.first[number])], targets[int(self.second[number])]


SCALES: Final[Mapping[str, tuple[float, ...]]] = {
    "scores": (1.0, 2.0, 3.0, 4.0, 5.0),
    "labels": (0.0, 1.0),
}
"""Kind of ratings -> the values of their scale."""


def _target_names(items: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Return the names of texts: item and system, numbered from the second of both on.

    >>> _target_names(["q0", "q0", "q1"], ["s0", "s0", "s0"])
    ['q0:s0', 'q0:s0.1', 'q1:s0']
    """
    earlier = Counter[str]()
    targets = []
    for item, system in zip(items, systems, strict=True):
        name = f"{item}:{system}"
        number = earlier[name]
        earlier[name] += 1
        targets.append(f"{name}.{number}" if number else name)
    return targets


def simulated(design: PlantedDesign, seed: int, dataset: str) -> SimulatedTexts:
    """Return a dataset in which quality varies with source, system, length and text.

    Variances of quality: source .3, system .15, the length and its closeness to the
    best one .09 each, the text the rest; half of the text's part is common to all
    aspects. A rater adds noise (`RATER_NOISE`). Deterministic from seed and name.
    """
    rng = stream(seed, "planted", "data", dataset)
    source, system = _places(design)
    log_length = rng.normal(8.0, 0.6, source.size)
    lengths = np.maximum(np.round(2**log_length), 20).astype(np.int64)
    length = standardised(np.log2(lengths))
    quality: dict[str, Floats] = {}
    people: dict[str, Floats] = {}
    ratings: dict[str, Floats] = {}
    common = rng.normal(size=source.size)
    effects = rng.normal(size=design.systems)
    if design.broken:
        effects = np.where(np.arange(design.systems) == 0, -BROKEN, 0.0) / 0.15**0.5
    for name in design.aspect_names:
        specific = rng.normal(size=source.size)
        of_text = 0.37**0.5 * (common + specific) / 2**0.5
        of_source = 0.3**0.5 * rng.normal(size=design.sources)[source]
        of_system = 0.15**0.5 * effects[system]
        of_length = 0.3 * (length + closeness(length))
        quality[name] = of_text + of_source + of_system + of_length
        noise = rng.normal(size=(design.raters, source.size))
        seen = quality[name] + RATER_NOISE * noise
        if design.kind == "pairs":
            ratings[name] = seen
            continue
        scale = SCALES[design.kind]
        ratings[name] = on_scale(seen, scale[0], scale[-1], scale)
        means = in_points(ratings[name].mean(axis=0), scale[0], scale[-1])
        people[name] = means
    first, second = _pairs(design, source)
    choices = {}
    if design.kind == "pairs":
        for name, seen in ratings.items():
            choices[name] = np.sign(seen[:, first] - seen[:, second])
        ratings = {}
    items = [f"q{code:03}" for code in source]
    systems = [f"s{code:02}" for code in system]
    targets = _target_names(items, systems)
    texts = TextsToJudge(targets, items, systems, np.log2(lengths), quality, people)
    return SimulatedTexts(design, texts, lengths, ratings, first, second, choices)


def text_of(target: str, length: int) -> str:
    """Return the words of a simulated text: so many characters, without any meaning.

    >>> text_of("q000:s00", 14)
    'q000 s00 word.'
    """
    begin = target.replace(":", " ").replace(".", " ")
    return (begin + " word" * (length // 5 + 1))[: length - 1] + "."


def _places(design: PlantedDesign) -> tuple[Codes, Codes]:
    """Return the source and the system of each text, sorted by both; (texts,) each."""
    places = []
    per_unit = 2 if design.kind == "pairs" else 1
    for source in range(design.sources):
        count = per_unit * design.texts[source % len(design.texts)]
        systems = [(source + number) % design.systems for number in range(count)]
        for system in sorted(systems):
            places.append((source, system))
    source, system = np.array(places, dtype=np.int64).T
    return source, system


def _pairs(design: PlantedDesign, source: Codes) -> tuple[Codes, Codes]:
    """Return the places of the texts of each pair; (pairs,) each.

    A source's texts, sorted by system, are halved: text i of one half is compared with
    text i of the other, so that a pair has two systems wherever there are two.
    """
    first = list[int]()
    second = list[int]()
    if design.kind == "pairs":
        for code in range(design.sources):
            texts = np.flatnonzero(source == code)
            half = texts.size // 2
            first += texts[:half].tolist()
            second += texts[half:].tolist()
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
