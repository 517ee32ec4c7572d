"""The guarantees of docs/methods.md, "Perturbations", for every rule over any text, by
hand, and on real data.
"""

import json
import random
import re
import unicodedata
from collections import Counter
from itertools import combinations, pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.core.words import WITHOUT_SPACES, script_of
from judgescope.data.sentences import split_sentences
from judgescope.perturb.edits import Edit, Perturbed, apply_edits, may_cut
from judgescope.perturb.rules import RULES, check_options, choose, derange
from judgescope.perturb.targets import perturb_dataset
from shelf import printed

SUMMEVAL = (
    Path(__file__).parents[3]
    / "../shared/data/summeval/model_annotations.12systems.jsonl"
)
ONE_TEXT = [name for name, rule in RULES.items() if "k" in rule.options]
LATIN = "Ana ran. |Mr. Orr? |e\u0301|aaa|a|A|straße |İz|3.5 |\n| |  |_|…"
OTHERS = "👩\u200d⚕️|👍🏽|1️⃣|你好。|世界！|مرحبا |٣٤ |שלום. |क्\u200dषि "
PIECES = st.sampled_from([*LATIN.split("|"), *OTHERS.split("|")])
TEXTS = st.one_of(st.text(max_size=50), st.lists(PIECES, max_size=20).map("".join))
SEEDS = st.integers(0, 2**32)
COUNTS = st.integers(1, 12)


def run(rule: str, text: str, k: int | str | None = None, seed: int = 0) -> Perturbed:
    options = {} if k is None else {"k": k}
    names = {"dataset": "d", "perturbation": rule, "degree": "minor"}
    result: Perturbed = perturb_dataset(rule, options, {"i": text}, seed=seed, **names)[
        "i"
    ]
    return result


def done(result: Perturbed, k: int) -> int:
    """Return how many changes took effect, as the status says."""
    short = re.fullmatch(r"short: (\d+) of (\d+)", result.status)
    if short:
        assert 0 < int(short[1]) < k == int(short[2])
        return int(short[1])
    assert result.status == "ok" or result.status.startswith("impossible: ")
    return k if result.status == "ok" else 0


# --- what holds for every rule --------------------------------------------------------


@pytest.mark.parametrize("rule", ONE_TEXT)
@settings(deadline=None)
@given(text=TEXTS, k=COUNTS, seed=SEEDS)
def test_edits_tell_everything_that_changed(
    rule: str, text: str, k: int, seed: int
) -> None:
    k = max(k, RULES[rule].options["k"].minimum)
    result = run(rule, text, k, seed)
    assert apply_edits(text, result.edits) == result.text
    assert (result.text != text) == bool(result.edits) == bool(done(result, k))
    assert all(edit.before != edit.after for edit in result.edits)
    assert all(each.end <= other.offset for each, other in pairwise(result.edits))
    assert run(rule, text, k, seed) == result


@pytest.mark.parametrize("rule", ONE_TEXT)
@pytest.mark.parametrize("text", ["", " ", "\n\t", "😀", "!?"])
def test_nothing_to_perturb_is_stated_and_left_alone(rule: str, text: str) -> None:
    result = run(rule, text, 2)
    assert result.status.startswith("impossible: ") and (result.text, result.edits) == (
        text,
        (),
    )


def test_an_edit_that_does_not_fit_is_refused() -> None:
    assert apply_edits("abcd", [Edit(1, "b", ""), Edit(2, "c", "xy")]) == "axyd"
    for edits in ([Edit(0, "b", "")], [Edit(1, "bc", ""), Edit(2, "c", "x")]):
        with pytest.raises(ValueError, match="does not fit"):
            apply_edits("abcd", edits)


@pytest.mark.parametrize("rule", ONE_TEXT)
def test_a_text_depends_on_its_names_and_not_on_other_texts(rule: str) -> None:
    text = "One small cat sat here. Two dogs ran by. Three birds sang. Four mice hid."
    names = {"dataset": "d", "perturbation": "p", "degree": "minor"}
    both = perturb_dataset(rule, {"k": 2}, {"a": text, "b": text}, seed=1, **names)
    assert perturb_dataset(rule, {"k": 2}, {"b": text}, seed=1, **names) == {
        "b": both["b"]
    }
    variants = [
        perturb_dataset(
            rule, {"k": 2}, {"a": text}, seed=seed, **(names | {"degree": degree})
        )["a"]
        for seed in range(10)
        for degree in ("minor", "major")
    ]
    assert len({result.text for result in variants}) > 3


