"""The demonstrations of made perturbations, and the checks that tell their kinds
apart.
"""

from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.core.errors import UserError
from judgescope.data.sentences import is_word, tokens
from judgescope.perturb.edit_checks import KINDS, sentences
from judgescope.perturb.edits import Amount
from judgescope.perturb.validation import CHECKS
from judgescope.plan.loading import load_plan
from running import HOME
from study import Study
from unseen import UNSEEN
from validators import ONE, Shown, accepted, card_of, demonstrations, document

ALL = [
    (kind, demonstration) for kind in KINDS for demonstration in demonstrations(kind)
]
REFUSAL = "I'm sorry, but I cannot help with that."
OPENED = "The museum reopened its doors and opened again after two years of repairs."
EXPLAINED: dict[tuple[str, str], str] = {}
"""(kind of change, another kind's check) -> why that check accepts such a text too."""


def five_grams(entry: Shown) -> set[tuple[str, ...]]:
    """Return the runs of five words of a demonstration, before and after."""
    result = set()
    for text in (entry.text, entry.changed):
        words = [token.lower() for token in tokens(text) if is_word(token)]
        result |= {tuple(words[at : at + 5]) for at in range(len(words) - 4)}
    return result


# --- the demonstrations ---------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_has_ten_demonstrations_on_ten_topics_of_four_tasks(kind: str) -> None:
    shown = demonstrations(kind)
    assert len(shown) == len({each.topic for each in shown}) == 10
    tasks = {"summarization", "dialogue-summarization", "paraphrase", "data-to-text"}
    assert {each.task for each in shown} == tasks
    assert all(15 <= len(each.text.split()) <= 60 for each in shown)
    assert {len(sentences(each.text)) for each in shown} <= {1, 2, 3, 4}


def test_demonstrations_share_no_sentence_and_few_runs_of_words() -> None:
    assert len({each.topic for _, each in ALL}) >= 12
    counts = Counter(
        sentence
        for _, each in ALL
        for sentence in {*sentences(each.text), *sentences(each.changed)}
    )
    assert max(counts.values()) == 1
    runs = [five_grams(each) for _, each in ALL]
    assert all(10 * len(a & b) <= min(len(a), len(b)) for a, b in combinations(runs, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_names_the_check_of_its_kind(kind: str) -> None:
    card = card_of(kind)
    length = [] if kind == "abbreviation" else ["length"]  # less than half may be left
    assert card.checks == ["differs", "not_refusal", *length, kind]
    assert (
        card.form == "adjust-examples"
        and card.adjustment
        and card.instructions
        and card.issue
    )
    assert (card.reply == "appended") == (kind == "continuation")


@pytest.mark.parametrize("check", ["steps", "sub_aspects", "lengths"])
def test_a_card_names_checks_that_exist_and_none_of_drafts(
    check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check not in CHECKS
    Study(tmp_path).change("perturbations", "negation", checks=["length", check])
    monkeypatch.chdir(tmp_path)
    study = {
        **{"study": "checks", "datasets": ["demo-news"], "judges": ["rules"]},
        **{"methods": ["discernment"], "perturbations": ["negation"]},
    }
    with pytest.raises(UserError, match="unknown check") as error:
        load_plan(study, HOME, source="study.yaml")
    assert "perturbations/negation.yaml:4, key checks" in str(error.value)


# --- the checks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "demonstration"), ALL, ids=lambda it: getattr(it, "topic", it)
)
def test_every_demonstration_passes_all_checks_of_its_card(
    kind: str, demonstration: Shown
) -> None:
    for check in card_of(kind).checks:
        assert CHECKS[check](demonstration.changed, demonstration.text, ONE) is None


@pytest.mark.heavy
def test_checks_accept_no_other_kind_but_what_is_explained() -> None:
    result = accepted()
    assert all(result[kind, kind] == 10 for kind in KINDS)
    assert {pair for pair, count in result.items() if count and pair[0] != pair[1]} == {
        *EXPLAINED
    }
    assert (HOME / "docs" / "validators.md").read_text(encoding="utf-8") == document()


def test_of_texts_that_no_check_was_written_for_few_are_taken_for_another_kind() -> (
    None
):
    """One word that says the contrary looks like one that says less: only its meaning
    differs.
    """
    others = {
        (kind, check, after)
        for kind, text, after in UNSEEN
        for check in KINDS
        if check != kind and KINDS[check](after, text, ONE) is None
    }
    assert others == {
        ("conflicting_fact", "hypernym", "The vaccine was rejected for all adults."),
        ("repetition", "complement", OPENED),
    }


def test_two_details_are_two_however_close_they_stand() -> None:
    text, changed = (
        "Meg will bake a cake for Lou.",
        "Meg will bake a cake with ripe cherries for Lou on Sunday evening.",
    )
    assert KINDS["complement"](changed, text, ONE) == "it has 2 complements, not 1"


@pytest.mark.parametrize("kind", KINDS)
def test_unchanged_texts_and_refusals_are_rejected(kind: str) -> None:
    for demonstration in demonstrations(kind):
        for amount in (ONE, Amount()):
            assert KINDS[kind](demonstration.text, demonstration.text, amount)
            assert KINDS[kind](REFUSAL, demonstration.text, amount)
            assert KINDS[kind](
                f"{demonstration.text} {REFUSAL}", demonstration.text, amount
            )


@pytest.mark.parametrize("kind", KINDS)
def test_two_changes_are_two_too_many_where_one_is_asked(kind: str) -> None:
    for each, other in pairwise(demonstrations(kind)):
        text = f"{each.text} {other.text}"
        changed = f"{each.changed} {other.changed}"
        if kind == "continuation":
            changed = (
                text + each.changed[len(each.text) :] + other.changed[len(other.text) :]
            )
        assert KINDS[kind](changed, text, ONE)
        enough = KINDS[kind](changed, text, Amount(min_edits=2)) is None
        assert enough == (kind != "negation")  # there is one last sentence


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(max_size=40), parent=st.text(max_size=40))
def test_any_two_texts_can_be_checked(kind: str, text: str, parent: str) -> None:
    KINDS[kind](text, parent, ONE)
    assert KINDS[kind](parent, parent, ONE)
