"""What several tests of reevaluation share."""

from pathlib import Path

import pytest

from reevaluation_study import FLUENCY, ReevaluationStudy


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReevaluationStudy:
    monkeypatch.chdir(tmp_path)
    return ReevaluationStudy(tmp_path, {"fluency": FLUENCY, "adequacy": FLUENCY})


def html_of(study: ReevaluationStudy, name: str) -> str:
    return (study.folder / "pages" / name).read_text(encoding="utf-8")
