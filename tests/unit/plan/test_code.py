"""The hash of the code that a job reaches: what changes it, and what does not."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from judgescope.methods.registry import METHODS
from judgescope.plan import code
from judgescope.plan.add_ons import declarations
from judgescope.plan.code import PACKAGES, code_hash, modules, packages
from judgescope.plan.jobs import JOBS
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results
from judgescope.schema.cards.engines import ENGINES
from running import HOME

PARSING = "judgescope/parsing"
NO_PARSER = ("judgment",)
"""Modules of that package that read no text: what a judgment is."""
CARRIERS = {
    *(
        "aiohttp",
        "openai",
        "markupsafe",
        "msgspec",
        "orjson",
        "pandas",
        "platformdirs",
        "pooch",
    ),
    "python_calamine",
    *("pyarrow", "pydantic", "pydantic_core", "requests", "snakemake", "threadpoolctl"),
    *("tokenizers", "yaml", "yarl"),
    # of the environment that trains, whose versions the training records
    *("torch", "transformers", "peft"),
    # of models' weights and their servers, whose versions replies record
    *("huggingface_hub", "vllm", "xllamacpp"),
}
"""Packages that read, check, write or send, and show in no output."""
MODULE = '''"""A module."""

LEAST = 3
"""Fewer are too few."""


class Card:
    """A card."""

    size: int = 4
    """How many there are."""


def enough(n: int) -> bool:
    """Return whether n is enough."""
    if n > LEAST:
        "a remark"
        return True
    return n == len("abc")
'''
"""Every kind of string that documents, and one that does something."""
KEEPING = """
import sys
from pathlib import Path
from judgescope.plan.code import code_hash
print(code_hash(Path(sys.argv[1]), "judgescope.job"))
"""


def module(job: str) -> str:
    return f"judgescope.{JOBS[job]}"


def home(engine: str) -> str:
    """Return the module of an engine."""
    return ENGINES.target(engine).partition(":")[0]


def hashed(folder: Path, module: str) -> str:
    package = folder / "judgescope"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text(module, encoding="utf-8")
    (package / "job.py").write_text("from judgescope.part import enough\n")
    return code_hash(folder, "judgescope.job")


def test_what_computes_scores_knows_no_parser() -> None:
    """A mended parser computes no measure anew."""
    folder = HOME / "scripts"
    parsers = {
        f"judgescope.parsing.{path.stem}" for path in (folder / PARSING).glob("*.py")
    }
    parsers -= {
        "judgescope.parsing.__init__",
        *(f"judgescope.parsing.{name}" for name in NO_PARSER),
    }
    assert "judgescope.parsing.parsers" in parsers
    for engine in ("lexical", "control", "recorded"):
        assert not parsers & modules(folder, module("compute"), home(engine)).keys()
    assert "judgescope.parsing.parsers" in modules(folder, module("score"))
    for job in (
        "score",
        "derive",
        "collect",
        "perturb",
    ):  # pydantic takes longer than a cell
        assert "judgescope.schema.cards" not in modules(folder, module(job))


@pytest.mark.heavy
def test_every_package_that_is_imported_shows_in_outputs_or_carries_data() -> None:
    folder, imported = HOME / "scripts" / "judgescope", set[str]()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
    assert imported - sys.stdlib_module_names - {"judgescope", *PACKAGES} == CARRIERS


def test_a_job_depends_on_the_packages_that_it_can_import() -> None:
    folder, computing = HOME / "scripts", module("compute")
    assert packages(folder, computing, home("lexical")) >= {
        "pyspellchecker",
        "sacrebleu",
    }
    assert packages(folder, computing, home("control")) == {"numpy"}
    assert not packages(folder, module("preflight"))


def test_verdicts_depend_on_the_code_of_the_claims_that_they_load() -> None:
    study = {
        "study": "s",
        "datasets": ["demo-news"],
        "judges": ["rules"],
        "methods": ["agreement"],
    }
    plan = load_plan(study, HOME, source="study.yaml")
    folder, verdicts = HOME / "scripts", "judgescope.methods.verdicts"
    job = module("statistics")
    spec = results.statistics(plan, "verdicts", "demo-news")
    assert spec.claims == ["judgescope.methods.claims.agreement:CLAIMS_OF_AGREEMENT"]
    names = ["judgescope.methods.claims.agreement"]
    names += [target.partition(":")[0] for target in declarations()]
    hashed = code_hash(folder, job, verdicts, *names)
    assert spec.code == hashed != code_hash(folder, job, verdicts)
    assert "judgescope.statistics.spans" in modules(folder, job, verdicts, *names)


def test_settings_and_inputs_of_a_method_reach_its_rows_and_its_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = replace(
        METHODS["agreement"], settings="comparison", inputs=("items/{dataset}.json",)
    )
    monkeypatch.setitem(METHODS._loaded, "agreement", method)
    study = {
        "study": "s",
        "datasets": ["demo-news"],
        "judges": ["rules"],
        "methods": ["agreement"],
    }
    plan = load_plan(study, HOME, source="study.yaml")
    content = plan.study.comparison.model_dump(mode="json")
    for table in ("agreement", "verdicts"):
        assert results.statistics(plan, table, "demo-news").settings == {
            "comparison": content
        }
        spec = results.statistics(plan, table, "demo-news")
        assert spec.inputs == ["results/s/items/demo-news.json"]
    assert results.statistics(plan, "coverage", "demo-news").settings == {}


@pytest.mark.parametrize(
    "documented",
    [
        "A module.",
        "Fewer are too few.",
        "A card.",
        "How many there are.",
        "Return whether n is enough.",
        "a remark",
    ],
)
def test_a_string_that_documents_is_no_code(tmp_path: Path, documented: str) -> None:
    assert documented in MODULE
    before = hashed(tmp_path / "before", MODULE)
    reworded = hashed(
        tmp_path / "reworded", MODULE.replace(documented, "In other words.")
    )
    assert reworded == before
    gone = MODULE.replace(f'"""{documented}"""', "").replace(f'"{documented}"', "")
    assert hashed(tmp_path / "gone", gone) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [('len("abc")', 'len("abd")'), ("LEAST = 3", "LEAST = 4"), ("= 4", "= 5")],
)
def test_what_the_code_does_is_in_the_hash(tmp_path: Path, old: str, new: str) -> None:
    assert old in MODULE
    before = hashed(tmp_path / "before", MODULE)
    assert hashed(tmp_path / "after", MODULE.replace(old, new)) != before


@pytest.mark.heavy
def test_what_is_kept_of_a_module_counts_for_its_very_source_alone(
    tmp_path: Path,
) -> None:
    """Hashes lie beside the bytecode; another source, a torn file or no room changes
    none.
    """
    command = [sys.executable, "-c", KEEPING, str(tmp_path)]
    keeping = {
        **os.environ,
        "PYTHONPATH": str(HOME / "scripts"),
        "PYTHONDONTWRITEBYTECODE": "",
    }

    def output_of() -> str:
        return subprocess.run(
            command, check=True, env=keeping, capture_output=True, text=True
        ).stdout

    first = hashed(tmp_path, MODULE)
    assert output_of().strip() == first
    [kept] = (tmp_path / "judgescope").rglob("part.*.meaning.json")
    digest, meaning, imported = json.loads(kept.read_text("utf-8"))
    kept.write_text(json.dumps([digest, meaning[::-1], imported]), encoding="utf-8")
    assert output_of().strip() != first, "what is kept is not read"
    part = tmp_path / "judgescope" / "part.py"
    part.write_text(MODULE.replace("LEAST = 3", "LEAST = 4"), encoding="utf-8")
    changed = output_of().strip()
    assert changed == hashed(tmp_path / "anew", part.read_text("utf-8")) != first
    kept.write_text(kept.read_text("utf-8")[:20], encoding="utf-8")
    assert output_of().strip() == changed
    shutil.rmtree(kept.parent)
    kept.parent.write_text("a file where the folder should be", encoding="utf-8")
    assert output_of().strip() == changed


def test_empty_fields_and_parts_of_strings_mean_nothing() -> None:
    """They differ between versions of Python."""
    function = ast.parse("def f(a): return f'{a:>{a}}'")
    padded = ast.parse("def f(a): return f'{a:>{a}}'")
    for node in ast.walk(padded):
        if isinstance(node, ast.JoinedStr):
            node.values.append(ast.Constant(""))
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            node.returns = None
    assert code._dumped(padded) == code._dumped(function)
    assert code._dumped(ast.parse("def f(a): return f'{a}'")) != code._dumped(function)
