"""Which texts a judge learns from: what is drawn, what is held out, which sources are
the same.
"""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.extensions.distill.sampling import (
    DrawableText,
    DrawnTexts,
    draw,
    groups_of,
    held_out,
    key_of,
)

ASPECTS = ["coherence", "consistency", "fluency", "relevance"]


def texts(items: int, systems: int) -> dict[str, list[DrawableText]]:
    return {
        f"i{item}": [
            DrawableText("systems", f"i{item}:s{number}", f"s{number}")
            for number in range(systems)
        ]
        for item in range(items)
    }


def drawn(
    n_texts: int = 4, n_aspects: int = 3, seed: int = 1, items: int = 50
) -> list[DrawnTexts]:
    return draw(
        "d", texts(items, 7), ASPECTS, seed=seed, n_texts=n_texts, n_aspects=n_aspects
    )


def test_of_each_item_n_texts_and_of_each_text_m_aspects() -> None:
    result = drawn()
    assert len(result) == len(set(result)) == 50 * 4 * 3
    assert set(Counter(text.item for text in result).values()) == {12}
    assert set(Counter(each.text.target for each in result).values()) == {3}


def test_given_fewer_all_are_taken() -> None:
    assert len(drawn(n_texts=9, n_aspects=5, items=3)) == 3 * 7 * 4


@pytest.mark.heavy
def test_every_system_and_aspect_has_its_chance() -> None:
    """350 draws of 4 of 7: each system about 200 times, within 4 standard deviations of
    7.
    """
    systems = Counter(each.text.system for each in drawn(n_aspects=1, items=350))
    assert len(systems) == 7
    assert all(
        abs(count - 200) < 4 * (350 * 4 / 7 * 3 / 7) ** 0.5
        for count in systems.values()
    )
    aspects = Counter(each.aspect for each in drawn(items=350))
    assert all(
        abs(count - 1050) < 4 * (1400 * 3 / 4 / 4) ** 0.5 for count in aspects.values()
    )


def test_a_draw_depends_on_the_seed_and_on_nothing_of_other_items() -> None:
    assert drawn() == drawn() != drawn(seed=2)
    assert [text for text in drawn(items=60) if int(text.item[1:]) < 50] == drawn()
    shuffled = {
        item: own_part[::-1] for item, own_part in reversed(texts(50, 7).items())
    }
    assert draw("d", shuffled, ASPECTS, seed=1, n_texts=4, n_aspects=3) == drawn()


@given(
    st.sets(st.text(min_size=1), max_size=40), st.floats(0.01, 0.5), st.integers(0, 9)
)
def test_at_least_a_single_source_is_held_out_and_one_is_not(
    sources: set[str], share: float, seed: int
) -> None:
    result = held_out(sources, share, seed=seed, dataset="d")
    if len(sources) < 2:
        assert not result
    else:
        assert result < sources and len(result) >= max(1, share * len(sources) - 1e-6)


LONG = "A mayor opened a bridge in the rain, and the town came to see it. " * 6


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ("The cat sat.", "the  CAT\nsat", True),
        ("The cat sat.", "The cat sat down.", False),
        ("caf\u00e9", "cafe\u0301", True),
        (
            LONG,
            LONG[: len(LONG) // 2 + 100],
            True,
        ),  # cut short, and long enough to know
        (LONG[: len(LONG) // 2 + 100], LONG, True),
        (LONG[:350] + " \u2026 Read more \u00bb", LONG, True),
        (LONG, LONG[:350] + "... [Truncated].", True),
        (LONG, LONG[:100], False),
        (LONG + "Then it closed.", LONG + "Then it broke.", False),
        (None, None, False),
        ("...", "!", False),
    ],
)
def test_a_source_is_known_again_whatever_its_layout(
    ours: str | None, theirs: str | None, same: bool
) -> None:
    assert len(key_of(LONG[: len(LONG) // 2 + 100])) > 200
    names = groups_of({("ours", "a"): ours, ("theirs", "b"): theirs})
    assert (names["ours", "a"] == names["theirs", "b"]) == same


def test_what_is_cut_short_is_held_out_with_the_complete() -> None:
    """Those that begin with a long one are one source, whatever stands behind it."""
    short, longer, text = LONG[:300], LONG[:350], f"{LONG} The end."
    sources = {("d", "a"): text, ("d", "b"): short, ("e", "c"): longer.upper()}
    content: dict[tuple[str, str], str | None] = {
        **sources,
        ("d", "d"): "Another.",
        ("d", "e"): None,
    }
    names = groups_of(content)
    assert len({names[source] for source in sources}) == 1
    assert len(set(names.values())) == 3
