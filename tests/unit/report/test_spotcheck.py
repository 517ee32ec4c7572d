"""The page of perturbed texts: what is drawn, how edits are marked, and that no text
does harm.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import report_study
from judgescope.perturb.edits import Edit, apply_edits
from judgescope.perturb.targets import perturb_dataset
from judgescope.report import marked as marking
from judgescope.report.html import CLOSED, script_hash
from judgescope.report.marked import (
    Piece,
    compared,
    edited,
    marked,
    reordered,
    shortened,
    states,
)
from judgescope.report.specs import PerturbationCard
from judgescope.report.spotcheck import DRAWN, UNDONE, drawn
from judgescope.schema.tables import read_table, write_table
from report_setup import Page
from running import HOME
from spotcheck_study import Study

ANY_TEXT = st.text(st.characters(), max_size=60) | st.text(
    "ab \n.é\u0301漢\U0001f600", max_size=40
)


def before(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if piece.kind != "ins")


def after(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if piece.kind != "del")


def spelled(pieces: Sequence[Piece]) -> str:
    """Return pieces as one line: [-deleted-] and [+inserted+]."""
    marks = {"same": "", "del": "-", "ins": "+", "gap": "…"}
    return "".join(
        f"[{mark}{piece.text}{mark}]" if mark else piece.text
        for piece in pieces
        for mark in [marks[piece.kind]]
    )


TEN = {
    f"n{number:02}": f"Text {number} tells of {number} mayors." for number in range(40)
}


# --- what is marked -------------------------------------------------------------------


@given(ANY_TEXT, ANY_TEXT)
def test_two_compared_texts_are_both_in_their_marks(old: str, new: str) -> None:
    pieces = marked(compared(old, new))
    assert (before(pieces), after(pieces)) == (old, new)
    assert all(piece.text for piece in pieces)
    assert (old == new) == all(piece.kind == "same" for piece in pieces)


@given(ANY_TEXT, st.data())
def test_edits_are_marked_to_the_letter(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    edits = [Edit(start, text[start:end], data.draw(ANY_TEXT)) for start, end in spans]
    pieces = marked(edited(text, edits))
    assert (before(pieces), after(pieces)) == (text, apply_edits(text, edits))
    changed = sum(len(piece.text) for piece in pieces if piece.kind == "del")
    assert changed == sum(len(edit.before) for edit in edits)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The cat sat.", "The car sat.", "The [-cat-][+car+] sat."),
        (
            "In New York today.",
            "In Old Delhi today.",
            "In [-New York-][+Old Delhi+] today.",
        ),
        (
            "Ann Lee met us in the old town hall with Bob.",
            "Zoe Fox met us in the old town hall with Tim.",
            "[-Ann Lee-][+Zoe Fox+] met us in the old town hall with [-Bob-][+Tim+].",
        ),
        ("It is so.", "It is so. It was not.", "It is so.[+ It was not.+]"),
        ("a b c d e f g", "a X c d e Y g", "a [-b-][+X+] c d e [-f-][+Y+] g"),
        ("a b c d e", "v w c y z", "[-a b c d e-][+v w c y z+]"),
        ("我喜欢猫。", "我喜欢狗。", "我喜欢[-猫-][+狗+]。"),
        ("same", "same", "same"),
        ("", "new", "[+new+]"),
    ],
)
def test_words_that_changed_are_marked_by_hand(
    old: str, new: str, expected: str
) -> None:
    assert spelled(marked(compared(old, new))) == expected


def test_what_is_too_long_to_compare_is_a_single_change() -> None:
    old, new = "a b c d e f g h", "a X c d e f Y h"
    assert spelled(marked(compared(old, new))).count("[-") == 2
    one_change = compared(old, new, most_words=10)
    assert spelled(marked(one_change)) == "a [-b c d e f g-][+X c d e f Y+] h"


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        (" ", "␣"),
        ("\n\t", "↵⇥"),
        ("\u200b", ""),
        ("\u200d", "U+200D"),
        ("a ", ""),
        ("\u202e", ""),
        (".", ""),
    ],
)
def test_a_change_that_nobody_would_see_has_a_sign(text: str, sign: str) -> None:
    assert Piece("ins", text).sign == sign


@given(st.permutations(["One.", "Two.", "Two.", "Three.", "Four."]), st.integers(0, 9))
def test_moved_sentences_have_a_single_number_in_both_texts(
    sentences: list[str], seed: int
) -> None:
    text = "  ".join(sentences) + "\n"
    names = {"dataset": "d", "perturbation": "p", "degree": "major"}
    result = perturb_dataset(
        "reorder_sentences", {"k": 3}, {"i": text}, seed=seed, **names
    )["i"]
    both = reordered(text, result.edits)
    assert both is not None
    assert ["".join(piece.text for piece in each) for each in both] == [
        text,
        result.text,
    ]
    places = [
        {each.number: each.text for each in pieces if each.kind == "moved"}
        for pieces in both
    ]
    assert places[0] == places[1] and list(places[0]) != list(places[1])
    assert len(places[0]) == 3


def test_edits_that_move_nothing_are_no_reordering() -> None:
    assert reordered("One. Two.", []) is None
    assert reordered("One. Two.", [Edit(0, "One.", "1.")]) is None
    assert (
        reordered("One. Two.", [Edit(0, "One.", "1."), Edit(5, "Two.", "2.")]) is None
    )


# --- what is shortened ----------------------------------------------------------------


def test_only_what_is_far_from_a_change_is_left_out_of_a_long_text() -> None:
    text = "".join(f"{number:04} " for number in range(1_000))
    result = shortened(marked(edited(text, [Edit(2_500, "0500", "")])))
    assert spelled(result) == (
        f"{text[:120]}[…2\u202f260 characters…]{text[2_380:2_500]}[-0500-]"
        f"{text[2_504:2_624]}[…2\u202f256 characters…]{text[-120:]}"
    )
    short = marked(edited(text[:1_900], [Edit(0, "0000", "1")]))
    assert shortened(short) == short


def test_a_long_change_keeps_its_ends_and_very_many_changes_their_beginning() -> None:
    end = Piece("del", "x" * 1_000)
    left_out = Piece("gap", "7\u202f000 deleted characters")
    added = Piece("ins", "y")
    assert shortened([Piece("del", "x" * 9_000), added]) == [end, left_out, end, added]
    many = [Piece("del", "x"), Piece("same", "y")] * 50_000
    result = shortened(many)
    assert len(result) < 10_100 and result[-1].text == "89\u202f999 more characters"


@given(
    st.lists(st.tuples(st.sampled_from(["same", "del", "ins"]), st.integers(1, 9_000)))
)
def test_what_is_left_out_is_counted(sizes: list[tuple[Any, int]]) -> None:
    pieces = [Piece(kind, "e\u0301\u0323" * size) for kind, size in sizes]
    result = shortened(pieces)
    total = sum(
        int("".join(filter(str.isdigit, each.text)))
        for each in result
        if each.kind == "gap"
    )
    shown = sum(len(each.text) for each in result if each.kind != "gap")
    assert total + shown == sum(len(piece.text) for piece in pieces)
    limits = marking.SHOWN
    assert shown <= limits.in_all + 2 * limits.changed + limits.in_full
    assert all(each.text[0] == "e" for each in result if each.kind != "gap")


# --- what is drawn --------------------------------------------------------------------


def chosen(
    study: Study, seed: int, degree: str = "minor"
) -> tuple[list[str], list[str]]:
    table = read_table(
        "targets", study.folder / "targets" / "news" / "cuts.minor.parquet"
    )
    done, undone = drawn(table, seed, "news", "cuts", degree)
    return [row["item"] for row in done], [row["item"] for row in undone]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path, TEN)


def add_cuts(study: Study, items: Sequence[str]) -> None:
    """Add texts of which every fourth is impossible to perturb and every tenth
    short.
    """
    rows = []
    for number, item in enumerate(items):
        text = study.originals[item]
        status = "short: 1 of 3" if number % 10 == 1 else "ok"
        row = study.row(item, f"{item}:cuts", text[1:], status=status)
        row |= {"edits": [{"offset": 0, "before": text[0], "after": ""}]}
        undone = {"text": text, "status": "impossible: one word", "edits": []}
        rows.append(row | undone if number % 4 == 0 else row)
    study.add("cuts", rows)


def test_ten_perturbed_texts_are_drawn_by_the_seed_and_the_names(study: Study) -> None:
    add_cuts(study, list(TEN))
    done, undone = chosen(study, 7)
    assert (len(done), len(undone)) == (DRAWN, UNDONE) == (10, 3)
    assert done == sorted(done) and undone == sorted(undone)
    assert all(int(item[1:]) % 4 for item in done)
    assert not any(int(item[1:]) % 4 for item in undone)
    assert chosen(study, 7) == (done, undone)
    others = {item for seed in range(20) for item in chosen(study, seed)[0]}
    assert others == {item for item in TEN if int(item[1:]) % 4}
    assert chosen(study, 7, "major")[0] != done


def test_the_order_of_a_table_changes_no_draw(study: Study) -> None:
    add_cuts(study, list(TEN))
    first = chosen(study, 7)
    path = study.folder / "targets" / "news" / "cuts.minor.parquet"
    write_table("targets", read_table("targets", path)[::-1], path)
    assert tuple(each[::-1] for each in chosen(study, 7)) == first


@pytest.mark.heavy
def test_the_script_writes_the_same_bytes_and_no_path(study: Study) -> None:
    add_cuts(study, list(TEN))
    study.perturbation("typos", k=4)
    written = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"}
        subprocess.run(
            [
                sys.executable,
                str(HOME / "scripts" / "job.py"),
                "spotcheck",
                "--spec",
                "-",
            ],
            input=json.dumps(study.spec),
            text=True,
            env=environment,
            check=True,
        )
        written.append(Path(study.spec["output"]).read_bytes())
    assert written[0] == written[1] and str(study.folder).encode() not in written[0]
    study.spec["seed"] = 8
    assert study.page().encode() != written[0]


# --- what is shown --------------------------------------------------------------------


def test_a_cell_tells_what_was_asked_for_and_what_became_of_it(study: Study) -> None:
    add_cuts(study, list(TEN))
    text = Page(study.page()).text
    assert (
        "cuts , minor word level · k = 3 · 26 ok · 4 short · 10 impossible · 0 failed"
        in text
    )
    assert "Bad. Made by hand." in text
    assert "Study tiny: the perturbed texts" in text and "The news" in text
    assert text.count("impossible: one word") == UNDONE


def test_the_marks_of_a_page_are_the_edits_of_the_table(study: Study) -> None:
    study.perturbation("delete_characters", level="character", k=2)
    main = study.page().partition("<main>")[2]
    gone = "".join(re.findall("<del[^>]*>(.*?)</del>", main))
    assert len(gone) == 2 * DRAWN and "<ins" not in main
    assert main.count('<p class="text" dir="auto">') == DRAWN


def test_texts_of_other_items_are_deleted_and_inserted_complete(study: Study) -> None:
    study.perturbation("replace_text", level="sentence")
    main = study.page().partition("<main>")[2]
    pairs = main.count("</del><ins>")
    assert pairs == DRAWN == main.count('dir="auto"><del>')


def test_moved_sentences_stand_in_both_texts(tmp_path: Path) -> None:
    study = Study(tmp_path, {"a": "One cat. Two dogs. Three birds."})
    study.perturbation("reorder_sentences", level="sentence", k=2)
    main = study.page().partition("<main>")[2]
    assert main.count("<mark><sup>1</sup>") == main.count("<mark><sup>2</sup>") == 2
    assert ">Original<" in main and ">Perturbed<" in main and "<del" not in main


def test_texts_of_a_model_are_compared_word_by_word(tmp_path: Path) -> None:
    study = Study(tmp_path, {"a": "The mayor opened the bridge on Monday, at last."})
    study.made({"a": "The baker opened the bridge on Friday, at last."}, {})
    main = study.page().partition("<main>")[2]
    expected = (
        "The <del>mayor</del><ins>baker</ins> opened the bridge on <del>Monday</del>"
    )
    assert expected + "<ins>Friday</ins>, at last." in main


def test_a_text_that_failed_is_shown_with_its_reason_and_last_reply(
    tmp_path: Path,
) -> None:
    texts = dict.fromkeys("abc", "The mayor opened the bridge on Monday, at last.")
    study = Study(tmp_path, texts)
    result = "failed: it has 2 changes, not 1"
    last = "The baker opened the bridge on Friday, at last."
    failed = {
        "a": (result, ["First try.", last]),
        "b": ("failed: the reply is empty", [""]),
        "c": ("failed: the endpoint refused: " + "no " * 999, ["HTTP 400"]),
    }
    study.made({}, failed)
    html = study.page()
    text = Page(html).text
    assert result in text and "No text was perturbed." in text and "3 failed" in text
    assert "<del>mayor</del><ins>baker</ins>" in html and "First try" not in html
    assert "The text; the last reply is empty" in text
    assert (
        "<ins>HTTP 400</ins>" in html and "no " * 80 in text and "no " * 101 not in text
    )


def test_a_text_of_a_chain_is_marked_against_the_one_before(tmp_path: Path) -> None:
    study = Study(tmp_path, {"a": "One good text."})
    first = study.row("a", "a:chain.1", "One bad text.")
    second = study.row("a", "a:chain.2", "One bad book.", step=2, parent="a:chain.1")
    study.add("chain", [first, second], method="inject", kind="chain")
    main = study.page().partition("<main>")[2]
    assert "One <del>good</del><ins>bad</ins> text." in main
    assert "step 2, ok" in main and "One bad <del>text</del><ins>book</ins>." in main


HOSTILE = {
    "script": "<script>alert(1)</script> <img src=x onerror=alert(2)> </p></details>",
    "controls": "a\x00b\x1bc\rd\x85e\ufffef",
    "right to left": "\u202eabc \u05d0\u05d1\u05d2 \u2066def\u200f",
    "one line": "x" * 1_000_000,
    "template": "{{ 7 * 7 }} {% raw %} &amp; \"quoted\" 'too'",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_can_do_harm(kind: str, tmp_path: Path) -> None:
    evil = HOSTILE[kind]
    study = Study(tmp_path, {"a": f"{evil} one", "b": f"{evil} two", "c": "Three."})
    study.perturbation("replace_text", level="sentence")
    study.made({"a": f"{evil} 1"}, {"b": (f"failed: {evil}", [f"{evil} 2"])})
    card = {"name": evil[:99], "issue": evil[:99], "by": evil[:99]}
    study.spec["perturbations"]["lie"] |= card
    html = study.page()
    parsed = Page(html)
    assert (parsed.wrong, parsed.open) == ([], [])
    assert not {"script", "img"} & {tag for tag, _ in parsed.elements}
    assert not any(
        name.startswith("on") for _, result in parsed.elements for name in result
    )
    assert len(html) < 100_000
    assert not set("\x00\x1b\r\x85\ufffe\u202e\u2066") & set(html)
    shown = {
        "script": "&lt;script&gt;alert(1)&lt;/script&gt; &lt;img src=x "
        "onerror=alert(2)&gt;",
        "controls": "a⟨U+0000⟩b⟨U+001B⟩c⟨U+000D⟩d⟨U+0085⟩e⟨U+FFFE⟩f",
        "right to left": "⟨U+202E⟩abc \u05d0\u05d1\u05d2 ⟨U+2066⟩def⟨U+200F⟩",
        "one line": "characters …]",
        "template": "{{ 7 * 7 }} {% raw %} &amp;amp; &#34;quoted&#34; &#39;too&#39;",
    }
    assert shown[kind] in html.partition("<main>")[2]


def test_a_name_with_half_a_character_can_be_written(study: Study) -> None:
    add_cuts(study, ["n01"])
    study.spec["perturbations"]["cuts"]["name"] = "half \ud800"
    assert "half ⟨U+D800⟩" in study.page().encode("utf-8").decode()


def test_the_page_stands_alone_and_leads_back(study: Study) -> None:
    add_cuts(study, list(TEN))
    html = study.page()
    parsed = Page(html)
    policies = [
        result["content"] for result in parsed.named("meta") if "http-equiv" in result
    ]
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert policies == [
        "; ".join([*CLOSED, f"style-src 'sha256-{script_hash(style)}'"])
    ]
    assert "http://" not in html and "https://" not in html and "url(" not in html
    links = [result["href"] for result in parsed.named("a")]
    assert links == ["index.html", "#news"]
    ids = [result["id"] for _, result in parsed.elements if "id" in result]
    assert ids == ["news", "news.cuts.minor"]
    assert not {"src", "srcset", "action"} & {
        name for _, result in parsed.elements for name in result
    }


@pytest.mark.long(7)
@pytest.mark.heavy
def test_a_full_study_is_a_small_page(tmp_path: Path) -> None:
    """As many cells as Wang et al. 2024 have, texts of 500 characters, with many edits
    in each.
    """
    text = "The mayor of the town said that the old bridge would stay closed. " * 8
    study = Study(
        tmp_path, {f"n{number}": f"{number} {text}"[:500] for number in range(12)}
    )
    for _ in range(59):
        study.perturbation("typos", level="character", k=50)
    assert 500_000 < len(study.page().encode()) < 3_000_000


@pytest.mark.heavy
def test_a_page_of_texts_that_a_study_lacks_is_not_named_and_does_not_stay(
    tmp_path: Path,
) -> None:
    spec = report_study.make(tmp_path, texts=False)
    stale = Path(spec["output"]).with_name("texts.html")
    stale.parent.mkdir()
    stale.write_text("old", encoding="utf-8")
    subprocess.run(
        [sys.executable, str(HOME / "scripts" / "job.py"), "report", "--spec", "-"],
        input=json.dumps(spec),
        text=True,
        check=True,
    )
    assert not stale.exists()
    assert "texts.html" not in Path(spec["output"]).read_text(encoding="utf-8")


def test_what_is_known_of_an_edit_decides_how_it_is_shown() -> None:
    """Sentences move, words are put out and in; of a model only the two texts are
    known.
    """
    before, edits = "b, a.", [Edit(0, "b", "a"), Edit(3, "a", "b")]
    after = apply_edits(before, edits)
    rule = PerturbationCard(name="", level="sentence", method="rule", kind="once")

    def kinds(
        card: PerturbationCard | None, own_part: list[Edit] = edits
    ) -> list[list[str]]:
        return [
            [piece.kind for piece in state]
            for state in states(before, after, own_part, card)
        ]

    change = ["del", "ins", "same"]
    assert kinds(rule) == [["moved", "same"] * 2] * 2
    assert kinds(replace(rule, level="word")) == [2 * change]
    values = [Edit(0, before, after)]
    for card in (None, replace(rule, method="llm"), replace(rule, kind="graded")):
        assert kinds(card, values) == kinds(rule, []) == [change]
