"""`judgescope init --function`: the cards of a Python function as a judge."""

from pathlib import Path

import pytest

from init_setup import card, init, working_folder, written
from judgescope.core.errors import UserError

__all__ = ["working_folder"]
METRIC = "from helpers.words import count\ndef score(text):\n    return count(text)\n"


@pytest.fixture
def metric(working_folder: Path) -> Path:
    folder = working_folder / "metrics"
    (folder / "helpers").mkdir(parents=True)
    (folder / "helpers" / "__init__.py").write_text("")
    (folder / "helpers" / "words.py").write_text("def count(text):\n    return 3\n")
    file = folder / "mine.py"
    file.write_text(METRIC)
    return file


def test_a_function_becomes_a_model_and_a_judge(
    metric: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert init("mine.csv", "--function", "metrics/mine.py:score", "--yes") == 0
    printed = capsys.readouterr().out
    assert "judge       mine: function score of metrics/mine.py" in printed
    assert "no LLM judge yet" not in printed
    assert card("models", "mine") == {
        "model": "mine",
        "engine": "python",
        "function": "../../metrics/mine.py:score",
        "files": {
            "helpers___init__": "../../metrics/helpers/__init__.py",
            "helpers_words": "../../metrics/helpers/words.py",
        },
    }
    assert card("judges", "mine") == {"judge": "mine", "model": "mine"}
    assert "mine" in card("studies", "mine")["judges"]


def test_a_file_with_the_name_of_a_shipped_judge_has_a_separate_an_id(
    metric: Path,
) -> None:
    (metric.parent / "meteor.py").write_text("def score(text):\n    return 1\n")
    assert init("mine.csv", "--function", "metrics/meteor.py:score", "--yes") == 0
    assert "config/judges/meteor-score.yaml" in written()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrics/mine.py", "named by its file and its name"),
        ("metrics/mine.txt:score", "named by its file and its name"),
        ("metrics/mime.py:score", "there is no such file"),
        ("metrics/mine.py:scored", "no function of this name"),
    ],
)
def test_what_names_no_function_is_refused_and_nothing_is_written(
    text: str, message: str, metric: Path
) -> None:
    with pytest.raises(UserError, match=message):
        init("mine.csv", "--function", text, "--yes")
    assert written() == []
