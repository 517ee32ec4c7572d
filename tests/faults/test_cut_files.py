"""Files of replies and scores that were cut or lost are noticed, and made again by the
next run.
"""

import json
import os
from pathlib import Path

import pytest

import running
from best_end_setup import write
from judgescope.replies.compaction import cut_files
from judgescope.schema.tables import table_of, write_table


def folder(out: Path) -> dict[str, Path]:
    """Write a job's files: of replies, and of a measure's judgments and scores."""
    places = {"replies/d/m/p/j": "p/j", "judgments/d/c/p/j": "judgments/p/j"}
    places["scores/d/c/p/j"] = "scores/p/j"
    for location in places:
        path = out / f"{location}.parquet"
        write_table("answers", table_of("answers", [{"judge": "j", "draw": 0}]), path)
    for hashes, names in (
        ("replies/d/m", ["p/j"]),
        ("scores/d/c", [*places.values()][1:]),
    ):
        (out / f"{hashes}.json").write_text(
            json.dumps(dict.fromkeys(names, "")), "utf-8"
        )
    return {
        location.partition("/")[0]: out / f"{location}.parquet" for location in places
    }


def test_what_is_cut_or_gone_is_detected_and_nothing_else(tmp_path: Path) -> None:
    paths = folder(tmp_path)
    assert cut_files(tmp_path) == {}
    for kind, path in paths.items():
        hashes = tmp_path / (
            "replies/d/m.json" if kind == "replies" else "scores/d/c.json"
        )
        content = path.read_bytes()
        for size in (0, 3, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:size])
            assert cut_files(tmp_path) == {hashes: [path]}
        path.unlink()
        assert cut_files(tmp_path) == {hashes: [path]}
        path.write_bytes(content)
    hashes.write_text('{"scores', encoding="utf-8")
    assert cut_files(tmp_path) == {hashes: [hashes]}


@pytest.mark.slow
@pytest.mark.long(14)
def test_a_run_makes_cut_replies_and_scores_again(tmp_path: Path) -> None:
    study = write(tmp_path, flipped=False)
    names = {"item": "id", "system": "by", "reply": "said"}
    rows = [
        json.loads(line)
        for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()
    ]
    lines = [json.dumps({**row, "said": f"Rating: {row['score']}"}) for row in rows]
    (tmp_path / "said.jsonl").write_text("\n".join(lines), encoding="utf-8")
    model = {
        "engine": "recorded",
        "dataset": "mine",
        "files": "../../said.jsonl",
        "rows": names,
    }
    study.card("models", "it", **model)

    def run() -> str:
        done = running.run("-m", "judgescope", "run", "study.yaml", cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        return done.stdout

    run()
    out = tmp_path / "results/best"
    replies, scores = (
        out / f"{name}.parquet"
        for name in (
            "replies/mine/it/systems/it",
            "scores/mine/lexical/systems/rouge-1",
        )
    )
    stale = out / "replies/mine/left.json"  # of a judge that the study has no more
    stale.write_text('{"systems/left": ""}', encoding="utf-8")
    before = {path: path.read_bytes() for path in (replies, scores)}
    os.truncate(replies, 200)
    scores.unlink()
    finished = run()
    assert all(
        f"{path.relative_to(tmp_path)}: incomplete or missing" in finished
        for path in before
    )
    assert {path: path.read_bytes() for path in before} == before
    assert stale.is_file() and "left" not in finished
    assert "Everything is up to date" in run()
