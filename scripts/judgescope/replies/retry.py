"""Asking again for what an endpoint refused: errors are final until somebody says otherwise."""

from pathlib import Path

from judgescope.replies.store import Store
from judgescope.schema.tables import read_table


def forget_errors(store: Store) -> int:
    """Let every error in a model's shard be asked again; return how many there are."""
    errors = store.errors()
    for draw in errors:
        store.forget(draw)
    return len(errors)


def drop_answers(results: Path) -> int:
    """Delete a study's reply files that hold an error, so that they are made anew; count them."""
    found = [
        path
        for pattern in (
            "replies/**/*.parquet",
            "made/**/*.parquet",
            "construction/*/*.rated.parquet",
        )
        for path in sorted(results.glob(pattern))
        if "error" in read_table("answers", path, ["status"])["status"].to_pylist()
    ]
    for path in found:
        path.unlink()
        of_model = results / "replies"
        if path.is_relative_to(of_model):  # what stands for it in the eyes of Snakemake
            dataset, model = path.relative_to(of_model).parts[:2]
            (of_model / dataset / f"{model}.json").unlink(missing_ok=True)
    return len(found)
