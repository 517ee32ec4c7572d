"""A judge that learns from an ensemble, whole and for real: trained on a CPU, asked
with vLLM.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import yaml

import running
from asking import AskedStudy
from distilling import MEMBERS, distilling, table, write
from judgescope.schema.tables import read_part, read_table
from scripted import Body, Said, reply, serve
from vllm_job import HERE, ON_A_CPU, PYTHON, TINY

pytestmark = pytest.mark.vllm
RECIPE = {
    "device": "cpu",
    "epochs": 24,
    "dropout": 0.1,
    "batch": 4,
    "device_batch": 4,
    "learning_rate": 1e-2,
}
ASKED_AGAIN = (
    "abe",
    "bea",
    "cal",
    "don",
    "eva",
    "fox",
    "guy",
    "hue",
    "ivy",
    "jay",
    "ken",
    "lou",
)
EXAM = {"datasets": ["exam"], "aspects": ["naturalness"]}
SAID = "No Error\n\nOverall score: 100"
"""What is taught of every text: so much a model of toy size learns from a few dozen
examples."""
TEXTS = 24
LEARNT = (
    "ann",
    "ben",
    "cyd",
    "dan",
    "eve",
    "fay",
    "gus",
    "hal",
    "ida",
    "jon",
    "kim",
    "lee",
)
ASKED = (
    "amy",
    "bob",
    "cat",
    "dee",
    "eli",
    "flo",
    "gil",
    "ian",
    "jim",
    "kit",
    "liv",
    "max",
)


def praise(body: Body) -> Said:
    """Find nothing wrong."""
    return reply(
        "No Error\n\nOverall score: Excellent\nExplanation of the score: all is well."
    )


def texts(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return short texts by two systems: a byte is a token, and the model is slow."""
    return [
        {
            **{"item": name, "source": f"A: Where is {name}?", "system": system},
            **{"text": f"{system} saw {name} at {at}.", "rating": at % 5 + 1},
        }
        for at, name in enumerate(names)
        for system in ("x", "y")
    ]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    assert os.access(PYTHON, os.X_OK), f"{PYTHON}: run `make test-vllm`"
    folder = tmp_path_factory.mktemp("distilled")
    program = [PYTHON, str(HERE / "vllm_model.py"), str(folder)]
    content = {**ON_A_CPU, "JUDGESCOPE_PYTHON_TRAIN": PYTHON}
    subprocess.run(
        program, check=True, env={**os.environ, **content}, capture_output=True
    )
    with serve(praise) as endpoint, pytest.MonkeyPatch.context() as patch:
        for name, value in content.items():
            patch.setenv(name, value)
        own_part = distilling(folder, endpoint)
        own_part.card("models", "student", **TINY, adapter="trained")
        shipped = yaml.safe_load(
            (running.HOME / "config/judges/distilled.yaml").read_text("utf-8")
        )
        del shipped["judge"]
        own_part.card("judges", "distilled", **{**shipped, "max_tokens": 60})
        table(own_part, "lessons", texts(LEARNT))
        table(own_part, "exam", texts(ASKED), rated=True)
        write(own_part, {"datasets": ["lessons"], "recipe": RECIPE}, **EXAM)
        done = own_part.run()
        assert done.returncode == 0, done.stdout[-5000:]
        yield own_part


def right(study: AskedStudy, name: str, dataset: str, judge: str) -> int:
    """Return of how many texts a judge says what was taught, as it is parsed."""
    result = (study.folder / "results" / name / "judgments" / dataset).glob(
        f"*/systems/{judge}.parquet"
    )
    rows = read_part("judgments", next(result), "naturalness", None).to_pylist()
    assert len(rows) == TEXTS
    return sum(
        (row["status"], row["value"], row["spans"]) == ("ok", 100, []) for row in rows
    )


@pytest.mark.long(110)
def test_what_was_taught_is_what_is_stated(study: AskedStudy) -> None:
    """On texts of another dataset, by most: a model of toy size, and nothing that it
    knew before.

    That all replies come back where prompts were learnt is tested in
    test_training_vllm.py.
    """
    folder = study.folder / "results/asked"
    assert right(study, "asked", "exam", "distilled") > TEXTS / 2
    examples = (folder / "distill/train.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["reply"] for line in examples} == {SAID}
    log = read_table("training", folder / "distill/training.parquet").to_pylist()
    held = [row["loss"] for row in log if row["split"] == "held_out"]
    assert held[-1] < 0.05 < 1 < held[0]
    assert {body["model"] for body in study.endpoint.asked} == set(MEMBERS)


@pytest.mark.long(110)
def test_a_second_run_trains_and_asks_nothing(study: AskedStudy) -> None:
    asked = len(study.endpoint.asked)
    shutil.rmtree(study.folder / "results")
    again = study.run()
    assert again.returncode == 0, again.stdout[-5000:]
    assert len(study.endpoint.asked) == asked
    logs = study.folder / "results/asked/logs"
    assert "already trained" in (logs / "distill/train.log").read_text("utf-8")
    assert f"{TEXTS} in the store, 0 to request" in "".join(
        path.read_text("utf-8") for path in logs.glob("ask/exam/student.log")
    )


@pytest.mark.long(110)
def test_another_study_takes_the_adapter_by_its_card(study: AskedStudy) -> None:
    """Served, which changes no reply: all are in the store, as are those of the first
    study.
    """
    card = "config/models/mine.yaml"
    done = running.run(
        "-m", "judgescope", "distill", "card", "study.yaml", card, cwd=study.folder
    )
    assert done.returncode == 0, done.stdout
    path = study.folder / card
    result = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(
        yaml.safe_dump({**result, "mode": "served", "start_timeout": 600}), "utf-8"
    )
    judge = yaml.safe_load(
        (study.folder / "config/judges/distilled.yaml").read_text("utf-8")
    )
    study.card("judges", "mine", **{**judge, "judge": "mine", "model": "mine"})
    table(study, "resit", texts(ASKED_AGAIN), rated=True)
    study.write(
        study="other",
        judges=["mine"],
        datasets=["exam", "resit"],
        aspects=["naturalness"],
    )
    done = study.run()
    assert done.returncode == 0, done.stdout[-5000:]
    logs = {
        name: (study.folder / f"results/other/logs/ask/{name}/mine.log").read_text(
            "utf-8"
        )
        for name in ("exam", "resit")
    }
    assert f"{TEXTS} in the store, 0 to request" in logs["exam"]
    assert f"0 in the store, {TEXTS} to request" in logs["resit"]
    assert right(study, "other", "resit", "mine") > TEXTS / 2
