"""What is wrong with a text that a model made: the kind of change and how much of
it.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.perturb.edits import Amount
from judgescope.perturb.validation import CHECKS, echo_of, more_than_one_error

PARENT = (
    "Ann Lee met the mayor of Oslo on Monday. They spoke of trams. Lee left at ten."
)
ANY, ONE, SEVERAL = Amount(), Amount(k=1), Amount(min_edits=2)


@pytest.mark.parametrize(
    ("text", "amount", "problem"),
    [
        (PARENT.replace("Oslo", "Velunda"), ONE, None),
        (PARENT.replace("Oslo", "Velunda"), SEVERAL, "it has 1 change, fewer than 2"),
        (PARENT.replace("Oslo", "Velunda"), ANY, None),
        # one person, named twice in two ways, is one change
        (PARENT.replace("Ann Lee", "Mira Sol").replace("Lee", "Sol"), ONE, None),
        (
            PARENT.replace("Oslo", "Velunda").replace("Monday", "Firstday"),
            ONE,
            "it has 2 changes, not 1",
        ),
        (
            PARENT.replace("Oslo", "Velunda").replace("Monday", "Firstday"),
            SEVERAL,
            None,
        ),
        (PARENT.replace("spoke", "speaks"), ONE, None),
        (PARENT.replace("the mayor", "mayor"), ONE, None),
        (PARENT, ONE, "it has 0 changes, not 1"),
        (f"{PARENT[:-1]}!", ONE, "it has 0 changes, not 1"),
        (PARENT.replace(" on", ", on").replace("Oslo", "Velunda"), ONE, None),
        (
            "Nobody said a word about it.",
            ANY,
            "it changes 19 of the text's 21 words and marks",
        ),
    ],
)
def test_changed_places_are_counted_once_each(
    text: str, amount: Amount, problem: str | None
) -> None:
    changes = CHECKS["changes"](text, PARENT, amount)
    assert (changes or "").split(" of the")[0][:14] == (problem or "").split(" of the")[
        0
    ][:14]
    if problem and "of the text" not in problem:
        assert changes == problem


@pytest.mark.parametrize(
    ("text", "amount", "problem"),
    [
        (PARENT.replace("trams.", "trams. Trams were their subject."), ONE, None),
        (PARENT + " At ten she was gone.", ONE, None),
        (
            PARENT + " At ten she was gone. So was he.",
            ONE,
            "it has 2 inserted sentences, not 1",
        ),
        (PARENT + " At ten she was gone. So was he.", SEVERAL, None),
        (PARENT, ONE, "it has 0 inserted sentences, not 1"),
        (
            PARENT.replace("They spoke of trams.", "Trams were it. So be it."),
            ONE,
            "missing or changed",
        ),
        (PARENT.replace("trams.", "trams. They spoke of trams."), ONE, "repeats one"),
    ],
)
def test_inserted_sentences_stand_among_those_of_the_text(
    text: str, amount: Amount, problem: str | None
) -> None:
    insertions = CHECKS["insertions"](text, PARENT, amount)
    assert (insertions is None) == (problem is None) and (problem or "") in (
        insertions or ""
    )


@given(st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=12), st.data())
def test_a_single_word_replaced_by_a_new_one_is_a_single_change(
    words: list[str], data: st.DataObject
) -> None:
    location = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:location], "new", *words[location + 1 :]]
    assert CHECKS["changes"](" ".join(changed), " ".join(words), ONE) is None
    assert CHECKS["changes"](" ".join(words), " ".join(words), Amount(k=0)) is None


RAINY = (
    "Anna met Ben in Rome. They ate by the river. Rain fell at night. Nobody minded it."
)


@pytest.mark.parametrize(
    "text",
    [
        RAINY.replace("Ben", "Bob"),
        RAINY.replace("Rain fell at night.", "At night, no drop of rain fell."),
        RAINY.replace(" Rain fell at night.", ""),
        RAINY.replace(" Nobody minded it.", " Nobody minded it. Cows give milk."),
        "They ate by the river. Anna met Ben in Rome. Rain fell at night. Nobody "
        "minded it.",
        RAINY.replace("They ate by the river.", "They ate. By the river."),
    ],
)
def test_a_step_with_a_single_error_passes(text: str) -> None:
    assert more_than_one_error(text, RAINY) is None


@pytest.mark.parametrize(
    "text",
    [
        RAINY.replace("Ben", "Bob").replace("river", "sea"),
        RAINY.replace("Nobody minded it.", "All did. Cows give milk. Grass is green."),
        "Anna met Ben in Rome.",
        "Rome is the capital of Italy, and millions of people go there to see it every "
        "year.",
        "Nobody minded it. Rain fell at night. They ate by the river. Anna met Ben in "
        "Rome.",
    ],
)
def test_a_step_that_changes_several_error_does_is_refused(text: str) -> None:
    assert more_than_one_error(text, RAINY) is not None


@pytest.mark.parametrize(
    ("reason", "text", "echoes"),
    [
        ("the reply was cut", f"{RAINY} The original reply was cut.", True),
        ("the reply was cut", f"{RAINY} Then the reply was CUT!", True),
        ("it is a refusal", f"It is a refusal. {RAINY}", True),
        ("it is a refusal", f"{RAINY} Their refusal to leave was firm.", False),
        ("nothing is negated", f"{RAINY} The verb is negated.", True),
        ("it has 2 changes, not 1", f"{RAINY} There are 2 changes.", True),
        ("it has 2 changes, not 1", RAINY.replace("ate", "made changes"), False),
        ("a sentence of the text is missing", f"{RAINY} A sentence is missing.", True),
        (
            "a sentence of the text is missing",
            f"{RAINY} The text lacks the missing line.",
            True,
        ),
        (
            "a sentence is missing",
            f"{RAINY} He read a sentence. A boat was missing.",
            False,
        ),
        ("nobody minded a missing word", f"{RAINY} A word was there.", False),
        ("nobody minded a missing word", f"{RAINY} Nobody minded a word.", True),
        (
            "its last line does not give the rating 4",
            f"{RAINY} It is weak.\nRating: 4",
            False,
        ),
        ('it does not end in a line "Rating: 4"', f"{RAINY} A bad rating: 4.", False),
        ("it is the same text", RAINY.replace("Anna", "It is the day: Anna"), False),
    ],
)
def test_a_text_does_not_repeat_why_the_one_before_it_failed(
    reason: str, text: str, echoes: bool
) -> None:
    assert (echo_of(reason, text, RAINY) is not None) == echoes
    assert echo_of(reason, text, text) is None
