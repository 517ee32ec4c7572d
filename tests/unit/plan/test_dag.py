"""Which rule lets a model write what, what its jobs read and write, and what they
need.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import to_builtins
from pydantic import ValidationError

import golden_studies
import graded_study
from golden_studies import write, write_dataset
from graded_study import NAME, GradedStudy
from judgescope.core.errors import UserError
from judgescope.core.job_files import job_files
from judgescope.plan.dag import Dag, any_of
from judgescope.plan.extending import study_extensions
from judgescope.plan.generators import WritingJob, made_of
from judgescope.plan.jobs import job
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import graded_sets, judging
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    GradedPerturbation,
    VllmModel,
)
from judgescope.schema.cards.endpoint import EndpointModel
from judgescope.schema.cards.engines import ENGINES, Executor
from judgescope.schema.loading import load_yaml
from running import HOME
from study import Study, shipped

TARGETS = {"output": "targets", "replies": "made"}
BUILT = {"output": "construction", "replies": "made"}
WRITES: dict[str, dict[str, str]] = {
    **{"write_texts": TARGETS, "write_new": TARGETS},
    "write_references": {**TARGETS, "kept": "construction"},
    **{"candidates": BUILT, "compare_anchors": BUILT, "analyse": BUILT},
    "merge": {"output": "made"},
    "ask": {"replies": "construction"},
}
"""Job -> key of a job's spec -> the folder of the file that it names."""
READS = (
    "items",
    "input",
    "sample",
    "targets",
    "anchors",
    "candidates",
    "written",
    "tried",
)
URL = "http://127.0.0.1:1/v1"
TEXTS = ["write_texts", "write_new"]
JOBS = [*get_args(WritingJob), *(each.writing_job for each in study_extensions())]
"""The jobs in which models write."""
VLLM = {
    "engine": "vllm",
    "name": "org/big",
    "mode": "served",
    "mem_mb": 1500,
    "runtime": 7,
}


def dag(folder: Path, study: dict[str, Any]) -> Dag:
    """Return the jobs of a study whose cards lie in `folder`."""
    first = [folder / "config"]
    return Dag(
        load_plan(study, HOME, source="study.yaml", first=first, results="out"), {}
    )


def graded(folder: Path, *more: str, **keys: Any) -> Dag:
    """Return the jobs of a study that builds texts of every rating; `more` are sets
    like it.
    """
    folder.mkdir(exist_ok=True)
    fields = {
        "references": {"model": "generator", "draws": 4, "keep": 2, "max_tokens": 64}
    }
    files = {"files": str(folder / "neat.csv")}
    study = graded_study.GradedStudy(folder, URL, files, fields)
    for name in more:
        study.card("perturbations", name, **graded_study.GRADED | keys)
    return dag(folder, study.keys | {"perturbations": [graded_study.NAME, *more]})


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[Dag]:
    """The jobs of studies with every kind of writing."""
    folder = tmp_path_factory.mktemp("dag")
    values = [graded(folder / "graded")]
    for study in golden_studies.studies():
        if study.name != "drafted":
            study.write(folder / study.name, URL)
            values.append(dag(folder / study.name, study.card))
    return values


def judged_inputs(jobs: Dag, dataset: str, model: str) -> list[str]:
    asked = jobs.plan.is_asked(model)
    spec = judging.ask if asked else judging.compute
    return job_files(spec(jobs.plan, dataset, model)).inputs


def inputs(jobs: Dag, dataset: str, made: str) -> list[str]:
    """Return all files that a job in which a model writes needs first."""
    read = job_files(jobs.spec(dataset, made)).inputs
    return [*read, *jobs.before_writing(dataset, made)]


def every(jobs: list[Dag]) -> Iterator[tuple[Dag, str, str, str]]:
    for dag in jobs:
        for (dataset, made), writing in dag.writings.items():
            yield dag, dataset, made, writing.job


