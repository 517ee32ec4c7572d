"""The results of a study as DataFrames."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from judgescope.core.errors import UserError
from judgescope.core.names import SYSTEMS
from judgescope.core.paths import Paths
from judgescope.methods.registry import METHODS
from judgescope.schema.tables import SCHEMAS, TEXT, columns_of_csv, frame_of, read_table


class Results:
    """The results in one folder: an attribute for each result table that the study
    wrote.

    A table has the columns of its CSV file: text as strings, counts as nullable whole
    numbers, values and intervals as floats (NaN: undefined, `note` says why). Files are
    read when an attribute is first used, and kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._paths = folder, Paths(str(folder))
        self._frames: dict[str, pd.DataFrame] = {}

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the result tables that the study wrote, sorted."""
        return tuple(
            name for name in sorted(METHODS) if Path(self._paths.table(name)).is_file()
        )

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the study's datasets, sorted; folders may keep those of earlier
        states.
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
        sizes = ", ".join(
            f"{name} ({len(getattr(self, name)):,})" for name in self.tables
        )
        return (
            f"<judgescope results {str(self._folder)!r}\n"
            f"  datasets: {', '.join(self.datasets)}\n  tables (rows): {sizes}\n"
            "  also: scores, ratings, judgments(texts=False)>"
        )

    @property
    def scores(self) -> pd.DataFrame:
        """The scores of all datasets: a row per judge, text (or pair of texts) and
        aspect.
        """
        if "scores" not in self._frames:
            names = [
                self._paths.collected(dataset, "scores") for dataset in self.datasets
            ]
            self._frames["scores"] = _joined(
                "scores", (read_table("scores", n) for n in names)
            )
        return self._frames["scores"]

    @property
    def ratings(self) -> pd.DataFrame:
        """People's ratings and choices: a row per text (or pair of texts), aspect and
        rater.

        `item` and `system` are those of the text. Values are as in the data, also on a
        scale whose lowest value is the best.
        """
        if "ratings" not in self._frames:
            rated = [
                frame_of(read_table("ratings", self._paths.ratings(dataset))).merge(
                    self._systems(dataset),
                    how="left",
                    on="target",
                    validate="many_to_one",
                )
                for dataset in self.datasets
            ]
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
        """
        cells = [
            _of_cell(dataset, perturbation, read_table("judgments", path))
            for dataset in self.datasets
            for perturbation, path in self._cells(dataset)
        ]
        frame = _joined("judgments", cells)
        frame["value"] = frame["value"].where(frame["status"] == "ok")
        if not texts:
            return frame
        known = pd.concat([self._texts(dataset) for dataset in self.datasets])
        keys = ["dataset", "target"]
        other = (
            known.drop(columns="source")
            .add_suffix("_b")
            .rename(columns={"dataset_b": keys[0]})
        )
        with_texts = frame.merge(known, how="left", on=keys, validate="many_to_one")
        return with_texts.merge(
            other, how="left", on=["dataset", "target_b"], validate="many_to_one"
        )

    def _cells(self, dataset: str) -> Iterable[tuple[str, Path]]:
        """Yield the perturbation and the file of each cell that the study's tables rest
        on.
        """
        statuses = read_table(
            "statuses",
            self._paths.collected(dataset, "statuses"),
            ["perturbation", "judge"],
        )
        for perturbation, judge in sorted(
            {(*row.values(),) for row in statuses.to_pylist()}
        ):
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
        files = sorted(self._folder.glob(f"targets/{dataset}/*.parquet"))
        columns = ["dataset", "target", "item", "text"]
        targets = [frame_of(read_table("targets", path, columns)) for path in files]
        items = frame_of(
            read_table("items", self._paths.items(dataset), ["item", "source"])
        )
        known = pd.concat(targets).drop_duplicates(["dataset", "target"])
        return known.merge(items, on="item", validate="many_to_one").drop(
            columns="item"
        )


def load(folder: str | Path) -> Results:
    """Return the results in a folder, such as results/demo, as an object with
    DataFrames.

    UserError where the folder holds no result tables.

    >>> results = load("results/demo")  # doctest: +SKIP
    >>> results.agreement.query("judge == 'rouge-1'")  # doctest: +SKIP
    """
    results = Results(Path(folder))
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
