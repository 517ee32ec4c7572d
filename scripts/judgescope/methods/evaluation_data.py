"""The data of one dataset for a method: its tables as arrays that share one order of
targets.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judgescope import __version__
from judgescope.core.cells import split
from judgescope.core.names import NO_RECORDED_VALUE
from judgescope.core.rng import share_of, stream
from judgescope.core.words import language_of
from judgescope.data.sentences import english_words
from judgescope.methods.aligned_values import (
    TargetValues,
    one_array,
    places_in,
    rows_by,
)
from judgescope.methods.base import StatisticsSpec
from judgescope.methods.row_numbers import numbers_of
from judgescope.methods.score_tables import CellName, CellScores, ScoreTables, UnitId
from judgescope.perturb.check_languages import unchecked_kind
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.schema.tables import entries_of
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.intervals import ONE_SOURCE_DECIDES, deletions
from judgescope.statistics.registry import tie_rule
from judgescope.statistics.resampling import Replicated, source_weights
from judgescope.statistics.result import REASONS, Estimate, clauses
from judgescope.statistics.source_rows import Deletions

WITHOUT_REFERENCES = "without references"
"""The value of the column `system_subset` where texts that are the references are left
out."""
NOT_PLANNED = "not_applicable"
"""The status of judgments of what a judge does not apply to."""
MADE = {"ok", "short"}
"""Outcomes of texts that could be made: `short` has fewer edits than planned."""


@dataclass(frozen=True)
class EvaluationData:
    """One dataset of a study: the job's spec, and its tables.

    `data_sha` is a hash of the dataset's files and of what was selected from them.
    """

    spec: StatisticsSpec
    items: pa.Table
    targets: pa.Table
    ratings: pa.Table
    scores: ScoreTables
    draws: pa.Table
    statuses: pa.Table
    data_sha: str
    rater_correlations: dict[bytes, Mapping[tuple[str, str], Replicated]] = field(
        default_factory=dict
    )
    """The cache of `measures.as_raters`: hash of two arrays -> their correlations."""
    _items_of_share: dict[float, frozenset[str]] = field(default_factory=dict)
    _signatures: dict[tuple[str, str, str], str] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """Return the dataset's id."""
        return self.spec.dataset

    @cached_property
    def item_order(self) -> dict[str, int]:
        """Return item -> code, sorted by id: items are the sources that are
        resampled.
        """
        items = sorted(self.items["item"].to_pylist())
        return {name: code for code, name in enumerate(items)}

    @cached_property
    def weights(self) -> Deletions:
        """Return the weights that delete one item each; shape (items, items)."""
        return deletions(len(self.item_order))

    @cached_property
    def resamples(self) -> NDArray[np.uint16]:
        """Return the bootstrap weights over items, for ranks: the same for every
        judge.
        """
        rng = stream(self.spec.seed, "bootstrap", self.dataset)
        return source_weights(rng, len(self.item_order))

    @cached_property
    def systems(self) -> "TargetSet":
        """Return the rated targets: the systems' texts."""
        return self.target_set("systems")

    @cached_property
    def without_references(self) -> "TargetSet":
        """Return the rated targets without the texts that are the references."""
        import pyarrow.compute as pc  # not for planning

        references = pa.array(self.spec.reference_systems, pa.string())
        is_reference = pc.is_in(self.systems.rows["system"], value_set=references)
        rows = self.systems.rows.filter(pc.invert(is_reference))
        return TargetSet(self, "systems", rows, WITHOUT_REFERENCES)

    def shared_targets(self, *judges: str) -> "TargetSet":
        """Return the targets on which judges are compared with each other.

        It excludes the reference texts if one of the judges reads references.
        """
        if not self.spec.reference_systems:
            return self.systems
        if any(self.spec.judges[name].references for name in judges):
            return self.without_references
        return self.systems

    def rated(self, judge: str) -> list["TargetSet"]:
        """Return the sets of targets on which a judge is compared with people.

        A judge that reads references is compared without the texts that are the
        references (docs/methods.md, "Ensembles, spans and distillation"), and also with
        them if the study asks for both. Controls are compared on both sets, so that
        every judge has a control on the same texts.
        """
        card = self.spec.judges[judge]
        control = card.engine == "control"
        target_sets = [self.systems]
        if self.spec.reference_systems and (card.references or control):
            if self.spec.exclude_reference_systems and not control:
                target_sets = []
            target_sets.append(self.without_references)
        return [targets.given(judge) for targets in target_sets]

    def items_given(self, *judges: str) -> frozenset[str]:
        """Return the items that each of some judges was given: those of the smallest
        share.
        """
        share = min((self.spec.judges[name].share for name in judges), default=1.0)
        if share not in self._items_of_share:
            self._items_of_share[share] = share_of(
                self.item_order, share, seed=self.spec.seed, dataset=self.dataset
            )
        return self._items_of_share[share]

    def share_note(self, *judges: str) -> str:
        """Return the note on judges that were given a share of the items, or shortened
        sources; "" on all others.
        """
        cuts = list[str]()
        for name in judges:
            facts = self.spec.judges.get(name)
            if facts is not None and facts.cuts:
                cuts.append(f"{name}: {facts.cuts}")
        shortened = ""
        if cuts:
            shortened = f"sources shortened for {', '.join(cuts)}"
        return clauses(self._given_note(*judges), shortened)

    def _given_note(self, *judges: str) -> str:
        given = len(self.items_given(*judges))
        total = len(self.item_order)
        if given == total:
            return ""
        both = " that all these judges receive" if len(judges) > 1 else ""
        return f"computed on a share of the items{both}: {given} of {total}"

    def target_set(self, perturbation: str) -> "TargetSet":
        """Return the targets of one set (`systems`, `original`, `<id>.<degree>`),
        sorted by id.
        """
        import pyarrow.compute as pc  # not for planning

        name, _, degree = perturbation.partition(".")
        chosen = pc.equal(self.targets["perturbation"], name)
        if degree:
            chosen = pc.and_(chosen, pc.equal(self.targets["degree"], degree))
        rows = self.targets
        if not pc.all(chosen.fill_null(False)).as_py():
            rows = rows.filter(chosen)
        names = one_array(rows["target"])
        # Nearly always they are sorted, and to sort their texts takes as much memory.
        is_sorted = pc.all(pc.less_equal(names[:-1], names[1:])).as_py()
        if not is_sorted:
            rows = rows.sort_by("target")
        return TargetSet(self, perturbation, rows)

    @cached_property
    def score_values(self) -> dict[CellName, dict[str, float]]:
        """Return (perturbation, judge, aspect) -> target -> score that is not null."""
        scores: dict[CellName, dict[str, float]] = {}
        for name, cell in self.scored_cells.items():
            known = ~np.isnan(cell.values)
            targets = cell.targets.filter(pa.array(known)).to_pylist()
            scores[name] = dict(zip(targets, cell.values[known].tolist(), strict=True))
        return scores

    @cached_property
    def scored_cells(self) -> dict[CellName, TargetValues]:
        """Return (perturbation, judge, aspect) -> the scores of its targets."""
        return self._cells.values

    @cached_property
    def wrong_verdicts(self) -> dict[CellName, set[UnitId]]:
        """Return (perturbation, judge, aspect) -> the texts, or pairs in the order
        shown, of judgments that were not read and count as wrong (`unread: wrong`).
        """
        return self._cells.wrong

    @cached_property
    def _cells(self) -> CellScores:
        return self.scores.cells()

    @cached_property
    def status_counts(self) -> dict[tuple[str, str, str], Counter[tuple[str, str]]]:
        """Return (perturbation, judge, aspect) -> number of judgments by (status,
        rule).
        """
        counts: dict[tuple[str, str, str], Counter[tuple[str, str]]] = {}
        for row in self.statuses.to_pylist():
            cell = row["perturbation"], row["judge"], row["aspect"]
            rule = row["status"], row["rule"] or ""
            counts.setdefault(cell, Counter())[rule] += row["n"]
        return counts

    def replies_lost(
        self, judge: str, sets: Collection[str], aspects: Collection[str]
    ) -> tuple[float, bool]:
        """Return the share of a judge's planned judgments without a score, and if all
        were planned.

        `sets` of texts and `aspects` are those that count. What the judge does not
        apply to is not planned. A row of recorded scores whose cell is empty is a lost
        judgment: a table cannot say otherwise that a reply could not be read.
        """
        total = planned = scored = 0
        for (perturbation, name, aspect), cell in self.status_counts.items():
            if name != judge or perturbation not in sets or aspect not in aspects:
                continue
            for (status, rule), n in cell.items():
                total += n
                if status != NOT_PLANNED or rule == NO_RECORDED_VALUE:
                    planned += n
                scored += n if status == "ok" else 0
        lost = (planned - scored) / planned if planned else 0.0
        return lost, planned == total

    @cached_property
    def perturbed(self) -> list[str]:
        """Return the sets of perturbed texts, `<id>.<degree>`."""
        return [f"{name}.{degree}" for name, degree, _ in self.spec.perturbed]

    def excluded(self, perturbation: str = "original") -> dict[str, str]:
        """Return judge -> why it does not score a set of texts at all."""
        reasons = dict[str, str]()
        for judge, name, why in self.spec.excluded:
            if name == perturbation:
                reasons[judge] = why
        return reasons

    def draw_tables(self, targets: "TargetSet") -> dict[tuple[str, str], Floats]:
        """Return (judge, aspect) -> a set's draws; shape (draws, targets), NaN =
        none.
        """
        import pyarrow.compute as pc  # not for planning

        column = {target: number for number, target in enumerate(targets.targets)}
        rows = self.draws.filter(
            pc.equal(self.draws["perturbation"], targets.perturbation)
        )
        names = ("judge", "aspect", "target", "target_b", "draw", "value")
        columns = [rows[name].to_pylist() for name in names]
        tables: dict[tuple[str, str], Floats] = {}
        for judge, aspect, target, target_b, draw, value in zip(*columns, strict=True):
            card = self.spec.judges.get(judge)
            if card is None or card.draws < 2:
                continue
            if target_b is None and target in column:
                if (judge, aspect) not in tables:
                    tables[judge, aspect] = np.full((card.draws, len(column)), np.nan)
                if value is not None:
                    tables[judge, aspect][draw, column[target]] = value
        return dict(sorted(tables.items()))

    @cached_property
    def human_ratings(self) -> dict[str, dict[str, TargetValues]]:
        """Return aspect -> rater -> the ratings of targets."""
        import pyarrow.compute as pc  # not for planning

        ratings: dict[str, dict[str, TargetValues]] = {}
        single = self.ratings
        if single["target_b"].null_count < len(single):
            single = single.filter(pc.is_null(single["target_b"]))
        for (aspect, rater), rows in rows_by(single, ("aspect", "rater")):
            ratings.setdefault(aspect, {})[rater] = TargetValues.of(rows)
        return ratings

    @cached_property
    def preferences(self) -> dict[str, dict[str, dict[tuple[str, str], float]]]:
        """Return aspect -> rater -> (first text shown, second) -> 1, -1, or 0 for
        neither.
        """
        import pyarrow.compute as pc  # not for planning

        choices: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
        compared = self.ratings.filter(pc.is_valid(self.ratings["target_b"]))
        names = ("aspect", "rater", "target", "target_b", "value")
        columns = (entries_of(compared[name]) for name in names)
        for aspect, rater, target, target_b, value in zip(*columns, strict=True):
            of_rater = choices.setdefault(aspect, {}).setdefault(rater, {})
            of_rater[target, target_b] = value
        return choices

    def undefined(self, why: str) -> Replicated:
        """Return an undefined estimate with its undefined deletions."""
        return Replicated(
            Estimate.undefined(why), np.full(len(self.weights) + 1, np.nan)
        )

    def row(
        self,
        judge: str,
        aspect: str,
        statistic: str,
        level: str,
        estimate: Estimate,
        **columns: Unpack[AppliesTo],
    ) -> ResultRow:
        """Return one signed row of a result table; `aspect` is
        `<aspect>[.<criterion>]`.
        """
        name, criterion = split(aspect)
        if criterion:
            columns = {"criterion": criterion, **columns}
        return {
            "dataset": self.dataset,
            "judge": judge,
            "aspect": name,
            "statistic": statistic,
            "level": level,
            **numbers_of(estimate),
            "note": clauses(
                self._with_item_name(estimate.note), self._unchecked_note(columns)
            ),
            **columns,
            # The job that joins the tables writes it.
            "sentence": None,
            "signature": self.signature(judge, statistic, level),
        }

    @cached_property
    def unchecked(self) -> dict[str, str]:
        """Return perturbation -> why the kind of its changes was not checked."""
        if not self.spec.checks:
            return {}
        texts = self.target_set("original").rows["text"].to_pylist()
        language = self.spec.language or language_of(texts, english_words())
        reasons = dict[str, str]()
        for name, checks in self.spec.checks.items():
            reason = unchecked_kind(name, checks, language)
            if reason is not None:
                reasons[name] = reason
        return reasons

    def _unchecked_note(self, columns: AppliesTo) -> str:
        """Return the note on a number about texts whose kind of change was not checked,
        "" on all others.
        """
        name = columns.get("perturbation") or ""
        if name not in self.unchecked:
            return ""
        degree = columns.get("degree")
        made = 0
        total = 0
        for perturbation, each, _ in self.spec.perturbed:
            if perturbation == name and degree in (None, "", each):
                targets = self.target_set(f"{name}.{each}")
                made += int(targets.made.sum())
                total += len(targets.targets)
        return (
            f"kind of change not checked in {made} of {total} texts: "
            f"{self.unchecked[name]}"
        )

    def _with_item_name(self, note: str) -> str:
        """Return a note with the name of the item whose code it gives."""
        before, hangs, rest = note.partition(ONE_SOURCE_DECIDES)
        code = "".join(takewhile(str.isdigit, rest))
        if not code:
            return note
        name = list(self.item_order)[int(code)]
        return f"{before}{hangs.removesuffix('#')}{name}{rest.removeprefix(code)}"

    def signature(self, judge: str, statistic: str, level: str) -> str:
        """Return the string that says how to reproduce a number (modelled on
        sacreBLEU's).
        """
        key = judge, statistic, level
        if key in self._signatures:
            return self._signatures[key]
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
            "gold": _unless(self.spec.gold_rule, "auto"),
            "orders": _unless(self.spec.orders, "both"),
            "unread": _unless(self.spec.unread, "missing"),
            "confidence": self._confidence_of(judge),
            "seed": self.spec.seed,
            "v": __version__,
            "with": ",".join(self.spec.add_ons) or None,
        }
        known = [f"{name}:{part}" for name, part in parts.items() if part is not None]
        signature = "|".join(known)
        self._signatures[key] = signature
        return signature

    def _confidence_of(self, judge: str) -> str | None:
        """Return where a judge's confidence comes from, in the table that is about
        it.
        """
        card = self.spec.judges.get(judge)
        confidence_table = "confidence"
        if card is None or self.spec.table != confidence_table:
            return None
        return card.confidence or None


