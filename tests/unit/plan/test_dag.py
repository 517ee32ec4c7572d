"""Which rule lets a model write what, what its jobs read and write, and what they need."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import to_builtins

import golden_studies
import graded_study
from golden_studies import write, write_dataset
from judgescope.plan.dag import Dag, Executor, any_of
from judgescope.plan.generators import Kind, made_of
from judgescope.plan.loading import load_plan
from running import HOME
from study import shipped

TARGETS = {"output": "targets", "replies": "made"}
BUILT = {"output": "construction", "replies": "made"}
WRITES: dict[Kind, dict[str, str]] = {
    **{"texts": TARGETS, "originals": TARGETS, "new": TARGETS},
    "references": {**TARGETS, "kept": "construction"},
    **{"candidates": BUILT, "comparisons": BUILT, "analyses": BUILT},
    "merges": {"output": "made"},
    "rated": {"replies": "construction"},
}
"""Kind -> key of a job's spec -> the folder of the file that it names."""
READS = ("items", "input", "sample", "targets", "anchors", "candidates", "written", "tried")
URL = "http://127.0.0.1:1/v1"
TEXTS: list[Kind] = ["texts", "originals", "new"]
VLLM = {"engine": "vllm", "name": "org/big", "mode": "served", "mem_mb": 1500, "runtime": 7}


def dag(folder: Path, study: dict[str, Any]) -> Dag:
    """Return the jobs of a study whose cards lie in `folder`."""
    first = [folder / "config"]
    return Dag(load_plan(study, HOME, source="study.yaml", first=first, results="out"), {})


def graded(folder: Path, *more: str, **keys: Any) -> Dag:
    """Return the jobs of a study that builds texts of every rating; `more` are sets like it."""
    folder.mkdir(exist_ok=True)
    told = {"references": {"model": "generator", "draws": 4, "keep": 2, "max_tokens": 64}}
    files = {"files": str(folder / "neat.csv")}
    study = graded_study.GradedStudy(folder, URL, files, told)
    for name in more:
        study.card("perturbations", name, **graded_study.GRADED | keys)
    return dag(folder, study.keys | {"perturbations": [graded_study.NAME, *more]})


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[Dag]:
    """The jobs of studies with every kind of writing."""
    place = tmp_path_factory.mktemp("dag")
    found = [graded(place / "graded")]
    for study in golden_studies.studies():
        if study.name != "drafted":
            study.write(place / study.name, URL)
            found.append(dag(place / study.name, study.card))
    return found


def every(jobs: list[Dag]) -> Iterator[tuple[Dag, str, str, Kind]]:
    for one in jobs:
        for (dataset, made), writing in one.writings.items():
            yield one, dataset, made, writing.kind


@pytest.mark.heavy
def test_all_that_models_write_has_a_job_of_one_kind_on_one_executor(jobs: list[Dag]) -> None:
    assert {kind for *_, kind in every(jobs)} == set(get_args(Kind))
    for one, dataset, made, kind in every(jobs):
        fits = [
            (also, on)
            for also in get_args(Kind)
            for on in get_args(Executor)
            if re.fullmatch(f"out/x/{dataset}/({one.made(on, also)}).parquet", path(dataset, made))
        ]
        assert fits == [(kind, one.executor(one.model(dataset, made)))]
    for one in jobs:
        for dataset in one.plan.datasets:
            replies = {
                to_builtins(one.spec(of, made)).get("replies")
                or to_builtins(one.spec(of, made))["output"]
                for of, made in one.writings
                if of == dataset
            }
            named = {one.paths.made(dataset, made) for made in made_of(one.plan, dataset)}
            assert named == {path for path in replies if path.startswith("out/made/")}


def path(dataset: str, made: str) -> str:
    return f"out/x/{dataset}/{made}.parquet"


def test_a_job_writes_what_its_rule_says(jobs: list[Dag]) -> None:
    for one, dataset, made, kind in every(jobs):
        spec = to_builtins(one.spec(dataset, made))
        folders = {
            key: spec[key].removeprefix("out/").partition("/")[0]
            for key in ("output", "replies", "kept")
            if str(spec.get(key, "")).endswith(f"/{dataset}/{made}.parquet")
        }
        assert folders == WRITES[kind]


