import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.core.slugs import slug, slugs

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
    one, other = slug("word " * 30 + "one"), slug("word " * 30 + "other")
    assert len(one) <= 80 and one.startswith("word-word-") and one != other


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
    assert all(ID.fullmatch(one) for one in made.values())
    assert len(set(made.values())) == len(names)
