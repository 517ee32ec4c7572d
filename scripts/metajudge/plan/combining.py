"""The specs of jobs that make judges of other judges: their scores, and a list of their errors."""

from typing import Any

from metajudge.cells import split, unpack
from metajudge.engines import ENGINES
from metajudge.plan.ensembles import merging
from metajudge.plan.grading import GradedSpecs
from metajudge.plan.study import Cell
from metajudge.plan.writers import MERGES
from metajudge.scoring.supervising import members_files, texts_file


class EnsembleSpecs(GradedSpecs):
    """The specs of a study's derived judges, and where errors are located."""

    def located(self, dataset: str, perturbation: str, judge: str) -> dict[str, str]:
        """Return where the texts are in which the errors that a judge lists are located."""
        place = f"{self.out}/targets/{dataset}/{perturbation}.parquet"
        return {"targets": place} if self.plan.annotates(judge) else {}

    def locating(self, judge: str) -> str:
        """Return what a job does whose packages show in its output, "" where it locates nothing."""
        return "locate" if self.plan.annotates(judge) else ""

    def errors(self, dataset: str, perturbation: str, judge: str, aspect: str) -> dict[str, Any]:
        """Return what the errors of an ensemble's cell are made of; nothing if it lists none.

        The members' `lists` and the `targets` that they are about, and what a supervisor `merged`.
        """
        if not self.plan.annotates(judge):
            return {}
        card = self.plan.derived[judge]
        place = f"{self.out}/judgments/{dataset}/{perturbation}/{{}}/{aspect}.parquet"
        told = {
            "criterion": split(aspect)[1],
            "lists": [place.format(name) for name in card.members],
            **self.located(dataset, perturbation, judge),
        }
        if card.supervisor is None:
            return told
        return {**told, "merged": self._merged(dataset, card.supervisor.model)}

    def _merged(self, dataset: str, model: str) -> str:
        return f"{self.out}/made/{dataset}/{MERGES}{model}.parquet"

    def merge(self, dataset: str, model: str) -> str:
        """Return the spec of the lists of errors that a supervisor merges for ensembles."""
        fields = {
            **merging(self.plan, self.out, dataset, model),
            "seed": self.plan.study.seed,
            **self._asking(model),
            "output": self._merged(dataset, model),
        }
        return self._spec("merge.py", fields, ENGINES[self.plan.models[model].engine])

    def merged_of(self, dataset: str, model: str) -> list[str]:
        """Return the files that these are made of: members' judgments and scores, and the texts."""
        told = merging(self.plan, self.out, dataset, model)
        cells = list(unpack(told["cells"]))
        members = (
            path for cell in cells for paths in members_files(told, cell).values() for path in paths
        )
        return list(dict.fromkeys([*members, *(texts_file(told, cell) for cell in cells)]))

    def derive(self, dataset: str, perturbation: str, judge: str, aspect: str) -> str:
        """Return the spec that makes one cell of a derived judge from its members' cells."""
        card = self.plan.derived[judge]
        place = f"{dataset}/{perturbation}/{{}}/{aspect}.parquet"
        fields = {
            "cell": Cell(dataset, perturbation, judge, split(aspect)[0])._asdict(),
            "combine": card.combine,
            "min_annotators": card.min_annotators,
            "inputs": [f"{self.out}/scores/{place.format(name)}" for name in card.members],
            **self.errors(dataset, perturbation, judge, aspect),
            "judgments": f"{self.out}/judgments/{place.format(judge)}",
            "scores": f"{self.out}/scores/{place.format(judge)}",
        }
        return self._spec("derive.py", fields, packages=self.locating(judge))
