"""Tables as pandas DataFrames, for what people read. No scoring job imports this module."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from judgescope.schema.tables import COUNT, TEXT, read_table

DTYPES = {TEXT: pd.StringDtype("pyarrow"), COUNT: pd.Int64Dtype()}
"""Columns that may have gaps keep their type: a count stays whole, an empty text is NA."""


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Return a table as a DataFrame with the same columns."""
    return table.to_pandas(types_mapper=DTYPES.get)


def read_frame(name: str, path: str | Path) -> pd.DataFrame:
    """Read table `name`; UserError as `read_table`."""
    return frame_of(read_table(name, path))
