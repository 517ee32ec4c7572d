"""What several tests of reevaluation answers share."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.people.form import Results
from people_tables import rows_of
from reevaluation_study import FLUENCY, ReevaluationStudy


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReevaluationStudy:
    monkeypatch.chdir(tmp_path)
    return ReevaluationStudy(tmp_path, {"fluency": FLUENCY, "adequacy": FLUENCY})


def answers(study: ReevaluationStudy) -> Path:
    return study.folder / "answers"


def numbers(found: Results) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {
        (row["aspect"], row["group"], row["statistic"]): row
        for row in rows_of(found, "reevaluation.csv")
    }
