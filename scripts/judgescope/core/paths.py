"""Where the workflow's own files lie, and those of a study's results."""

from dataclasses import dataclass
from pathlib import Path

from judgescope.core.cells import cell_file

HOME = Path(__file__).resolve().parents[3]
"""The workflow's folder: it holds config, scripts and workflow."""
WORKFLOW = HOME / "workflow"
"""Rules, and templates of reports and forms."""


@dataclass(frozen=True)
class Paths:
    """The files of a study, below the folder `results`; a default is the wildcard of a rule."""

    results: str

    @classmethod
    def of_study(cls, study: str) -> "Paths":
        """Return the paths of the study of this name, relative to the working directory."""
        return cls(f"results/{study}")

    # ---- texts and ratings ----------------------------------------------------------------------

    @property
    def preflight(self) -> str:
        """What the checks of all cards and files found."""
        return f"{self.results}/preflight.json"

    def items(self, dataset: str = "{dataset}") -> str:
        """The items of a dataset."""
        return f"{self.results}/items/{dataset}.parquet"

    def ingested(self, dataset: str = "{dataset}") -> str:
        """The counts of what was read of a dataset."""
        return f"{self.results}/items/{dataset}.json"

    def ratings(self, dataset: str = "{dataset}") -> str:
        """People's ratings."""
        return f"{self.results}/ratings/{dataset}.parquet"

    def spans(self, dataset: str = "{dataset}") -> str:
        """The errors that people marked."""
        return f"{self.results}/spans/{dataset}.parquet"

    def targets(self, dataset: str = "{dataset}", name: str = "{made}") -> str:
        """A set of texts that are judged."""
        return f"{self.results}/targets/{dataset}/{name}.parquet"

    def made(self, dataset: str = "{dataset}", name: str = "{made}") -> str:
        """The replies of a model that writes texts."""
        return f"{self.results}/made/{dataset}/{name}.parquet"

    def construction(self, dataset: str = "{dataset}", name: str = "{made}") -> str:
        """What a set of texts is built from: candidates, comparisons, anchors, analyses."""
        return f"{self.results}/construction/{dataset}/{name}.parquet"

    def graded(self, dataset: str = "{dataset}", name: str = "{name}.single") -> str:
        """The ratings that texts were built or brought for."""
        return f"{self.results}/graded/{dataset}/{name}.parquet"

    # ---- judging --------------------------------------------------------------------------------

    def cells(self, kind: str, dataset: str = "{dataset}", model: str = "{model}") -> str:
        """The folder of a model's cells: their `replies`, `judgments` or `scores`."""
        return f"{self.results}/{kind}/{dataset}/{model}"

    def cell(
        self,
        kind: str,
        dataset: str = "{dataset}",
        model: str = "{model}",
        perturbation: str = "{perturbation}",
        judge: str = "{judge}",
    ) -> str:
        """A cell's `replies`, `judgments` or `scores`."""
        return cell_file(self.results, kind, dataset, model, perturbation, judge)

    def hashes(self, kind: str, dataset: str = "{dataset}", model: str = "{model}") -> str:
        """The hashes of a model's cells, which stand for their folder."""
        return f"{self.cells(kind, dataset, model)}.json"

    def joined(self, dataset: str = "{dataset}", model: str = "{model}") -> str:
        """How many rows of a recorded model were joined to a dataset's texts."""
        return f"{self.results}/joined/{dataset}/{model}.json"

    def part(self, dataset: str = "{dataset}", model: str = "{model}", part: str = "{part}") -> str:
        """The note that one of the parts in which a model is asked has ended."""
        return f"{self.results}/asked/{dataset}/{model}/{part}.json"

    def draft(self, name: str = "{draft}") -> str:
        """A draft of steps or sub-aspects."""
        return f"{self.results}/drafts/{name}.yaml"

    # ---- training -------------------------------------------------------------------------------

    def distill(self, name: str) -> str:
        """A file of the training of a judge."""
        return f"{self.results}/distill/{name}"

    @property
    def sample(self) -> str:
        """The texts that a judge learns from."""
        return self.distill("sample.parquet")

    @property
    def student(self) -> str:
        """What is known of a model before its training."""
        return self.distill("student.json")

    # ---- results --------------------------------------------------------------------------------

    def collected(self, name: str, dataset: str = "{dataset}") -> str:
        """A table of all cells of a dataset."""
        return f"{self.results}/collected/{dataset}/{name}.parquet"

    def cell_hashes(self, dataset: str = "{dataset}") -> str:
        """The hashes of all cells of a dataset."""
        return f"{self.results}/collected/{dataset}/cells.sha256"

    def statistics(self, table: str = "{table}", dataset: str = "{dataset}") -> str:
        """A dataset's part of a result table."""
        return f"{self.results}/statistics/{table}/{dataset}.parquet"

    def table(self, table: str = "{table}", suffix: str = ".parquet") -> str:
        """A result table."""
        return f"{self.results}/tables/{table}{suffix}"

    def report(self, name: str) -> str:
        """A page of the report, or the folder of what a page loads."""
        return f"{self.results}/report/{name}"

    def judge_card(self, judge: str) -> str:
        """The page of a judge."""
        return self.report(f"judges/{judge}.html")

    @property
    def figures(self) -> str:
        """The folder of figures, one folder in it for each section of the report."""
        return f"{self.results}/figures"

    @property
    def sections(self) -> str:
        """The folder of the report's sections as pages of their own."""
        return f"{self.results}/sections"

    def log(self, job: str) -> str:
        """The log of a job."""
        return f"{self.results}/logs/{job}.log"
