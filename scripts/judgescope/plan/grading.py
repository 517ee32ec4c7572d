"""Graded sets: the jobs that build one, part by part, and what each is told."""

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from judgescope.core.cells import split
from judgescope.core.set_names import COMPARED, ORIGINAL, REFEREE, REST, SYSTEMS, TRIAL
from judgescope.engines import ENGINES
from judgescope.parsing.judgment import Scale
from judgescope.plan.generators import graded, lowered, parts_of
from judgescope.plan.judges import off_grid_of, parser_of, scale_of, settings_of
from judgescope.plan.study import CellAspect
from judgescope.plan.texts import TextSpecs
from judgescope.schema.cards import Anchoring, Decoding, GivenPerturbation
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
        card = graded(self.plan)[name]
        fields: dict[str, Any] = {
            **self._known(dataset, name, part),
            "share": self.plan.study.share,
            "references": card.references,
            "items": f"{self.out}/items/{dataset}.parquet",
            "input": f"{self.out}/targets/{dataset}/{ORIGINAL}.parquet",
            "written": self.written_references(dataset),
            "output": self.construction(dataset, name, part),
            **self._wanted(dataset, name, part),
        }
        if card.model is None:
            return self._spec("candidates", {**fields, "errors": card.errors}, packages="perturb")
        told = {"form", "attempts", *Decoding.model_fields}
        fields |= {
            "made": {
                **card.model_dump(mode="json", include=told),
                **lowered(self.plan, dataset, card),
            },
            "task": self.plan.datasets[dataset].task,
            **self._asking(card.model),
            "templates": self.plan.templates[card.form],
            "replies": f"{self.out}/made/{dataset}/{name}.{part}.parquet",
        }
        engine = ENGINES[self.plan.models[card.model].engine]
        return self._spec("candidates", fields, engine)

    def _wanted(self, dataset: str, name: str, part: str) -> dict[str, Any]:
        """Return which candidates a part has."""
        card, classes = graded(self.plan)[name], self.classes(dataset, name)
        if card.anchors is None:
            counts = [step * card.errors_per_rating for step in range(len(classes))]
            return {"targets": card.targets, "counts": counts}
        if part == TRIAL:
            return card.anchors.model_dump(include={"most_errors", "trial"})
        return {
            "targets": card.targets,
            "surplus": card.anchors.surplus,
            "classes": classes,
            "tried": self.construction(dataset, name, TRIAL),
            "compared": self.compared(dataset, name, TRIAL),
        }

    def _known(self, dataset: str, name: str, part: str) -> dict[str, Any]:
        named = {"dataset": dataset, "perturbation": name, "degree": DEGREE, "part": part}
        return {**named, "seed": self.plan.study.seed}

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
        anchors, aspect = self.anchoring(name), self.lowered(dataset, name)
        fields = {
            **self._known(dataset, name, "anchors"),
            "aspect": aspect,
            "classes": self.classes(dataset, name),
            "per_rating": anchors.per_rating,
            "targets": f"{self.out}/targets/{dataset}/{SYSTEMS}.parquet",
            "ratings": f"{self.out}/ratings/{dataset}.parquet",
            "judged": self._judged(dataset, name),
            "output": self.construction(dataset, name, "anchors"),
        }
        return self._spec("choose_anchors", fields)

    def _judged(self, dataset: str, name: str) -> dict[str, Any] | None:
        """Return whose replies tell with which texts a judge agrees with people, and how."""
        aspect, judge = self.lowered(dataset, name), self.anchoring(name).judge
        if judge is None:
            return None
        return {
            "cell": CellAspect(dataset, SYSTEMS, judge, aspect)._asdict(),
            "reading": to_builtins(self.reading(dataset, judge, [aspect])),
            "replies": self.construction(dataset, name, "rated"),
        }

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
        scale = self.plan.scale_of(dataset, aspect)
        told = {"aspect", "name", "definition"}
        asked = {"form", "least_accuracy", *Decoding.model_fields}
        fields = {
            **self._known(dataset, name, part),
            "name": f"{COMPARED}{name}",
            "aspect": self.plan.aspect_of(dataset, aspect).model_dump(include=told),
            "source_visible": scale.source_visible,
            "classes": self.classes(dataset, name),
            "asked": anchors.model_dump(mode="json", include=asked),
            "templates": self.plan.templates[anchors.form],
            **self._asking(anchors.model),
            "items": f"{self.out}/items/{dataset}.parquet",
            "targets": f"{self.out}/targets/{dataset}/{SYSTEMS}.parquet",
            "anchors": self.construction(dataset, name, "anchors"),
            "candidates": None if part == REFEREE else self.construction(dataset, name, part),
            "output": self.compared(dataset, name, part),
            "replies": f"{self.out}/made/{dataset}/{COMPARED}{name}.{part}.parquet",
        }
        engine = ENGINES[self.plan.models[anchors.model].engine]
        return self._spec("compare_anchors", fields, engine)

    def grade(self, dataset: str, name: str) -> str:
        """Return the spec that rates the candidates of a set, and chooses its targets."""
        card = graded(self.plan)[name]
        parts = parts_of(card)
        by_errors = None if card.anchors else card.errors_per_rating
        compared = [self.compared(dataset, name, part) for part in parts]
        fields = {
            **self._known(dataset, name, "graded"),
            "aspect": self.lowered(dataset, name),
            "classes": self.classes(dataset, name),
            "targets": card.targets,
            "errors_per_rating": by_errors,
            "candidates": [self.construction(dataset, name, part) for part in parts],
            "compared": compared if card.anchors else [],
            "output": f"{self.out}/targets/{dataset}/{name}.{DEGREE}.parquet",
            "graded": self.known(dataset, name)["file"],
        }
        return self._spec("grade", fields)

    def known(self, dataset: str, name: str) -> dict[str, Any]:
        """Return what statistics need to know of a graded set."""
        built = graded(self.plan).get(name)
        anchored = built is not None and built.anchors is not None
        compared = [self.compared(dataset, name, part) for part in COMPARING]
        return {
            "perturbation": name,
            "degree": DEGREE,
            "aspect": self.lowered(dataset, name),
            "classes": self.classes(dataset, name),
            "file": f"{self.out}/graded/{dataset}/{name}.{DEGREE}.parquet",
            "anchors": self.construction(dataset, name, "anchors") if anchored else None,
            "compared": compared if anchored else [],
        }

    def take(self, dataset: str, name: str) -> str:
        """Return the spec that takes a set of texts which a dataset brings."""
        given = self.plan.perturbations[name]
        assert isinstance(given, GivenPerturbation)
        told = {"classes": self.classes(dataset, name)} if given.role == "global" else {}
        fields = {
            "dataset": self.plan.datasets[dataset].model_dump(mode="json"),
            "folder": self.plan.folders["dataset", dataset],
            "data": self.plan.study.data,
            "perturbation": name,
            "degree": DEGREE,
            "role": given.role,
            "aspect": self.lowered(dataset, name),
            **told,
            "items": f"{self.out}/items/{dataset}.parquet",
            "output": f"{self.out}/targets/{dataset}/{name}.{DEGREE}.parquet",
            **({"graded": self.known(dataset, name)["file"]} if told else {}),
        }
        return self._spec("take", fields)

    def anchoring(self, name: str) -> Anchoring:
        """Return how the texts of a set are rated by comparisons."""
        anchors = graded(self.plan)[name].anchors
        assert anchors is not None  # the rules say so
        return anchors
