"""The column "same" of docs/studies.md, where a test can decide it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from judgescope.parsing.annotation import read_annotation
from judgescope.prompts import load, shows
from judgescope.schema import cards
from judgescope.schema.loading import Cards
from prompts_setup import CONFIG, FORMS, filled
from running import HOME

DOCUMENT = (HOME / "docs" / "studies.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|", DOCUMENT, re.MULTILINE))
"""What a paper does -> whether the study does the same."""
READER = Cards([CONFIG])
GREEDY = (
    *("knowledge", "knowledge-spotlight", "knowledge-twice", "nameless-hint"),
    *("own-understanding", "reasoning", "right-hint", "two-shots", "wrong-hint"),
)


def judge(name: str) -> cards.Judge:
    card: cards.Judge = READER.read("judge", name, where="")
    return card


def perturbations(start: str) -> list[cards.AnyPerturbation]:
    names = [name for name in READER.names("perturbation") if name.startswith(start)]
    return [READER.read("perturbation", name, where="") for name in names]


def names_the_kind() -> bool:
    """Return whether every form with a text names its kind, or its noun."""
    alone = {"impartial", "material", "about", "after-shots"}
    words = {"noun": "THE NOUN", "kind": "THE KIND", "write": "THE KIND it is."}
    prompts = [filled(form, **words).lower() for form in {*FORMS} - alone]
    return all("the noun" in prompt or "the kind" in prompt for prompt in prompts)


def drawn() -> bool:
    form = (CONFIG / "prompts" / "inject-error.jinja").read_text(encoding="utf-8")
    made = perturbations("local-llm-")
    chains = [each for each in made if isinstance(each, cards.MadePerturbation)]
    named = {chain.form for chain in chains}
    alone = "sub_aspects" not in form and "error.name" in form
    return named == {"inject-error"} and alone


def anchored() -> bool:
    sets = perturbations("global-llm-")
    anchors = [
        each.anchors for each in sets if isinstance(each, cards.GradedPerturbation)
    ]
    forms = {(anchor.form, anchor.max_tokens) for anchor in anchors if anchor}
    return forms == {("analyze-compare-anchors", 1024)}


def compared() -> bool:
    pairs = judge("pairwise-ten-draws")
    two = shows(load(pairs.form, [CONFIG], where=""), "text_b")
    asked = (pairs.form, pairs.draws, pairs.temperature, pairs.orders)
    return two and asked == ("analyze-compare", 10, 1, "both")


def agreeing() -> bool:
    card = judge("agreement-ten-draws")
    asked = (card.form, card.draws, card.temperature, card.estimator)
    return asked == ("rate-agreement", 10, 1, "mode")


def greedy() -> bool:
    return all(judge(name).temperature == 0 for name in GREEDY)


def rated_first() -> bool:
    prompt = filled(judge("reasoning").form)
    rating = prompt.index('"Rating: "')
    return prompt.index("step by step") < rating < prompt.index("steps of your thought")


def clean() -> bool:
    return read_annotation("No Error").judgment.value == 5


def ended() -> bool:
    every = [READER.read("judge", name, where="") for name in READER.names("judge")]
    lists = [each for each in every if getattr(each, "form", "") == "annotate"]
    return all(each.stop == ["Error 9:"] for each in lists)


def impartial() -> bool:
    named = ("ten-points", "pairwise-ten-draws", "agreement-ten-draws")
    return all(judge(name).system == "impartial" for name in named)


def study(name: str) -> dict[str, Any]:
    text = (CONFIG / "studies" / f"{name}.yaml").read_text(encoding="utf-8")
    card: dict[str, Any] = yaml.safe_load(text)
    return card


def datasets(name: str) -> list[cards.Dataset]:
    listed = study(name)["datasets"]
    return [READER.read("dataset", each, where="") for each in listed]


def six_of_a_hundred() -> bool:
    result = datasets("discernment")
    sizes = {each.select.n for each in result if each.select}
    # SummEval has a hundred articles
    return (
        len(result) == 6
        and len({each.task for each in result}) == 4
        and sizes == {100, None}
    )


def fifty_nine() -> bool:
    listed = study("discernment")["perturbations"]
    made = [READER.read("perturbation", each, where="") for each in listed]
    cells = [
        degree
        for dataset in datasets("discernment")
        for card in made
        if not card.tasks or dataset.task in card.tasks
        for degree in card.degrees_for(dataset.dataset)
    ]
    return len(cells) == 59


def by_steps() -> bool:
    card = judge("steps")
    return (card.form, card.draws, card.temperature) == ("score-steps", 5, 0)


def four_tasks() -> bool:
    sizes = [dataset.select.n for dataset in datasets("confusion") if dataset.select]
    return sizes == [200, 200, 300, 300]


def demonstrated() -> bool:
    listed = study("confusion")["perturbations"]
    made = [READER.read("perturbation", each, where="") for each in listed]
    shown = [
        len(each.demonstrations)
        for each in made
        if isinstance(each, cards.MadePerturbation) and each.demonstrations
    ]
    return len(made) == 18 and shown == [10] * 14


def expected_cells() -> bool:
    text = (CONFIG / "expectations" / "table-21.yaml").read_text(encoding="utf-8")
    rows = yaml.safe_load(text)["perturbations"].values()
    counts = [sum(len(row.get(key) or []) for row in rows) for key in ("drop", "same")]
    return counts == [57, 130]


def analysed_first() -> bool:
    card = judge("ten-draws")
    return (card.form, card.draws, card.temperature) == ("analyze-rate", 10, 1)


def views() -> bool:
    numbers = judge("ten-points")
    ends = [(scale.min, scale.max) for scale in numbers.scales]
    modes = judge("agreement-ten-draws").estimator == "mode"
    return modes and ends == [(1, 10)] and numbers.draws == 10


def five_of_them() -> bool:
    card = READER.read("judge", "ensemble", where="")
    return len(card.members) == 5 and card.supervisor is not None


HEADED = "prompts name the kind of text, and head each thing that is given"
TESTED: dict[str, Callable[[], bool]] = {
    HEADED: names_the_kind,
    "six datasets of 100 items, four tasks": six_of_a_hundred,
    "59 perturbations with their degrees": fifty_nine,
    "each text judged separately, five draws at T = 0": by_steps,
    "four tasks, 200 + 200 + 300 + 300 items": four_tasks,
    "18 perturbations, 10 demonstrations for each of 14": demonstrated,
    "57 cells should drop, 130 should not": expected_cells,
    "rating after an analysis, T = 1, 10 draws": analysed_first,
    "κ of modes, order of means on 1 to 10, ten draws": views,
    "five annotators, a supervisor, outliers left out of its input": five_of_them,
    "one sub-aspect for each step of a chain, drawn": drawn,
    "the comparator analyses before it chooses": anchored,
    "direct comparison after an analysis, ten draws of each order": compared,
    "classes from how far one agrees, in words": agreeing,
    "a system message for scores from 1 to 10 and for comparisons": impartial,
    "greedy decoding, one draw": greedy,
    "chain of thought: the rating first, then the thought": rated_first,
    '"No Error" in place of a list': clean,
    "merged lists of up to eight errors": ended,
}


@pytest.mark.parametrize("row", TESTED)
def test_the_column_same_says_what_is_so(row: str) -> None:
    assert (ROWS[row] == "yes") == TESTED[row]()


def test_the_document_has_the_tables_that_are_read_here() -> None:
    assert TESTED.keys() <= ROWS.keys() and len(ROWS) > 50
