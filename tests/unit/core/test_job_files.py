"""Which files a job reads and writes, by the marks in its spec."""

from typing import Annotated

from msgspec import Struct, convert, to_builtins

from judgescope.core.job_files import IN, OUT, OUT_FOLDER, job_files


class PartSpec(Struct, kw_only=True):
    texts: Annotated[dict[str, list[str]], IN]
    unmarked: str = "not/a/file.json"


class ExampleSpec(Struct, kw_only=True):
    items: Annotated[str, IN]
    ratings: Annotated[str | None, IN] = None
    names: Annotated[str, IN] = ""
    parts: dict[str, PartSpec]
    optional: PartSpec | None = None
    output: Annotated[list[str], OUT]
    cells: Annotated[str, OUT]
    pages: Annotated[str, OUT_FOLDER]


def example() -> ExampleSpec:
    return ExampleSpec(
        items="items.parquet",
        parts={
            "a": PartSpec(texts={"x": ["x1", "x2"]}),
            "b": PartSpec(texts={"y": ["items.parquet"]}),
        },
        output=["one", "two"],
        cells="scores/news/{}.parquet",
        pages="pages",
    )


def test_marked_paths_are_detected_in_lists_dicts_and_records_once_each() -> None:
    assert job_files(example()).inputs == ["items.parquet", "x1", "x2"]


def test_a_path_for_each_cell_stands_for_their_folder() -> None:
    outputs = job_files(example()).outputs
    assert outputs == ["one", "two", "scores/news", "pages"]


def test_marks_do_not_change_how_a_spec_is_decoded() -> None:
    spec = example()
    assert convert(to_builtins(spec), ExampleSpec) == spec
