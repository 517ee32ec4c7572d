"""Every job of a small study: what it is about, its spec, and what it waits for.

small_study.json holds the specs without empty values, hashes and the texts of
templates. `--renew` writes it anew: read the difference before you commit it.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import encode

from judgescope.core.paths import HOME
from judgescope.plan.code import unhashed
from judgescope.plan.dag import Dag
from judgescope.plan.loading import load_plan
from planned_specs import jobs_of
from study import Study

SPECS = Path(__file__).with_name("small_study.json")
POINTS = {"min": 1, "max": 5, "step": 1}
SMALL = {
    "study": "small",
    "seed": 7,
    "datasets": ["news"],
    "aspects": ["clarity", "truth"],
    "judges": ["ann", "ben", "verdict", "jury", "chair", "random", "rouge-l-source"],
    "perturbations": ["random-typos", "shorter"],
    "methods": ["agreement", "discernment", "ensemble"],
}


def small_study(folder: Path) -> Dag:
    """Return the jobs of a study with cards of its own."""
    study = Study(folder, SMALL)
    rows = []
    for number in range(2):
        for system in ("ash", "birch"):
            row = {"id": f"n{number}", "system": system, "text": f"{system} {number}."}
            row |= {"source": f"Source {number}.", "gold": f"Gold {number}."}
            rows.append({**row, "c1": 4, "c2": 5 - number, "t1": number})
    study.rated_table(
        "news",
        rows,
        ratings={"clarity": ["c1", "c2"], "truth": ["t1"]},
        aspects={"clarity": POINTS, "truth": {"labels": ["false", "true"]}},
        references=["gold"],
    )
    ends = {"best": "clear", "worst": "muddled"}
    clarity = {"name": "Clarity", "definition": "Easy to read.", **ends}
    study.card("aspects", "clarity", **clarity)
    study.card("aspects", "truth", name="Truth", definition="Is it true?")
    asked = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "probe": False}
    study.card("models", "far", **asked, price={"input": 1, "output": 2}, family="f")
    study.card("models", "near", **asked, name="its/own-name")
    marks = {"form": "annotate", "annotation": {}, "aspects": ["clarity"]}
    study.card("judges", "ann", model="far", **marks, draws=2, temperature=0.5)
    study.card("judges", "ben", model="near", **marks, share=0.5)
    study.card("judges", "verdict", model="near", form="verdict", aspects=["truth"])
    members = {"members": ["ann", "ben"], "min_annotators": 2}
    study.card("judges", "jury", **members)
    supervisor = {"model": "far", "max_tokens": 300}
    study.card(
        "judges", "chair", **members, combine="supervisor", supervisor=supervisor
    )
    study.card(
        "perturbations",
        "shorter",
        name="shorter",
        level="sentence",
        method="llm",
        model="far",
        form="adjust-steps",
        instructions=["Shorten it."],
        adjustment="Say it in fewer words.",
        degrees={"single": {"k": 1}},
    )
    first = [folder / "config"]
    plan = load_plan(SMALL, HOME, source="study.yaml", first=first, results="out")
    return Dag(plan, {})


def bare(value: Any) -> Any:
    """A value without what is empty, hashes, and the texts of prompts."""
    if isinstance(value, dict):
        kept = {}
        for key, each in value.items():
            if key == "templates":
                each = files_of(each)
            each = bare(each)
            if each not in (None, [], {}, "") and key != "versions":
                kept[key] = each
        return kept
    if isinstance(value, list):
        return [bare(each) for each in value]
    if isinstance(value, str):
        if re.fullmatch(r"[0-9a-f]{8}", value):
            return "a hash"
        # A path to the shipped cards is relative where they lie in another checkout.
        return re.sub(
            r"^(\{judgescope\}|[./]*" + re.escape(str(HOME)) + ")", "HOME", value
        )
    return value


def files_of(templates: Any) -> Any:
    """The names of templates; a page has only a hash of its own."""
    if isinstance(templates, str):
        return None
    names: dict[str, Any] = {}
    for name, each in templates.items():
        names[name] = sorted(each) if isinstance(each, dict) else "a template"
    return names


def described(folder: Path) -> dict[str, Any]:
    """Job -> its spec, and the files that it waits for.

    A table's spec holds what differs from that of the first table.
    """
    specs: dict[str, Any] = {}
    with unhashed():
        jobs = list(jobs_of(small_study(folder)))
    first = None
    for job in jobs:
        *name, spec = bare(json.loads(encode(job)))
        if isinstance(spec, list):
            waits = spec
            spec = {"waits for": waits}
            if isinstance(name[-1], dict):
                spec |= name.pop()
        if "table" in spec:
            first = first or spec
            if spec is not first:
                spec = {key: spec[key] for key in spec if spec[key] != first.get(key)}
        specs[" ".join(str(part) for part in flat(name))] = spec
    return specs


def flat(name: list[Any]) -> list[str]:
    """The parts of a job's name, some of which are in a list of their own."""
    parts = list[str]()
    for part in name:
        parts += [each for each in part if each] if isinstance(part, list) else [part]
    return parts


def test_every_job_of_a_small_study_is_planned_as_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    planned = described(tmp_path)
    if request.config.getoption("--renew", default=False):
        text = json.dumps(planned, indent=1, ensure_ascii=False)
        SPECS.write_text(text + "\n", encoding="utf-8")
    expected = json.loads(SPECS.read_text(encoding="utf-8"))
    assert list(planned) == list(expected)
    for job, spec in planned.items():
        assert spec == expected[job], job