def test_all_files_that_a_spec_names_are_inputs(jobs: list[Dag]) -> None:
    for one, dataset, made, kind in every(jobs):
        spec, inputs = to_builtins(one.spec(dataset, made)), one.inputs(dataset, made)
        named = {spec[key] for key in (*READS, "compared") if str(spec.get(key)).startswith("out/")}
        assert named <= set(inputs), (kind, made)
        module, _, function = one.job(dataset, made).partition(" ")
        assert callable(getattr(import_module(f"judgescope.jobs.{module}"), function or "main"))
        assert len(inputs) == len(set(inputs))


def test_the_originals_of_each_dataset_are_written_where_its_model_is(tmp_path: Path) -> None:
    for number, name in enumerate(("golden-news", "golden-claims")):
        improve = {"model": ("far", "near")[number], "form": "improve-paraphrase"}
        write_dataset(tmp_path, name, rewrite_references=improve)
    write(tmp_path, "model", {"model": "far", "engine": "openai", "base_url": URL})
    write(tmp_path, "model", {"model": "near", **VLLM, "tensor_parallel": 2})
    write(tmp_path, "perturbation", shipped("perturbations", "random-typos"))
    study: dict[str, Any] = {"study": "s", "seed": 1, "judges": ["rules"]}
    study |= {"perturbations": ["random-typos"], "methods": ["discernment"]}
    study["datasets"] = ["golden-news", "golden-claims"]
    found = dag(tmp_path, study)
    for on, dataset, other in (
        ("api", "golden-news", "golden-claims"),
        ("gpu", "golden-claims", "golden-news"),
    ):
        rule = f"out/x/(?:{dataset}|{other})/(?:{found.made(on, *TEXTS)}).parquet"  # type: ignore[arg-type]
        assert re.fullmatch(rule, path(dataset, "original"))
        assert not re.fullmatch(rule, path(other, "original"))
    told = {"gpu": 2, "mem_mb": 3000, "runtime": 7}
    assert found.writer_machine(2, "golden-claims", "original") == told
    assert found.writer_machine(2, "golden-news", "original") == {}
    assert found.of_machine == sorted(told)


def test_comparisons_wait_for_the_comparator_s_trial_and_are_asked_once(tmp_path: Path) -> None:
    name, place = graded_study.NAME, "out/construction/neat/"
    one = graded(tmp_path, "again")
    referee = f"{place}comparisons.{name}.referee.parquet"
    assert referee in one.inputs("neat", f"comparisons.{name}.rest")
    assert referee not in one.inputs("neat", f"comparisons.{name}.referee")
    assert f"{place}{name}.rest.parquet" in one.inputs("neat", f"comparisons.{name}.rest")
    # the same judge, comparator and aspect in two sets
    assert referee in one.inputs("neat", "comparisons.again.referee")
    assert f"{place}{name}.rated.parquet" in one.inputs("neat", "again.rated")
    assert not [at for at in one.inputs("neat", f"{name}.rated") if ".rated." in at]


def test_sets_with_other_comparators_do_not_wait_for_each_other(tmp_path: Path) -> None:
    anchors = graded_study.GRADED["anchors"] | {"model": "judge"}
    one = graded(tmp_path, "other", anchors=anchors)
    waits = [at for at in one.inputs("neat", "comparisons.other.trial") if graded_study.NAME in at]
    assert waits == []


def test_what_anchors_and_grades_are_made_from(tmp_path: Path) -> None:
    one, name, place = graded(tmp_path), graded_study.NAME, "out/construction/neat/"
    assert one.rated("neat", name) == [f"{place}{name}.rated.parquet"]
    assert one.graded_from("neat", name) == [
        f"{place}{prefix}{name}.{part}.parquet"
        for prefix in ("", "comparisons.")
        for part in ("trial", "rest")
    ]
    assert f"{place}original.parquet" in one.candidates("neat", name, "trial")
    assert one.replies("neat")[-1:] == one.rated("neat", name)


def test_a_constraint_allows_its_names_only() -> None:
    assert re.fullmatch(any_of(["a.b", "c"]), "a.b") and not re.fullmatch(any_of(["a.b"]), "axb")
    assert not re.fullmatch(any_of([]), "a")


def test_every_kind_of_writing_has_a_rule_for_every_place_where_models_answer() -> None:
    """A supervisor of engine llama had none: the run ended with missing files."""
    rules = (HOME / "workflow" / "rules" / "write.smk").read_text(encoding="utf-8")
    known = {
        (place, kind)
        for place, kinds in re.findall(r'JOBS\.made\("(\w+)", ([^)]*)\)', rules)
        for kind in re.findall(r'"(\w+)"', kinds)
    }
    assert known == {(place, kind) for place in get_args(Executor) for kind in WRITES}