def test_a_model_waits_only_for_texts_that_its_judges_judge(tmp_path: Path) -> None:
    """The demo's language model, which takes longest, starts before all perturbations
    are made.
    """
    jobs = dag(tmp_path, load_yaml(HOME / "config" / "studies" / "demo-llm.yaml")[0])
    read = {
        model: {
            Path(path).stem
            for path in judged_inputs(jobs, "demo-dialogue-part", model)
            if "/targets/" in path
        }
        for model in ("smollm2", "lexical")
    }
    assert read["smollm2"] == {"systems", "original", "random-text.single"}
    assert read["lexical"] == set(jobs.plan.target_sets("demo-dialogue-part"))


@pytest.mark.heavy
def test_all_that_models_write_has_a_job_of_a_single_kind_on_a_single_executor(
    jobs: list[Dag],
) -> None:
    assert {kind for *_, kind in every(jobs)} == set(JOBS)
    assert {
        made == "original" for _, _, made, kind in every(jobs) if kind == "write_texts"
    } == {
        True,
        False,
    }
    for each, dataset, made, kind in every(jobs):
        fits = [
            (also, on)
            for also in JOBS
            for on in get_args(Executor)
            if re.fullmatch(
                f"out/x/{dataset}/({each.made(on, also)}).parquet", path(dataset, made)
            )
        ]
        assert fits == [(kind, each.executor(each.model(dataset, made)))]
    for each in jobs:
        for dataset in each.plan.datasets:
            replies = {
                to_builtins(each.spec(of, made)).get("replies")
                or to_builtins(each.spec(of, made))["output"]
                for of, made in each.writings
                if of == dataset
            }
            named = {
                each.paths.made(dataset, made) for made in made_of(each.plan, dataset)
            }
            assert named == {path for path in replies if path.startswith("out/made/")}


def path(dataset: str, made: str) -> str:
    return f"out/x/{dataset}/{made}.parquet"


def test_a_job_writes_what_its_rule_says(jobs: list[Dag]) -> None:
    for each, dataset, made, kind in every(jobs):
        spec = to_builtins(each.spec(dataset, made))
        folders = {
            key: spec[key].removeprefix("out/").partition("/")[0]
            for key in ("output", "replies", "kept")
            if str(spec.get(key, "")).endswith(f"/{dataset}/{made}.parquet")
        }
        assert folders == WRITES[kind]


def test_a_job_reads_all_files_that_its_spec_names(jobs: list[Dag]) -> None:
    for each, dataset, made, kind in every(jobs):
        spec, read = to_builtins(each.spec(dataset, made)), inputs(each, dataset, made)
        named = {
            spec[key]
            for key in (*READS, "compared")
            if isinstance(spec.get(key), str) and spec[key].startswith("out/")
        }
        assert named <= set(read), (kind, made)
        assert callable(job(each.job(dataset, made)))


@pytest.mark.parametrize("name", sorted(ENGINES.working()))
def test_what_an_endpoint_answers_is_limited_as_requests(name: str) -> None:
    engine = ENGINES[name]
    behind = issubclass(engine.card, EndpointModel)
    loaded = engine.card is VllmModel
    assert (engine.executor == "api") == behind
    assert (engine.executor == "gpu") == loaded
    assert engine.compares_forms == (engine.reads_prompts or name == "recorded")


def test_the_originals_of_each_dataset_are_written_where_its_model_is(
    tmp_path: Path,
) -> None:
    for number, name in enumerate(("golden-news", "golden-claims")):
        improve = {"model": ("far", "near")[number], "form": "improve-paraphrase"}
        write_dataset(tmp_path, name, rewrite_references=improve)
    write(tmp_path, "model", {"model": "far", "engine": "openai", "base_url": URL})
    write(tmp_path, "model", {"model": "near", **VLLM, "tensor_parallel": 2})
    write(tmp_path, "perturbation", shipped("perturbations", "random-typos"))
    study: dict[str, Any] = {"study": "s", "seed": 1, "judges": ["rules"]}
    study |= {"perturbations": ["random-typos"], "methods": ["discernment"]}
    study["datasets"] = ["golden-news", "golden-claims"]
    result = dag(tmp_path, study)
    for on, dataset, other in (
        ("api", "golden-news", "golden-claims"),
        ("gpu", "golden-claims", "golden-news"),
    ):
        rule = f"out/x/(?:{dataset}|{other})/(?:{result.made(on, *TEXTS)}).parquet"  # type: ignore[arg-type]
        assert re.fullmatch(rule, path(dataset, "original"))
        assert not re.fullmatch(rule, path(other, "original"))
    fields = {"gpu": 2, "mem_mb": 3000, "runtime": 7}
    assert result.writer_machine(2, "golden-claims", "original") == fields
    assert result.writer_machine(2, "golden-news", "original") == {}
    assert result.of_machine == sorted(fields)