# --- characters -----------------------------------------------------------------------


@settings(deadline=None)
@given(text=TEXTS, k=COUNTS, seed=SEEDS)
def test_exactly_k_letters_or_digits_are_deleted(text: str, k: int, seed: int) -> None:
    def count(t: str) -> int:
        return sum(map(str.isalnum, t))

    result = run("delete_characters", text, k, seed)
    assert (
        done(result, k)
        == max(0, min(k, count(text) - 1))
        == count(text) - count(result.text)
    )
    for edit in result.edits:
        assert edit.after == "" and edit.before[0].isalnum()
        assert not any(map(str.isalnum, edit.before[1:]))
        assert edit.end == len(text) or not unicodedata.category(
            text[edit.end]
        ).startswith("M")


def test_a_letter_goes_with_its_marks() -> None:
    assert (
        run("delete_characters", "e\u0301\u0323e\u0301\u0323", 1).text
        == "e\u0301\u0323"
    )
    assert run("delete_characters", "1️⃣1️⃣", 5).text == "1️⃣"
    assert (
        run("delete_characters", "-a-", 1).status
        == "impossible: only one alphanumeric character"
    )


# --- typing errors --------------------------------------------------------------------


@settings(deadline=None)
@given(text=TEXTS, k=COUNTS, seed=SEEDS)
def test_typing_errors_do_not_touch_and_tear_nothing(
    text: str, k: int, seed: int
) -> None:
    state = random.getstate()
    result = run("typos", text, k, seed)
    assert random.getstate() == state
    assert len(result.edits) == done(result, k)
    assert all(each.end < other.offset for each, other in pairwise(result.edits))
    assert all(may_cut(text, e.offset) and may_cut(text, e.end) for e in result.edits)
    assert all(len(edit.before) <= 2 for edit in result.edits)


@given(st.text("ab ", min_size=20, max_size=30), SEEDS)
def test_typing_errors_cannot_undo_each_other(text: str, seed: int) -> None:
    result = run("typos", text, 12, seed)
    for size in range(1, len(result.edits) + 1):
        assert apply_edits(text, result.edits[:size]) != apply_edits(
            text, result.edits[: size - 1]
        )
        assert apply_edits(text, result.edits[:size]) != text


def test_all_kinds_of_typing_errors_occur() -> None:
    text = "the goose will soon meet a small moose " * 5
    edits = [edit for seed in range(30) for edit in run("typos", text, 10, seed).edits]
    shapes = Counter((len(e.before), len(e.after)) for e in edits)
    assert set(shapes) == {(0, 1), (1, 0), (1, 1), (2, 2)}
    swaps = [e for e in edits if len(e.before) == 2]
    assert all(sorted(e.before) == sorted(e.after) for e in swaps)
    assert {e.after for e in edits if not e.before} > {" ", "o"}
    assert " " in {e.before for e in edits if not e.after}


@pytest.mark.parametrize("seed", range(20))
def test_digits_of_other_scripts_are_no_accident(seed: int) -> None:
    assert run("typos", "٣٤٥ ٠١٢ ३४५ 三四", 2, seed).status == "ok"


# --- words ----------------------------------------------------------------------------


@settings(deadline=None)
@given(text=TEXTS, k=COUNTS, seed=SEEDS)
def test_k_neighbouring_words_are_deleted(text: str, k: int, seed: int) -> None:
    assume(not written_without_blanks(text))
    words, result = text.split(), run("delete_words", text, k, seed)
    number, left = done(result, k), result.text.split()
    assert number == max(0, min(k, len(words) - 1))
    assert left in [words[:i] + words[i + number :] for i in range(len(left) + 1)]
    gaps, gaps_left = (Counter(re.findall(r"\s+", t)) for t in (text, result.text))
    assert gaps_left <= gaps
    assert result.text[:1].isspace() == text[:1].isspace()
    assert result.text[-1:].isspace() == text[-1:].isspace()


