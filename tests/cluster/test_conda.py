"""With `--sdm conda`, jobs run by the interpreter of the environment that Snakemake
builds.
"""

import json
import os
import re
from pathlib import Path

import pytest

import running
from judgescope.core.extensions import extension_files
from running import HOME
from study import Study

RULE = re.compile(
    r"^\s*(?:rule|use rule)\b.*?(?=^\s*(?:rule|use rule)\b|\Z)", re.M | re.S
)
NAMES = re.compile(r"\A\s*(?:use rule (\w+) as|rule) (\w+)")
"""The rule that another one is made of, and its own name."""
ENVIRONMENT = re.compile(r"conda:\s+f?[\"'](?:[./]*|{HOME})/envs/(.+)\.yaml[\"']")
INTERPRETER = re.compile(r'python="JUDGESCOPE_PYTHON_?(\w*)",\n')
OUTER = """
module judgescope:
    snakefile:
        "{home}/workflow/Snakefile"
    config:
        config


use rule * from judgescope
print("interpreters:", *(os.environ["JUDGESCOPE_PYTHON" + one] for one in ("", \
"_VLLM", "_TRAIN")))
"""
"""A workflow that says which interpreters the shell commands of jobs find."""
INFO = {
    **{"conda_version": "24.9.2", "root_prefix": "/c", "conda_prefix": "/c"},
    **{"platform": "linux-64", "get": {"channel_priority": "strict"}},
}
"""What conda says of itself, as far as Snakemake asks in a dry run."""


RULES = [
    HOME / "workflow" / "drafts.smk",
    *sorted(HOME.glob("workflow/rules/*.smk")),
    *extension_files("rules.smk"),
]


@pytest.mark.parametrize(
    "path", RULES, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_the_environment_of_a_rule_is_that_of_its_interpreter(path: Path) -> None:
    known: dict[str, str] = {}
    for rule in RULE.findall(path.read_text(encoding="utf-8")):
        [(base, name)] = NAMES.findall(rule)
        conda, python = ENVIRONMENT.search(rule), INTERPRETER.search(rule)
        known[name] = conda[1] if conda else known.get(base, "")
        if python is not None or conda is not None:
            stage = python[1].lower() if python else ""
            assert known[name] == (stage or "core"), rule[:200]


@pytest.mark.slow
def test_jobs_call_the_interpreter_that_conda_has_activated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conda = tmp_path / "bin" / "conda"
    conda.parent.mkdir()
    conda.write_text(f"#!/bin/sh\necho '{json.dumps(INFO)}'\n", encoding="utf-8")
    conda.chmod(0o755)
    monkeypatch.setenv("PATH", f"{conda.parent}{os.pathsep}{os.environ['PATH']}")
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    (tmp_path / "Snakefile").write_text(OUTER.format(home=HOME), encoding="utf-8")
    options = (
        "-m",
        "snakemake",
        "--configfile",
        "study.yaml",
        "-n",
        "-p",
        "--cores",
        "1",
    )
    built = running.run(*options, "--sdm", "conda", cwd=tmp_path)
    assert built.returncode == 0, built.stdout[-3000:]
    assert "interpreters: python python python\n" in built.stdout
    calls = re.findall(
        r"\| (\S+) (\S+)/scripts/job\.py ([\w ]+) --spec -", built.stdout
    )
    assert {job for *_, job in calls} >= {"ingest", "perturb", "compute", "report"}
    assert {call[:2] for call in calls} == {
        ('"${JUDGESCOPE_PYTHON}"', '"$JUDGESCOPE_HOME"')
    }
    plain = running.run(*options, cwd=tmp_path)
    names = re.findall(r"interpreters: (.*)", plain.stdout)[0].split()
    assert len(names) == 3 and all(os.path.isabs(name) for name in names)
    used = re.findall(
        r"(?:resources:|\|) .*", plain.stdout
    )  # commands end in what runs the job
    assert len(used) > len(calls) and not [line for line in used if str(HOME) in line]
