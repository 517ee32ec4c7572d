"""GradedTexts sets: the jobs that build one, part by part, and what each is told."""

from collections.abc import Sequence
from typing import Any

from judgescope.core.cells import split
from judgescope.core.set_names import COMPARED, ORIGINAL, REFEREE, REST, SYSTEMS, TRIAL
from judgescope.data.specs import TakeSpec
from judgescope.methods.specs import GradedTexts
from judgescope.parsing.judgment import Scale
from judgescope.perturb.specs import (
    CandidatesSpec,
    CompareAnchorsSpec,
    ComparedAspect,
    Even,
    GradeSpec,
    ModelErrors,
    OfEachRating,
    OnTrial,
)
from judgescope.plan.generators import graded, parts_of
from judgescope.plan.judges import off_grid_of, parser_of, scale_of, settings_of
from judgescope.plan.texts import TextSpecs
from judgescope.schema.cards import Anchoring, GivenPerturbation
from judgescope.scoring.anchors import ChooseAnchorsSpec, JudgedTexts
from judgescope.scoring.specs import Reading

DEGREE = "single"
"""The degree of every graded set."""
COMPARING = (REFEREE, TRIAL, REST)
"""The parts in which anchors are compared, the first with each other."""


class GradedSpecs(TextSpecs):
    """The specs of the jobs that build graded sets."""

    def construction(self, dataset: str, name: str, part: str) -> str:
        """Return where a part of a construction lies."""
        return f"{self.out}/construction/{dataset}/{name}.{part}.parquet"

    def compared(self, dataset: str, name: str, part: str) -> str:
        """Return where the comparisons of a part with anchors lie."""
        return f"{self.out}/construction/{dataset}/{COMPARED}{name}.{part}.parquet"

    def candidates(self, dataset: str, name: str, part: str) -> str:
        """Return the spec that makes a part of a set's candidates, by rule or by a model."""
        card, rest = graded(self.plan)[name], part == REST
        fields: dict[str, Any] = {
            **self._shared(dataset),
            "perturbation": name,
            "degree": DEGREE,
            "references": card.references,
            "input": self._targets(dataset, ORIGINAL),
            "written": self.written_references(dataset),
            "output": self.construction(dataset, name, part),
            "part": self._part(dataset, name, part),
            "tried": self.construction(dataset, name, TRIAL) if rest else None,
            "compared": self.compared(dataset, name, TRIAL) if rest else None,
        }
        if card.model is None:
            fields["errors"] = card.errors
            return self._record(CandidatesSpec, "candidates", packages="perturb", **fields)
        assert card.form is not None  # as the card says
        fields["by_model"] = ModelErrors(
            writer=self._writer(card.model, card.form, card),
            task=self.plan.datasets[dataset].task,
            change=self.change(dataset, card),
            attempts=card.attempts,
        )
        fields["replies"] = f"{self.out}/made/{dataset}/{name}.{part}.parquet"
        return self._record(CandidatesSpec, "candidates", self._engine(card.model), **fields)

    def _part(self, dataset: str, name: str, part: str) -> Even | OnTrial | OfEachRating:
        """Return which candidates a part has."""
        card, classes = graded(self.plan)[name], self.classes(dataset, name)
        if card.anchors is None:
            counts = [step * card.errors_per_rating for step in range(len(classes))]
            return Even(targets=card.targets, counts=counts)
        if part == TRIAL:
            return OnTrial(share=card.anchors.calibration_share, max_errors=card.anchors.max_errors)
        return OfEachRating(
            targets=card.targets, oversample=card.anchors.oversample, classes=classes
        )

    def lowered(self, dataset: str, name: str) -> str:
        """Return the aspect of a set."""
        return self.plan.lowered(dataset, self.plan.perturbations[name])

    def classes(self, dataset: str, name: str) -> list[float]:
        """Return the ratings of a set's aspect, the lowest first."""
        values = self.plan.scale_of(dataset, self.lowered(dataset, name)).values()
        assert values is not None  # see check_graded, and the datasets' cards
        return values

    def anchors(self, dataset: str, name: str) -> str:
        """Return the spec that chooses the anchors of a set."""
        aspect = self.lowered(dataset, name)
        return self._record(
            ChooseAnchorsSpec,
            "choose_anchors",
            dataset=dataset,
            perturbation=name,
            seed=self.plan.study.seed,
            aspect=aspect,
            classes=self.classes(dataset, name),
            per_rating=self.anchoring(name).per_rating,
            targets=self._targets(dataset, SYSTEMS),
            ratings=f"{self.out}/ratings/{dataset}.parquet",
            judged=self._judged(dataset, name),
            output=self.construction(dataset, name, "anchors"),
        )

    def _judged(self, dataset: str, name: str) -> JudgedTexts | None:
        """Return whose replies tell with which texts a judge agrees with people, and how."""
        aspect, judge = self.lowered(dataset, name), self.anchoring(name).judge
        if judge is None:
            return None
        return JudgedTexts(
            judge=judge,
            reading=self.reading(dataset, judge, [aspect]),
            replies=self.construction(dataset, name, "rated"),
        )

    def reading(
        self, dataset: str, judge: str, aspects: Sequence[str], perturbation: str = SYSTEMS
    ) -> Reading:
        """Return how the replies of a judge on aspects of one scale are parsed and aggregated."""
        card = self.plan.judges[judge]
        return Reading(
            pairs=[split(aspect) for aspect in aspects],
            scale=self.scale(dataset, judge, aspects[0], perturbation),
            parser=parser_of(self.plan, judge),
            settings=settings_of(self.plan, judge),
            estimator=card.estimator,
            samples=card.fallback is not None,
            cut=card.cut == "read",
        )

    def scale(self, dataset: str, judge: str, aspect: str, perturbation: str) -> Scale | None:
        """Return the scale on which a judge's values are read; None: any number."""
        scale = scale_of(self.plan, dataset, judge, aspect, perturbation)
        if scale is None:
            return None
        ends = scale.model_dump(include={"min", "max", "step"})
        return Scale(**ends, labels=tuple(scale.labels), off_grid=off_grid_of(self.plan, judge))

    def compare(self, dataset: str, name: str, part: str) -> str:
        """Return the spec of comparisons: of anchors with each other, or candidates with them."""
        anchors, aspect = self.anchoring(name), self.lowered(dataset, name)
        card = self.plan.aspect_of(dataset, aspect)
        return self._record(
            CompareAnchorsSpec,
            "compare_anchors",
            self._engine(anchors.model),
            dataset=dataset,
            perturbation=name,
            seed=self.plan.study.seed,
            name=f"{COMPARED}{name}",
            aspect=ComparedAspect(aspect=card.aspect, name=card.name, definition=card.definition),
            source_visible=self.plan.scale_of(dataset, aspect).source_visible,
            classes=self.classes(dataset, name),
            least_accuracy=anchors.least_accuracy,
            comparator=self._writer(anchors.model, anchors.form, anchors),
            items=self._items(dataset),
            targets=self._targets(dataset, SYSTEMS),
            anchors=self.construction(dataset, name, "anchors"),
            candidates=None if part == REFEREE else self.construction(dataset, name, part),
            output=self.compared(dataset, name, part),
            replies=f"{self.out}/made/{dataset}/{COMPARED}{name}.{part}.parquet",
        )

    def grade(self, dataset: str, name: str) -> str:
        """Return the spec that rates the candidates of a set, and chooses its targets."""
        card = graded(self.plan)[name]
        parts = parts_of(card)
        compared = [self.compared(dataset, name, part) for part in parts]
        return self._record(
            GradeSpec,
            "grade",
            seed=self.plan.study.seed,
            aspect=self.lowered(dataset, name),
            classes=self.classes(dataset, name),
            targets=card.targets,
            errors_per_rating=None if card.anchors else card.errors_per_rating,
            candidates=[self.construction(dataset, name, part) for part in parts],
            compared=compared if card.anchors else [],
            output=self._targets(dataset, f"{name}.{DEGREE}"),
            graded=self.known(dataset, name).file,
        )

    def known(self, dataset: str, name: str) -> GradedTexts:
        """Return what statistics need to know of a graded set."""
        built = graded(self.plan).get(name)
        anchored = built is not None and built.anchors is not None
        compared = [self.compared(dataset, name, part) for part in COMPARING]
        return GradedTexts(
            perturbation=name,
            degree=DEGREE,
            aspect=self.lowered(dataset, name),
            classes=self.classes(dataset, name),
            file=f"{self.out}/graded/{dataset}/{name}.{DEGREE}.parquet",
            anchors=self.construction(dataset, name, "anchors") if anchored else None,
            compared=compared if anchored else [],
        )

    def take(self, dataset: str, name: str) -> str:
        """Return the spec that takes a set of texts which a dataset brings."""
        given = self.plan.perturbations[name]
        assert isinstance(given, GivenPerturbation)
        rated = given.role == "global"
        return self._record(
            TakeSpec,
            "take",
            perturbation=name,
            degree=DEGREE,
            dataset=self.plan.datasets[dataset].model_dump(mode="json"),
            folder=self.plan.folders["dataset", dataset],
            data=self.plan.study.data,
            role=given.role,
            aspect=self.lowered(dataset, name),
            classes=self.classes(dataset, name) if rated else [],
            items=self._items(dataset),
            output=self._targets(dataset, f"{name}.{DEGREE}"),
            graded=self.known(dataset, name).file if rated else None,
        )

    def anchoring(self, name: str) -> Anchoring:
        """Return how the texts of a set are rated by comparisons."""
        anchors = graded(self.plan)[name].anchors
        assert anchors is not None  # the rules say so
        return anchors