def written_without_blanks(text: str) -> bool:
    return script_of([text]) in WITHOUT_SPACES


def test_letters_are_the_words_of_scripts_without_blanks() -> None:
    texts = {run("delete_words", "我们走。今天", 2, seed).text for seed in range(40)}
    assert texts == {"走。今天", "我。今天", "我们天", "我们走。"}
    thai = {run("delete_words", "ทำดี", 1, seed).text for seed in range(40)}
    assert thai == {"ำดี", "ทดี", "ทำ"}
    swapped = {run("exchange_words", "我们走。今", 1, seed).text for seed in range(40)}
    assert swapped == {"们我走。今", "我走们。今"}


@settings(deadline=None)
@given(
    text=st.text("我们走。 ทำดีか\u3099ー\ufe00a1", max_size=12), k=COUNTS, seed=SEEDS
)
@pytest.mark.parametrize("rule", ["delete_words", "exchange_words"])
def test_words_of_any_script_keep_their_marks(
    rule: str, text: str, k: int, seed: int
) -> None:
    result = run(rule, text, k, seed)
    for edit in result.edits:
        assert may_cut(text, edit.offset) and may_cut(text, edit.end)
    if rule == "exchange_words":
        assert Counter(result.text) == Counter(text)
    else:
        assert not Counter(result.text) - Counter(text)


def test_reasons_why_no_word_goes() -> None:
    assert run("delete_words", "我。", 1).status == "impossible: fewer than two words"
    assert run("delete_words", "alone", 1).status == "impossible: fewer than two words"
    assert run("delete_words", "a b c", 5).status == "short: 2 of 5"


def test_a_line_break_survives_its_words() -> None:
    texts = {run("delete_words", "a b\n\nc d", 1, seed).text for seed in range(40)}
    assert texts == {"b\n\nc d", "a\n\nc d", "a b\n\nd", "a b\n\nc"}


@settings(deadline=None)
@given(text=TEXTS, k=COUNTS, seed=SEEDS)
def test_neighbouring_words_change_places(text: str, k: int, seed: int) -> None:
    result = run("exchange_words", text, k, seed)
    edits = result.edits
    assert len(edits) == 2 * done(result, k)
    for each, other in zip(edits[::2], edits[1::2], strict=True):
        assert (each.before, each.after) == (other.after, other.before)
        gap = text[each.end : other.offset]
        assert gap.isspace() or (not gap and written_without_blanks(text))
        assert len(f"{gap}.".splitlines()) == 1
    assert all(may_cut(text, edit.offset) and may_cut(text, edit.end) for edit in edits)


def test_exchanged_words_by_hand() -> None:
    assert run("exchange_words", "One two, three", 1).text == "two One, three"
    assert run("exchange_words", "a b\nc d", 2).text == "b a\nd c"
    assert run("exchange_words", "a b\nc", 2).status == "short: 1 of 2"
    reason = "impossible: no two different words side by side"
    assert run("exchange_words", "go go. On\nit", 1).status == reason
    assert run("exchange_words", "a e\u0301", 1).text == "e\u0301 a"


@given(st.lists(st.sampled_from("ab"), max_size=8), COUNTS, SEEDS)
def test_no_more_neighbours_can_be_exchanged(
    words: list[str], k: int, seed: int
) -> None:
    limit, last = 0, -1
    for number, (each, other) in enumerate(pairwise(words)):
        if each != other and number > last:
            limit, last = limit + 1, number + 1
    assert done(run("exchange_words", " ".join(words), k, seed), k) == min(k, limit)


# --- sentences ------------------------------------------------------------------------


@settings(deadline=None)
@given(text=TEXTS, k=st.one_of(st.just("all"), st.integers(2, 8)), seed=SEEDS)
def test_every_chosen_sentence_moves(text: str, k: int | str, seed: int) -> None:
    spans, result = split_sentences(text), run("reorder_sentences", text, k, seed)
    wanted = len(spans) if isinstance(k, str) else k
    assert len(result.edits) == done(result, wanted)
    assert {(e.offset, e.end) for e in result.edits} <= set(spans)
    assert Counter(e.before for e in result.edits) == Counter(
        e.after for e in result.edits
    )


