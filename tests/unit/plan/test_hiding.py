"""The line of `check` about cards of one's own in place of shipped ones."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from judgescope.core.paths import HOME
from judgescope.plan.notices import hiding
from judgescope.schema.cards import FOLDERS


def plan_of(*cards: tuple[str, str, Path | None]) -> Any:
    """Return a plan with cards (kind, name, folder), None: the shipped folder."""
    folders = {
        (kind, name): folder for kind, name, folder in cards if folder is not None
    }
    names = [(kind, name, None) for kind, name, _ in cards]
    return SimpleNamespace(all_cards=lambda: names, folders=folders)


def own_form(folder: Path, name: str, text: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_bytes(text)
    return folder


def shipped(kind: str, name: str) -> bytes:
    return (HOME / "config" / FOLDERS[kind] / f"{name}.yaml").read_bytes()


def test_other_bytes_under_a_shipped_name_are_grids_ofce(tmp_path: Path) -> None:
    judges = own_form(tmp_path / "judges", "length", b"judge: length\n")
    models = own_form(tmp_path / "models", "control", b"model: control\n")
    plan = plan_of(
        ("model", "control", models),
        ("judge", "length", judges),
        ("judge", "random", None),
    )
    assert list(hiding(plan)) == [
        "cards of yours in place of shipped ones: judge/length, model/control"
    ]


def test_a_copy_with_the_same_bytes_hides_nothing(tmp_path: Path) -> None:
    judges = own_form(tmp_path / "judges", "length", shipped("judge", "length"))
    assert list(hiding(plan_of(("judge", "length", judges)))) == []


def test_a_name_that_no_shipped_card_has_hides_nothing(tmp_path: Path) -> None:
    judges = own_form(tmp_path / "judges", "mine", b"judge: mine\n")
    plan = plan_of(("judge", "mine", judges), ("judge", "length", None))
    assert list(hiding(plan)) == []


def test_the_shipped_folder_itself_is_not_the_users() -> None:
    folder = HOME / "config" / FOLDERS["judge"]
    assert list(hiding(plan_of(("judge", "length", folder)))) == []
