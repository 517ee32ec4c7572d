"""Where a training is kept: under which key, what is gone on from, and who may be
in.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from judgescope.core.errors import UserError
from judgescope.extensions.distill.specs import TrainSpec
from judgescope.extensions.distill.training import folder as training_folder
from judgescope.extensions.distill.training.folder import TrainingFolder, key_of
from judgescope.replies.specs import ModelSpec
from judgescope.schema.cards.vllm import ADAPTER_FILES
from judgescope.schema.tables import table_of, write_table


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainSpec:
    monkeypatch.setattr(training_folder, "version", lambda name: f"{name} 1")
    for name in ("train", "held_out"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    for name in ("student", "other"):
        known = {"chat_template": name, "commit": None, "longest_prompt": len(name)}
        (tmp_path / name).write_text(json.dumps(known), encoding="utf-8")
    return TrainSpec(
        code="",
        versions={},
        model=ModelSpec(
            engine="", card={"name": "maker/small"}, folder="cards", data="data"
        ),
        seed=3,
        recipe={"rank": 16},
        max_tokens=9,
        train=str(tmp_path / "train"),
        held_out=str(tmp_path / "held_out"),
        student=str(tmp_path / "student"),
        adapter_files=[],
        adapter="adapter",
        log="log",
        losses="losses",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"model": ModelSpec(engine="", card={}, folder="cards", data="data")},
        *({"seed": 4}, {"recipe": {"rank": 8}}),
        *({"train": "held_out"}, {"student": "other"}),
    ],
)
def test_another_training_has_another_key(
    spec: TrainSpec, changes: dict[str, Any], tmp_path: Path
) -> None:
    files = {
        name: str(tmp_path / changes[name])
        for name in changes.keys() & {"train", "student"}
    }
    assert key_of(replace(spec, **changes | files)) != key_of(spec)


def test_a_key_does_not_say_where_anything_lies_or_what_only_counts_tokens(
    spec: TrainSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = (tmp_path / "train").rename(tmp_path / "moved")
    before = key_of(replace(spec, train=str(moved)))
    moved.rename(tmp_path / "train")
    elsewhere = replace(
        spec,
        max_tokens=10,
        adapter="elsewhere",
        model=ModelSpec(engine="", card=spec.model.card, folder="there", data="there"),
    )
    assert before == key_of(elsewhere) == key_of(spec)
    monkeypatch.setattr(training_folder, "version", lambda name: f"{name} 2")
    assert key_of(spec) != before


def test_only_a_complete_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    kept = TrainingFolder(tmp_path, "key")
    assert kept.last_checkpoint() is None
    for step in (5, 10, 15):
        (kept.steps / f"checkpoint-{step}").mkdir(parents=True)
        (kept.steps / f"checkpoint-{step}" / "weights").write_text("w")
    kept.mark_complete(5)
    kept.mark_complete(10)
    assert kept.last_checkpoint() == kept.steps / "checkpoint-10"
    assert sorted(path.name for path in kept.steps.iterdir()) == [
        "checkpoint-10",
        "checkpoint-5",
    ]


def test_two_jobs_do_not_train_the_same(tmp_path: Path) -> None:
    with TrainingFolder(tmp_path, "key").held():
        with (
            pytest.raises(UserError, match="another job") as caught,
            TrainingFolder(tmp_path, "key").held(),
        ):
            pass
        assert caught.value.where == str(tmp_path / "key")
        with TrainingFolder(tmp_path, "other").held():
            pass
    with TrainingFolder(tmp_path, "key").held():
        pass


def test_a_result_exists_when_all_of_it_is_and_its_checkpoints_go(
    tmp_path: Path,
) -> None:
    kept = TrainingFolder(tmp_path / "kept", "key")
    (kept.steps / "checkpoint-5").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt), kept.finishing() as folder:
        (folder / "adapter_config.json").write_text("half")
        raise KeyboardInterrupt
    assert not kept.finished
    with kept.finishing() as folder:
        assert not list(folder.iterdir())
        for name in ADAPTER_FILES:
            (folder / name).write_text(name)
        write_table("training", table_of("training", []), folder / training_folder.LOG)
        write_table("losses", table_of("losses", []), folder / training_folder.LOSSES)
    assert kept.finished
    out = tmp_path / "out"
    kept.copy_result(out / "adapter", out / "log.parquet", out / "losses.parquet")
    assert sorted(path.name for path in (out / "adapter").iterdir()) == sorted(
        ADAPTER_FILES
    )
    assert (out / "log.parquet").is_file() and (out / "losses.parquet").is_file()
    assert sorted(path.name for path in kept.folder.iterdir()) == ["result"]
