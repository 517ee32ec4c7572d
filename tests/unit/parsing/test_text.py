"""Quotes in a text: where they stand, in which spelling, and which of several
places.
"""

import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judgescope.parsing.text import (
    MATCHES,
    NOWHERE,
    QuoteLocation,
    locate,
    occurrence_of,
)

TEXT = "The Team  won; the team lost: “he” said ﬁne café in Ｎｅｗ\u00a0York…"


def detected(quote: str, text: str = TEXT) -> tuple[str | None, str]:
    (location,) = locate([quote], text)
    return None if location.start is None else text[
        location.start : location.end
    ], location.match


@pytest.mark.parametrize(
    ("quote", "words", "match"),
    [
        ("The Team", "The Team", "exact"),
        ("“he” said", "“he” said", "exact"),
        ("the team won", "The Team  won", "normalised"),
        ("the\n team\twon", "The Team  won", "normalised"),
        (
            '"he" said',
            "he” said",
            "normalised",
        ),  # quotation marks at its ends are the annotator's
        ("'the team lost'", "the team lost", "normalised"),
        ("THE TEAM LOST...", "the team lost", "normalised"),
        ("…the team lost…", "the team lost", "normalised"),
        ("fine", "ﬁne", "normalised"),
        (unicodedata.normalize("NFD", "café"), "café", "normalised"),
        ("new york", "Ｎｅｗ\u00a0York", "normalised"),
        ("N\u200bew York", "Ｎｅｗ\u00a0York", "normalised"),
        ("the taem lost: he", "the team lost: “he", "fuzzy"),
        ("teams won; the team", "Team  won; the team", "fuzzy"),
        ("the team loses: he said fine", "the team lost: “he” said ﬁne", "fuzzy"),
        ("the team was lucky", None, "not_found"),
        ("he smiled", None, "not_found"),
        ("ine", "ﬁne", "fuzzy"),  # half of a ligature
        ("", None, "not_found"),
        (" \n", None, "not_found"),
        ("“”", None, "not_found"),
        ("None", None, "not_found"),
    ],
)
def test_quotes_are_detected_as_they_are_in_a_single_spelling_or_nearly(
    quote: str, words: str | None, match: str
) -> None:
    assert detected(quote) == (words, match)


def test_complete_words_come_first_and_letters_within_words_last() -> None:
    text = "There he was. He ate the heel."
    assert locate(["he", "he"], text)[0] == QuoteLocation(6, 8, 1, "exact")
    assert detected("HE", text) == ("he", "normalised")
    assert locate(["Eel"], text) == [QuoteLocation(26, 29, 1, "normalised")]
    assert locate(["he"], "The man: He ate") == [QuoteLocation(9, 11, 1, "normalised")]
    assert locate(["rus"], "a virus") == [QuoteLocation(4, 7, 1, "exact")]
    assert locate(["中"], "在中国。中。") == [
        QuoteLocation(1, 2, 1, "exact")
    ]  # no spaces between words


def test_equal_quotes_take_a_single_location_each() -> None:
    text = "Crowder ran. crowder sat. Crowder ate. Crowders"
    third = locate(["Crowder"] * 3, text)
    assert [(each.start, each.occurrence) for each in third] == [
        (0, 1),
        (26, 2),
        (26, 2),
    ]
    mixed = locate(["CROWDER", "Crowder", "CROWDER", "crowder", "CROWDER"], text)
    assert [each.start for each in mixed] == [0, 0, 13, 13, 26]
    assert [each.occurrence for each in mixed] == [1, 1, 2, 1, 3]
    near = locate(["Crowder was eating"] + ["Crovder sat. Crowder"] * 2, text)
    assert near[0] == NOWHERE and near[1] == near[2] and near[1].match == "fuzzy"


def test_nearly_equal_quotes_take_a_single_location_each_too() -> None:
    text = "Jae Crowder was next. Al was. Jae Crowder was next. Jae Crowder was next."
    places = locate(["Jae Crowdr was next"] * 2, text)
    assert [
        (location.start, location.match, location.occurrence) for location in places
    ] == [
        (0, "fuzzy", 1),
        (30, "fuzzy", 2),
    ]


def test_a_cutoff_of_a_hundred_finds_nothing_that_is_not_equal() -> None:
    assert locate(["the taem lost"], TEXT, cutoff=100) == [NOWHERE]
    assert locate(["the team lost"], TEXT, cutoff=100)[0].match == "exact"


def test_a_quote_that_is_longer_than_the_text_is_the_text_at_most() -> None:
    assert locate(["He won the game in the end, said the coach"], "He won") == [NOWHERE]
    assert detected("He won the game.!", "He won the game") == (
        "He won the game",
        "fuzzy",
    )


def test_the_number_of_a_location_is_reported_for_any_stretch() -> None:
    text = "he the he then he"
    places = locate(["he"] * 3, text)
    assert [location.start for location in places] == [0, 7, 15]
    for location in places:
        assert location.start is not None and location.end is not None
        assert occurrence_of(location.start, location.end, text) == location.occurrence
    assert occurrence_of(4, 6, text) == 2  # within "the", where all places count


def test_the_time_grows_with_the_length_and_no_faster() -> None:
    words = "the home team won again and again on a cold night in march " * 400
    began = time.process_time()
    locate(
        [
            "again and again on a cold nihgt",
            "zzzz" * 50,
            "a" * 500,
            "night in march the",
        ],
        words,
    )
    locate(["aab" * 20] * 8, "ab" * 20_000)
    assert time.process_time() - began < 20


ALPHABET = st.characters() | st.sampled_from(
    "aAeE\u0301\u0308ßﬁŒ 　\n\u200b“\"'…Ａ１中가\ud800İſ"
)
ANY = st.text(ALPHABET, max_size=40)


@settings(deadline=None)
@given(ANY, st.lists(ANY, max_size=4), st.floats(0, 100))
def test_any_quotes_have_a_location_in_any_text_or_none(
    text: str, quotes: list[str], cutoff: float
) -> None:
    places = locate(quotes, text, cutoff=cutoff)
    assert len(places) == len(quotes)
    for quote, location in zip(quotes, places, strict=True):
        assert location.match in MATCHES
        if location.start is None or location.end is None:
            assert location == NOWHERE
            continue
        assert (
            0 <= location.start < location.end <= len(text)
            and (location.occurrence or 0) >= 1
        )
        if location.match == "exact":
            assert text[location.start : location.end] == quote


@settings(deadline=None)
@example("*\u302a\u00d9", 0, 3, "NFD")
@example("*\u302a\u00d9", 0, 3, "case")
@given(
    ANY,
    st.integers(0, 40),
    st.integers(1, 20),
    st.sampled_from(["NFC", "NFD", "case", "wide"]),
)
def test_what_is_cut_out_of_a_text_is_detected_in_it(
    text: str, start: int, length: int, how: str
) -> None:
    quote = text[start : start + length]
    (location,) = locate([quote], text)
    if not quote.strip():
        assert location == NOWHERE
    else:
        assert location.match in ("exact", "normalised")
        assert location.start is not None and location.start <= len(text)
    if how in ("NFC", "NFD"):
        changed = unicodedata.normalize(how, text)  # type: ignore[arg-type]
    else:
        changed = text.swapcase() if how == "case" else text.replace(" ", "\u3000 ")
    (complete,) = locate([changed], text)
    seen = any(sign.isalnum() for sign in text)
    if seen and len(changed.swapcase().swapcase()) == len(changed):
        assert complete.match != "not_found"
