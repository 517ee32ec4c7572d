"""People judge a dataset of one's own again, from its file to the table."""

import csv
import json
import re
from pathlib import Path

import pytest

from judgescope.extensions.people.answers import Find
from judgescope.extensions.people.known_quality import ORIGINAL, RATED, texts_of
from judgescope.extensions.people.recheck import Shown, finder
from judgescope.plan.loading import load_plan
from judgescope.schema.loading import load_yaml
from perspectives_study_setup import write_dataset
from running import HOME, run, snakemake
from study import Study

pytestmark = pytest.mark.slow


def answered(page: Path, find: Find[Shown]) -> dict[str, object]:
    """Return what a page saves for someone who sees original levels alone."""
    html = page.read_text(encoding="utf-8")
    [survey] = re.findall('data-survey="([^"]+)"', html)
    [task] = re.findall('data-task="([^"]+)"', html)
    answers = {}
    for name in dict.fromkeys(re.findall('name="(q[^"]+)"', html)):
        asked = find(name)
        assert asked
        pair, first = asked.subject
        answers[name] = ("A" if first else "B") if pair.group == ORIGINAL else "C"
    return {"survey": survey, "task": task, "voter": page.stem, "answers": answers}


def test_from_the_file_of_ratings_to_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dataset(tmp_path, "first", 0)
    keys = {
        "aspects": [],
        "judges": ["length"],
        "perturbations": [],
        "methods": ["perspectives"],
    }
    study = Study(tmp_path).write(datasets=["first"], **keys)
    command = ("-m", "judgescope", "people", "recheck")
    early = run(*command, "make", str(study), "pages", cwd=tmp_path)
    assert early.returncode == 1 and "3 of 3 files" in early.stdout
    made = snakemake(
        "--configfile",
        str(study),
        "--",
        "results/small/ratings/first.parquet",
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stdout[-4000:]
    asked = run(*command, "make", str(study), "pages", "--pairs", "20", cwd=tmp_path)
    assert asked.returncode == 0 and "2 pages with 80 questions" in asked.stdout, (
        asked.stdout
    )
    plan = load_plan(load_yaml(study)[0], HOME, source=str(study))
    find = finder(plan, texts_of(plan, Path("results/small"), RATED))
    (tmp_path / "answers").mkdir()
    for page in (tmp_path / "pages").iterdir():
        dumps = json.dumps(answered(page, find))
        (tmp_path / "answers" / f"{page.stem}.json").write_text(dumps, encoding="utf-8")
    done = run(*command, "import", str(study), "answers", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    with Path("results/small/reevaluation/reevaluation.csv").open(
        encoding="utf-8"
    ) as file:
        by_key = {
            (row["aspect"], row["group"], row["statistic"]): row
            for row in csv.DictReader(file)
        }
    assert len(by_key) == 2 * 2 * 2 and {row["n"] for row in by_key.values()} == {"40"}
    for aspect in ("", "fluency"):
        assert (
            by_key[aspect, "original-level", "reevaluation_agreement"]["value"] == "1.0"
        )
        assert (
            by_key[aspect, "new-level", "reevaluation_no_difference"]["value"] == "1.0"
        )
