"""What a method sees of one dataset: its tables as arrays that share one order of targets."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judgescope import __version__
from judgescope.core.cells import joined, split
from judgescope.core.rng import share_of, stream
from judgescope.methods.specs import StatisticsSpec
from judgescope.statistics import tallies  # noqa: F401  declares what any method may count
from judgescope.statistics.declared import tie_rule
from judgescope.statistics.jackknife import HANGS, deletions
from judgescope.statistics.resampling import Replicated, source_weights
from judgescope.statistics.result import Estimate

WITHOUT_REFERENCES = "without references"
"""The value of the column `systems` where the texts that are the references are left out."""
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class EvaluationData:
    """One dataset of a study: the job's spec, and its tables.

    `data_sha` is a hash of the dataset's files and of what was selected from them.
    """

    spec: StatisticsSpec
    items: pa.Table
    targets: pa.Table
    ratings: pa.Table
    scores: pa.Table
    draws: pa.Table
    statuses: pa.Table
    data_sha: str

    @property
    def dataset(self) -> str:
        """Return the dataset's id."""
        return self.spec.dataset

    @cached_property
    def item_order(self) -> dict[str, int]:
        """Return item -> code, in the order of the ids: an item is the unit of resampling."""
        names = sorted(self.items["item"].to_pylist())
        return {name: code for code, name in enumerate(names)}

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Return the weights that delete one item each, (items, items)."""
        return deletions(len(self.item_order))

    @cached_property
    def resamples(self) -> NDArray[np.int64]:
        """Return the bootstrap weights over items, for ranks: the same for every judge."""
        rng = stream(self.spec.seed, "bootstrap", self.dataset)
        return source_weights(rng, len(self.item_order))

    @cached_property
    def reached(self) -> dict[bytes, Mapping[tuple[str, str], Replicated]]:
        """Return what `measures.as_raters` keeps: hash of two arrays -> their correlations."""
        return {}

    @cached_property
    def _shares(self) -> dict[float, frozenset[str]]:
        return {}

    @cached_property
    def _signatures(self) -> dict[tuple[str, str, str], str]:
        return {}

    @cached_property
    def systems(self) -> "TargetSet":
        """Return the rated targets: the systems' texts."""
        return self.panel("systems")

    @cached_property
    def without_references(self) -> "TargetSet":
        """Return the rated targets less the texts that are the references."""
        named = pa.array(self.spec.reference_systems, pa.string())
        rows = self.systems.rows
        return TargetSet(
            self, "systems", rows.filter(pc.invert(pc.is_in(rows["system"], value_set=named)))
        )

    def shared_panel(self, judges: Iterable[str]) -> tuple[str | None, "TargetSet"]:
        """Return the panel on which judges are held against each other, and its column `systems`.

        Without the texts that are the references where one of them compares with these.
        """
        cards = self.spec.judges
        fair = self.spec.reference_systems and any(cards[name].references for name in judges)
        return (WITHOUT_REFERENCES, self.without_references) if fair else (None, self.systems)

    def rated(self, judge: str) -> dict[str | None, "TargetSet"]:
        """Return the panels on which a judge is compared with people, by the column `systems`.

        A judge that compares with references is rated without the texts that are the references
        (methods.md 5), and with them beside if the study wants both. Controls are rated both ways,
        so that each number has theirs on the same texts.
        """
        card = self.spec.judges[judge]
        control = card.engine == "control"
        panels: dict[str | None, TargetSet] = {None: self.systems}
        if self.spec.reference_systems and (card.references or control):
            both = control or not self.spec.exclude_reference_systems
            panels = (panels if both else {}) | {WITHOUT_REFERENCES: self.without_references}
        return {systems: panel.given(judge) for systems, panel in panels.items()}

    def fair(self, judge: str, *, whole: bool = False) -> tuple[str | None, "TargetSet"]:
        """Return the panel on which a judge's claims rest, after its column `systems`.

        Without the texts that are the references where the judge compares with these; `whole`:
        with the items that it was not given, too.
        """
        card = self.spec.judges[judge]
        apart = self.spec.reference_systems and card.references
        panel = self.without_references if apart else self.systems
        return (WITHOUT_REFERENCES if apart else None), panel if whole else panel.given(judge)

    def items_given(self, *judges: str) -> frozenset[str]:
        """Return the items that every one of some judges was given: the smallest share's."""
        share = min((self.spec.judges[name].share for name in judges), default=1.0)
        if share not in self._shares:
            self._shares[share] = share_of(
                self.item_order, share, seed=self.spec.seed, dataset=self.dataset
            )
        return self._shares[share]

    def told_share(self, *judges: str) -> str:
        """Return what a note says of judges that were not given every item, "" of all others."""
        given, whole = len(self.items_given(*judges)), len(self.item_order)
        if given == whole:
            return ""
        both = " that all of them judge" if len(judges) > 1 else ""
        return f"of a share of the items{both}: {given} of {whole}"

    def panel(self, perturbation: str) -> "TargetSet":
        """Return the targets of one set (`systems`, `original`, `<id>.<degree>`) by id."""
        name, _, degree = perturbation.partition(".")
        chosen = pc.equal(self.targets["perturbation"], name)
        if degree:
            chosen = pc.and_(chosen, pc.equal(self.targets["degree"], degree))
        rows = self.targets.filter(chosen).sort_by("target")
        return TargetSet(self, perturbation, rows)

    @cached_property
    def score_values(self) -> dict[tuple[str, str, str], dict[str, float]]:
        """Return (perturbation, judge, aspect) -> target -> score; null scores are left out."""
        table: dict[tuple[str, str, str], dict[str, float]] = {}
        names = ("perturbation", "judge", "aspect", "criterion", "target", "value")
        columns = (self.scores[name].to_pylist() for name in names)
        for perturbation, judge, aspect, criterion, target, value in zip(*columns, strict=True):
            cell = table.setdefault((perturbation, judge, joined(aspect, criterion)), {})
            if value is not None:
                cell[target] = value
        return table

    def draw_tables(self, panel: "TargetSet") -> dict[tuple[str, str], Floats]:
        """Return (judge, aspect) -> a panel's draws; shape (draws, targets), NaN = none."""
        place = {target: at for at, target in enumerate(panel.targets)}
        rows = self.draws.filter(pc.equal(self.draws["perturbation"], panel.perturbation))
        names = ("judge", "aspect", "target", "target_b", "draw", "value")
        tables: dict[tuple[str, str], Floats] = {}
        for judge, aspect, target, other, draw, value in zip(
            *(rows[name].to_pylist() for name in names), strict=True
        ):
            draws = card.draws if (card := self.spec.judges.get(judge)) else 1
            if other is not None or target not in place or draws < 2:
                continue
            table = tables.setdefault((judge, aspect), np.full((draws, len(place)), np.nan))
            table[draw, place[target]] = np.nan if value is None else value
        return dict(sorted(tables.items()))

    @cached_property
    def human_ratings(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return aspect -> rater -> target -> rating."""
        table: dict[str, dict[str, dict[str, float]]] = {}
        names = ("aspect", "rater", "target", "value")
        columns = (self.ratings[name].to_pylist() for name in names)
        for aspect, rater, target, value in zip(*columns, strict=True):
            table.setdefault(aspect, {}).setdefault(rater, {})[target] = value
        return table

    def row(
        self, judge: str, aspect: str, statistic: str, level: str, found: Estimate, **more: Any
    ) -> dict[str, Any]:
        """Return one row of a result table, signed; `aspect` as a cell calls it."""
        name, criterion = split(aspect)
        estimate = {name: getattr(found, name) for name in Estimate.__slots__}
        estimate["note"] = self._named(found.note)
        return {
            "dataset": self.dataset,
            "judge": judge,
            "aspect": name,
            "statistic": statistic,
            "level": level,
            **estimate,
            **({"criterion": criterion} if criterion else {}),
            **more,
            "signature": self.signature(judge, statistic, level),
        }

    def _named(self, note: str) -> str:
        """Return a note with the name of the item on whose code a number hangs."""
        before, hangs, rest = note.partition(HANGS)
        code = "".join(takewhile(str.isdigit, rest))
        if not code:
            return note
        name = list(self.item_order)[int(code)]
        return f"{before}{hangs.removesuffix('#')}{name}{rest.removeprefix(code)}"

    def signature(self, judge: str, statistic: str, level: str) -> str:
        """Return the string that says what reproduces a number (after the habit of sacreBLEU)."""
        known = (judge, statistic, level)
        if known not in self._signatures:
            self._signatures[known] = self._signed(*known)
        return self._signatures[known]

    def _signed(self, judge: str, statistic: str, level: str) -> str:
        card = self.spec.judges.get(judge)
        parts = {
            "judge": judge,
            "card": card and card.card,
            "prompt": card and card.prompt,
            "draws": card and card.draws,
            "share": card.share if card and card.share < 1 else None,
            "temperature": card and card.temperature,
            "parser": card and card.parser,
            "data": f"{self.dataset}@{self.data_sha}",
            "originals": self.spec.improved,
            "stat": statistic,
            "level": level or None,
            "ties": tie_rule(statistic),
            "weights": self.spec.weights and self.spec.weights.id,
            "missing": self.spec.missing,
            "seed": self.spec.seed,
            "v": __version__,
        }
        return "|".join(f"{name}:{part}" for name, part in parts.items() if part is not None)


@dataclass(frozen=True)
class TargetSet:
    """One set of targets, sorted by id, and what judges and people say of them."""

    study: EvaluationData
    perturbation: str
    rows: pa.Table

    @cached_property
    def targets(self) -> list[str]:
        """Return the targets' ids."""
        names: list[str] = self.rows["target"].to_pylist()
        return names

    @cached_property
    def items(self) -> list[str]:
        """Return each target's item."""
        names: list[str] = self.rows["item"].to_pylist()
        return names

    @cached_property
    def source(self) -> Codes:
        """Return each target's code among the dataset's items; shape (targets,)."""
        return np.array([self.study.item_order[name] for name in self.items], dtype=np.int64)

    @cached_property
    def system(self) -> Codes:
        """Return each target's code among the systems; shape (targets,)."""
        order = {name: code for code, name in enumerate(sorted(set(self.systems)))}
        return np.array([order[name] for name in self.systems], dtype=np.int64)

    @cached_property
    def systems(self) -> list[str]:
        """Return each target's system."""
        names: list[str] = self.rows["system"].to_pylist()
        return names

    @cached_property
    def lengths(self) -> Floats:
        """Return the characters of each target's text; shape (targets,)."""
        return np.array([len(text or "") for text in self.rows["text"].to_pylist()], dtype=float)

    def given(self, *judges: str) -> "TargetSet":
        """Return the targets of the items that all of some judges were given."""
        items = self.study.items_given(*judges)
        if len(items) == len(self.study.item_order):
            return self
        named = pa.array(sorted(items), pa.string())
        rows = self.rows.filter(pc.is_in(self.rows["item"], value_set=named))
        return TargetSet(self.study, self.perturbation, rows)

    def scores(self, judge: str, aspect: str) -> Floats | None:
        """Return the judge's score of each target, NaN where there is none; None: no cell."""
        cell = self.study.score_values.get((self.perturbation, judge, aspect))
        return None if cell is None else aligned(cell, self.targets)

    def ratings(self, aspect: str) -> Floats:
        """Return people's ratings, NaN where missing; shape (raters, targets)."""
        raters = self.study.human_ratings.get(split(aspect)[0], {})
        rows = [aligned(raters[name], self.targets) for name in sorted(raters)]
        return np.array(rows).reshape(len(rows), len(self.targets))


def turned(table: pa.Table, sums: Mapping[tuple[str, str], float]) -> pa.Table:
    """Return ratings, scores or draws with values so that more is better: value' = sum - value.

    `sums`: (judge, "" for people, and aspect as a cell calls it) -> min + max of the scale, where
    its best end is the lowest; all others stay.
    """
    if not sums:
        return table
    size = [None] * len(table)
    names = table.column_names
    columns = [
        table[name].to_pylist() if name in names else size
        for name in ("judge", "aspect", "criterion", "value")
    ]
    values = [
        total - value
        if value is not None
        and (total := sums.get((judge or "", joined(aspect, criterion)))) is not None
        else value
        for judge, aspect, criterion, value in zip(*columns, strict=True)
    ]
    at = names.index("value")
    return table.set_column(at, table.schema.field(at), pa.array(values, pa.float64()))


def aligned(values: Mapping[str, float], targets: Iterable[str]) -> Floats:
    """Return the values in the order of `targets`, NaN where there is none."""
    return np.array([values.get(target, np.nan) for target in targets], dtype=np.float64)


def meta(study: EvaluationData) -> dict[str, dict[str, Any]]:
    """Return item -> what else the data says of it."""
    names, texts = (study.items[name].to_pylist() for name in ("item", "meta"))
    return {name: json.loads(text or "{}") for name, text in zip(names, texts, strict=True)}
