"""The list of all statistics."""

import ast
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from judgescope.core.paths import HOME
from judgescope.core.registry import Registry
from judgescope.methods.registry import METHODS
from judgescope.plan.add_ons import declarations
from judgescope.plan.code import modules
from judgescope.plan.jobs import JOBS
from judgescope.report.words import WRITTEN, label, written
from judgescope.statistics.declared import Statistic, ValueKind, declare, percent
from judgescope.statistics.registry import (
    STATISTICS,
    names_of_group,
    statistic,
    tie_rule,
)

SCRIPTS = HOME / "scripts"


def test_every_statistic_is_described() -> None:
    for each in STATISTICS.values():
        assert all((each.name, each.label, each.meaning, each.source, each.range))
        assert each.group and each.kind in get_args(ValueKind)
        assert each.name.endswith("_{}") == ("{}" in each.label)
    assert set(WRITTEN) == set(get_args(ValueKind))


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
    actual = [
        written(*each)
        for each in [("pearson", -0.5), ("p_asymptotic", 1e-9), ("tie_rate", 0.25)]
    ]
    assert actual == ["\N{MINUS SIGN}0.500", "<0.0001", "25\u202f%"]


def test_a_statistic_has_the_group_and_location_of_its_declaration() -> None:
    first, second = declare("odd", one=percent("1", "a"), two=percent("{} twice", "b"))
    assert (first.name, first.group, first.position) == ("one", "odd", 0)
    assert (second.name, second.group, second.position) == ("two_{}", "odd", 1)
    assert first.name not in STATISTICS


def test_a_name_that_two_modules_declare_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "twice"
    room.mkdir()
    (room / "__init__.py").write_text("")
    for name in ("one", "two"):
        (room / f"{name}.py").write_text(
            "from judgescope.statistics.declared import declare, percent\n"
            f'DECLARED = declare("g", same=percent("{name}", "m"))\n'
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = Registry("none", Statistic, "twice")
    with pytest.raises(AssertionError, match="two are same"):
        len(registry)


def test_fields_say_what_lists_stated() -> None:
    assert names_of_group("bias") == (
        "partial_pearson",
        "partial_spearman",
        "length_slope",
        "self_preference",
    )
    assert names_of_group("judge_alpha") == (
        "alpha_pair",
        "alpha_joint",
        "alpha_pairs_mean",
    )
    assert names_of_group("usage") == (
        "replies",
        "prompt_tokens",
        "cached_tokens",
        "completion_tokens",
        "reasoning_tokens",
    )
    assert names_of_group("discernment", headline=True) == (
        "D_avg",
        "D_avg_ew",
        "D_avg_exact",
        "D_min",
        "D_min_ew",
        "D_min_exact",
    )
    fields = {"at_base_rate": set[str](), "beats_controls": set[str]()}
    for each in STATISTICS.values():
        for name, having in fields.items():
            if getattr(each, name):
                having.add(each.name)
    of_all_labels = {"label_accuracy", "f1", "f1_macro", "mcc", "ac1", "kappa_nominal"}
    assert fields["at_base_rate"] == of_all_labels | {"precision", "npv"}
    assert fields["beats_controls"] == of_all_labels | {"balanced_accuracy"}
    less = ("confusion_index", "hint_adoption_rate", "error_correlation_mean")
    assert all(statistic(name).less_is_better for name in less)
    more = ("confusion_auc", "kappa_linear", "accuracy_adjacent_half", "alpha_pair")
    assert not any(statistic(name).less_is_better for name in more)


def test_a_tie_rule_holds_for_what_is_about_its_statistic() -> None:
    assert (
        tie_rule("difference_D_avg") == tie_rule("D_avg") == "zeros dropped, midranks"
    )
    assert tie_rule("p_holm_kendall_b") == "tau-b"
    assert tie_rule("pearson") is tie_rule("p_holm_pearson") is None
    rules = [statistic.ties for statistic in STATISTICS.values() if statistic.ties]
    assert rules and not any(sign in rule for rule in rules for sign in "|:")


def strings_of(path: Path) -> set[str]:
    """Return the strings of a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {str(node.value) for node in nodes if isinstance(node, ast.Constant)}


@pytest.mark.heavy
@pytest.mark.parametrize("table", METHODS)
def test_a_methods_job_imports_the_declarations_of_its_statistics(table: str) -> None:
    names = [f"judgescope.{JOBS['statistics']}", f"judgescope.methods.{table}"]
    if "verdicts" in METHODS[table].parts:
        names += [target.partition(":")[0] for target in declarations()]
    reached = modules(SCRIPTS, *names)
    files = [
        Path(str(import_module(name).__file__))
        for name in reached
        if ".methods." in name
    ]
    named = set().union(*map(strings_of, files))
    declaring = [import_module(name) for name in reached if ".statistics." in name]
    declared = {
        each.name for module in declaring for each in getattr(module, "DECLARED", ())
    }
    assert declared and named & set(STATISTICS) <= declared
