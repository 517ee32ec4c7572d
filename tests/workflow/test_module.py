"""Another workflow that has this one as a module."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

import running
from running import HOME
from study import Study

pytestmark = pytest.mark.slow
OUTER = """
configfile: "study.yaml"


module judgescope:
    snakefile:
        "{home}/workflow/Snakefile"
    config:
        config


use rule * from judgescope as judgescope_*


onstart:
    judgescope.onstart()


rule sizes:
    default_target: True
    input:
        rules.judgescope_all.input,
    output:
        "sizes.txt",
    shell:
        "wc -c {{input}} > {{output}}"
"""


@pytest.mark.long(6)
def test_another_workflow_builds_on_the_report(tmp_path: Path) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    (tmp_path / "Snakefile").write_text(OUTER.format(home=HOME), encoding="utf-8")
    command = ("-m", "snakemake", "--cores", "2", "--scheduler", "greedy")
    done = running.run(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "results/small/report/index.html" in (tmp_path / "sizes.txt").read_text(
        encoding="utf-8"
    )
    # by itself, it finds everything done; and as a module, it looks at the files first
    alone = running.snakemake("--configfile", "study.yaml", cwd=tmp_path)
    assert "Nothing to be done" in alone.stdout
    Study(tmp_path).change(
        "datasets",
        "demo-dialogue",
        files={
            role: str(HOME / "config" / "demo" / f"dialogue_{name}.jsonl")
            for role, name in (("items", "items"), ("data", "outputs"))
        },
        sha256={"items": "0" * 64},
    )
    again = running.run(*command, cwd=tmp_path)
    assert again.returncode != 0
    assert "checksum differs from the card's" in again.stdout


def test_another_workflow_may_leave_rules_out(tmp_path: Path) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    outer = OUTER.replace(
        "* from judgescope", "* from judgescope exclude rate_gpu, train_judge"
    )
    (tmp_path / "Snakefile").write_text(outer.format(home=HOME), encoding="utf-8")
    done = running.run("-m", "snakemake", "--cores", "1", "-n", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "moved", ['prefix:\n        "sub/"', 'replace_prefix:\n        {"results/": "r/"}']
)
def test_a_prefix_which_specs_would_not_know_is_refused(
    tmp_path: Path, moved: str
) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    outer = OUTER.replace(
        "    config:\n        config\n", f"    config:\n        config\n    {moved}\n"
    )
    assert moved in outer
    (tmp_path / "Snakefile").write_text(
        outer.replace("{home}", str(HOME)).replace("{{", "{").replace("}}", "}"),
        encoding="utf-8",
    )
    done = running.run("-m", "snakemake", "--cores", "1", "-n", cwd=tmp_path)
    assert done.returncode != 0
    assert "prefix" in done.stdout and "results/small" in done.stdout
    assert "Traceback" not in done.stdout


STORAGE = ("--default-storage-provider", "fs", "--default-storage-prefix")


@pytest.mark.parametrize("command", ["snakemake", "judgescope"])
def test_a_storage_plugin_is_refused_before_any_job(
    tmp_path: Path, command: str
) -> None:
    study = Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    storage = (*STORAGE, str(tmp_path / "remote"))
    if command == "snakemake":
        done = running.snakemake("--configfile", study.name, *storage, cwd=tmp_path)
    else:
        words = ("-m", "judgescope", "run", study.name, *storage)
        done = running.run(*words, cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    for piece in (
        "needs a file system that all jobs see",
        "the storage plugin `fs` is not supported",
        "leave out --default-storage-provider",
        "docs/guide/slurm.md",
    ):
        assert piece in done.stdout
    assert "Traceback" not in done.stdout
    assert not (tmp_path / "results").exists() and not (tmp_path / "remote").exists()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The workflow's Snakefile in a git repository that has nothing checked out."""
    work = running.copy_project(tmp_path_factory.mktemp("git") / "judgescope")
    git = [
        "git",
        "-C",
        str(work),
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
    ]
    for words in (
        "init -q -b main",
        "add -A",
        "commit -q -m all",
        "rm -rq workflow/rules",
    ):
        subprocess.run([*git, *words.split()], check=True)
    return f"git+file://{work}/workflow/Snakefile@main"


def test_the_workflow_runs_from_a_repository(repository: str, tmp_path: Path) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    start = ("-m", "snakemake", "-s", repository, "--cores", "1")
    planned = running.run(*start, "-n", cwd=tmp_path)  # the study of the repository
    assert planned.returncode == 0, planned.stdout
    assert "results/demo/report/index.html" in planned.stdout
    text = "results/small/items/demo-dialogue.parquet"
    done = running.run(*start, "--configfile", "study.yaml", "--", text, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / text).is_file()


def test_a_module_may_be_in_a_repository(repository: str, tmp_path: Path) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    outer = OUTER.format(home=HOME).replace(f"{HOME}/workflow/Snakefile", repository)
    (tmp_path / "Snakefile").write_text(outer, encoding="utf-8")
    done = running.run("-m", "snakemake", "--cores", "1", "-n", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert re.search("^judgescope_report +1$", done.stdout, re.M)
    assert re.search("^sizes +1$", done.stdout, re.M)


def test_the_study_of_the_catalogue_can_be_planned() -> None:
    catalog = yaml.safe_load(
        (HOME / ".snakemake-workflow-catalog.yml").read_text("utf-8")
    )
    assert set(catalog["usage"]) >= {
        "mandatory-flags",
        "software-stack-deployment",
        "report",
    }
    done = running.run(
        *("-m", "snakemake", "-n", "--directory", ".test", "--cores", "1"),
        *("--configfile", ".test/config/config.yaml"),
        cwd=HOME,
    )
    assert done.returncode == 0, done.stdout
    assert re.search("^report +1$", done.stdout, re.M)
