"""The specs of jobs that make judges of other judges: their scores, and a list of their errors."""

from judgescope.core.cells import split
from judgescope.core.set_names import MERGES
from judgescope.engines import ENGINES
from judgescope.plan.ensembles import merging
from judgescope.plan.grading import GradedSpecs
from judgescope.plan.study import Cell
from judgescope.scoring.specs import DeriveSpec, Errors, Place


class EnsembleSpecs(GradedSpecs):
    """The specs of a study's derived judges, and where errors are located."""

    def located(self, dataset: str, perturbation: str, judge: str) -> str | None:
        """Return where the texts are in which the errors that a judge lists are located."""
        place = f"{self.out}/targets/{dataset}/{perturbation}.parquet"
        return place if self.plan.annotates(judge) else None

    def locating(self, judge: str) -> str:
        """Return what a job does whose packages show in its output, "" where it locates nothing."""
        return "locate" if self.plan.annotates(judge) else ""

    def file(self, kind: str, cell: Cell) -> str:
        """Return where the `replies`, `judgments` or `scores` of a cell lie."""
        return self.plan.file(self.out, kind, cell)

    def place(self, cell: Cell) -> Place:
        """Return a cell, and where its judgments and scores are written."""
        files = {kind: self.file(kind, cell) for kind in ("judgments", "scores")}
        return Place(**cell._asdict(), **files)

    def members(self, cell: Cell, kind: str = "scores") -> list[str]:
        """Return the files of the cells that a derived judge's cell is made of."""
        names = self.plan.derived[cell.judge].members
        return [self.file(kind, cell._replace(judge=name)) for name in names]

    def errors(self, cell: Cell) -> Errors | None:
        """Return what the errors of an ensemble's cell are made of; None if it lists none."""
        targets = self.located(*cell)
        if targets is None:
            return None
        supervisor = self.plan.derived[cell.judge].supervisor
        return Errors(
            lists=self.members(cell, "judgments"),
            targets=targets,
            merged=self._merged(cell.dataset, supervisor.model) if supervisor else None,
        )

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
        return self._spec("merge", fields, ENGINES[self.plan.models[model].engine])

    def derive(self, dataset: str, perturbation: str, judge: str) -> str:
        """Return the spec that makes one cell of a derived judge from its members' cells."""
        cell = Cell(dataset, perturbation, judge)
        return self._record(
            DeriveSpec,
            "derive",
            packages=self.locating(judge),
            cell=self.place(cell),
            pairs=[split(aspect) for aspect in self.plan.aspects_in(cell)],
            min_annotators=self.plan.derived[judge].min_annotators,
            members=self.members(cell),
            errors=self.errors(cell),
        )
