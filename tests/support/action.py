"""The steps of action.yml, run by bash as a runner does."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from running import HOME
from waiting import patience

ACTION: Mapping[str, Any] = yaml.safe_load((HOME / "action.yml").read_text("utf-8"))
INPUT = re.compile(r"\$\{\{ inputs\.([a-z]+) \}\}")
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""GitHub's command for `shell: bash`."""


class Runner:
    """A runner's folders and files; the steps run in `folder`, another repository."""

    def __init__(self, root: Path, action: Path) -> None:
        self.folder = root / "repository"
        self.temp = root / "temp"
        self.outputs_file = root / "outputs"
        self.summary_file = root / "summary"
        self.action = action
        self.folder.mkdir()
        self.temp.mkdir()
        self.outputs_file.touch()
        self.summary_file.touch()

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run a step by its name with these inputs of the action."""
        [step] = [each for each in ACTION["runs"]["steps"] if each.get("name") == name]
        defaults = {
            key: str(value.get("default", ""))
            for key, value in ACTION["inputs"].items()
        }
        values = defaults | inputs
        given = {}
        for key, expression in step["env"].items():
            text = INPUT.sub(lambda match: values[match[1]], expression)
            given[key] = text.replace("${{ github.action_path }}", str(self.action))
        kept = ("PATH", "LANG", "TMPDIR", "XDG_CACHE_HOME", "PYENV_VERSION")
        environment = {key: os.environ[key] for key in kept if key in os.environ}
        variables = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(self.outputs_file),
            "GITHUB_STEP_SUMMARY": str(self.summary_file),
            "GITHUB_WORKSPACE": str(self.folder),
            "HOME": str(self.temp),
            "RUNNER_TEMP": str(self.temp),
        }
        return subprocess.run(
            [*SHELL, step["run"]],
            cwd=self.folder,
            env=environment | variables | given,
            capture_output=True,
            text=True,
            timeout=patience(600),
            check=False,
        )

    @property
    def outputs(self) -> dict[str, str]:
        """Return the outputs that steps have set."""
        lines = self.outputs_file.read_text("utf-8").splitlines()
        pairs = [line.partition("=") for line in lines]
        return {name: value for name, _, value in pairs}
