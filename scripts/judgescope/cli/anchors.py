"""The verdicts of a judge on frozen texts, draw by draw: from the store, or asked."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from judgescope.cli.replies import content_of
from judgescope.core.canonical import canonical
from judgescope.core.cells import pack, split
from judgescope.core.errors import UserError, check_known
from judgescope.core.names import SYSTEMS
from judgescope.core.paths import located_folder
from judgescope.engines.base import Subject
from judgescope.engines.factory import settled
from judgescope.engines.subjects import Subjects
from judgescope.parsing.judgment import Judgment
from judgescope.plan.checks.study import caps_of
from judgescope.plan.judges import parser_of, prompt_hash
from judgescope.plan.specs.judging import ask, reading
from judgescope.plan.specs.texts import model_identity
from judgescope.plan.study import CellAspect, Plan
from judgescope.replies import judging_job
from judgescope.replies.asking import AskingJob
from judgescope.replies.budget import Spending
from judgescope.replies.caps import REQUESTS
from judgescope.replies.lookup import StoredReplies
from judgescope.replies.questions import QuestionPlan, plan_questions
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store
from judgescope.schema.cards import AskedModel
from judgescope.schema.tables import read_table
from judgescope.scoring.cell import reader
from judgescope.statistics.arrays import Floats
from judgescope.statistics.labels import strict_majority
from judgescope.statistics.raters import lower_median

AnchorIdentity = dict[str, object]
"""What a judge is: each part in words or as a hash."""


class FrozenSubjects(Subjects):
    """The texts of a dataset of which only some are judged."""

    def __init__(self, spec: AskSpec, kept: Collection[str]) -> None:
        super().__init__(spec.subjects, spec.dataset, spec.seed)
        self.kept = frozenset(kept)

    def in_set(
        self, perturbation: str, share: float = 1.0, aspect: str = ""
    ) -> list[Subject]:
        """Return the texts that are kept."""
        every = super().in_set(perturbation, share, aspect)
        return [subject for subject in every if subject.target in self.kept]


@dataclass(frozen=True)
class AnchoredJudge:
    """A judge of a study on one aspect of a dataset, which can be asked again."""

    plan: Plan
    dataset: str
    judge: str
    aspect: str

    def check(self) -> None:
        """Raise UserError for names that the study does not have, for a judge that
        cannot be asked again, and for texts that do not exist yet.
        """
        plan = self.plan
        study = f"study {plan.study.study}"
        check_known([self.dataset], plan.datasets, "unknown dataset", where=study)
        aspects = plan.aspects_of(self.dataset)
        check_known([self.aspect], aspects, "unknown aspect", where=study)
        check_known([self.judge], plan.judges, "unknown judge", where=study)
        model = plan.judges[self.judge].model
        if not plan.is_asked(model) or plan.compares(self.judge):
            asked = []
            for name in plan.judges:
                if plan.is_asked(plan.model_of(name)):
                    asked.append(name)
            raise UserError(
                "only a judge that is asked about single texts can be asked again",
                where=study,
                got=self.judge,
                allowed=asked or None,
            )
        if plan.judges[self.judge].threshold == "best":
            raise UserError(
                "a threshold that is chosen from the data is no fixed judge",
                where=f"judge {self.judge}, key threshold",
                got="best",
                allowed="a number",
            )
        file = plan.paths.targets(self.dataset, SYSTEMS)
        if not Path(file).is_file():
            raise UserError(
                "the texts of the study do not exist yet",
                where=file,
                todo="run the study first",
            )

    @property
    def cell(self) -> CellAspect:
        """Return the judge's place in the study."""
        return CellAspect(self.dataset, SYSTEMS, self.judge, self.aspect)

    @cached_property
    def identity(self) -> AnchorIdentity:
        """Return what the judge is: model, prompt, decoding, parser, threshold."""
        card = self.plan.judges[self.judge]
        asked = card.model_dump(mode="json", include=type(card).keys_for("asking"))
        asked.pop("draws", None)
        asked.pop("share", None)
        return {
            "model": model_identity(self.plan, card.model),
            "prompt": prompt_hash(self.plan, self.dataset, card),
            "asked": canonical(asked, strict=False),
            "parser": parser_of(self.plan, self.judge),
            "threshold": card.threshold,
        }

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return target -> a hash of its text, of the systems' texts."""
        file = self.plan.paths.targets(self.dataset, SYSTEMS)
        table = read_table("targets", file, ["target", "text"])
        hashes = {}
        for row in table.to_pylist():
            digest = hashlib.sha256((row["text"] or "").encode()).hexdigest()
            hashes[row["target"]] = digest[:16]
        return hashes

    def people(self, targets: Sequence[str]) -> Floats:
        """Return people's label or class of each text, NaN where nobody rated it or
        there is no majority.
        """
        file = self.plan.paths.ratings(self.dataset)
        table = read_table("ratings", file)
        index_of = {target: at for at, target in enumerate(targets)}
        raters: dict[str, Floats] = {}
        for row in table.to_pylist():
            single = row["target_b"] is None and row["aspect"] == split(self.aspect)[0]
            if single and row["target"] in index_of:
                mine = raters.setdefault(row["rater"], np.full(len(targets), np.nan))
                mine[index_of[row["target"]]] = row["value"]
        if not raters:
            return np.full(len(targets), np.nan)
        ratings = np.array([raters[name] for name in sorted(raters)])
        scale = self.plan.datasets[self.dataset].aspects[split(self.aspect)[0]]
        if scale.labels and not scale.ordered:
            return strict_majority(ratings, len(scale.labels))
        return lower_median(ratings)

    def draws(self, targets: Sequence[str], draws: int) -> Floats:
        """Return the first `draws` verdicts on each text, (targets, draws), NaN where
        one could not be read; UserError if the store lacks one.
        """
        with self._opened(targets, draws) as (shard, _, questions):
            replies = shard.find(questions.key_table)
            missing = int(replies.lacking().sum())
            if missing:
                raise UserError(
                    "replies of the judge are missing",
                    where=f"store {self.plan.study.store}, judge {self.judge}",
                    got=f"{missing:,} of {questions.key_table.slots:,} are missing",
                    todo="run the study first",
                )
            return self._values(questions, replies, targets, draws)

    def asked(self, targets: Sequence[str], draws: int) -> tuple[Floats, int]:
        """Return the first `draws` verdicts on each text, as `draws` does, and how many
        of them were asked now because the store lacked them.
        """
        plan = self.plan
        model = plan.judges[self.judge].model
        with self._opened(targets, draws) as (shard, card, questions):
            replies = shard.find(questions.key_table)
            requested = 0
            if replies.lacking().any():
                caps = caps_of(plan.study)
                ledger = plan.study.ledger
                with Spending(shard, ledger, model, card.price, caps) as allowed:
                    job = AskingJob.of(card, shard, allowed)
                    replies = job.answered(questions, replies)
                    requested = allowed.spent[REQUESTS]
            return self._values(questions, replies, targets, draws), requested

    def missing(self, targets: Sequence[str], draws: int) -> int:
        """Return how many of the first `draws` replies on these texts the store lacks;
        nothing is asked.
        """
        with self._opened(targets, draws) as (shard, _, questions):
            return int(shard.find(questions.key_table).lacking().sum())

    def last_draw(self, targets: Sequence[str]) -> int:
        """Return the highest draw of these texts that the store has, -1 without one.

        Draws are asked in their order, so no gap is as wide as half of the window.
        """
        # Draws of a text that are looked up first; more if the store has half of them.
        window = 64
        while True:
            with self._opened(targets, window) as (shard, _, questions):
                last = shard.find(questions.key_table).last_draw()
            if last < window // 2:
                return last
            window *= 2

    @contextmanager
    def _opened(
        self, targets: Sequence[str], draws: int
    ) -> Iterator[tuple[Store, AskedModel, QuestionPlan]]:
        """Yield the judge's store, its settled card and the questions of some draws."""
        plan = self.plan
        model = plan.judges[self.judge].model
        spec = ask(plan, self.dataset, model)
        card = {**spec.judges[self.judge], "draws": draws, "share": 1.0}
        spec = replace(spec, cells=pack([self.cell[1:]]), judges={self.judge: card})
        asked = plan.models[model]
        assert isinstance(asked, AskedModel)
        settled_model = settled(
            asked, located_folder(spec.folder), Path(spec.data), spec.trained
        )
        subjects = FrozenSubjects(spec, targets)
        with Store(Path(plan.study.store), settled_model.served_name) as shard:
            findings = judging_job.known_findings(shard, settled_model)
            yield (
                shard,
                settled_model,
                plan_questions(spec, settled_model, findings, subjects),
            )

    def _values(
        self,
        questions: QuestionPlan,
        replies: StoredReplies,
        targets: Sequence[str],
        draws: int,
    ) -> Floats:
        index_of = {target: at for at, target in enumerate(targets)}
        values = np.full((len(targets), draws), np.nan)
        parse = reader(reading(self.plan, self.dataset, self.judge, self.aspect))
        for row in questions.rows(self.cell[1:], replies):
            if row["target"] in index_of and row["draw"] < draws:
                facts = row["text"], row["finish"], row["status"], content_of(row)
                value = self._value(parse(*facts))
                values[index_of[row["target"]], row["draw"]] = value
        return values

    def _value(self, judgment: Judgment) -> float:
        if judgment.status != "ok" or judgment.value is None:
            return float("nan")
        threshold = self.plan.judges[self.judge].threshold
        if threshold is None or threshold == "best":
            return float(judgment.value)
        return float(judgment.value >= threshold)
