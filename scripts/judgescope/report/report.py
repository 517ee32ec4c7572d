"""The data of the report: the study's spec, its result tables, counts of each
dataset.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from msgspec import Struct, convert
from msgspec.json import decode

from judgescope.core.names import ORACLE
from judgescope.engines import PROMPTED
from judgescope.report.elements import Section
from judgescope.report.items import AnnotatedText, sample
from judgescope.report.rows import NO_ROWS, Rows
from judgescope.report.specs import DatasetCard, JudgeCardSpec, ReportSpec
from judgescope.report.words import CONTROLS
from judgescope.schema.tables import read_table

T = TypeVar("T")
DEGREES = ("minor", "major", "single", "")


@dataclass(frozen=True)
class Judge:
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
    sha256: dict[str, str] = {}
    problems: list[str] = []


@dataclass(frozen=True)
class Dataset:
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
    def planned(self) -> bool:
        """Return whether the ratings are the quality that authors planned."""
        return self.card.ratings == "planned"


@dataclass(frozen=True)
class Perturbation:
    """One perturbation in one degree."""

    cell: str
    name: str
    degree: str
    level: str

    @property
    def title(self) -> str:
        """Return the name with the degree."""
        return f"{self.name}, {self.degree}" if self.degree else self.name


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
    tables: Mapping[str, Rows]
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
        tables = {
            name: Rows.of_table(read_table("results", path))
            for name, path in spec.tables.items()
        }
        counts = {
            name: decode(Path(card.report).read_bytes(), type=ReadCounts)
            for name, card in spec.datasets.items()
        }
        for name, paths in spec.joined.items():
            from judgescope.engines.recorded import (
                join_lines,
                read_joins,
            )  # slow to import

            joins = [join for path in paths for join in read_joins(path)]
            counts[name].problems += join_lines(joins, poor=True)
        seed = spec.study.seed
        annotated = {
            name: sample(texts, seed, name) for name, texts in spec.annotated.items()
        }
        log = (
            read_table("training", spec.distilled.log).to_pylist()
            if spec.distilled
            else []
        )
        return cls(spec, tables, counts, annotated, convert(log, list[TrainingStep]))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once per key."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast(T, self._cache[key])

    def rows(self, table: str, dataset: str = "") -> Rows:
        """Return the rows of a table, of one dataset if named; none if there is no such
        table.
        """
        rows = self.tables.get(table, NO_ROWS)
        return rows.where(dataset=dataset) if dataset else rows

    @property
    def study(self) -> str:
        """Return the study's id."""
        return self.spec.study.study

    @cached_property
    def datasets(self) -> list[Dataset]:
        """Return the datasets."""
        cards = [(name, self.spec.datasets[name]) for name in self.spec.study.datasets]
        return [
            Dataset(name, card.name or name, card, self.counts[name])
            for name, card in cards
        ]

    @cached_property
    def names(self) -> dict[str, str]:
        """Return dataset -> its name."""
        return {dataset.id: dataset.name for dataset in self.datasets}

    def raters(self, names: Iterable[str]) -> str:
        """Return `people` if these have rated the texts of all datasets, else
        `ratings`.
        """
        planned = any(self.spec.datasets[name].ratings == "planned" for name in names)
        return "ratings" if planned else "people"

    @cached_property
    def judges(self) -> list[Judge]:
        """Return the judges, then planted ones, then the controls."""
        judges = [self._judge(name) for name in self.spec.study.judges]
        return sorted(judges, key=lambda judge: (judge.control, judge.planted))

    def judges_of(self, rows: Rows) -> list[Judge]:
        """Return the judges that rows are of."""
        names = {*rows.names("judge")}
        return [judge for judge in self.judges if judge.id in names]

    @cached_property
    def perturbations(self) -> list[Perturbation]:
        """Return the study's perturbations in every degree that a table has."""
        order = self.spec.study.perturbations
        found = {
            (row.perturbation, row.degree)
            for table in ("discernment", "confusion", "perturbations")
            for row in self.rows(table)
            if row.perturbation in order
        }
        return [
            Perturbation(
                f"{name}.{degree}" if degree else name,
                self.perturbation(name),
                "" if degree == "single" else degree,
                self.spec.perturbations[name].level,
            )
            for name, degree in sorted(
                found, key=lambda pair: (order.index(pair[0]), DEGREES.index(pair[1]))
            )
        ]

    def aspect(self, name: str) -> str:
        """Return an aspect's name, and its criterion where it has one."""
        plain, _, criterion = name.partition(".")
        title = self.spec.aspects.get(plain, plain)
        return f"{title} ({criterion})" if criterion else title

    def perturbation(self, name: str) -> str:
        """Return a perturbation's name, its id where it has none."""
        return self.spec.perturbations[name].name or name

    def _judge(self, name: str) -> Judge:
        card, folder = self.spec.judges[name], self.spec.cards
        page = "" if folder is None else f"{folder}{name}.html"
        if card.engine == "derived":
            return Judge(name, "derived", card.form, card=page, hint=card.hint)
        if card.engine == "control":
            engine = ORACLE if card.form == ORACLE else "control"
            return Judge(name, engine, CONTROLS.get(card.form, card.form), card=page)
        if card.planted:
            about = f"planted, simulated: {card.planted}"
            return Judge(name, card.engine, about, card=page, planted=True)
        parts = (
            card.engine,
            card.model if card.model != card.engine else "",
            "" if _letters(card.form) in _letters(name) else card.form,
            f"against the {card.against}" if card.against else "",
            f"{card.draws} draws" if card.draws > 1 else "",
        )
        about = ", ".join(part for part in parts if part)
        model = card.model if card.engine in PROMPTED else ""
        return Judge(name, card.engine, about, model, page, card.hint, card.max_tokens)


@dataclass(frozen=True)
class CardReport(Report):
    """The data of the judges' cards: also settings and the rules for the worst
    cases.
    """

    spec: JudgeCardSpec


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name))


# --- sections -------------------------------------------------------------------------

Maker = Callable[[Report], Section | None]
"""Makes a section; None if the study has nothing for it."""
Made = TypeVar("Made", bound=Maker)
GROUPS = ("Verdict", "Evidence", "Data quality", "Reproduce")
"""The groups of the table of contents."""
MAKERS: dict[tuple[int, int, str], Maker] = {}
"""Group, position in it and name -> the function that makes a section."""


def in_group(group: str, order: int) -> Callable[[Made], Made]:
    """Register a section: in one of GROUPS, after those of a lower `order`."""

    def register(make: Made) -> Made:
        MAKERS[GROUPS.index(group), order, f"{make.__module__}.{make.__name__}"] = make
        return make

    return register
