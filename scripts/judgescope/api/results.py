"""The results of a study as DataFrames."""

import json
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pandas as pd
import pyarrow as pa

from judgescope.api import plain_signature
from judgescope.api.summary import summary_of
from judgescope.core.errors import UserError
from judgescope.core.names import SENTENCES, SYSTEMS
from judgescope.core.paths import Paths
from judgescope.methods.registry import METHODS
from judgescope.schema.tables import SCHEMAS, TEXT, columns_of_csv, frame_of, read_table


class StudyResults:
    """The results in one folder: an attribute for each result table that the study
    wrote.

    A table has the columns of its CSV file: text as strings, counts as nullable whole
    numbers, values and intervals as floats (NaN: undefined, `note` says why). Files are
    read when an attribute is first used, and kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths = Paths(str(folder))
        self._frames: dict[str, pd.DataFrame] = {}

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the result tables that the study wrote, sorted.

        >>> load("results/demo").tables[:3]
        ('agreement', 'comparison', 'construction')
        """
        folder = Path(self._paths.table("agreement")).parent
        return tuple(sorted(path.stem for path in folder.glob("*.parquet")))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the study's datasets, sorted; folders may keep those of earlier
        states.

        >>> load("results/demo").datasets
        ('demo-dialogue', 'demo-hanna', 'demo-news')
        """
        return tuple(sorted(set(self.coverage["dataset"])))

    def __getattr__(self, name: str) -> pd.DataFrame:
        """Return a result table; AttributeError that names the others if there is
        none.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.tables:
            what = "no result table has the name"
            if name in METHODS:
                what = "this study did not compute the table"
            raise AttributeError(
                f"{what} {name!r}; tables in {self._folder}: {', '.join(self.tables)}; "
                "also: scores, ratings, judgments()"
            )
        if name not in self._frames:
            table = read_table("results", self._paths.table(name))
            self._frames[name] = frame_of(columns_of_csv(table))
        return self._frames[name]

    def __dir__(self) -> list[str]:
        """Return the names that a notebook completes: methods and tables."""
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        """Return the folder, the datasets, and each table with its number of rows."""
        sizes = [f"{name} ({len(getattr(self, name)):,})" for name in self.tables]
        return (
            f"<judgescope results {str(self._folder)!r}\n"
            f"  datasets: {', '.join(self.datasets)}\n"
            f"  tables (rows): {', '.join(sizes)}\n"
            "  also: scores, ratings, judgments(texts=False)>"
        )

    def summary(self) -> pd.DataFrame:
        """A row per judge, dataset and aspect: is the judge any good, and by which
        number?

        `outcome` and `reasons` are those of table verdicts, `sign` what the report
        shows of them; `statistic` decides the claim, `people` is the same number of one
        rater with the others, `rival` what comes closest to explaining the judge's
        agreement without quality (chance, length, systems), `rival_value` how far that
        gets. NaN: the study does not have the number.

        >>> summary = load("results/demo").summary()
        >>> of_rules = summary.query("judge == 'rouge-1' and dataset == 'demo-news'")
        >>> row = of_rules.set_index("aspect").loc["consistency"]
        >>> row["outcome"], row["rival"], round(float(row["rival_value"]), 3)
        ('not_shown', 'brevity', 0.084)
        """
        tables = {name: getattr(self, name) for name in self.tables}
        return summary_of(tables)

    def _repr_html_(self) -> str:
        """The summary, which a notebook shows."""
        title = f"Results in {self._folder}: {', '.join(self.datasets)}"
        return f"<p>{escape(title)}</p>{self.summary().to_html(index=False)}"

    @property
    def sentences(self) -> dict[str, str]:
        """The verdicts on each judge in words, as the report and `audit` write them.

        Controls, and judges without a claim, have none. UserError where the report is
        not written yet.

        >>> sorted(load("results/demo").sentences)[:3]
        ['beluga-13b', 'bleu', 'chatgpt']
        """
        path = Path(self._paths.report(SENTENCES))
        if not path.is_file():
            raise UserError(
                "this study has no report yet",
                where=str(path),
                todo="judgescope run STUDY",
            )
        sentences: dict[str, str] = json.loads(path.read_text("utf-8"))
        return sentences

    @property
    def scores(self) -> pd.DataFrame:
        """The scores of all datasets: a row per judge, text (or pair of texts) and
        aspect.

        >>> scores = load("results/demo").scores
        >>> row = scores.query("judge == 'rules' and target == 'd01:careful'").iloc[0]
        >>> row["aspect"], float(row["value"]), int(row["n_draws"])
        ('groundedness', 5.0, 1)
        """
        if "scores" not in self._frames:
            tables = []
            for dataset in self.datasets:
                path = self._paths.collected(dataset, "scores")
                tables.append(read_table("scores", path))
            self._frames["scores"] = _joined("scores", tables)
        return self._frames["scores"]

    @property
    def ratings(self) -> pd.DataFrame:
        """People's ratings and choices: a row per text (or pair of texts), aspect and
        rater.

        `item` and `system` are those of the text. Values are as in the data, also on a
        scale whose lowest value is the best.

        >>> ratings = load("results/demo").ratings
        >>> of_item = ratings.query("item == 'd01' and aspect == 'groundedness'")
        >>> of_item.set_index("system")["value"].to_dict()
        {'careful': 5.0, 'curt': 5.0, 'glib': 1.0, 'rough': 4.0, 'stray': 1.0}
        """
        if "ratings" not in self._frames:
            rated = []
            for dataset in self.datasets:
                ratings = frame_of(read_table("ratings", self._paths.ratings(dataset)))
                systems = self._systems(dataset)
                with_systems = ratings.merge(
                    systems, how="left", on="target", validate="many_to_one"
                )
                rated.append(with_systems)
            self._frames["ratings"] = pd.concat(rated, ignore_index=True)
        return self._frames["ratings"]

    def _systems(self, dataset: str) -> pd.DataFrame:
        """Return target, item and system of every text that a system wrote."""
        path = self._paths.targets(dataset, SYSTEMS)
        return frame_of(read_table("targets", path, ["target", "item", "system"]))

    def judgments(self, *, texts: bool = False) -> pd.DataFrame:
        """Return every judgment: a row per judge, text (or pair), aspect and draw.

        `value` is NaN where `status` is not ok. With `texts` also `text`, `text_b` (of
        a comparison) and `source`: their dataset's terms apply. UserError where a judge
        has judgments by two models, one of which the study no longer uses.

        >>> judgments = load("results/demo").judgments(texts=True)
        >>> of_rules = judgments.query("judge == 'rules' and target == 'd01:careful'")
        >>> of_rules.set_index("aspect")[["value", "status"]]
                      value status
        aspect
        groundedness    5.0     ok
        naturalness     5.0     ok
        """
        cells = []
        for dataset in self.datasets:
            for perturbation, path in self._cells(dataset):
                judgments = read_table("judgments", path)
                cells.append(_of_cell(dataset, perturbation, judgments))
        frame = _joined("judgments", cells)
        frame["value"] = frame["value"].where(frame["status"] == "ok")
        if not texts:
            return frame
        first = pd.concat(map(self._texts, self.datasets))
        # The second text of a comparison belongs to the same dataset.
        second = first.drop(columns="source").add_suffix("_b")
        second = second.rename(columns={"dataset_b": "dataset"})
        with_first = frame.merge(
            first, how="left", on=["dataset", "target"], validate="many_to_one"
        )
        return with_first.merge(
            second, how="left", on=["dataset", "target_b"], validate="many_to_one"
        )

    def _cells(self, dataset: str) -> Iterable[tuple[str, Path]]:
        """Yield the perturbation and the file of each cell that the study's tables rest
        on.
        """
        path = self._paths.collected(dataset, "statuses")
        statuses = read_table("statuses", path, ["perturbation", "judge"])
        cells = {(row["perturbation"], row["judge"]) for row in statuses.to_pylist()}
        for perturbation, judge in sorted(cells):
            pattern = f"judgments/{dataset}/*/{perturbation}/{judge}.parquet"
            files = sorted(self._folder.glob(pattern))
            if len(files) != 1:
                raise UserError(
                    f"one file of judgments is expected, not {len(files)}",
                    where=str(self._folder / pattern),
                    got=", ".join(map(str, files)) or None,
                    todo="delete the folders of models that the study does not use, "
                    "and run again",
                )
            yield perturbation, files[0]

    def _texts(self, dataset: str) -> pd.DataFrame:
        """Return dataset, target, text and source of every text of a dataset, each
        once.
        """
        targets = []
        for path in sorted(self._folder.glob(f"targets/{dataset}/*.parquet")):
            table = read_table("targets", path, ["dataset", "target", "item", "text"])
            targets.append(frame_of(table))
        texts = pd.concat(targets).drop_duplicates(["dataset", "target"])
        items_path = self._paths.items(dataset)
        items = frame_of(read_table("items", items_path, ["item", "source"]))
        with_sources = texts.merge(items, on="item", validate="many_to_one")
        return with_sources.drop(columns="item")