def test_reordering_by_hand() -> None:
    assert run("reorder_sentences", "One.  Two.\nThree.", 2).status == "ok"
    assert run("reorder_sentences", "One.\n Two.", "all").text == "Two.\n One."
    assert run("reorder_sentences", "One. Two.", 3).status == "short: 2 of 3"
    assert (
        run("reorder_sentences", "Go. Go. Go. Stop.", "all").status == "short: 2 of 4"
    )
    reason = "impossible: fewer than two different sentences"
    assert run("reorder_sentences", "Go. Go.", 2).status == reason
    assert run("reorder_sentences", "Go on, then.", 2).status == reason
    assert (
        run("delete_sentences", "Go on.", 1).status
        == "impossible: fewer than two sentences"
    )


@settings(deadline=None)
@given(text=TEXTS, k=COUNTS, seed=SEEDS)
def test_deleted_sentences_take_a_single_gap_along(
    text: str, k: int, seed: int
) -> None:
    spans, result = split_sentences(text), run("delete_sentences", text, k, seed)
    number = done(result, k)
    assert number == max(0, min(k, len(spans) - 1))
    inside = [
        s for s in spans for e in result.edits if e.offset <= s[0] and s[1] <= e.end
    ]
    assert len(inside) == number
    letters = sum(end - start for start, end in inside)
    assert sum(len(e.before.strip()) for e in result.edits) >= letters
    gaps, gaps_left = (sum(map(str.isspace, t)) for t in (text, result.text))
    assert gaps_left <= gaps and not any(e.after for e in result.edits)


# --- between items --------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d d", "é", "", " "]), max_size=12), SEEDS
)
def test_texts_are_deranged_between_items(texts: list[str], seed: int) -> None:
    items = {f"i{number}": text for number, text in enumerate(texts)}
    names = {"dataset": "d", "perturbation": "p", "degree": "single"}
    outcome = perturb_dataset("replace_text", {}, items, seed=seed, **names)
    moved = {name for name, result in outcome.items() if result.status == "ok"}
    assert Counter(outcome[i].text for i in moved) == Counter(items[i] for i in moved)
    assert all(outcome[i].edits == (Edit(0, items[i], outcome[i].text),) for i in moved)
    assert all(outcome[i].text != items[i] and items[i].strip() for i in moved)
    assert all(
        outcome[i].status.startswith("impossible: ") for i in items.keys() - moved
    )
    filled = Counter(text for text in texts if text.strip())
    others = filled.total() - max(filled.values(), default=0)
    assert len(moved) == min(filled.total(), 2 * others)
    backwards = dict(reversed(items.items()))
    again = perturb_dataset("replace_text", {}, backwards, seed=seed, **names)
    assert again == outcome and list(again) == list(backwards)


@settings(deadline=None)
@given(text=TEXTS, other=TEXTS)
def test_the_wrong_ending_replaces_the_text(text: str, other: str) -> None:
    names = {"dataset": "d", "perturbation": "p", "degree": "single"}
    meta = {"i": {"id": "x", "wrong_ending": other}, "j": {}}
    result = perturb_dataset("wrong_ending", {}, {"i": text}, meta, seed=0, **names)[
        "i"
    ]
    if not other.strip() or other.split() == text.split():
        assert (result.text, result.edits) == (text, ())
        assert (
            result.status.startswith("impossible: ") and "wrong ending" in result.status
        )
    else:
        assert result == Perturbed(other, "ok", (Edit(0, text, other),))


@pytest.mark.parametrize("meta", [None, {"i": {}}, {"i": {"wrong_ending": 3}}])
def test_an_item_without_a_wrong_ending_is_named(
    meta: dict[str, dict[str, object]] | None,
) -> None:
    names = {"dataset": "d", "perturbation": "p", "degree": "single"}
    with pytest.raises(
        UserError, match="needs a string `wrong_ending` in every"
    ) as error:
        perturb_dataset("wrong_ending", {}, {"i": "t"}, meta, seed=0, **names)
    assert "dataset d, item i" in str(error.value)


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=5), st.integers(0, 6), SEEDS)
def test_no_larger_number_of_places_can_be_deranged(
    contents: list[str], count: int, seed: int
) -> None:
    def can_move(size: int) -> bool:
        return any(
            all(new != old for new, old in zip(order, some, strict=True))
            for some in combinations(contents, size)
            for order in permutations(some)
        )

    rng = stream(seed, "test")
    chosen = choose(contents, count, rng)
    picked = [contents[location] for location in chosen]
    givers = derange(picked, rng)
    assert sorted(givers) == list(range(len(chosen)))
    assert all(
        picked[giver] != content for giver, content in zip(givers, picked, strict=True)
    )
    assert len(chosen) == max(filter(can_move, range(min(count, len(contents)) + 1)))


