"""Jobs that load a model, on one machine: each has GPUs of its own."""

import shutil

import pytest

from asking import AskedStudy
from vllm_study import with_vllm

pytestmark = pytest.mark.slow
TEXTS = 120


@pytest.mark.long(11)
def test_two_parts_of_a_model_use_different_gpus(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both servers run at once: none answers before both have started."""
    served = with_vllm(study, monkeypatch, parts=2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    monkeypatch.setenv("MEET", "2")
    done = study.run("--resources", "gpu=4", "--cores", "4")
    assert done.returncode == 0, done.stdout
    starts = served.starts()
    assert len(starts) == 2
    devices = {start["devices"] for start in starts}
    assert len(devices) == 2
    assert devices <= {"0", "1", "2", "3"}
    assert len(served.devices_of_requests()) == TEXTS


@pytest.mark.long(14)
def test_models_that_need_all_gpus_run_one_after_the_other(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snakemake counts more GPUs than there are: the jobs themselves wait."""
    served = with_vllm(study, monkeypatch, parts=2, tensor_parallel=2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    done = study.run("--resources", "gpu=4", "--cores", "4")
    assert done.returncode == 0, done.stdout
    starts = served.starts()
    assert [start["devices"] for start in starts] == ["0,1", "0,1"]
    # the server that started last saw the other one ended
    assert [start["others"] for start in starts] == [[], []]
    logs = "".join(
        path.read_text(encoding="utf-8")
        for path in study.folder.glob("results/*/logs/ask/**/*.log")
    )
    assert "waiting for 2 GPUs: 0, 1 are taken by process" in logs
    assert len(served.devices_of_requests()) == TEXTS


def test_copies_of_a_model_are_served_together(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = with_vllm(study, monkeypatch, data_parallel=2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    done = study.run("--resources", "gpu=3")
    assert done.returncode == 0, done.stdout
    [start] = served.starts()
    assert start["devices"] == "0,1"
    assert start["line"][:2] == ["serve", str(study.folder / "config/models/weights")]


@pytest.mark.long(22)
def test_a_card_that_needs_more_gpus_than_there_are_is_an_error(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = with_vllm(study, monkeypatch, tensor_parallel=3)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1a,MIG-2b")
    done = study.run("--resources", "gpu=4")
    assert done.returncode == 1
    assert "the model needs more GPUs than this job may use" in done.stdout
    assert "models/loop.yaml, key tensor_parallel" in done.stdout
    assert "at most 2 (visible: GPU-1a, MIG-2b)" in done.stdout
    assert served.starts() == []
    # with a complete store no GPU is needed
    served.forget()
    study.card("models", "loop", **served.card(tensor_parallel=2))
    done = study.run("--resources", "gpu=4")
    assert done.returncode == 0, done.stdout
    [start] = served.starts()
    assert start["devices"] == "GPU-1a,MIG-2b"
    study.card("models", "loop", **served.card(tensor_parallel=3))
    shutil.rmtree(study.folder / "results")
    done = study.run("--resources", "gpu=4")
    assert done.returncode == 0, done.stdout
    assert len(served.starts()) == 1
