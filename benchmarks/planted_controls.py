"""Positive controls among planted judges: people's mean copied, and one more rater."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from planted_checks import outcomes
from planted_worlds import JudgeSetup, covering_set, study_rows

from judgescope.data.planted import PlantedDesign
from judgescope.statistics.raters import RaterVerdict


@dataclass(frozen=True)
class Setting:
    """A design, and the steps that a copy of people's mean reaches in it."""

    design: PlantedDesign
    words: tuple[tuple[str, ...], ...]

    @property
    def better(self) -> bool:
        """Return whether it is better than chance in every aspect."""
        return all(one[0] in ("better", "as_rater") for one in self.words)

    @property
    def as_rater(self) -> bool:
        """Return whether it is as good as one more rater in every aspect."""
        return all(one[0] == "as_rater" for one in self.words)

    def words_of_steps(self) -> str:
        """Return the design and how many claims reached which step."""
        design = self.design
        counts = Counter("; ".join(one) for one in self.words)
        texts = ", ".join(map(str, design.texts))
        said = ", ".join(f"{n} × {words}" for words, n in counts.items())
        return (
            f"{design.kind}, {design.systems} systems, {design.aspects} aspects, "
            f"{texts} texts a source: {said}"
        )


def copies() -> list[Setting]:
    """Return the steps that a copy of people's mean reaches in the covering set."""
    settings = []
    for number, design in enumerate(covering_set()):
        kinds = {"scores": "agreement", "labels": "labels", "pairs": "pairs"}
        claims = outcomes(study_rows(design, f"cover-{number}", [JudgeSetup("copy")]))
        kind = kinds[design.kind]
        words = [tuple(one) for (_, form, _), one in claims.items() if form == kind]
        settings.append(Setting(design, tuple(words)))
    return settings


@dataclass(frozen=True)
class OneMoreRater:
    """Shares of studies of a judge that is one more rater."""

    title: str
    studies: int
    better: float
    worse: float
    as_rater: float


def one_more_rater(studies: int) -> Iterator[OneMoreRater]:
    """Yield the shares, by design, per claim of one aspect."""
    designs = {
        "40 sources × 5 texts": PlantedDesign(
            sources=40, systems=5, aspects=1, texts=(5,)
        ),
        "60 sources × 6 texts": PlantedDesign(aspects=1),
        "60 sources × 6 texts, labels": PlantedDesign("labels", aspects=1),
        "60 sources × 3 pairs": PlantedDesign("pairs", aspects=1, texts=(3,)),
    }
    for title, design in designs.items():
        better = worse = as_rater = 0
        for number in range(studies):
            rows = study_rows(design, f"rater-{number}", [JudgeSetup("none")])
            kinds = {"agreement", "labels", "pairs"}
            [words] = [w for (_, form, _), w in outcomes(rows).items() if form in kinds]
            better += words[0] in ("better", "as_rater")
            as_rater += words[0] == "as_rater"
            worse += any(
                row["statistic"].startswith("as_rater_")
                and row["note"].startswith(RaterVerdict.WORSE)
                for row in rows
            )
        yield OneMoreRater(
            title, studies, better / studies, worse / studies, as_rater / studies
        )
