"""The command `judgescope reproduce`: the shelf of published figures; a digit is
changed.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from data_samples import REAL, needs_real_data
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.extensions.reproduce import reproduce
from judgescope.schema.cards import Publication
from judgescope.schema.loading import read_card
from shelf import SHELF, held

CARDS: dict[str, Publication] = {
    path.stem: read_card("publication", path) for path in sorted(SHELF.glob("*.yaml"))
}
WITHOUT_DATA = [
    name for name, card in CARDS.items() if card.means or card.cells or card.raters
]
ABSENT = {"unieval-summeval", "geval-summeval"}
"""Publications whose files could not be had: not run here."""


def run(*words: str) -> int:
    args = command_line().parse_args(["reproduce", *words])
    status: int = args.act(args)
    return status


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shelf(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shelf that may be changed."""
    copy = working_folder / "published"
    shutil.copytree(SHELF, copy)
    monkeypatch.setattr(reproduce, "SHELF", copy)
    return copy


@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_figures_that_follow_from_printed_cells(
    name: str, working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith(f"{name}: ") and last.endswith(" 0 unexplained")
    page = (working_folder / "results" / f"published-{name}" / "index.html").read_text(
        encoding="utf-8"
    )
    assert page.count("<tr") == 1 + int(last.split()[1]) and 'class="wrong"' not in page
    held(reproduce.compare(SHELF / f"{name}.yaml"))


@pytest.mark.heavy
@needs_real_data
def test_the_originals_of_the_first_benchmark(working_folder: Path) -> None:
    held(reproduce.compare(SHELF / "dhp-selection.yaml", str(REAL)))


@pytest.mark.parametrize(
    ("name", "file", "digit"),
    [
        ("confusion-table-4", "confusion-table-4.csv", ("1.2498", "1.2497")),
        ("confusion-table-21", "confusion-table-21.csv", ("0.9444", "0.9434")),
        ("dualeval-tables", "dualeval-global.csv", ("0.697,5", "0.687,5")),
        ("dualeval-tables", "dualeval-local.csv", ("0.694,2", "0.694,3")),
    ],
)
def test_a_changed_digit_fails(
    name: str,
    file: str,
    digit: tuple[str, str],
    shelf: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = shelf / file
    text = path.read_text(encoding="utf-8")
    assert digit[0] in text
    path.write_text(text.replace(*digit, 1), encoding="utf-8")
    assert run(name) == 1
    printed = capsys.readouterr().out
    assert printed.endswith(" 1 unexplained\n") and re.search(
        r" no +unexplained$", printed, re.MULTILINE
    )


def test_a_figure_may_differ_for_a_listed_reason_only(shelf: Path) -> None:
    path = shelf / "confusion-table-4.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("1.2498,", "1.3,error in the paper"), encoding="utf-8")
    assert run("confusion-table-4") == 0
    path.write_text(text.replace("1.2498,", "1.3,bad luck"), encoding="utf-8")
    with pytest.raises(UserError, match="unknown reason for a difference"):
        run("confusion-table-4")


def test_a_figure_without_a_row_is_unexplained(shelf: Path) -> None:
    path = shelf / "confusion-table-4.csv"
    with path.open("a", encoding="utf-8") as file:
        file.write("no such statistic,1,\n")
    assert run("confusion-table-4") == 1


def test_a_figure_chooses_a_single_row() -> None:
    path = SHELF / "usr-alpha.yaml"
    row: dict[str, Any] = {"table": "agreement", "judge": "human", "aspect": "natural"}
    row |= {"statistic": "alpha_ordinal", "level": "pooled", "value": 0.49821}
    outcome = reproduce.against(path, [row, {**row, "level": "by_source"}])
    assert [figure.equal for figure in outcome.figures].count(
        True
    ) == 1 and outcome.failed
    with pytest.raises(UserError, match="one figure selects 2 rows"):
        reproduce.against(path, [row, row])


def test_an_unknown_name(working_folder: Path) -> None:
    with pytest.raises(UserError, match="unknown publication") as error:
        run("hana")
    assert error.value.nearest() == "hanna"


def test_without_a_name_the_shelf_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    printed = capsys.readouterr().out
    assert all(re.search(rf"^{name} +\S", printed, re.MULTILINE) for name in CARDS)


def test_all_go_on_after_a_failure(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in shelf.glob("*.yaml"):
        if path.stem not in {"confusion-table-21", "dhp-selection"}:
            path.unlink()
    # No data, and no network.
    assert run("--all", "--markdown", "page.md") == 0
    table, selection = capsys.readouterr().out.splitlines()[-3::2]
    assert table == "confusion-table-21: 4 figures, 4 equal, 0 explained, 0 unexplained"
    assert selection.startswith(
        "dhp-selection: not run here: the server cannot be reached"
    )
    page = Path("page.md").read_text(encoding="utf-8")
    counted, absent = page.split("## Not run here")
    assert "| `confusion-table-21` |" in counted
    assert "| `dhp-selection` |" in absent and "| `dhp-selection` |" not in counted


@pytest.mark.parametrize(
    "change",
    [
        {"means": {}, "figures": None},
        {"cells": "x.csv"},
        {"figures": "x.csv"},
        {"ranks": {"Rank": "none"}},
    ],
)
def test_a_card_says_a_single_way(change: dict[str, Any]) -> None:
    keys = CARDS["dualeval-tables"].model_dump() | change
    with pytest.raises(ValueError):
        Publication.model_validate(keys)


def test_the_page_of_all_is_that_of_the_shelf() -> None:
    page = (HOME / "docs" / "reproduced.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| `([\w-]+)` \|.*?\| (\d+ \| \d+ \| \d+ \| \d+) \|$", page, re.M)
    )
    assert set(rows) == set(CARDS) - ABSENT, "run `make reproduced`"
    absent = page.split("## Not run here")[1]
    assert all(f"| `{name}` |" in absent for name in ABSENT)
    for name, counts in rows.items():
        total, equal, explained, wrong = map(int, counts.split(" | "))
        assert wrong == 0 and total == equal + explained
        if name in WITHOUT_DATA:
            outcome = reproduce.compare(SHELF / f"{name}.yaml")
            assert " | ".join(outcome.counts()) == counts
        elif figures := CARDS[name].figures:
            assert len(reproduce.read_csv(SHELF / figures)) == total
    assert page.count("error in the paper |") == sum(
        not figure.equal
        for name in WITHOUT_DATA
        for figure in reproduce.compare(SHELF / f"{name}.yaml").figures
    )


def test_errors_are_of_the_user(shelf: Path) -> None:
    (shelf / "confusion-table-4.yaml").write_text("publication: confusion-table-4\n")
    with pytest.raises(UserErrors):
        run("confusion-table-4")
