"""Neural measures by tiny random models: equal to what is computed word by word."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from running import HOME

pytestmark = pytest.mark.vllm
PROGRAM = HOME / "config" / "programs" / "neural_measures.py"
MAKER = HOME / "tests" / "support" / "tiny_neural.py"
TEXT, OTHER = "the cats sat.", "a cat sat on the mat"


@pytest.fixture
def python() -> str:
    interpreter = os.environ.get("JUDGESCOPE_PYTHON_VLLM")
    if not interpreter:
        pytest.skip(
            "JUDGESCOPE_PYTHON_VLLM names no interpreter with torch: make test-vllm"
        )
    return interpreter


def test_scores_are_those_of_the_formulas_and_a_text_is_nearest_to_itself(
    tmp_path: Path, python: str
) -> None:
    made = subprocess.run(
        [python, str(MAKER), str(tmp_path), TEXT, OTHER],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = json.loads(made.stdout.splitlines()[-1])
    targets = [
        {"id": 1, "text": TEXT, "source": OTHER, "references": [OTHER]},
        {"id": 2, "text": TEXT, "source": OTHER, "references": [OTHER, TEXT]},
        {"id": 3, "text": TEXT, "source": None, "references": []},
        {"id": 4, "text": " ", "source": OTHER, "references": [OTHER]},
        {"id": 5, "text": ".", "source": OTHER, "references": [OTHER]},
    ]
    lines = "".join(json.dumps(target) + "\n" for target in targets)
    of_tokens = ["roberta", "1"]
    measures = {"bertscore": of_tokens, "moverscore": of_tokens, "bartscore": ["bart"]}
    for measure, (folder, *layer) in measures.items():
        weights = tmp_path / folder / "model.safetensors"
        done = subprocess.run(  # our interpreter has no torch: the program starts again
            [sys.executable, str(PROGRAM), measure, str(weights), *layer],
            input=lines,
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": os.environ["PATH"], "JUDGESCOPE_PYTHON_TRAIN": python},
        )
        by_key = {
            each["id"]: each for each in map(json.loads, done.stdout.splitlines())
        }
        assert by_key[1]["score"] == pytest.approx(expected[measure], abs=1e-5)
        assert (
            "there is no" in by_key[3]["error"]
            and by_key[4]["error"] == "the text is empty"
        )
        if measure != "bartscore":
            assert by_key[1]["score"] < 0.999
        if measure == "bertscore":  # the best of two references
            assert by_key[2]["score"] == pytest.approx(1, abs=1e-5)
        if measure == "moverscore":  # their mean
            assert by_key[2]["score"] == pytest.approx(
                (1 + expected[measure]) / 2, abs=1e-5
            )
            assert by_key[5] == {"id": 5, "error": "a text has no words"}


def test_a_layer_that_the_model_lacks_ends_the_program(
    tmp_path: Path, python: str
) -> None:
    subprocess.run([python, str(MAKER), str(tmp_path), TEXT, OTHER], check=True)
    weights = tmp_path / "roberta" / "model.safetensors"
    done = subprocess.run(
        [python, str(PROGRAM), "bertscore", str(weights), "17"],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        done.returncode == 1 and "layer 17: the model has layers 1 to 2" in done.stderr
    )