@dataclass(frozen=True, eq=False)
class TargetSet:
    """One set of targets, sorted by id, with the scores and ratings of its texts.

    Two are equal only if they are the same object, so that they can be keys of caches.
    """

    study: EvaluationData
    perturbation: str
    rows: pa.Table
    subset: str | None = None
    """The value of the column `system_subset`."""

    def row(
        self,
        judge: str,
        aspect: str,
        statistic: str,
        level: str,
        estimate: Estimate,
        **columns: Unpack[AppliesTo],
    ) -> ResultRow:
        """Return one signed row of a result table on these targets."""
        columns = {"system_subset": self.subset, **columns}
        return self.study.row(judge, aspect, statistic, level, estimate, **columns)

    @cached_property
    def targets(self) -> list[str]:
        """Return the targets' ids."""
        return list[str](self.rows["target"].to_pylist())

    @cached_property
    def items(self) -> list[str]:
        """Return each target's item."""
        return entries_of(self.rows["item"])

    @cached_property
    def source(self) -> Codes:
        """Return each target's code among the dataset's items; shape (targets,)."""
        order = pa.array(list(self.study.item_order), pa.string())
        return places_in(one_array(self.rows["item"]), order)

    @cached_property
    def systems(self) -> list[str]:
        """Return each target's system."""
        return entries_of(self.rows["system"])

    @cached_property
    def system(self) -> Codes:
        """Return each target's code among the systems; shape (targets,)."""
        systems = one_array(self.rows["system"])
        order = sorted(systems.unique().to_pylist())
        return places_in(systems, pa.array(order, pa.string()))

    @cached_property
    def outcomes(self) -> list[str]:
        """Return whether each text could be made: `ok`, `short`, `impossible`, `failed`
        …
        """
        return [status.partition(":")[0] for status in self.rows["status"].to_pylist()]

    @cached_property
    def made(self) -> Flags:
        """Return which texts could be made; shape (targets,)."""
        return np.array([outcome in MADE for outcome in self.outcomes], dtype=bool)

    @cached_property
    def lengths(self) -> Floats:
        """Return the length of each target's text; shape (targets,), NaN = unknown.

        In characters; of texts that the data does not have, what a column gives.
        """
        import pyarrow.compute as pc  # not for planning

        given = self.rows["length"].to_numpy().astype(np.float64)
        characters = pc.utf8_length(self.rows["text"]).fill_null(0).to_numpy()
        return np.asarray(np.where(characters > 0, characters, given), np.float64)

    @property
    def has_lengths(self) -> bool:
        """Return whether the length of any text is known."""
        return bool(np.isfinite(self.lengths).any())

    @property
    def length_untested(self) -> str:
        """Return why no claim can be tested against length, "" if claims can.

        A claim may have too few cases with a length (`claims.base.MeasuredCases`).
        """
        known = self.lengths[np.isfinite(self.lengths)]
        if not known.size:
            return REASONS.no_lengths
        return REASONS.constant_length if np.ptp(known) == 0 else ""

    def is_given(self, *judges: str) -> Flags:
        """Return which targets are of items that each of some judges was given."""
        items = self.study.items_given(*judges)
        return np.array([item in items for item in self.items], dtype=bool)

    def given(self, *judges: str) -> "TargetSet":
        """Return the targets of the items that each of some judges was given."""
        if len(self.study.items_given(*judges)) == len(self.study.item_order):
            return self
        rows = self.rows.filter(pa.array(self.is_given(*judges)))
        return replace(self, rows=rows)

    def scores(self, judge: str, aspect: str) -> Floats | None:
        """Return the judge's score of each target, NaN = none; None without a cell."""
        cell = self.study.scored_cells.get((self.perturbation, judge, aspect))
        if cell is None:
            return None
        if cell.targets.equals(self._ids):
            return cell.values.copy()
        if (judge, aspect) not in self._arrays:
            self._arrays[judge, aspect] = cell.aligned(self._ids)
        return self._arrays[judge, aspect].copy()

    def counts_as_wrong(self, judge: str, aspect: str) -> Flags:
        """Return of which targets the judge's verdict was not read and counts as wrong;
        shape (targets,).
        """
        cell = self.perturbation, judge, aspect
        wrong = self.study.wrong_verdicts.get(cell, set())
        if not wrong:
            return np.zeros(len(self.rows), dtype=bool)
        return np.array([(target, None) in wrong for target in self.targets], bool)

    def ratings(self, aspect: str) -> Floats:
        """Return people's ratings, NaN where missing; shape (raters, targets)."""
        key = ("", split(aspect)[0])  # no judge: people
        if key not in self._arrays:
            raters = self.study.human_ratings.get(key[1], {})
            rows = [raters[name].aligned(self._ids) for name in sorted(raters)]
            self._arrays[key] = np.reshape(rows, (len(rows), len(self.rows)))
        return self._arrays[key].copy()

    @cached_property
    def _ids(self) -> pa.Array:
        return one_array(self.rows["target"])

    @cached_property
    def _arrays(self) -> dict[tuple[str, str], Floats]:
        """The scores and ratings that were looked at; many statistics read them."""
        return {}


def _unless(policy: str, default: str) -> str | None:
    """Return a policy as the signature has it: the default is not named."""
    return None if policy == default else policy


def set_columns(perturbation: str) -> AppliesTo:
    """Return the columns that name a set of texts: `<id>.<degree>`, or an id alone."""
    name, _, degree = perturbation.partition(".")
    return {"perturbation": name, "degree": degree or None}
