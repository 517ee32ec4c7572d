"""References that a model improves before they are perturbed: planned, counted,
recorded.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from data_samples import card
from judgescope.core.errors import UserError, UserErrors
from judgescope.plan.generators import waiting
from judgescope.plan.loading import load_plan
from judgescope.plan.study import Plan
from judgescope.schema.loading import load_yaml
from report_setup import text_of_pages
from running import HOME, rows, run, snakemake
from scripted import Body, Endpoint, Said, prompt_of, reply, serve
from study import Study

TABLE = "demo-confusion-table"
FACTS = re.compile(r"\n\nData:\n(.*?)\n\nThe description:\n(.*?)\n\n(.*)$", re.DOTALL)
FIVE = {"min": 1, "max": 5, "step": 1}
REFUSED, SECOND = "Harrow Bridge", "Café Lumen"
SORRY = "I'm sorry, but I cannot help with that."


def script(body: Body) -> Said:
    """Improve every description but one, and another only when told why the first will
    not do.
    """
    prompt = prompt_of(body)
    match = FACTS.search(prompt)
    if match is None:
        return reply("5")
    facts, description, asked = match.groups()
    if facts.startswith(REFUSED) or (
        facts.startswith(SECOND) and "is a refusal" not in asked
    ):
        return reply(SORRY)
    return reply(f"In short: {description}")


def prepare(folder: Path, url: str = "http://127.0.0.1:9/v1", **keys: Any) -> Path:
    """Write a study of two perturbations on the demo's tables, whose references are
    improved.
    """
    study = Study(folder, datasets=[TABLE], aspects=[], judges=["rules", "mine"])
    study.change(
        "models", "generator", base_url=url, limits={"attempts": 1}, probe=False
    )
    study.change(
        "datasets",
        TABLE,
        files={"items": str(HOME / "config" / "demo" / "confusion_table.jsonl")},
        aspects={"fluency": FIVE, "coherence": FIVE},
        rewrite_references={"model": "generator", "form": "improve-description"} | keys,
    )
    mine = {"judge": "mine", "model": "generator", "form": "score-only", "draws": 1}
    study.change("judges", "steps", **mine)
    return study.write(methods=["discernment"])


def planned(study: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Plan:
    monkeypatch.chdir(study.parent)
    return load_plan(load_yaml(study)[0] | changes, HOME, source="study.yaml")


# --- the plan ---


def test_all_perturbations_of_improved_references_wait_for_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(prepare(tmp_path), monkeypatch)
    assert plan.written(TABLE) == ["original"] and "generator" in plan.models
    assert waiting(plan, TABLE) == plan.target_sets(TABLE)
    assert len(plan.target_sets(TABLE)) == 5


def test_without_perturbation_no_reference_is_improved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = prepare(tmp_path)
    changes: dict[str, Any] = {"datasets": ["demo-news"], "perturbations": []}
    plan = planned(study, monkeypatch, **changes, methods=["agreement"])
    assert (plan.improved("demo-news"), waiting(plan, "demo-news")) == (None, [])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": "lexical"}, "this model cannot write"),
        ({"form": "improve-nothing"}, "unknown prompt"),
        ({"form": "blind"}, "prints neither the source nor the reference"),
    ],
)
def test_what_cannot_improve_is_reported_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str], message: str
) -> None:
    study = prepare(tmp_path, **keys)
    (tmp_path / "config" / "prompts").mkdir()
    (tmp_path / "config" / "prompts" / "blind.jinja").write_text("Write something.")
    with pytest.raises((UserError, UserErrors), match=message):
        planned(study, monkeypatch)


@pytest.mark.parametrize("name", ["cnn-dailymail", "news-commentary", "webnlg"])
def test_the_shipped_cards_have_forms_that_can_be_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    study = prepare(tmp_path)
    Study(tmp_path).change("datasets", name, aspects={"fluency": FIVE})
    plan = planned(study, monkeypatch, datasets=[name])
    improved = plan.improved(name)
    assert (
        improved is not None
        and f"{improved.form}.jinja" in plan.templates[improved.form]
    )


def test_there_must_be_originals_to_improve() -> None:
    improve = {"model": "generator", "form": "improve-summary"}
    keys: dict[str, Any] = {"format": "samsum", "files": "x.json", "ratings": "none"}
    with pytest.raises(ValueError, match="`rewrite_references` needs originals"):
        card(**keys, rewrite_references=improve, select={"original": "none"})


# --- the run ---


@pytest.fixture(scope="module")
def finished_study(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, Endpoint]]:
    folder = tmp_path_factory.mktemp("improved")
    with serve(script) as endpoint:
        study = prepare(folder, endpoint.url)
        result = snakemake("check", "--configfile", str(study), cwd=folder)
        assert result.returncode == 0, result.stdout[-4000:]
        (folder / "check.txt").write_text(result.stdout, encoding="utf-8")
        batch = run(
            "-m", "judgescope", "export", str(study), "targets", "t.jsonl", cwd=folder
        )
        assert batch.returncode == 0, batch.stdout[-4000:]
        assert (
            endpoint.asked == []
        )  # neither a check nor an export of what is there asks
        done = snakemake("--configfile", str(study), cwd=folder)
        assert done.returncode == 0, done.stdout[-4000:]
        yield folder, endpoint


def targets(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    path = folder / "results" / "small" / "targets" / TABLE / f"{name}.parquet"
    return {row["item"]: row for row in pq.read_table(path).to_pylist()}


@pytest.mark.long(17)
@pytest.mark.slow
def test_an_original_is_the_improved_text_and_a_failure_is_recorded(
    finished_study: tuple[Path, Endpoint],
) -> None:
    folder, _ = finished_study
    references, originals = targets(folder, "references"), targets(folder, "original")
    assert list(references) == list(originals) and len(originals) == 12
    assert originals["ct01"]["status"] == "failed: it is a refusal"
    for item in list(originals)[1:]:
        assert originals[item]["text"] == f"In short: {references[item]['text']}"
        assert originals[item]["status"] == "ok"
        assert (
            originals[item]["target"]
            == references[item]["target"]
            == f"{item}:original"
        )


@pytest.mark.long(17)
@pytest.mark.slow
def test_only_improved_originals_are_perturbed_and_judged(
    finished_study: tuple[Path, Endpoint],
) -> None:
    folder, _ = finished_study
    perturbed = targets(folder, "reordering.minor")
    assert len(perturbed) == 11 and "ct01" not in perturbed
    assert all("In short:" in row["text"] for row in perturbed.values())
    table = [
        row
        for row in rows(folder / "results" / "small", "discernment")
        if row["aspect"]
    ]
    counted = {
        (row["n"], row["n_missing"]) for row in table if row["statistic"] == "mean_drop"
    }
    assert counted == {(11, 1)}
    assert all("|originals:" in row["signature"] for row in table)


@pytest.mark.long(17)
@pytest.mark.slow
def test_tables_and_report_say_how_many_were_improved_and_what_it_took(
    finished_study: tuple[Path, Endpoint],
) -> None:
    folder, endpoint = finished_study
    results = folder / "results" / "small"
    shares = {
        row["statistic"]: (round(row["value"] * row["n"]), row["n"])
        for row in rows(results, "perturbations")
        if row["perturbation"] == "original"
    }
    assert shares == {
        "share_ok": (11, 12),
        "share_kept": (0, 12),
        "share_failed": (1, 12),
    }
    [replies] = [
        row["value"]
        for row in rows(results, "cost")
        if (row["perturbation"], row["statistic"]) == ("original", "replies")
    ]
    written = [prompt for prompt in endpoint.prompts if FACTS.search(prompt)]
    assert replies == len(written) == 14  # the two refused ones twice
    page = text_of_pages(results / "report")
    assert (
        "a model improved 11 of 12 references; 1 could not be improved and are left "
        "out." in page
    )
    assert "originals that a model wrote" in page


@pytest.mark.long(17)
@pytest.mark.slow
def test_what_is_asked_is_counted_before_and_not_asked_again(
    finished_study: tuple[Path, Endpoint],
) -> None:
    folder, endpoint = finished_study
    text = (folder / "check.txt").read_text(encoding="utf-8")
    # two attempts for each of 12, and two aspects of them and of their perturbation in
    # four ways
    assert f"≤ original, {TABLE}" in text and f"≤ mine, {TABLE}" in text
    assert f"requests to models: {2 * 12 + 2 * 12 * 5}," in text
    exported = (folder / "t.jsonl").read_text(encoding="ascii")
    assert exported == ""
    asked = len(endpoint.asked)
    again = snakemake("--configfile", "study.yaml", "--forceall", cwd=folder)
    assert again.returncode == 0, again.stdout[-4000:]
    assert len(endpoint.asked) == asked
    pruned = run("-m", "judgescope", "replies", "prune", "study.yaml", cwd=folder)
    assert pruned.returncode == 0 and ": 0 lines are not used" in pruned.stdout, (
        pruned.stdout
    )


@pytest.mark.slow
def test_a_card_may_keep_the_references_that_could_not_be_improved(
    tmp_path: Path,
) -> None:
    with serve(script) as endpoint:
        study = prepare(tmp_path, endpoint.url, fallback_to_reference=True)
        done = snakemake("texts", "--configfile", str(study), cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:]
    kept = targets(tmp_path, "original")["ct01"]
    assert kept["text"] == targets(tmp_path, "references")["ct01"]["text"]
    assert kept["status"] == "kept: it is a refusal"
    assert len(targets(tmp_path, "reordering.minor")) == 12


def test_the_samples_facts_are_what_the_script_reads() -> None:
    """The demo has the two tables that the scripted model treats in its own way."""
    lines = (HOME / "config" / "demo" / "confusion_table.jsonl").read_text(
        encoding="utf-8"
    )
    tables = [json.loads(line)["table"] for line in lines.splitlines()]
    assert tables[0].startswith(REFUSED) and tables[1].startswith(SECOND)
