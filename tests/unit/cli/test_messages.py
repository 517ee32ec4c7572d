"""The whole text of the errors that users see most often.

Other tests look for a part of a message. This one holds every line of twelve messages:
what is wrong, where, the value, what is allowed, the nearest name and what to do.
`make messages` writes tests/unit/cli/messages.txt anew after a wanted change.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import judgescope
from csv_rows import write_csv
from data_samples import table
from judgescope.cli.context import plan_of_study
from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.select import read_dataset
from study import Study

KEPT = Path(__file__).parent / "messages.txt"
NO_KEY = KeySource(model="cloud", variable="NO_SUCH_KEY")


def _bad_yaml(folder: Path) -> None:
    card = folder / "config" / "judges" / "mine.yaml"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text("judge: mine\n  form: [\n", encoding="utf-8")
    Study(folder).plan(judges=["mine"])


def _unknown_model(folder: Path) -> None:
    study = Study(folder)
    study.card("judges", "mine", model="no-such", form="score-only")
    study.plan(judges=["mine"])


def _read_ratings(folder: Path, column: str, rating: int) -> None:
    """Read a table of one text that people rated on a scale from 1 to 5."""
    row = {"id": "1", "question": "Why?", "answer": "So.", "anna": rating}
    write_csv(folder / "t.csv", [row])
    columns = {"item": "id", "source": "question", "text": "answer"}
    dataset = table("t.csv", {**columns, "ratings": {"fluency": [column]}})
    read_dataset(dataset, folder, folder)


def _missing_table(folder: Path) -> None:
    write_csv(folder / "ratings.csv", [{"human": 1, "judge": 2}])
    judgescope.audit("ratngs.csv")


ERRORS: dict[str, Callable[[Path], object]] = {
    "an unknown key": lambda folder: Study(folder).plan(jugdes=["rules"]),
    "a judge that no card has": lambda folder: Study(folder).plan(judges=["ruels"]),
    "an unknown method": lambda folder: Study(folder).plan(methods=["agrement"]),
    "a value of another type": lambda folder: Study(folder).plan(seed="three"),
    "a model that no card has": _unknown_model,
    "a card that is not YAML": _bad_yaml,
    "a study's file that is missing": lambda _: plan_of_study(Path("studi.yaml")),
    "a table's file that is missing": _missing_table,
    "a column that the table lacks": lambda folder: _read_ratings(folder, "ana", 4),
    "a rating outside the scale": lambda folder: _read_ratings(folder, "anna", 9),
    "no key for a provider": lambda _: NO_KEY.check(),
    "a folder without results": lambda folder: judgescope.load(folder / "results"),
}
"""What is wrong -> what raises the error in a folder."""


def message_of(error: Callable[[Path], object], folder: Path) -> str:
    """Return the whole message, without the path of the folder."""
    with pytest.raises((UserError, UserErrors)) as caught:
        error(folder)
    return str(caught.value).replace(str(folder), "FOLDER")


def test_messages_are_those_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    messages = []
    for number, (title, error) in enumerate(ERRORS.items()):
        folder = tmp_path / f"case-{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        messages.append(f"# {title}\n{message_of(error, folder)}\n")
    text = "\n".join(messages)
    if request.config.getoption("--renew"):
        KEPT.write_text(text, encoding="utf-8", newline="\n")
    assert text.splitlines() == KEPT.read_text(encoding="utf-8").splitlines()
