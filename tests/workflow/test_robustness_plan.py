"""The study `robustness`: what it asks, at the paper's size (Chaudhary et al. 2024) and whole."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

import trusting
from data_samples import REAL, needs_real_data
from judgescope.plan.loading import load_plan
from judgescope.schema.loading import load_yaml
from running import HOME
from scripted import Body, Said, reply, serve
from study import Study

pytestmark = pytest.mark.slow
STUDY = HOME / "config" / "studies" / "robustness.yaml"
FORMS = ["own-understanding", "knowledge-twice", "two-shots", "reasoning", "wrong-hint"]
"""The five of the paper."""
SIZES = {"summaries": (100, 16, 4), "responses": (60, 11, 6)}
"""Dataset -> items, systems, aspects."""


def write_rated(study: Study, name: str) -> None:
    """Write a dataset of so many texts, all rated by three people."""
    items, systems, aspects = SIZES[name]
    names = [f"{name}-{number}" for number in range(aspects)]
    with (study.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        raters = [f"{one}.{rater}" for one in names for rater in "abc"]
        table.writerow(["id", "source", "system", "text", *raters])
        for item in range(items):
            for system in range(systems):
                ratings = [1 + (item + system + at) % 5 for at in range(len(raters))]
                text = f"Text {system} of {name} {item}."
                table.writerow([f"i{item}", f"Source {item}.", f"s{system}", text, *ratings])
    card: dict[str, Any] = {
        **{"name": name, "task": "summarization", "format": "table"},
        **{"files": f"../../{name}.csv", "licence": "none", "citation": "none"},
        "columns": {
            **{"item": "id", "source": "source", "system": "system", "text": "text"},
            "ratings": {one: [f"{one}.{rater}" for rater in "abc"] for one in names},
        },
        "aspects": {one: {"min": 1, "max": 5, "step": 1} for one in names},
    }
    study.card("datasets", name, **card)
    for aspect in names:
        study.card("aspects", aspect, name=aspect, definition=aspect)


def test_at_the_paper_s_size_a_model_is_asked_51800_times_and_its_base_again(
    tmp_path: Path,
) -> None:
    study = Study(tmp_path, aspects=[], judges=FORMS, perturbations=[], methods=["robustness"])
    for name in SIZES:
        write_rated(study, name)
    study.write(datasets=[*SIZES])
    done = study.snakemake("check")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "requests to models: 62,160," in done.stdout  # a fifth of the paper's more
    assert re.search(r"sum +62,160 +0 +62,160 ", done.stdout)
    assert "responses: judges with a hint are given 60 items" in done.stdout
    assert "summaries: judges" not in done.stdout and "will not be known" not in done.stdout


def test_the_shipped_study_is_planned_with_its_hints() -> None:
    plan = load_plan(load_yaml(STUDY)[0], HOME, source=str(STUDY))
    assert set(FORMS) <= set(plan.judges)
    for name in ("wrong-hint", "right-hint", "nameless-hint"):
        told = plan.judges[name].hint
        assert told is not None and told.baseline == "knowledge-twice"
        assert (plan.judges[name].temperature, plan.judges[name].max_tokens) == (0.1, 2048)
    assert plan.judges["two-shots"].shots is not None and plan.judges["two-shots"].shots.n == 2


def follow(body: Body) -> Said:
    """Believe every expert, and nobody else."""
    prompt = body["messages"][0]["content"]
    told = re.findall(r"before you: ([\d.]+)\.\n", prompt)
    [(low, high)] = set(re.findall(r"a number from (\d) to (\d)", prompt))
    own = int(low) + len(prompt) % (int(high) - int(low) + 1)
    return reply(f"Rating: {told[0] if told else own}\nIt reads well.")


@needs_real_data
@pytest.mark.long
def test_the_shipped_study_on_a_part_of_the_public_data(tmp_path: Path) -> None:
    with serve(follow) as endpoint:
        study = Study(tmp_path, load_yaml(STUDY)[0], share=0.1, data=str(REAL))
        study.connect(endpoint.url, "judge")
        study.write()
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
    assert sum(trusting.held(tmp_path, "study.yaml").values())
    found = {
        (row["dataset"], row["judge"], row["aspect"], row["statistic"]): row
        for row in study.rows("robustness")
    }
    aspects = {(dataset, aspect) for dataset, _, aspect, _ in found if aspect != "average"}
    assert len(aspects) == 10
    for dataset, aspect in aspects:
        at = (dataset, "wrong-hint", aspect)
        assert found[*at, "follow_rate"]["value"] == 1
        assert found[*at, "alpha_joint"]["value"] >= -1 / 3
        assert found[dataset, "right-hint", aspect, "alpha_pair"]["value"] > 0
        assert found[dataset, "nameless-hint", aspect, "match_share"]["value"] is not None
        assert found[dataset, "human", aspect, "alpha_ordinal"]["value"] > 0.3
