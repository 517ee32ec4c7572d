"""The package as people install it: from a wheel, in an empty folder, without the
checkout.

Tests that share an environment have a group, which one process works off: `make
test-wheel` runs several groups side by side.
"""

import csv
import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest
import yaml
from _pytest.mark import ParameterSet
from jinja2 import Environment

from action import Runner
from running import HOME
from spreadsheet_files import write_spreadsheet
from waiting import patience

pytestmark = pytest.mark.wheel
PYTHONS = ("3.11", "3.12", "3.13")
OWN_PYTHON = f"3.{sys.version_info.minor}"
MUST = "wheel" in os.environ.get("CI_MUST", "").split()
"""Whether nothing here may be skipped, and `workflow` is tested on every Python."""
LARGEST_WHEEL = 2_700_000
"""Bytes (docs/install.md)."""
SCRIPT = """\
import sys
import judgescope.cli.main, judgescope.cli.audit, judgescope.cli.init
import judgescope.cli.new, judgescope.cli.card_files
unused = {"pandas", "snakemake", "nltk", "typo", "aiohttp", "orjson", "rapidfuzz"}
print(sorted(unused & set(sys.modules)))
"""


QUICK = {"PIP_COMPILE": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""pip compiles whole packages, of which a test imports a few modules."""


def python_of(version: str) -> str | None:
    """Return the interpreter of a version, None where there is none."""
    program = shutil.which(f"python{version}")
    if program is None:
        return None
    done = subprocess.run([program, "-c", "pass"], capture_output=True, check=False)
    return program if done.returncode == 0 else None


THERE = [version for version in PYTHONS if python_of(version)]
"""The Pythons of this machine."""


def in_group(*names: str) -> list[ParameterSet]:
    """Return parameters of which each is a group of its own."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]


class Installed(NamedTuple):
    """An environment with the package, and an empty folder to work in."""

    programs: Path
    folder: Path

    def run(self, *words: str, status: int = 0) -> str:
        """Run a program of the environment; return what it prints."""
        kept = ("HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME")
        by_name = {name: os.environ[name] for name in kept if name in os.environ}
        for name, value in os.environ.items():
            # Last digits depend on the kernels that OpenBLAS chooses.
            if name.startswith("OPENBLAS_"):
                by_name[name] = value
        done = subprocess.run(
            [str(self.programs / words[0]), *words[1:]],
            cwd=self.folder,
            env=by_name | {"PATH": f"{self.programs}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=patience(900),
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that is built from a source distribution, once for all."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "dist"
    with (shared / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build(shared / "checkout", shared / "being_built")
            (shared / "being_built").rename(folder)
    [built] = folder.glob("*.whl")
    return built


def build(copy: Path, folder: Path) -> None:
    """Build a source distribution of a copy of this checkout, and from it a wheel."""
    subprocess.run(
        ["git", "clone", "--quiet", "--shared", str(HOME), str(copy)], check=True
    )
    # What is not committed yet belongs to the checkout under test, too.
    changed = subprocess.run(
        ["git", "ls-files", "-mo", "--exclude-standard"],
        cwd=HOME,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for name in changed:
        if (HOME / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HOME / name, copy / name)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, copy],
        check=True,
        capture_output=True,
        timeout=patience(300),
    )


def cannot(problem: str) -> NoReturn:
    """Skip a test that this machine cannot run, or fail if it must run."""
    if MUST:
        pytest.fail(f"CI_MUST names the lane wheel: {problem}")
    pytest.skip(problem)


def new_environment(version: str, folder: Path) -> Path:
    """Return the programs of a new environment, or skip the test without that Python.

    It has no pip: to put one into each takes as long as to install the base.
    """
    python = python_of(version)
    if python is None:
        cannot(f"there is no Python {version}")
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin"


def pip_install(programs: Path, *words: str | Path) -> None:
    """Install into an environment, or skip the test where packages cannot be had."""
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    done = subprocess.run(
        [*pip, "install", "--quiet", *map(str, words)],
        env=os.environ | QUICK,
        capture_output=True,
        text=True,
        timeout=patience(900),
        check=False,
    )
    if done.returncode:
        cannot(f"the packages cannot be installed: {done.stderr[-300:]}")


def install(wheel: Path, folder: Path, version: str, extra: str = "") -> Installed:
    """Return a new environment with the wheel, or skip the test where it cannot be
    made.

    Packages have the versions of envs/core.txt, so that results can be compared.
    """
    programs = new_environment(version, folder / "env")
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    versions = folder / "versions.txt"
    locked = (HOME / "envs" / "core.txt").read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z0-9_.-]+==[^ ;]+", locked, re.MULTILINE | re.IGNORECASE)
    versions.write_text("\n".join(pins) + "\n", encoding="utf-8")
    pip_install(programs, wanted, "--constraint", versions)
    (folder / "work").mkdir()
    return Installed(programs, folder / "work")


@pytest.fixture(scope="session", params=in_group(*PYTHONS))
def base(
    request: pytest.FixtureRequest,
    wheel: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Installed:
    """Return an environment with the base alone, of each Python."""
    version: str = request.param
    return install(wheel, tmp_path_factory.mktemp("base"), version)


def pythons_of_studies() -> list[str]:
    """Return one Python, chosen by the commit, or all if the lane must run."""
    if MUST:
        return [*PYTHONS]
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=HOME,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [THERE[int(head[:8], 16) % len(THERE)]]


on_newest = pytest.mark.parametrize("base", in_group(*THERE[-1:]), indirect=True)
"""For what is the same on each Python."""


@pytest.fixture(
    scope="session",
    params=in_group(*(f"studies on {version}" for version in pythons_of_studies())),
)
def full(
    request: pytest.FixtureRequest,
    wheel: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Installed:
    """Return an environment with the extra `workflow`."""
    version = request.param.removeprefix("studies on ")
    return install(wheel, tmp_path_factory.mktemp("full"), version, "workflow")


class DemoRun(NamedTuple):
    """The environment whose demo has run, and what the check before it printed."""

    installed: Installed
    checked: str


@pytest.fixture(scope="session")
def demo_run(full: Installed) -> DemoRun:
    """Run the demo's study in the folder of an environment."""
    full.run("judgescope", "new", "--demo")
    checked = full.run("judgescope", "check", "study.yaml")
    full.run("judgescope", "run", "study.yaml")
    return DemoRun(full, checked)


def ratings() -> list[list[object]]:
    """Return 30 texts of two systems, rated by two people and a judge."""
    rows: list[list[object]] = [["source", "system", "human_a", "human_b", "gpt_score"]]
    for number in range(30):
        quality = 1 + number % 5
        other = 1 + (number * 7) % 5
        rows.append([f"s{number // 2}", "ab"[number % 2], quality, other, quality])
    return rows


def write_ratings(path: Path) -> None:
    """Write these rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(ratings())


def test_the_wheel_is_small_and_has_all_that_a_study_reads(wheel: Path) -> None:
    assert wheel.stat().st_size <= LARGEST_WHEEL
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if "/share/" in name}
    shared = {name.partition("/share/")[2] for name in packed}
    tracked = subprocess.run(
        ["git", "ls-files", "config", "workflow", "profiles", "envs/*.yaml"],
        cwd=HOME,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert set(tracked) <= shared
    assert {"Snakefile", "scripts/job.py"} <= shared


def test_the_base_audits_a_table_and_loads_few_packages(base: Installed) -> None:
    write_ratings(base.folder / "ratings.csv")
    page = base.run("judgescope", "audit", "ratings.csv")
    assert "Pairwise correlation" in page
    content = json.loads(base.run("judgescope", "audit", "ratings.csv", "--json"))
    assert content["judges"]
    base.run("judgescope", "audit", "ratings.csv", "--html", "page.html")
    assert (base.folder / "page.html").stat().st_size > 1000
    assert base.run("python", "-c", SCRIPT).strip() == "[]"
    assert "judgescope" in base.run("judgescope", "--version")
    assert "rouge-l" in base.run("judgescope", "cards", "list", "judge")


def test_the_base_makes_cards_of_a_table(base: Installed) -> None:
    shutil.copy2(HOME / "docs/tutorial/summaries.csv", base.folder / "mine.csv")
    base.run("judgescope", "init", "mine.csv", "--study", "mine", "--yes")
    assert (base.folder / "config/studies/mine.yaml").is_file()
    assert (base.folder / "Snakefile").is_file()


@on_newest
def test_a_spreadsheet_needs_an_extra(base: Installed, wheel: Path) -> None:
    write_spreadsheet(base.folder / "ratings.xlsx", {"Ratings": ratings()})
    finished = base.run("judgescope", "audit", "ratings.xlsx", status=3)
    assert "reading a spreadsheet needs the package python-calamine" in finished
    assert f"pip install '{wheel}[formats]'" in finished and "Traceback" not in finished


def test_a_spreadsheet_is_read_as_a_table(full: Installed) -> None:
    write_ratings(full.folder / "ratings.csv")
    write_spreadsheet(full.folder / "ratings.xlsx", {"Ratings": ratings()})
    pages = []
    for name in ("ratings.xlsx", "ratings.csv"):
        page = full.run("judgescope", "audit", name, "--json")
        # Signatures have the hash of the data.
        pages.append(re.sub('"(file|signature)": "[^"]*"', "", page))
    assert pages[0] == pages[1] and "gpt_score" in pages[0]


@pytest.mark.parametrize(
    "command",
    in_group("uvx --from WHEEL judgescope", "pipx run --spec WHEEL judgescope"),
    ids=["uvx", "pipx"],
)
def test_a_command_of_a_single_line_audits(
    command: str, wheel: Path, tmp_path: Path
) -> None:
    """uv and pipx install into folders of their own, here in an empty cache."""
    programs = new_environment(OWN_PYTHON, tmp_path / "env")
    pip_install(programs, "uv" if command.startswith("uvx") else "pipx")
    work = tmp_path / "work"
    work.mkdir()
    write_ratings(work / "ratings.csv")
    words = command.replace("WHEEL", str(wheel)).split()
    content = {
        "PIPX_HOME": str(tmp_path / "pipx"),
        "UV_CACHE_DIR": str(tmp_path / "uv"),
    }
    done = subprocess.run(
        [str(programs / words[0]), *words[1:], "audit", "ratings.csv", "-q"],
        cwd=work,
        env=os.environ | QUICK | content | {"PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=patience(900),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gpt" in done.stdout and "Pairwise correlation" in done.stdout


@on_newest
def test_another_interpreter_starts_jobs_with_this_package_alone(
    base: Installed, tmp_path: Path
) -> None:
    """An environment such as vLLM's has packages of its own, and not this one."""
    programs = new_environment(THERE[-1], tmp_path / "env")
    pip_install(programs, "msgspec", "pydantic", "pyyaml")
    other = programs / "python"
    [package] = base.programs.parent.glob("lib/python3*/site-packages/judgescope")
    start = str(package / "share/scripts/job.py")
    code = (
        "import runpy, sys\n"
        f"runpy.run_path({start!r}, run_name='started')\n"
        "import judgescope\n"
        "print(judgescope.__file__)\n"
        "try:\n    import scipy\nexcept ModuleNotFoundError:\n    print('alone')\n"
    )
    finished = subprocess.run(
        [other, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.split() == [str(package / "__init__.py"), "alone"]
    finished = subprocess.run(
        [other, start, "no-such-job"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1 and "unknown job 'no-such-job'" in finished.stderr


@on_newest
def test_the_tests_of_the_conda_recipe_pass(base: Installed) -> None:
    text = (HOME / "recipe/meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(Environment().from_string(text).render(PYTHON="python"))
    for module in recipe["test"]["imports"]:
        base.run("python", "-c", f"import {module}")
    assert recipe["test"]["commands"]
    for command in recipe["test"]["commands"]:
        base.run(*shlex.split(command))


@pytest.mark.long(90)
@pytest.mark.xdist_group("container")
def test_the_container_installs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Its RUN lines, in a new environment: images are not built here."""
    python = python_of("3.11")
    if python is None:
        cannot("there is no Python 3.11")
    text = (HOME / "envs/Dockerfile").read_text(encoding="utf-8")
    lines = re.findall("^RUN (.+)$", text, re.MULTILINE)
    assert len(lines) == 2
    copied = tmp_path / "copied"
    copied.mkdir()
    shutil.copy2(HOME / "envs/core.txt", copied)
    shutil.copy2(wheel, copied)
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    programs = tmp_path / "env" / "bin"
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line.replace("/tmp/judgescope", str(copied))],
            env=os.environ | QUICK | {"PATH": f"{programs}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=patience(900),
            check=False,
        )
        if done.returncode and "judgescope-" not in line:
            cannot(f"the packages cannot be installed: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr
    (tmp_path / "work").mkdir()
    image = Installed(programs, tmp_path / "work")
    image.run("judgescope", "new")
    assert "all cards and files are in order" in image.run(
        "judgescope", "check", "study.yaml"
    )


@pytest.mark.xdist_group("action")
def test_the_action_installs_its_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    subprocess.run(
        ["git", "clone", "--quiet", "--shared", str(HOME), str(checkout)], check=True
    )
    runner = Runner(tmp_path, checkout)
    done = runner.step("Install")
    if done.returncode:
        cannot(f"the packages cannot be installed: {done.stderr[-300:]}")
    write_ratings(runner.folder / "ratings.csv")
    done = runner.step("Audit", file="ratings.csv", require="spearman=.99")
    assert done.returncode in (0, 1, 2), done.stdout + done.stderr
    assert runner.outputs["exit-code"] == str(done.returncode)
    assert "Judgescope: ratings.csv" in runner.summary_file.read_text("utf-8")


@on_newest
def test_the_base_names_the_command_that_installs_what_is_missing(
    base: Installed, wheel: Path
) -> None:
    base.run("judgescope", "new", "studies")
    finished = base.run("judgescope", "check", "studies/study.yaml", status=1)
    assert "Traceback" not in finished
    assert f"pip install '{wheel}[workflow]'" in finished
    shutil.copy2(HOME / "docs/tutorial/summaries.csv", base.folder / "texts.csv")
    base.run("judgescope", "init", "texts.csv", "--study", "texts", "--yes")
    words = ["export", "config/studies/texts.yaml", "targets", "texts.jsonl"]
    finished = base.run("judgescope", *words, status=1)
    assert f"pip install '{wheel}[workflow]'" in finished


def test_a_study_runs_from_an_empty_folder(demo_run: DemoRun) -> None:
    full = demo_run.installed
    assert "all cards and files are in order" in demo_run.checked
    assert (full.folder / "results/demo/report/index.html").is_file()
    dry = full.run("snakemake", "-n", "--configfile", "study.yaml", "--cores", "1")
    assert "Nothing to be done" in dry
    package = str(full.programs.parent / "lib").encode()
    for path in (full.folder / "results").rglob("*.*"):
        if path.is_file():
            assert package not in path.read_bytes(), path


def test_a_study_of_a_table_of_ones_own_runs(full: Installed) -> None:
    shutil.copy2(HOME / "docs/tutorial/summaries.csv", full.folder / "mine.csv")
    full.run("judgescope", "init", "mine.csv", "--study", "mine", "--yes")
    study = "config/studies/mine.yaml"
    assert "in order" in full.run("judgescope", "check", study)
    full.run("judgescope", "run", study)
    assert (full.folder / "results/mine/report/index.html").is_file()


def in_checkout(folder: Path, *words: str) -> str:
    """Run the demo's study of a folder with this checkout; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "judgescope", "run", "study.yaml", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(HOME / "scripts")},
        capture_output=True,
        text=True,
        timeout=patience(900),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_its_tables_are_those_of_the_checkout(
    demo_run: DemoRun, tmp_path: Path
) -> None:
    """The code hashes are the same, so that the checkout computes nothing again; where
    it has to, tables have the same bytes, also from another Python.
    """
    full = demo_run.installed
    tables = full.folder / "results/demo/tables"
    copied = shutil.copytree(full.folder, tmp_path / "moved")
    planned = in_checkout(copied, "-n")
    # The record of the study names its cards by path; all results stay.
    again = set(re.findall(r"^ +(\w+): ", planned, re.MULTILINE))
    assert again <= {"preflight"}, planned

    for name in ("statistics", "tables"):
        shutil.rmtree(copied / "results/demo" / name)
    in_checkout(copied, "--until=tables")
    files = sorted(path.name for path in tables.glob("*.csv"))
    assert files
    for name in files:
        remade = copied / "results/demo/tables" / name
        assert remade.read_bytes() == (tables / name).read_bytes(), name


def test_another_package_joins_by_its_entry_points(full: Installed) -> None:
    programs = full.programs
    source = shutil.copytree(HOME / "tests/addon", full.folder.parent / "addon")
    pip_install(programs, "--no-deps", source)
    listed = full.run(
        "python",
        "-c",
        "from judgescope.methods.registry import METHODS; print('star_gap' in METHODS)",
    )
    assert listed.strip() == "True"
