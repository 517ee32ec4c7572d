"""With `--sdm conda`, jobs run by the interpreter of the environment that Snakemake builds."""

import json
import os
import re
from pathlib import Path

import pytest

import running
from running import HOME

RULE = re.compile(r"^\s*(?:rule|use rule)\b.*?(?=^\s*(?:rule|use rule)\b|\Z)", re.M | re.S)
NAMES = re.compile(r"\A\s*(?:use rule (\w+) as|rule) (\w+)")
"""The rule that another one is made of, and its own name."""
ENVIRONMENT = re.compile(r"conda:\s+f?[\"'][./]*/envs/(.+)\.yaml[\"']")
INTERPRETER = re.compile(r"python=PYTHON\[(.+?)\],\n")
INFO = {
    **{"conda_version": "24.9.2", "root_prefix": "/c", "conda_prefix": "/c"},
    **{"platform": "linux-64", "get": {"channel_priority": "strict"}},
}
"""What conda says of itself, as far as Snakemake asks in a dry run."""


@pytest.mark.parametrize("file", ["drafts.smk", *sorted(os.listdir(HOME / "workflow" / "rules"))])
def test_the_environment_of_a_rule_is_that_of_its_interpreter(file: str) -> None:
    folder = HOME / "workflow" / ("" if file == "drafts.smk" else "rules")
    known: dict[str, str] = {}
    for rule in RULE.findall((folder / file).read_text(encoding="utf-8")):
        [(base, name)] = NAMES.findall(rule)
        conda, python = ENVIRONMENT.search(rule), INTERPRETER.search(rule)
        known[name] = _plain(conda[1]) if conda else known.get(base, "")
        if python is not None:
            assert known[name] == _plain(python[1]), rule[:200]


def _plain(stage: str) -> str:
    stage = stage.strip("{}")
    return stage if "(" in stage else stage.strip('"')


@pytest.mark.slow
def test_jobs_call_the_interpreter_that_conda_has_activated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conda = tmp_path / "bin" / "conda"
    conda.parent.mkdir()
    conda.write_text(f"#!/bin/sh\necho '{json.dumps(INFO)}'\n", encoding="utf-8")
    conda.chmod(0o755)
    monkeypatch.setenv("PATH", f"{conda.parent}{os.pathsep}{os.environ['PATH']}")
    running.write_study(tmp_path, judges=["rules"], methods=["discernment"])
    options = ("--configfile", "study.yaml", "-n", "-p")
    built = running.snakemake(*options, "--sdm", "conda", cwd=tmp_path)
    assert built.returncode == 0, built.stdout[-3000:]
    calls = re.findall(r"\| (\S+) \S+/scripts/(\w+)\.py --spec -", built.stdout)
    assert {script for _, script in calls} >= {"ingest", "perturb", "compute", "report"}
    assert {python for python, _ in calls} == {"python"}
    plain = running.snakemake(*options, cwd=tmp_path)
    calls = re.findall(r"\| (\S+) \S+/scripts/(\w+)\.py --spec -", plain.stdout)
    assert calls and "python" not in {python for python, _ in calls}
