"""A study's cells as blocks: the same cells, and short enough for a command line."""

import json
import re
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.core.cells import pack, unpack
from judgescope.core.names import slug, slugs
from judgescope.methods.registry import METHODS
from judgescope.plan.specs.results import PARTS, WHEN
from judgescope.schema.cards import Study
from running import HOME

NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), unique=True))
def test_the_same_cells_come_back(cells: list[tuple[str, str, str]]) -> None:
    assert sorted(unpack(pack(cells))) == sorted(cells)


def test_a_large_study_fits_a_command_line() -> None:
    cells = [
        (f"perturbation-{p}.minor", f"some-judge-{j}", f"aspect-{a}.criterion-{c}")
        for p in range(40)
        for j in range(60)
        for a in range(6)
        for c in range(5)
        if j % 7 or a < 3  # some judges know fewer aspects
    ]
    assert len(cells) > 50_000
    assert len(json.dumps(pack(cells))) < 16 * 1024


ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Nucleus Decoding (p = 0.3)", "nucleus-decoding-p-0-3"),
        ("Éva_Ünal", "eva_unal"),
        ("--M10--", "m10"),
        ("ﬁne Ⅳ", "fine-iv"),
        ("a.b/c", "a-b-c"),
    ],
)
def test_a_name_becomes_an_id(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_a_long_name_keeps_its_beginning_and_differs_from_its_neighbour() -> None:
    each, other = slug("word " * 30 + "one"), slug("word " * 30 + "other")
    assert len(each) <= 80 and each.startswith("word-word-") and each != other


def test_names_without_latin_letters_differ() -> None:
    assert slug("模型").startswith("x-") and slug("模型") != slug("数据")


def test_names_that_share_an_id_all_end_in_a_hash_in_any_order() -> None:
    made = slugs(["M 1", "m-1", "m2"])
    assert made == slugs(["m2", "m-1", "M 1"])
    assert made["m2"] == "m2"
    assert {made["M 1"], made["m-1"]}.isdisjoint({"m-1"}) and made["M 1"] != made["m-1"]
    assert all(made[name].startswith("m-1-") for name in ("M 1", "m-1"))


def test_a_reserved_id_is_not_given() -> None:
    assert slugs(["Original"], ["original"])["Original"].startswith("original-")


@given(st.lists(st.text(max_size=100), unique=True, max_size=20))
def test_ids_have_the_form_of_ids_and_are_distinct(names: list[str]) -> None:
    made = slugs(names)
    assert list(made) == names
    assert all(ID.fullmatch(each) for each in made.values())
    assert len(set(made.values())) == len(names)


@pytest.mark.parametrize("table", METHODS)
def test_a_method_is_what_its_module_declares(table: str) -> None:
    method, module = METHODS[table], import_module(f"judgescope.methods.{table}")
    assert method is module.METHOD and method.rows is module.rows
    if method.across is not None:
        assert method.across is import_module(method.across.__module__).across
    assert {*method.parts} <= PARTS.keys() and {*method.tables} <= METHODS.keys()
    assert method.when in {"", *WHEN}
    assert not method.settings or method.settings in Study.model_fields


def test_every_table_belongs_to_some_study() -> None:
    beside = {table for method in METHODS.values() for table in method.tables}
    assert all(
        method.selectable or method.when or name in beside
        for name, method in METHODS.items()
    )


@pytest.mark.heavy
def test_registries_are_read_without_an_import_of_what_they_list() -> None:
    code = (
        "import sys, judgescope.methods.registry, judgescope.schema.cards; "
        "heavy = {'numpy', 'scipy', 'pyarrow', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME / "scripts")
