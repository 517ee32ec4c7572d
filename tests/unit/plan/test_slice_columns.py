"""The study's key `slices`: columns that the items of its datasets have."""

from typing import Any

import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results


def planned(columns: list[str], dataset: str = "demo-dialogue") -> Any:
    study = {
        "study": "parts",
        "datasets": [dataset],
        "judges": ["constant-top"],
        "methods": ["slices"],
        "slices": {"columns": columns},
    }
    return load_plan(study, HOME, source="parts.yaml", results="results")


def test_the_method_gets_the_columns_of_the_study() -> None:
    spec = results.statistics(planned(["faults"]), "slices", "demo-dialogue")
    assert spec.settings == {"slices": {"columns": ["faults"]}}


@pytest.mark.parametrize(
    ("dataset", "column", "parts"),
    [
        ("demo-dialogue", "falts", ("slices.columns.0", "faults", "falts")),
        ("demo-hanna", "topic", ("slices.columns.0", "columns.meta")),
    ],
)
def test_an_unknown_column_is_an_error(
    dataset: str, column: str, parts: tuple[str, ...]
) -> None:
    with pytest.raises((UserError, UserErrors)) as caught:
        planned([column], dataset)
    for part in parts:
        assert part in str(caught.value)
