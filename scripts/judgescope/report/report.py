"""The data of the report: the study's spec, its result tables, counts of each
dataset.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from msgspec import Struct, convert
from msgspec.json import decode

from judgescope.core.names import ORACLE
from judgescope.core.registry import module_of
from judgescope.report.items import AnnotatedText, sample
from judgescope.report.raters_in_words import (
    SOURCES,
    RatingSource,
    source_of,
)
from judgescope.report.rows import NO_ROWS, ReportRows
from judgescope.report.specs import DatasetCard, JudgeCardSpec, ReportSpec
from judgescope.report.words import CONTROLS, ONE_SCORE
from judgescope.schema.tables import read_table

T = TypeVar("T")


@dataclass(frozen=True)
class ShownJudge:
    """A judge, as the report shows it."""

    id: str
    engine: str
    about: str
    model: str = ""
    """The model whose form it is; none where no prompt is read."""
    card: str = ""
    """The link to the judge's card, "" without one."""
    hint: str = ""
    """Which rating of the judged text its prompt gives: `right`, `wrong`, "" for
    none."""
    max_tokens: int = 0
    """Where a longer reply is cut; 0 where no prompt is read."""

    planted: bool = False
    """Whether it is simulated, with a known defect."""
    scores_texts: bool = False
    """Whether its score is how probable a text is."""

    @property
    def control(self) -> bool:
        """Return whether this is a control: a baseline that nobody would use as a
        judge.
        """
        return self.engine in {"control", ORACLE}


class ReadCounts(Struct):
    """What reading a dataset counted and noticed."""

    items: int = 0
    targets: int = 0
    originals: int = 0
    ratings: int = 0
    raters: list[str] = []
    raters_of_one: int = 0
    """The most raters of one aspect, 0 if that is the number of `raters`."""
    sha256: dict[str, str] = {}
    problems: list[str] = []

    @property
    def people(self) -> int:
        """How many raters one aspect has, at most."""
        return self.raters_of_one or len(self.raters)


@dataclass(frozen=True)
class ShownDataset:
    """A dataset, as the report shows it."""

    id: str
    name: str
    card: DatasetCard
    counts: ReadCounts

    @property
    def aspects(self) -> list[str]:
        """Return its aspects, with a criterion behind a dot where they have one."""
        return self.card.aspects

    def labels_on(self, aspect: str) -> list[str]:
        """Return the labels by which people rate an aspect; none where these are
        numbers.
        """
        return self.card.labels.get(aspect.partition(".")[0], [])

    @property
    def rated_by(self) -> RatingSource:
        """Return the words for who gave its ratings."""
        return SOURCES[self.card.ratings]

    @property
    def by_people(self) -> bool:
        """Return whether its ratings, if it has any, are people's."""
        return self.rated_by.people


@dataclass(frozen=True)
class ShownPerturbation:
    """One perturbation in one degree."""

    cell: str
    name: str
    degree: str
    level: str

    @property
    def title(self) -> str:
        """Return the name with the degree."""
        if self.degree:
            return f"{self.name}, {self.degree}"
        return self.name


