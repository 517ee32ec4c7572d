"""What the report knows: the study's spec, its result tables and what was read of each dataset."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from judgescope.core.reserved_names import ORACLE
from judgescope.engines import PROMPTED
from judgescope.report.annotated import Judged, sample
from judgescope.report.rows import Rows
from judgescope.report.specs import JudgeCardSpec, ReportSpec
from judgescope.report.words import CONTROLS
from judgescope.schema.tables import read_table

T = TypeVar("T")
DEGREES = ("minor", "major", "single", "")


@dataclass(frozen=True)
class Judge:
    """A judge as the report names it."""

    id: str
    engine: str
    about: str
    model: str = ""
    """The model whose form it is; none where no prompt is read."""
    card: str = ""
    """The way to the judge's card, "" where there is none."""
    hint: str = ""
    """Which rating of the very text its prompt gives: `right`, `wrong`, "" for none."""
    max_tokens: int = 0
    """Where a longer reply is cut; 0 where no prompt is read."""

    @property
    def control(self) -> bool:
        """Return whether this is no judge that anybody could use."""
        return self.engine in {"control", ORACLE}


@dataclass(frozen=True)
class Dataset:
    """A dataset as the report names it; `found` is what reading it counted."""

    id: str
    name: str
    task: str
    ratings: str
    licence: str
    citation: str
    aspects: list[str]
    found: Mapping[str, Any]

    @property
    def planned(self) -> bool:
        """Return whether the ratings are the quality that authors planned."""
        return self.ratings == "planned"


@dataclass(frozen=True)
class Damage:
    """One perturbation in one degree."""

    cell: str
    name: str
    degree: str
    level: str

    @property
    def title(self) -> str:
        """Return the name with the degree."""
        return f"{self.name}, {self.degree}" if self.degree else self.name


@dataclass(frozen=True)
class Report:
    """The inputs of all sections, in the order in which the study names things."""

    spec: ReportSpec
    tables: Mapping[str, Rows]
    found: Mapping[str, Mapping[str, Any]]
    annotated: Mapping[str, Sequence[Judged]] = field(default_factory=dict)
    """Dataset -> a sample of its texts with the errors that judges list in them."""
    training: Sequence[Mapping[str, Any]] = ()
    """The log of the training of the judge that was taught, none where the study trains none."""
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def load(cls, spec: ReportSpec) -> Self:
        """Read all that the spec names."""
        tables = {
            name: Rows.of_table(read_table("results", path)) for name, path in spec.tables.items()
        }
        found = {
            name: json.loads(Path(card.report).read_text(encoding="utf-8"))
            for name, card in spec.datasets.items()
        }
        for name, paths in spec.joined.items():
            from judgescope.engines.recorded import join_lines, read_joins  # slow to import

            joins = [join for path in paths for join in read_joins(path)]
            found[name]["problems"] = [*found[name]["problems"], *join_lines(joins, poor=True)]
        seed = spec.study.seed
        annotated = {name: sample(texts, seed, name) for name, texts in spec.annotated.items()}
        log = read_table("training", spec.distilled.log).to_pylist() if spec.distilled else []
        return cls(spec, tables, found, annotated, log)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` makes, made once for a key: what many parts of a page ask for."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    def rows(self, table: str) -> Rows:
        """Return the rows of a table, none where the study has no such table."""
        return self.tables.get(table, Rows([]))

    @property
    def study(self) -> str:
        """Return the study's id."""
        return self.spec.study.study

    @cached_property
    def datasets(self) -> list[Dataset]:
        """Return the datasets."""
        return [self._dataset(name) for name in self.spec.study.datasets]

    @cached_property
    def judges(self) -> list[Judge]:
        """Return the judges that are no controls, then the controls."""
        judges = [self._judge(name) for name in self.spec.study.judges]
        return sorted(judges, key=lambda judge: judge.control)

    @cached_property
    def damages(self) -> list[Damage]:
        """Return the study's perturbations in every degree that a table has."""
        order = self.spec.study.perturbations
        found = {
            (row.perturbation, row.degree)
            for table in ("discernment", "confusion", "perturbations")
            for row in self.rows(table)
            if row.perturbation in order
        }
        placed = sorted(found, key=lambda at: (order.index(at[0]), DEGREES.index(at[1])))
        return [self._damage(name, degree) for name, degree in placed]

    def aspect(self, name: str) -> str:
        """Return an aspect's name, and its criterion where it has one."""
        plain, _, criterion = name.partition(".")
        title = self.spec.aspects.get(plain, plain)
        return f"{title} ({criterion})" if criterion else title

    def _dataset(self, name: str) -> Dataset:
        card = self.spec.datasets[name]
        return Dataset(
            id=name,
            name=card.name or name,
            task=card.task,
            ratings=card.ratings,
            licence=card.licence,
            citation=card.citation,
            aspects=card.aspects,
            found=self.found[name],
        )

    def _judge(self, name: str) -> Judge:
        card, folder = self.spec.judges[name], self.spec.cards
        page = "" if folder is None else f"{folder}{name}.html"
        if card.engine == "derived":
            return Judge(name, "derived", card.form, card=page, hint=card.hint)
        if card.engine == "control":
            engine = ORACLE if card.form == ORACLE else "control"
            return Judge(name, engine, CONTROLS.get(card.form, card.form), card=page)
        against = f"against the {card.against}" if card.against else ""
        draws = f"{card.draws} draws" if card.draws > 1 else ""
        form = "" if _letters(card.form) in _letters(name) else card.form
        named = (card.model if card.model != card.engine else "", form, against, draws)
        about = ", ".join(part for part in (card.engine, *named) if part)
        model = card.model if card.engine in PROMPTED else ""
        return Judge(name, card.engine, about, model, page, card.hint, card.max_tokens)

    def perturbation(self, name: str) -> str:
        """Return a perturbation's name, its id where it has none."""
        return self.spec.perturbations[name].name or name

    def _damage(self, name: str, degree: str) -> Damage:
        cell, level = f"{name}.{degree}" if degree else name, self.spec.perturbations[name].level
        return Damage(cell, self.perturbation(name), "" if degree == "single" else degree, level)


@dataclass(frozen=True)
class CardReport(Report):
    """What the judges' cards know beside: settings, and which judgments are the worst."""

    spec: JudgeCardSpec


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name))
