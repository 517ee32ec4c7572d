"""What the Snakefile takes from the package: params, commands, resources, sources,
inputs.
"""

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from msgspec import convert, field
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import StorageSettings

from judgescope.core.canonical import JobSpec
from judgescope.core.errors import UserError
from judgescope.core.extensions import extension_files
from judgescope.core.job_files import IN, OUT, job_files
from judgescope.core.paths import HOME, Paths
from judgescope.methods.registry import METHODS
from judgescope.plan.dag import Dag
from judgescope.plan.guard import check_interpreters
from judgescope.plan.jobs import read_spec
from judgescope.plan.specs import results, study
from judgescope.plan.workflow import (
    RuleJobs,
    command,
    guard,
    let_card_decide,
    read_study,
    refuse_storage,
    refusing,
    source_of,
    table_label,
    title_label,
)
from judgescope.schema.cards import TRAINED, LlamaModel, VllmModel

DEMO = HOME / "config" / "config.yaml"


@pytest.fixture(scope="module")
def demo() -> Dag:
    from judgescope.schema.loading import load_yaml

    return read_study(load_yaml(DEMO)[0], [DEMO], "config/config.yaml", drafting=False)


def test_a_kind_of_file_has_values_or_wildcards() -> None:
    paths = Paths("results/s")
    assert paths.items("news") == "results/s/items/news.parquet"
    assert (
        paths.targets(name="systems") == "results/s/targets/{dataset}/systems.parquet"
    )
    assert (
        paths.cell("scores", "d", "m", "p") == "results/s/scores/d/m/p/{judge}.parquet"
    )
    assert paths.sample() == paths.distill("sample.parquet")
    with pytest.raises(TypeError):
        paths.items(table="cost")
    with pytest.raises(ValueError):
        paths.preflight("news")


class SampleSpec(JobSpec, frozen=True, kw_only=True):
    """A spec with fields of several kinds."""

    asked: str
    limit: int | None
    judge: dict[str, str]
    keys: list[str] = field(default_factory=list)


class OtherSpec(JobSpec, frozen=True, kw_only=True):
    """A spec of the same rule with a field of its own."""

    replies: list[str]


def sample_spec(known: str, judge: str) -> SampleSpec | OtherSpec:
    computing: dict[str, Any] = {"code": "01", "versions": {"numpy": "2"}}
    if judge == "other":
        return OtherSpec(replies=["</script>"], **computing)
    name = {"code": "x", "name": f"é\u2028{known}"}
    return SampleSpec(asked=judge, limit=3, judge=name, **computing)


def test_a_spec_reaches_the_job_in_parts_of_which_only_the_changed_ones_differ() -> (
    None
):
    params = RuleJobs(sample_spec, "k").params_of_part
    assert {*params} == {"code", "spec", "spec_judge", "spec_keys", "spec_replies"}
    texts = {name: param({"judge": "a"}) for name, param in params.items()}
    assert json.loads(texts["code"]) == {"code": "01", "versions": {"numpy": "2"}}
    assert json.loads(texts["spec"]) == {"asked": "a", "limit": 3}
    others = {name: param({"judge": "b"}) for name, param in params.items()}
    assert [name for name in texts if texts[name] != others[name]] == ["spec"]
    spec = read_spec("-", io.StringIO("\n".join(texts.values()) + "\n"))
    assert convert(spec, SampleSpec) == sample_spec("k", "a")


def test_a_rule_has_the_params_of_all_its_jobs_and_none_ends_a_script() -> None:
    texts = {
        name: param({"judge": "other"})
        for name, param in RuleJobs(sample_spec, "").params_of_part.items()
    }
    assert (
        texts["spec"] == texts["spec_judge"] == "{}"
        and "<" not in texts["spec_replies"]
    )
    spec = read_spec("-", io.StringIO("\n".join(texts.values()) + "\n"))
    assert convert(spec, OtherSpec) == sample_spec("", "other")


@pytest.mark.parametrize("text", ["", "[]\n", '{"code":"01"}\n7\n', '{"code":'])
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        read_spec("-", io.StringIO(text))


def test_a_command_names_variables_in_the_places_of_the_machine() -> None:
    assert command("score") == (
        "printf '%s\\n' {params:q} | "
        '"${{JUDGESCOPE_PYTHON}}" "$JUDGESCOPE_HOME"/scripts/job.py score --spec - > '
        "{log:q} 2>&1"
    )
    asking = command("ask", "{resources.access}", python="{resources.python}")
    assert (
        '"${{{resources.python}}}"' in asking
        and "--spec - {resources.access} >" in asking
    )


