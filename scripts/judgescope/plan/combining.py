"""The specs of jobs that make judges of other judges: their scores, and a list of their errors."""

from judgescope.core.cells import pack, split
from judgescope.core.set_names import MERGES
from judgescope.plan.generators import supervisors
from judgescope.plan.grading import GradedSpecs
from judgescope.plan.study import Cell
from judgescope.plan.texts import decoding_of
from judgescope.scoring.specs import DeriveSpec, Errors, Place
from judgescope.scoring.supervising import MergedJudge, MergeSpec


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
        names = supervisors(self.plan, dataset)[model]
        ensembles = {name: self._ensemble(name) for name in names}
        cells = [cell for cell in self.plan.cell_aspects_of(dataset) if cell.judge in names]
        members = dict.fromkeys(one for ensemble in ensembles.values() for one in ensemble.members)
        return self._record(
            MergeSpec,
            "merge",
            self._engine(model),
            dataset=dataset,
            seed=self.plan.study.seed,
            model=self._asked(model),
            ensembles=ensembles,
            models={name: self.plan.model_of(name) for name in members},
            cells=pack(cell[1:] for cell in cells),
            templates={one.form: self.plan.templates[one.form] for one in ensembles.values()},
            results=self.out,
            output=self._merged(dataset, model),
        )

    def _ensemble(self, judge: str) -> MergedJudge:
        """Return an ensemble whose members' errors a supervisor merges."""
        card = self.plan.derived[judge]
        assert card.supervisor is not None  # as `supervisors` says
        return MergedJudge(
            form=card.supervisor.form,
            decoding=decoding_of(card.supervisor),
            members=card.members,
            min_annotators=card.min_annotators,
        )

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
