"""The list of all statistics."""

import ast
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from judgescope.core.paths import HOME
from judgescope.methods.registry import METHODS
from judgescope.plan.code import modules
from judgescope.plan.jobs import JOBS
from judgescope.report.words import WRITTEN, label, written
from judgescope.statistics.declared import Kind, declare, percent, tie_rule
from judgescope.statistics.registry import PREFIXES, STATISTICS, statistic

SCRIPTS = HOME / "scripts"


def test_every_statistic_tells_all_of_itself() -> None:
    for told in (*STATISTICS.values(), *PREFIXES.values()):
        assert all((told.name, told.label, told.meaning, told.source, told.range))
        assert told.kind in get_args(Kind)
    assert set(WRITTEN) == set(get_args(Kind))


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("p_holm", "Holm-adjusted p"),
        ("p_holm_kendall_b", "Holm-adjusted p for Kendall τ-b"),
        ("p_kappa_linear", "p for Linear κ"),
        ("rank_pearson", "Rank by Pearson r"),
        ("student_pearson", "Pearson r of the distilled judge"),
        ("student_with_teacher_pearson", "Pearson r of teacher and distilled judge"),
        (
            "student_difference_kendall_b",
            "Difference from the distilled judge, Kendall τ-b",
        ),
        ("share_not_applicable", "Share not applicable"),
        ("sources_needed_spearman", "Sources needed for Spearman ρ"),
    ],
)
def test_a_statistic_about_another_is_called_after_it(name: str, called: str) -> None:
    assert label(name) == called


@pytest.mark.parametrize("name", ["", "pearson_r", "rankpearson", "P"])
def test_no_other_name_is_known(name: str) -> None:
    with pytest.raises(KeyError):
        statistic(name)


def test_values_are_written_by_their_kind() -> None:
    told = [
        written(*one)
        for one in [("pearson", -0.5), ("p_asymptotic", 1e-9), ("tie_rate", 0.25)]
    ]
    assert told == ["\N{MINUS SIGN}0.500", "<0.0001", "25\u202f%"]


def test_a_name_is_declared_once() -> None:
    same = STATISTICS["tie_rate"]
    assert declare(tie_rate=same) == (same,)
    with pytest.raises(ValueError, match="two statistics are called tie_rate"):
        declare(tie_rate=percent("Ties", "of something else"))


def test_a_tie_rule_holds_for_what_is_about_its_statistic() -> None:
    assert (
        tie_rule("difference_D_avg") == tie_rule("D_avg") == "zeros dropped, midranks"
    )
    assert tie_rule("p_holm_kendall_b") == "tau-b"
    assert tie_rule("pearson") is tie_rule("p_holm_pearson") is None
    rules = [one.ties for one in STATISTICS.values() if one.ties]
    assert rules and not any(sign in rule for rule in rules for sign in "|:")


def strings_of(path: Path) -> set[str]:
    """Return the strings of a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {str(node.value) for node in nodes if isinstance(node, ast.Constant)}


@pytest.mark.heavy
@pytest.mark.parametrize("table", METHODS)
def test_a_methods_job_imports_the_declarations_of_its_statistics(table: str) -> None:
    reached = modules(
        SCRIPTS, f"judgescope.{JOBS['statistics']}", f"judgescope.methods.{table}"
    )
    files = [
        Path(str(import_module(name).__file__))
        for name in reached
        if ".methods." in name
    ]
    named = set().union(*map(strings_of, files))
    declaring = [import_module(name) for name in reached if ".statistics." in name]
    declared = {
        one.name for module in declaring for one in getattr(module, "DECLARED", ())
    }
    assert declared and named & set(STATISTICS) <= declared