@plain_signature
def load(folder: str | Path) -> StudyResults:
    """Return the results in a folder, such as results/demo, as an object with
    DataFrames.

    UserError where the folder holds no result tables.

    After `judgescope run`, the demo study, whose judges score with rules:

    >>> results = load("results/demo")
    >>> results.datasets
    ('demo-dialogue', 'demo-hanna', 'demo-news')
    >>> chosen = "judge == 'rouge-1' and aspect == 'groundedness' and level == 'pooled'"
    >>> rows = results.agreement.query(chosen).set_index("statistic")
    >>> rows.loc["pearson", "value"].round(3).item(), rows.loc["pearson", "n"].item()
    (0.329, 120)
    """
    results = StudyResults(Path(folder))
    if not results.tables:
        raise UserError(
            "this folder has no result tables",
            where=str(folder),
            todo="judgescope run STUDY, then load results/<study>",
        )
    return results


def _of_cell(dataset: str, perturbation: str, table: pa.Table) -> pa.Table:
    """Return the judgments of a cell with its dataset and perturbation in front."""
    for name, value in (("perturbation", perturbation), ("dataset", dataset)):
        table = table.add_column(0, name, pa.array([value] * len(table), TEXT))
    return table


def _joined(name: str, tables: Iterable[pa.Table]) -> pd.DataFrame:
    """Return the concatenation of tables of one schema; those without rows keep their
    columns.
    """
    parts = list(tables)
    return frame_of(pa.concat_tables(parts) if parts else SCHEMAS[name].empty_table())