def test_comparisons_wait_for_the_comparator_s_trial_and_are_asked_once(
    tmp_path: Path,
) -> None:
    name, text = graded_study.NAME, "out/construction/neat/"
    each = graded(tmp_path, "again")
    referee = f"{text}comparisons.{name}.referee.parquet"
    assert referee in inputs(each, "neat", f"comparisons.{name}.rest")
    assert referee not in inputs(each, "neat", f"comparisons.{name}.referee")
    assert f"{text}{name}.rest.parquet" in inputs(
        each, "neat", f"comparisons.{name}.rest"
    )
    # the same judge, comparator and aspect in two sets
    assert referee in inputs(each, "neat", "comparisons.again.referee")
    assert f"{text}{name}.rated.parquet" in inputs(each, "neat", "again.rated")
    assert not [at for at in inputs(each, "neat", f"{name}.rated") if ".rated." in at]


def test_sets_with_other_comparators_do_not_wait_for_each_other(tmp_path: Path) -> None:
    anchors = graded_study.GRADED["anchors"] | {"model": "judge"}
    each = graded(tmp_path, "other", anchors=anchors)
    waits = [
        at
        for at in inputs(each, "neat", "comparisons.other.trial")
        if graded_study.NAME in at
    ]
    assert waits == []


def test_what_anchors_and_grades_are_made_from(tmp_path: Path) -> None:
    each, name, text = graded(tmp_path), graded_study.NAME, "out/construction/neat/"
    rated = f"{text}{name}.rated.parquet"
    anchors = job_files(graded_sets.anchors(each.plan, "neat", name))
    assert rated in anchors.inputs
    grade = job_files(graded_sets.grade(each.plan, "neat", name))
    assert grade.inputs == [
        f"{text}{prefix}{name}.{part}.parquet"
        for prefix in ("", "comparisons.")
        for part in ("trial", "rest")
    ]
    candidates = job_files(graded_sets.candidates(each.plan, "neat", name, "trial"))
    assert f"{text}original.parquet" in candidates.inputs
    assert each.replies("neat")[-1:] == [rated]


def test_a_constraint_allows_its_names_only() -> None:
    assert re.fullmatch(any_of(["a.b", "c"]), "a.b") and not re.fullmatch(
        any_of(["a.b"]), "axb"
    )
    assert not re.fullmatch(any_of([]), "a")


def test_every_kind_of_writing_has_a_rule_for_every_place_where_models_answer() -> None:
    """A supervisor of engine llama had none: the run ended with missing files."""
    rules = (HOME / "workflow" / "rules" / "write.smk").read_text(encoding="utf-8")
    known = set[tuple[str, str]]()
    for arg, kinds in re.findall(r'JOBS\.made\("(\w+)", ([^)]*)\)', rules):
        named = TEXTS if kinds == "*JOBS.text_jobs" else re.findall(r'"(\w+)"', kinds)
        known.update((arg, kind) for kind in named)
    assert known == {(arg, kind) for arg in get_args(Executor) for kind in WRITES}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(tmp_path)


def sets(study: Study) -> set[str]:
    cells = study.plan().cells_of("demo-dialogue")
    return {cell.perturbation for cell in cells if cell.judge == "rules"}


def test_a_judge_judges_texts_of_its_perturbations_beside_the_unperturbed(
    study: Study,
) -> None:
    unperturbed = {"original", "systems"}
    study.change("judges", "rules", perturbations=["reordering"])
    assert sets(study) == {*unperturbed, "reordering.minor", "reordering.major"}
    study.change("judges", "rules", perturbations=[])
    assert sets(study) == unperturbed
    study.change("judges", "rules")
    assert sets(study) > {"random-typos.minor", "reordering.minor", *unperturbed}