class TrainingStep(Struct, frozen=True):
    """A line of the log of a training: the mean loss of the tokens of a split, in
    nats.
    """

    step: int
    split: str
    loss: float | None = None
    learning_rate: float | None = None
    examples: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Report:
    """The inputs of all sections, in the order in which the study names things."""

    spec: ReportSpec
    tables: Mapping[str, ReportRows]
    counts: Mapping[str, ReadCounts]
    """Dataset -> what reading it counted."""
    annotated: Mapping[str, Sequence[AnnotatedText]] = field(default_factory=dict)
    """Dataset -> a sample of its texts with the errors that judges list in them."""
    training: Sequence[TrainingStep] = ()
    """The log of the training of the distilled judge, none where the study trains
    none."""
    _cache: dict[Hashable, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def load(cls, spec: ReportSpec) -> Self:
        """Read all that the spec names."""
        for target in spec.add_ons:
            module_of(target)
        tables = {
            name: ReportRows.of_table(read_table("results", path))
            for name, path in spec.tables.items()
        }
        counts = {
            name: decode(Path(card.report).read_bytes(), type=ReadCounts)
            for name, card in spec.datasets.items()
        }
        for name, paths in spec.joined.items():
            counts[name].problems += _poor_joins(paths)
        seed = spec.study.seed
        annotated = {
            name: sample(texts, seed, name) for name, texts in spec.annotated.items()
        }
        training = list[TrainingStep]()
        if spec.distilled:
            log = read_table("training", spec.distilled.log).to_pylist()
            training = convert(log, list[TrainingStep])
        return cls(spec, tables, counts, annotated, training)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once per key."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast(T, self._cache[key])

    def rows(self, table: str, dataset: str = "") -> ReportRows:
        """Return the rows of a table, of one dataset if named; none if there is no such
        table.
        """
        rows = self.tables.get(table, NO_ROWS)
        if dataset:
            return rows.where(dataset=dataset)
        return rows

    @property
    def study(self) -> str:
        """Return the study's id."""
        return self.spec.study.study

    @cached_property
    def datasets(self) -> list[ShownDataset]:
        """Return the datasets."""
        datasets = []
        for name in self.spec.study.datasets:
            card = self.spec.datasets[name]
            datasets.append(
                ShownDataset(name, card.name or name, card, self.counts[name])
            )
        return datasets

    @cached_property
    def rated(self) -> list[ShownDataset]:
        """Return the datasets whose ratings are people's."""
        return [dataset for dataset in self.datasets if dataset.by_people]

    @cached_property
    def rated_by(self) -> RatingSource:
        """Return the words for who gave the ratings: people if they rated any texts."""
        return source_of(dataset.rated_by for dataset in self.datasets)

    @cached_property
    def most_people(self) -> int:
        """Return how many people rated one aspect of a dataset, at most."""
        return max((dataset.counts.people for dataset in self.rated), default=0)

    @cached_property
    def names(self) -> dict[str, str]:
        """Return dataset -> its name."""
        return {dataset.id: dataset.name for dataset in self.datasets}

    def raters(self, names: Iterable[str]) -> str:
        """Return `people` if these have rated the texts of all datasets, else
        `ratings`.
        """
        by_people = all(
            SOURCES[self.spec.datasets[name].ratings].people for name in names
        )
        return "people" if by_people else "ratings"

    @cached_property
    def judges(self) -> list[ShownJudge]:
        """Return the judges, then planted ones, then the controls."""
        judges = list(map(self._judge, self.spec.study.judges))
        return sorted(judges, key=lambda judge: (judge.control, judge.planted))

    @cached_property
    def real_judges(self) -> list[ShownJudge]:
        """Return the judges without the controls."""
        return [judge for judge in self.judges if not judge.control]

    @cached_property
    def plain_controls(self) -> list[ShownJudge]:
        """Return the controls that know nothing: without the oracle."""
        return [judge for judge in self.judges if judge.engine == "control"]

    def judges_of(self, rows: ReportRows) -> list[ShownJudge]:
        """Return the judges that rows are of."""
        return self.judges_named(rows.names("judge"))

    def real_judges_of(self, rows: ReportRows) -> list[ShownJudge]:
        """Return the judges that rows are of, without controls."""
        return [judge for judge in self.judges_of(rows) if not judge.control]

    def judges_named(self, ids: Iterable[str]) -> list[ShownJudge]:
        """Return the judges with these ids, in their order; other ids are left out."""
        wanted = {*ids}
        return [judge for judge in self.judges if judge.id in wanted]

    @cached_property
    def perturbations(self) -> list[ShownPerturbation]:
        """Return the study's perturbations in every degree that a table has."""
        order = self.spec.study.perturbations
        used = set[tuple[str, str]]()
        for table in ("discernment", "confusion", "perturbations"):
            for row in self.rows(table):
                if row.perturbation in order:
                    used.add((row.perturbation, row.degree))
        perturbations = []
        for name, degree in sorted(used, key=self._rank_of_degree):
            cell = f"{name}.{degree}" if degree else name
            shown_degree = "" if degree == "single" else degree
            level = self.spec.perturbations[name].level
            title = self.perturbation(name)
            perturbations.append(ShownPerturbation(cell, title, shown_degree, level))
        return perturbations

    def _rank_of_degree(self, pair: tuple[str, str]) -> tuple[int, int]:
        """The positions of a perturbation and of its degree; a row without one is
        last.
        """
        name, degree = pair
        degrees = self.spec.perturbations[name].degrees
        position = degrees.index(degree) if degree in degrees else len(degrees)
        return self.spec.study.perturbations.index(name), position

    def aspect(self, name: str) -> str:
        """Return an aspect's name, and its criterion where it has one."""
        plain, _, criterion = name.partition(".")
        title = self.spec.aspects.get(plain, plain)
        return f"{title} ({criterion})" if criterion else title

    def perturbation(self, name: str) -> str:
        """Return a perturbation's name, its id where it has none."""
        return self.spec.perturbations[name].name or name

    def _judge(self, name: str) -> ShownJudge:
        card = self.spec.judges[name]
        folder = self.spec.cards
        page = "" if folder is None else f"{folder}{name}.html"
        if card.engine == "derived":
            return ShownJudge(name, "derived", card.form, card=page, hint=card.hint)
        if card.engine == "control":
            engine = ORACLE if card.form == ORACLE else "control"
            about = CONTROLS.get(card.form, card.form)
            return ShownJudge(name, engine, about, card=page)
        if card.planted:
            about = f"planted, simulated: {card.planted}"
            return ShownJudge(name, card.engine, about, card=page, planted=True)
        parts = (
            card.engine,
            card.model if card.model != card.engine else "",
            "" if _letters(card.form) in _letters(name) else card.form,
            f"against the {card.against}" if card.against else "",
            f"{card.draws} draws" if card.draws > 1 else "",
            card.scores_texts,
            ONE_SCORE if card.one_score else "",
        )
        about = ", ".join(filter(None, parts))
        return ShownJudge(
            name,
            card.engine,
            about,
            model=card.model if card.max_tokens else "",
            card=page,
            hint=card.hint,
            max_tokens=card.max_tokens,
            scores_texts=bool(card.scores_texts),
        )


def ids_of(judges: Iterable[ShownJudge]) -> tuple[str, ...]:
    """Return the ids of judges."""
    return tuple(judge.id for judge in judges)


@dataclass(frozen=True)
class CardReport(Report):
    """The data of the judges' cards: also settings and the rules for the worst
    cases.
    """

    spec: JudgeCardSpec


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name))


def _poor_joins(paths: Iterable[str]) -> list[str]:
    """What to say of recorded models of which many rows were not joined to texts."""
    from judgescope.engines.recorded_joins import (  # slow to import
        join_lines,
        read_joins,
    )

    joins = chain.from_iterable(map(read_joins, paths))
    return join_lines(joins, poor=True)
