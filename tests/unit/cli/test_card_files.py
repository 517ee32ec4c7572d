"""`judgescope cards`: which cards there are, and copies of shipped ones."""

from pathlib import Path

import pytest

from judgescope.cli.card_files import (
    card_files,
    copy_card,
    files_of_card,
    first_comment,
    list_cards,
)
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.schema.cards import FOLDERS

JUDGES = HOME / "config" / FOLDERS["judge"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    args = command_line().parse_args(["cards", *words])
    status: int = args.act(args)
    return status


def origins(kind: str) -> dict[str, str]:
    return {card.name: card.origin for card in card_files(kind)}


def write_own(name: str, text: str) -> Path:
    path = Path("config") / FOLDERS["judge"] / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_each_card_says_whether_it_is_shipped_or_yours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_own("mine", "# My judge.\njudge: mine\n")
    write_own("length", "# Another one.\njudge: length\n")
    write_own("rouge-l", (JUDGES / "rouge-l.yaml").read_text("utf-8"))
    result = origins("judge")
    assert result["mine"] == "yours"
    assert result["length"] == "hides a shipped one"
    assert result["rouge-l"] == "yours, as shipped"
    assert result["random"] == "shipped"
    assert run("list", "judge") == 0
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line for line in printed.splitlines()[1:]}
    assert printed.startswith(f"judge: {len(result)}\n")
    assert lines["mine"].endswith("yours                  My judge.")
    assert lines["length"].endswith("hides a shipped one    Another one.")


def test_without_a_kind_all_kinds_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run() == 0
    printed = capsys.readouterr().out
    for kind in FOLDERS:
        assert f"{kind}: " in printed


def test_in_the_checkout_all_cards_are_shipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(HOME)
    assert set(origins("judge").values()) == {"shipped"}


def test_a_copy_has_the_form_and_the_cards_that_it_names() -> None:
    with_form = {
        path.stem
        for path in JUDGES.glob("*.yaml")
        if len([*files_of_card("judge", path.stem)]) == 3
    }
    name = sorted(with_form)[0]
    assert run("copy", f"judge/{name}") == 0
    for source in files_of_card("judge", name):
        copied = Path("config") / source.relative_to(HOME / "config")
        assert copied.read_bytes() == source.read_bytes()
    folders = {path.parent.name for path in Path("config").rglob("*.*")}
    assert folders == {FOLDERS["judge"], FOLDERS["model"], "prompts"}


def test_a_copy_overwrites_nothing() -> None:
    path = write_own("length", "judge: mine\n")
    with pytest.raises(UserError, match="is not overwritten"):
        run("copy", "judge/length")
    assert path.read_text("utf-8") == "judge: mine\n"


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["copy", "judge/lenght"], "length"),
        (["copy", "juge/length"], "judge"),
        (["list", "juge"], "judge"),
    ],
)
def test_an_unknown_card_names_the_nearest(words: list[str], near: str) -> None:
    with pytest.raises((UserError, UserErrors)) as raised:
        run(*words)
    assert "unknown" in str(raised.value) and near in str(raised.value)
    assert not Path("config").exists()


def test_the_comment_for_editors_is_not_for_people() -> None:
    assert first_comment("# yaml-language-server: $schema=x\njudge: a\n") == ""
    assert first_comment("judge: a\n#  Second line.\n") == "Second line."


def test_listing_is_the_action_of_list() -> None:
    args = command_line().parse_args(["cards", "list", "judge", "model"])
    assert args.kinds == ["judge", "model"]
    assert list_cards(args) == 0
    args = command_line().parse_args(["cards", "copy", "judge/random"])
    assert copy_card(args) == 0