# --- cards ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "options", "allowed"),
    [
        ("typo", {"k": 1}, "typos"),
        ("typos", {"k": 0}, "a whole number from 1"),
        ("typos", {"k": True}, "a whole number from 1"),
        ("typos", {"k": "all"}, "a whole number from 1"),
        ("typos", {}, "a whole number from 1"),
        ("typos", {"k": 1, "n": 1}, "k"),
        ("reorder_sentences", {"k": 1}, "a whole number from 2 or 'all'"),
        ("replace_text", {"k": 1}, "nothing"),
        ("wrong_ending", {"k": 1}, "nothing"),
    ],
)
def test_options_a_rule_does_not_take(
    rule: str, options: dict[str, object], allowed: str
) -> None:
    with pytest.raises(UserError) as error:
        check_options(rule, options, where="perturbations/x.yaml")
    assert "perturbations/x.yaml" in str(error.value)
    assert allowed in str(error.value).split("allowed:")[1]


# --- real texts -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def references() -> dict[str, list[str]]:
    if not SUMMEVAL.exists():
        pytest.skip("the SummEval annotations are not in ../shared/data")
    rows = map(json.loads, SUMMEVAL.read_text(encoding="utf-8").splitlines())
    return {row["id"]: row["references"] for row in rows}


@pytest.fixture(scope="module")
def originals(references: dict[str, list[str]]) -> dict[str, str]:
    """Return, per article, the first of its references with the most sentences."""
    return {
        item: max(texts, key=lambda text: len(split_sentences(text)))
        for item, texts in references.items()
    }


def test_originals_are_as_long_as_the_paper_says(originals: dict[str, str]) -> None:
    def mean(counts: list[int]) -> float:
        return sum(counts) / len(counts)

    texts = list(originals.values())
    assert len(texts) == 100
    counts = {
        "characters": [len(text) for text in texts],
        "words": [len(text.split()) for text in texts],
        "sentences": [len(split_sentences(text)) for text in texts],
    }
    for statistic, each in counts.items():
        assert round(mean(each), 1) == printed("dhp-selection", statistic=statistic)


@pytest.mark.heavy
def test_boundaries_agree_with_punkt_but_for_abbreviations(
    references: dict[str, list[str]],
) -> None:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    punkt = PunktSentenceTokenizer()
    texts = [text for group in references.values() for text in group]
    same = sum(
        split_sentences(text) == list(punkt.span_tokenize(text)) for text in texts
    )
    assert same / len(texts) > 0.98


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("rule", "k"),
    [
        ("delete_characters", 10),
        ("delete_characters", 50),
        ("typos", 10),
        ("typos", 50),
        ("reorder_sentences", 2),
        ("reorder_sentences", "all"),
        ("delete_words", 25),
        ("exchange_words", 3),
        ("replace_text", None),
    ],
)
def test_every_original_can_be_perturbed(
    originals: dict[str, str], rule: str, k: int | None
) -> None:
    options = {} if k is None else {"k": k}
    names = {"dataset": "summeval", "perturbation": rule, "degree": "minor"}
    outcome = perturb_dataset(rule, options, originals, seed=0, **names)
    assert Counter(result.status for result in outcome.values()) == {"ok": 100}
    assert all(apply_edits(originals[i], r.edits) == r.text for i, r in outcome.items())
    edits = {len(result.edits) for result in outcome.values()}
    if rule in ("delete_characters", "typos"):
        assert edits == {k}
    if rule == "delete_characters":
        assert all(len(originals[i]) - len(r.text) == k for i, r in outcome.items())
