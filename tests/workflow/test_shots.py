"""Demonstrations in a judge's prompt: which texts, with which ratings, for which
item.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import AskedStudy, rate
from judgescope.core.errors import UserError
from judgescope.engines.base import Subject
from judgescope.plan.loading import load_plan
from judgescope.prompts import load, material, rated
from judgescope.prompts.filling import messages
from judgescope.replies.few_shot import Demonstrations, Rated, levels
from judgescope.replies.judging import Questions
from judgescope.schema.cards import Aspect, Judge, OpenAIModel, RatedAspect, Shots
from judgescope.schema.tables import read_table
from prompts_setup import SUMMARY
from running import HOME
from scripted import serve
from study import Study

SCALE = RatedAspect(min=1, max=5, step=1)
FIVE = Shots(n=5)


def subject(item: str, system: str = "s", source: str | None = None) -> Subject:
    return Subject(
        target=f"{item}:{system}",
        item=item,
        system=system,
        perturbation="systems",
        text=f"text of {item} by {system}",
        source=source or f"source of {item}",
        references=(),
        step=0,
    )


def field(*ratings: float) -> list[Rated]:
    """Return a rated text of an item of its own for each rating."""
    return [
        Rated(subject(f"i{number}"), rating) for number, rating in enumerate(ratings)
    ]


def test_ratings_lie_in_equal_steps_from_end_to_end() -> None:
    assert levels(FIVE, 1, 5) == [1, 2, 3, 4, 5]
    assert levels(Shots(n=2), 0, 1) == [0, 1] and levels(Shots(n=1), 1, 5) == [3]


def test_the_nearest_texts_are_shown_each_of_another_item() -> None:
    demonstrations = Demonstrations(field(5, 4.9, 1.2, 3.4, 2.1, 4.2, 1.1), FIVE, SCALE)
    assert sorted(each.rating for each in demonstrations.usual) == [
        1.1,
        2.1,
        3.4,
        4.2,
        5,
    ]
    variables = demonstrations.variables("another")
    assert sorted(variable["rating"] for variable in variables) == [
        1,
        2,
        3,
        4,
        5,
    ]  # on the scale
    same = [
        Rated(subject("i", system), float(at))
        for at, system in enumerate("abcde", start=1)
    ]
    mixed = Demonstrations([*same, *field(1, 2, 3, 4)], FIVE, SCALE)
    assert len({each.subject.item for each in mixed.usual}) == 5


def test_no_demonstration_is_of_the_judged_item_or_has_its_source() -> None:
    ratings = field(1, 2, 3, 4, 5, 1.5, 2.5, 3.5, 4.5, 5)
    twin = Rated(subject("twin", source="source of i0"), 1.0)
    demonstrations = Demonstrations([*ratings, twin], FIVE, SCALE)
    for item in ("i0", "twin", "i4"):
        shown = demonstrations.for_item(item)
        assert len(shown) == 5 and item not in {each.subject.item for each in shown}
    assert not {"i0", "twin"} & {
        each.subject.item for each in demonstrations.for_item("i0")
    }
    assert (
        demonstrations.for_item("i7")
        == demonstrations.usual
        == demonstrations.for_item("unknown")
    )


def test_too_few_rated_items_are_reported() -> None:
    with pytest.raises(
        UserError, match="only 3 items have rated texts: too few for 5 examples"
    ):
        _ = Demonstrations(field(1, 3, 5), FIVE, SCALE).usual


@given(
    st.lists(st.integers(1, 5), min_size=6, max_size=12),
    st.randoms(use_true_random=False),
)
def test_the_order_of_texts_makes_no_difference(
    ratings: list[int], random: Any
) -> None:
    texts = field(*map(float, ratings))
    turned = list(texts)
    random.shuffle(turned)
    first, second = (Demonstrations(each, FIVE, SCALE) for each in (texts, turned))
    assert first.usual == second.usual and first.for_item("i0") == second.for_item("i0")


def test_a_hidden_source_is_hidden_in_demonstrations_too() -> None:
    hidden = SCALE.model_copy(update={"source_visible": False})
    variables = Demonstrations(field(1, 2, 3, 4, 5), FIVE, hidden).variables("x")
    assert {row["source"] for row in variables} == {None}


def test_a_prompt_is_what_the_form_makes_of_texts_and_demonstrations() -> None:
    judge = Judge(judge="j", model="m", form="score-shots", shots=FIVE)
    model = OpenAIModel.model_validate(
        {"model": "m", "engine": "openai", "base_url": "http://x"}
    )
    aspect = Aspect(aspect="clear", name="Clear", definition="How clear.")
    templates = load("score-shots", [HOME / "config"], where="")
    demonstrations = Demonstrations(field(1, 2, 3, 4, 5, 1, 2, 3, 4, 5), FIVE, SCALE)
    shown = [(each.subject,) for each in demonstrations.rated]
    asked = Questions(
        model,
        judge,
        aspect,
        SCALE,
        shown,
        templates,
        0,
        SUMMARY,
        demonstrations=demonstrations,
    )
    for number, (each,) in enumerate(shown):
        values = rated(aspect, SCALE) | {"shots": demonstrations.variables(each.item)}
        result = messages(
            "score-shots",
            templates,
            **SUMMARY.names,
            **values,
            **material(each.material),
            text=each.text,
        )
        assert asked[number].asked["messages"] == result
        assert asked.outline(number).key.hex() == asked[number].key
    starts = Counter(request.prompt.split("Now rate")[0] for request in asked)
    assert max(starts.values()) >= 5 and len(starts) > 1  # most begin alike


@pytest.mark.parametrize(
    ("judge", "dataset", "message"),
    [
        (
            {"model": "lexical", "form": "rouge1"},
            "demo-dialogue",
            "need a model that reads prompts",
        ),
        ({"form": "compare"}, "demo-dialogue", "rates one text"),
        ({"scale": {"min": 0, "max": 1}}, "demo-dialogue", "on people's scale"),
        ({}, "sumpubmed", "demonstrations need ratings"),
    ],
)
def test_where_there_can_be_none_it_is_reported(
    judge: dict[str, Any],
    dataset: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Study(tmp_path).change("judges", "score-five-shot", **judge)
    monkeypatch.chdir(tmp_path)
    methods = {"methods": ["discernment"], "perturbations": ["random-typos"]}
    study = {
        "study": "s",
        "datasets": [dataset],
        "judges": ["score-five-shot"],
        **methods,
    }
    with pytest.raises(UserError, match=message) as error:
        load_plan(study, HOME, source="study.yaml")
    assert "score-five-shot" in str(error.value) and "key shots" in str(error.value)


@pytest.mark.slow
def test_a_study_with_demonstrations(tmp_path: Path) -> None:
    with serve(rate) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        study.card("judges", "terse", model="loop", form="score-shots", shots={"n": 3})
        study.write()
        done = study.ask()
        assert done.returncode == 0, done.stdout[-3000:]
        prompts = endpoint.prompts
        assert study.ask().returncode == 0 and endpoint.prompts == prompts
    assert len(prompts) == 120
    results = tmp_path / "results" / "asked"
    items = read_table("items", results / "items" / "demo-dialogue.parquet").to_pylist()
    sources = [row["parts"][0]["text"] for row in items]
    for prompt in prompts:
        before, judged = prompt.split("Now rate another text")
        ratings = [int(match) for match in re.findall(r"^Rating: (\d)$", before, re.M)]
        assert sorted(ratings) == [1, 3, 5]
        collected = [source for source in sources if source in judged]
        assert collected and not any(source in before for source in collected)
