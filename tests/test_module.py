"""Another workflow that has this one as a module."""

from pathlib import Path

import pytest

import running
from running import HOME

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


def test_another_workflow_builds_on_the_report(tmp_path: Path) -> None:
    running.write_study(tmp_path, judges=["rules"], methods=["discernment"])
    (tmp_path / "Snakefile").write_text(OUTER.format(home=HOME), encoding="utf-8")
    command = ("-m", "snakemake", "--cores", "2", "--scheduler", "greedy")
    done = running.run(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "results/small/report/index.html" in (tmp_path / "sizes.txt").read_text(encoding="utf-8")
    # by itself, it finds everything done; and as a module, it looks at the files first
    alone = running.snakemake("--configfile", "study.yaml", cwd=tmp_path)
    assert "Nothing to be done" in alone.stdout
    running.write_card(
        tmp_path,
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
    assert "not the one that the card describes" in again.stdout


def test_another_workflow_may_leave_rules_out(tmp_path: Path) -> None:
    running.write_study(tmp_path, judges=["rules"], methods=["discernment"])
    outer = OUTER.replace("* from judgescope", "* from judgescope exclude rate_gpu, train_judge")
    (tmp_path / "Snakefile").write_text(outer.format(home=HOME), encoding="utf-8")
    done = running.run("-m", "snakemake", "--cores", "1", "-n", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "moved", ['prefix:\n        "sub/"', 'replace_prefix:\n        {"results/": "r/"}']
)
def test_a_prefix_which_specs_would_not_know_is_refused(tmp_path: Path, moved: str) -> None:
    running.write_study(tmp_path, judges=["rules"], methods=["discernment"])
    outer = OUTER.replace(
        "    config:\n        config\n", f"    config:\n        config\n    {moved}\n"
    )
    assert moved in outer
    (tmp_path / "Snakefile").write_text(
        outer.replace("{home}", str(HOME)).replace("{{", "{").replace("}}", "}"), encoding="utf-8"
    )
    done = running.run("-m", "snakemake", "--cores", "1", "-n", cwd=tmp_path)
    assert done.returncode != 0
    assert "prefix" in done.stdout and "results/small" in done.stdout
    assert "Traceback" not in done.stdout
