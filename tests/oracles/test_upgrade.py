"""What docs/upgrade.md promises to owners of stores: with the earlier prompts in their
own folder, replies keep their keys.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import golden
import golden_studies
from running import HOME
from scripted import serve
from study import Card

EARLIER = HOME / "tests" / "golden" / "earlier"
"""Three forms as they were before they named the kind of text, and keys of theirs:
keys.json, and keys-columns.json where the source has two columns."""
JUDGES = ("score-only", "rate-explain", "pairwise")


def two_columns() -> dict[str, Card]:
    """Return the dataset whose source has the columns `id` and `source`."""
    _, _, aspects = golden_studies.TEXTS["golden-news"]
    ratings = {aspect: [f"{aspect}_1", f"{aspect}_2"] for aspect in aspects}
    columns = {
        "item": "id",
        "source": ["id", "source"],
        "references": ["gold", "other"],
        "system": "by",
        "text": "text",
        "ratings": ratings,
    }
    return {"golden-news": {"columns": columns}}


def planned(
    folder: Path, prompts: Path | None = None, datasets: dict[str, Card] | None = None
) -> golden.Keys:
    """Return the keys of three judges, with the shipped prompts or those of a folder
    that precede them.

    `datasets` replace those of the study.
    """
    [study] = [study for study in golden_studies.studies() if study.name == "forms"]
    if datasets is not None:
        study = replace(study, datasets=datasets)
    with serve(golden_studies.say) as endpoint:
        study.write(folder, endpoint.url)
        if prompts is not None:
            shutil.copytree(prompts, folder / "config" / "prompts", dirs_exist_ok=True)
        card = {**study.card, "judges": [*JUDGES]}
        run = golden.Run(folder, card)
        run.texts()
        run.judges()
    return run.keys


@pytest.mark.heavy
def test_source_plain_hits_the_earlier_keys_of_several_columns(tmp_path: Path) -> None:
    earlier = json.loads((EARLIER / "keys-columns.json").read_text(encoding="utf-8"))
    prompts = tmp_path / "prompts"
    shutil.copytree(EARLIER / "prompts", prompts)
    named = planned(tmp_path / "named", prompts, two_columns())
    assert named.keys() == earlier.keys()
    hit = {name for name, key in named.items() if key == earlier[name]}
    assert all("/fluency/" in name for name in hit)  # its raters saw no source
    for path in prompts.glob("*.jinja"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("{{ source }}", "{{ source_plain }}"), "utf-8")
    assert planned(tmp_path / "plain", prompts, two_columns()) == earlier


@pytest.mark.heavy
def test_earlier_prompts_in_a_study_folder_hit_the_earlier_keys(
    tmp_path: Path,
) -> None:
    earlier = json.loads((EARLIER / "keys.json").read_text(encoding="utf-8"))
    assert planned(tmp_path / "own", EARLIER / "prompts") == earlier


@pytest.mark.heavy
def test_the_shipped_prompts_have_other_keys(tmp_path: Path) -> None:
    earlier = json.loads((EARLIER / "keys.json").read_text(encoding="utf-8"))
    now = planned(tmp_path / "own")
    assert now.keys() == earlier.keys()
    assert not set(now.values()) & set(earlier.values())