def test_a_study_is_named_by_its_last_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert source_of(["/a/b.yaml", tmp_path / "c.yaml"], default=False) == "c.yaml"
    assert source_of(["/cache/x"], default=True) == "config/config.yaml"
    assert source_of([], default=False) == "the config of the importing workflow"


def test_a_user_s_error_is_one_of_snakemake_s() -> None:
    with pytest.raises(WorkflowError, match="the study cannot run"), refusing():
        raise UserError("no such judge", where="study.yaml")
    with pytest.raises(KeyError), refusing():
        raise KeyError("a bug")


def test_a_study_whose_yaml_reads_as_another_value_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("study: a\nseed: 1\nseed: 2\n", encoding="utf-8")
    with pytest.raises(UserError):
        read_study({"study": "a"}, [path], "study.yaml", drafting=False)


def test_the_guard_checks_files_and_interpreters(
    demo: Dag, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    monkeypatch.setattr(
        "judgescope.plan.guard.check_interpreters",
        lambda *_: checked.append("interpreters"),
    )
    guard(demo, conda=True, sends=True)
    assert checked == []
    guard(demo, conda=False, sends=True)
    assert checked == ["interpreters"]
    monkeypatch.setattr("judgescope.plan.guard.verified", _refuses)
    with pytest.raises(WorkflowError, match="changed"):
        guard(demo, conda=True, sends=True)


def test_what_is_not_installed_stops_a_run_and_not_a_check(
    demo: Dag, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacks(*_: object) -> None:
        raise UserError(
            "the environment with vLLM is not installed", where="models/m.yaml"
        )

    monkeypatch.setattr("judgescope.plan.guard.check_interpreters", lacks)
    guard(demo, conda=False, sends=False)
    assert (
        "before a run: the environment with vLLM is not installed"
        in capsys.readouterr().out
    )
    with pytest.raises(WorkflowError, match="not installed"):
        guard(demo, conda=False, sends=True)


def test_every_model_has_what_it_needs_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = LlamaModel(model="gguf", engine="llama", path="a.gguf")
    student = VllmModel(model="student", engine="vllm", name="a/b", adapter=TRAINED)
    installed = tmp_path / "python"
    installed.touch(0o755)
    bound: list[LlamaModel] = []
    monkeypatch.setattr("judgescope.engines.llama.check_binding", bound.append)
    python = {
        "JUDGESCOPE_PYTHON_VLLM": "/nowhere",
        "JUDGESCOPE_PYTHON_TRAIN": "/nowhere",
    }
    with pytest.raises(UserError, match="the environment with vLLM") as vllm:
        check_interpreters({"gguf": served, "student": student}, python)
    assert vllm.value.where == "models/student.yaml, key engine" and bound == [served]
    python["JUDGESCOPE_PYTHON_VLLM"] = str(installed)
    with pytest.raises(UserError, match="the environment for training") as training:
        check_interpreters({"student": student}, python)
    assert training.value.where == "models/student.yaml, key adapter"
    check_interpreters(
        {"student": student}, python | {"JUDGESCOPE_PYTHON_TRAIN": str(installed)}
    )


def _refuses(spec: Any) -> None:
    raise UserError("the file has changed", where="a.csv")


def test_a_card_goes_before_the_profile_and_the_profile_counts_elsewhere() -> None:
    otherwise = SimpleNamespace(
        evaluate=lambda *_, **context: SimpleNamespace(value=context)
    )
    values: dict[str, Any] = {"mem_mb": otherwise, "runtime": otherwise}
    rule = SimpleNamespace(rule=SimpleNamespace(resources=values))
    rules = SimpleNamespace(ask_gpu=rule, has=lambda name: name == "ask_gpu")
    let_card_decide(
        rules,
        ["ask_gpu", "left_out"],
        ["mem_mb", "runtime"],
        lambda attempt, model: {"mem_mb": attempt * 100} if model == "large" else {},
    )
    job = {
        "input": [],
        "attempt": 2,
        "threads": 1,
        "rulename": "ask_gpu",
        "async_run": None,
    }
    assert values["mem_mb"]({"model": "large"}, **job) == 200
    assert values["mem_mb"]({"model": "small"}, **job) == job
    assert values["runtime"]({"model": "large"}, **job) == job


def test_a_part_of_the_report_is_labelled_by_its_title(tmp_path: Path) -> None:
    (tmp_path / "cost.html").write_text(
        "<title>Cost &amp; time</title>", encoding="utf-8"
    )
    label = title_label(f"{tmp_path}/{{section}}.html")
    assert label({"section": "cost"}) == {"title": "Cost & time"}


def test_inputs_of_a_table_are_what_its_statistics_read(demo: Dag) -> None:
    def inputs(table: str, dataset: str) -> set[str]:
        spec = results.statistics(demo.plan, table, dataset)
        return set(job_files(spec).inputs)

    paths, dataset = demo.paths, "demo-dialogue"
    assert set(demo.plan.datasets) == {"demo-hanna", "demo-news", dataset}
    first, *_, last = demo.plan.datasets
    shared = inputs("agreement", last)
    assert {paths.items(last), paths.ratings(last), *demo.targets(last)} <= shared
    assert paths.collected(last, "scores") in shared
    bought = [paths.collected(name, "bought") for name in demo.plan.datasets]
    assert inputs("cost", last) == shared | set(bought)
    assert inputs("cost", first) >= {bought[0]}
    assert bought[-1] not in inputs("cost", first)
    graded = paths.graded(dataset, "global-rule-knowledge")
    assert graded in inputs("perspectives", dataset)
    assert graded in inputs("verdicts", dataset)
    assert inputs("construction", dataset) >= {
        graded,
        paths.collected(dataset, "bought"),
    }
    assert graded not in inputs("discernment", dataset)


def test_a_study_with_perturbed_texts_has_a_page_of_them(demo: Dag) -> None:
    assert demo.texts_page == [demo.paths.report("texts.html")]
    assert demo.judge_cards[0] == demo.paths.judge_card(next(iter(demo.plan.judges)))


class CopySpec(JobSpec, frozen=True, kw_only=True):
    """A spec of a job that reads a file and writes another."""

    source: Annotated[str, IN]
    copy: Annotated[str, OUT]


def copy_spec(dataset: str) -> CopySpec:
    return CopySpec(
        code="", versions={}, source=f"{dataset}.txt", copy=f"copies/{dataset}.txt"
    )


def test_a_rule_that_declares_other_outputs_than_its_specs_is_refused() -> None:
    jobs = RuleJobs(copy_spec)
    wildcards = {"dataset": "news"}
    assert jobs.inputs(wildcards) == ["news.txt"]
    checked = jobs.params["checked"]
    assert checked(wildcards, output=["copies/news.txt"]) == "{}"
    with pytest.raises(WorkflowError, match=r"copies/old.txt.*copies/news.txt"):
        checked(wildcards, output=["copies/old.txt"])


def test_every_rule_with_a_command_has_a_message_in_plain_words() -> None:
    paths = [*HOME.glob("workflow/rules/*.smk"), HOME / "workflow" / "drafts.smk"]
    paths += extension_files("rules.smk")
    blocks = [
        block
        for path in paths
        for block in re.split(
            r"^(?=rule |use rule )", path.read_text("utf-8"), flags=re.M
        )
        if re.search(r"^    shell:$", block, re.M)
    ]
    assert len(blocks) > 20
    for block in blocks:
        message = re.search(r'^    message:\n        "([^"]+)"\n', block, re.M)
        assert message is not None, block.splitlines()[0]
        assert re.fullmatch(r"[A-Z][^_{}]*(\{wildcards\.\w+\}[^_{}]*)*", message[1])


@pytest.mark.parametrize("provider", ["fs", "s3"])
def test_a_storage_plugin_is_refused_and_none_is_not(provider: str) -> None:
    with pytest.raises(WorkflowError, match=f"the storage plugin `{provider}` is not"):
        refuse_storage(StorageSettings(default_storage_provider=provider))
    refuse_storage(StorageSettings())
    refuse_storage(None)


def test_every_table_has_a_single_sentence() -> None:
    sentences = {table: table_label(table)({})["contents"] for table in METHODS}
    assert len({*sentences.values()}) == len(METHODS) > 15
    for table, sentence in sentences.items():
        assert sentence.endswith((".", "?")) and "\n" not in sentence, table
        assert 20 < len(sentence) < 140, table


def test_a_dataset_and_a_model_of_a_single_id_both_have_their_files_checked(
    demo: Dag,
) -> None:
    owners = study.preflight(demo.plan).owners
    assert {"dataset:demo-hanna", "model:demo-hanna"} <= owners.keys()
    assert owners["dataset:demo-hanna"].where == "datasets/demo-hanna.yaml"