def test_a_perturbation_that_the_study_does_not_have_is_an_error(study: Study) -> None:
    study.change("judges", "rules", perturbations=["reorderin"])
    with pytest.raises(
        UserError, match="this perturbation is not in the study"
    ) as unknown:
        study.plan()
    assert unknown.value.nearest() == "reordering"


CARD: dict[str, Any] = {
    **{"perturbation": "g", "name": "g", "level": "sentence", "method": "graded"},
    **{"targets": 5, "aspects": ["fluency"], "errors": ["grammar"]},
}
ANCHORS = {"model": "m", "max_errors": 3}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"errors": []}, "(`errors`) or by a `model`"),
        ({"model": "m"}, "(`errors`) or by a `model`"),
        ({"rating": "anchors"}, "`rating: anchors` and `anchors` need each other"),
        ({"anchors": ANCHORS}, "`rating: anchors` and `anchors` need each other"),
        ({"aspects": []}, "a graded set is about an aspect"),
        ({"steps": 2}, "not made in steps"),
        ({"degrees": {"minor": {}}}, "a graded set has one degree, `single`"),
        ({"targets": 0}, "greater than or equal to 1"),
    ],
)
def test_a_card_that_contradicts_itself_is_refused(
    keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as error:
        GradedPerturbation.model_validate(CARD | keys)
    assert message in str(error.value)


def plan(folder: Path, monkeypatch: pytest.MonkeyPatch, **keys: Any) -> Plan:
    """Return the plan of the scripted study with changed cards."""
    study = GradedStudy(folder, "http://127.0.0.1:9/v1", **keys)
    monkeypatch.chdir(folder)
    return study.plan()


def test_a_study_that_can_run_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = plan(tmp_path, monkeypatch)
    assert result.target_sets("neat") == ["systems", "original", f"{NAME}.single"]
    assert result.excluded("neat", "oracle", "systems") is not None
    assert result.excluded("neat", "oracle", f"{NAME}.single") is None
    assert (
        result.excluded("neat", "shuffled", f"{NAME}.single")
        == "not applicable: needs ratings"
    )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": "control"}, "this model cannot write"),
        ({"anchors": {**ANCHORS, "model": "control"}}, "this model cannot write"),
        (
            {"anchors": {**ANCHORS, "model": "comparator", "judge": "nobody"}},
            "a judge of anchors must be",
        ),
        (
            {"anchors": {**ANCHORS, "model": "comparator", "form": "score-only"}},
            "cannot be rendered",
        ),
        (
            {"anchors": {**ANCHORS, "model": "comparator", "form": "compare"}},
            "variable `source_b`",
        ),
        ({"form": "reordered"}, "unknown prompt"),
        ({"aspects": ["grace"]}, "has an aspect"),
        (
            {"model": None, "errors": ["typo"], "rating": "errors", "anchors": None},
            "unknown kind of error",
        ),
    ],
)
def test_models_judges_and_prompts_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message) as error:
        plan(tmp_path, monkeypatch, **keys)
    assert f"perturbations/{NAME}.yaml" in str(error.value) or "prompts/" in str(
        error.value
    )


def test_an_aspect_without_parts_and_a_scale_without_steps_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = GradedStudy(tmp_path, "http://127.0.0.1:9/v1")
    monkeypatch.chdir(tmp_path)
    study.amend("aspects", "neatness", tasks={})
    with pytest.raises(UserError, match="needs sub-aspects") as error:
        study.plan()
    assert "judgescope draft" in str(error.value)
    study.amend("datasets", "neat", aspects={"neatness": {"min": 0, "max": 1}})
    with pytest.raises(UserError, match="whose scale has steps"):
        study.plan()


def test_anchors_are_texts_that_people_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = GradedStudy(tmp_path, "http://127.0.0.1:9/v1")
    monkeypatch.chdir(tmp_path)
    columns = {
        "item": "id",
        "source": "source",
        "text": "text",
        "references": ["reference"],
    }
    study.amend("datasets", "neat", ratings="none", columns=columns)
    with pytest.raises(UserError, match="anchors are texts that people rated") as error:
        study.plan()
    assert "`rating: errors`" in str(error.value)
