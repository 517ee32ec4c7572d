"""Keys of endpoints in variables and files: which files may hold one."""

from pathlib import Path

import pytest

from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError
from judgescope.core.secrets import KEYS_READ, print_exception
from judgescope.engines.factory import located
from judgescope.schema.cards import OpenAIModel
from running import HOME

KEY = "zebra-4411-and-more"


def key_file(path: Path, content: bytes = KEY.encode(), mode: int = 0o600) -> KeySource:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return KeySource(model="it", file=str(path))


def refused(source: KeySource) -> str:
    with pytest.raises(UserError) as caught:
        source.check()
    assert "models/it.yaml, key api_key_file" in str(caught.value)
    assert str(source.file) in str(caught.value) and KEY not in str(caught.value)
    return str(caught.value)


def test_the_key_is_read_without_the_white_space_around_it(tmp_path: Path) -> None:
    source = key_file(tmp_path / "key", f" {KEY}\r\n".encode())
    source.check()
    assert source.read() == KEY == KEYS_READ["<key of it>"]
    assert str(source) == f"file {tmp_path}/key"


def test_a_key_of_a_variable_without_a_telling_name_is_not_shown_in_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(KEYS_READ, "<key of it>", raising=False)
    monkeypatch.setenv("LAB_ACCESS", KEY)
    assert KeySource(model="it", variable="LAB_ACCESS").read() == KEY
    try:
        raise ValueError(f"the endpoint returned {KEY}")
    except ValueError:
        print_exception()
    shown = capsys.readouterr().err
    assert "the endpoint returned <key of it>" in shown and KEY not in shown


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_can_read_is_refused_with_the_remedy(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "key"
    assert f"chmod 600 {path}" in refused(key_file(path, mode=mode))
    path.chmod(0o400)
    KeySource(model="it", file=str(path)).check()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (f"{KEY}\n{KEY}".encode(), "not allowed in an HTTP header"),
    ],
)
def test_a_file_that_holds_no_key_is_refused(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    assert problem in refused(key_file(tmp_path / "key", content))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        assert "does not exist" in refused(KeySource(model="it", file=str(path)))


@pytest.mark.parametrize("folder", ["config/models", "results/study"])
def test_a_file_among_cards_or_results_is_refused_also_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    source = key_file(tmp_path / folder / "key")
    assert "folder of cards or results" in refused(source)
    (tmp_path / "link").symlink_to(str(source.file))
    assert "folder of cards or results" in refused(
        KeySource(model="it", file=str(tmp_path / "link"))
    )


def test_a_file_among_the_shipped_cards_is_refused(tmp_path: Path) -> None:
    shipped = HOME / "config" / "config.yaml"
    assert "folder of cards or results" in refused(
        KeySource(model="it", file=str(shipped))
    )


def test_a_relative_path_starts_at_the_card(tmp_path: Path) -> None:
    fields = {"model": "it", "engine": "openai", "base_url": "http://127.0.0.1:1/v1"}

    def file_of(path: str) -> str | None:
        model = OpenAIModel.model_validate(fields | {"api_key_file": path})
        return located(model, tmp_path / "models", tmp_path / "data").key_source.file

    assert file_of("../keys/it") == f"{tmp_path}/keys/it"
    assert file_of("{data}/it") == f"{tmp_path}/data/it"
    assert file_of("/keys/it") == "/keys/it"
