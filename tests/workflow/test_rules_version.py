"""Rules of one version do not run with a package of another."""

import shutil
from pathlib import Path

import pytest

import judgescope
import running
from release import RULES
from running import HOME


@pytest.mark.slow
def test_rules_of_another_version_stop_with_a_single_sentence(tmp_path: Path) -> None:
    """Rules from a repository, without a package beside them, as snakedeploy has
    them.
    """
    rules = tmp_path / "rules"
    for name in ("workflow", "config"):
        shutil.copytree(HOME / name, rules / name)
    file = rules / RULES
    stated = f'RULES_VERSION = "{judgescope.__version__}"'
    text = file.read_text("utf-8")
    assert stated in text
    file.write_text(text.replace(stated, 'RULES_VERSION = "9.9"'), encoding="utf-8")
    snakefile = str(rules / "workflow" / "Snakefile")
    done = running.run("-m", "snakemake", "-s", snakefile, "-n", cwd=tmp_path)
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if "9.9" in line]
    assert len(lines) == 1, done.stdout
    assert f"the installed package is {judgescope.__version__}: install" in lines[0]
    assert "Traceback" not in done.stdout
