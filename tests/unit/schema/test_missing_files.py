"""What is said about a table that is missing or damaged."""

from pathlib import Path

import pytest

from judgescope.core.errors import UserError
from judgescope.schema.tables import read_table

ONCE = "no reply is requested twice"
BY_ITSELF = "run again: the run writes it"


@pytest.mark.parametrize("kind", ["scores", "judgments"])
@pytest.mark.parametrize("has_replies", [True, False])
def test_a_file_of_a_models_folder_is_made_again_by_score_or_with_the_folder(
    tmp_path: Path, kind: str, has_replies: bool
) -> None:
    if has_replies:
        (tmp_path / "replies" / "news" / "loop").mkdir(parents=True)
    folder = tmp_path / kind / "news" / "loop"
    with pytest.raises(UserError) as error:
        read_table(kind, folder / "systems" / "terse.parquet")
    delete = f"delete the folder {folder} and run again; {ONCE}"
    score = "run again with `-R score`, or "
    assert error.value.todo == (score + delete if has_replies else delete)


def test_a_missing_reply_file_needs_the_folder_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "replies" / "news" / "loop"
    folder.mkdir(parents=True)
    with pytest.raises(UserError) as error:
        read_table("answers", folder / "systems" / "terse.parquet")
    assert error.value.todo == f"delete the folder {folder} and run again; {ONCE}"


@pytest.mark.parametrize(
    "name", ["items/news.parquet", "scores/news/derived/systems/jury.parquet"]
)
def test_snakemake_sees_that_other_files_are_missing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    table = name.partition("/")[0]
    with pytest.raises(UserError) as error:
        read_table(table, path)
    assert error.value.todo == BY_ITSELF
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no table")
    with pytest.raises(UserError) as error:
        read_table(table, path)
    assert error.value.todo == f"delete the file, then {BY_ITSELF}"
