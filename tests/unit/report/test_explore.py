"""The page of all judgments: what its shards hold, and that no text of theirs can do
harm.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explore_study import DOUBLED, ExploreStudy
from judgescope.core.cells import DERIVED
from judgescope.perturb.edits import Edit, apply_edits
from judgescope.report.explore import (
    CALL,
    Shelf,
    beginning,
    call,
    errors,
    literal,
    render,
    view,
)
from judgescope.report.html import script_hash
from judgescope.report.items import DatasetTexts, ListedError, Target
from judgescope.report.specs import PerturbationCard
from report_setup import Page
from running import HOME

HOSTILE = (
    "</script><script>document.title='harmed'</script><img src=x "
    "onerror=alert(1)> \u2028 \u202e"
)
ANY_TEXT = st.text(st.characters(), max_size=60)  # with halves of characters


def reported(folder: Path, kind: str) -> list[list[Any]]:
    """Return what the shards of a folder call the page with, of one kind."""
    collected = []
    for path in sorted(
        folder.glob("*.js"), key=lambda each: (len(each.name), each.name)
    ):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert line.startswith(f"{CALL}(") and line.endswith(");"), path
            name, *rest = json.loads(f"[{line[len(CALL) + 1 : -2]}]")
            collected += [rest] if name == kind else []
    return collected


@pytest.fixture
def study(tmp_path: Path) -> ExploreStudy:
    return ExploreStudy(tmp_path)


# --- reading --------------------------------------------------------------------------


@pytest.mark.heavy
def test_every_judgment_is_read_beside_its_text_reply_and_ratings(
    study: ExploreStudy,
) -> None:
    texts = DatasetTexts(study.files, "news")
    each, *rest = texts.judged(("systems", "annotator", "fluency"), "m")
    assert len(rest) == 7 and each.target.text.startswith(DOUBLED)
    assert (each.target.system, each.target.item, each.target_b) == (
        "able",
        "n000",
        None,
    )
    assert (fmean(each.ratings), each.ratings, each.score) == (4.5, [4.0, 5.0], 3.0)
    assert [draw.reply for draw in each.draws] == ["Bad. 3", "No."]
    assert [draw.value for draw in each.draws] == [3.0, None]
    assert each.statuses == ["ok", "refused"] and rest[0].statuses == ["ok"]
    assert [span.location for span in each.draws[0].spans or ()] == [
        "the the",
        "a horse",
    ]


@pytest.mark.heavy
def test_what_a_judge_made_from_others_says_has_no_reply(study: ExploreStudy) -> None:
    texts = DatasetTexts(study.files, "news")
    collected = [
        each
        for name in ("fluency", "adequacy")
        for each in texts.judged(("systems", "mean", name), DERIVED)
    ]
    assert len(collected) == 16 and {
        draw.reply for each in collected for draw in each.draws
    } == {None}
    assert [fmean(each.ratings) if each.ratings else None for each in collected] == [
        4.5
    ] * 8 + [None] * 8


def test_a_perturbed_text_is_read_with_the_one_that_it_was_made_of(
    study: ExploreStudy,
) -> None:
    texts = DatasetTexts(study.files, "news")
    before = {each.item: each.text for each in texts.targets("original").values()}
    perturbed = list(texts.targets("typos.minor").values())
    assert [each.before for each in perturbed] == [
        before[each.item] for each in perturbed
    ]
    assert all(
        apply_edits(each.before or "", each.edits) == each.text for each in perturbed
    )


@pytest.mark.heavy
def test_of_a_pair_both_texts_are_read(study: ExploreStudy) -> None:
    study.compare()
    entry, other, *_ = DatasetTexts(study.files, "news").judged(
        ("systems", "versus", "fluency"), "m"
    )
    pairs = [
        (each.target.system, each.target_b and each.target_b.system)
        for each in (entry, other)
    ]
    assert pairs == [("able", "best"), ("best", "able")]
    assert (entry.score, entry.draws[0].label, entry.draws[0].reply) == (None, "A", "A")
    folder = study.write().with_suffix("")
    [listed] = [
        own_part for _, number, own_part in reported(folder, "list") if number == 18
    ]
    assert (listed["t"], listed["b"][:4], listed["e"]) == (None, [1, 0, 3, 2], None)


# --- shards ---------------------------------------------------------------------------


@pytest.mark.simulation
@given(
    st.recursive(
        ANY_TEXT | st.none() | st.integers(), lambda each: st.lists(each, max_size=4)
    )
)
def test_a_literal_is_its_value_and_stands_safely_in_a_script(value: Any) -> None:
    text = literal(value)
    assert json.loads(text) == value
    assert not re.search(
        r"[<>&\x00-\x1f\u2028\u2029\u202a-\u202e\u200e\u200f\ud800-\udfff]", text
    )
    assert text.encode("utf-8").decode() == text


def test_what_json_has_no_word_for_is_no_literal() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        literal([float("nan")])
    assert call("list", [1, 2], literal({"a": "</script>"})) == (
        'judgescope("list",1,2,{"a":"\\u003c/script\\u003e"});\n'
    )


def test_the_list_has_the_beginning_of_each_text_in_a_single_line(
    study: ExploreStudy,
) -> None:
    names = [name for *_, name in reported(study.write().with_suffix(""), "set")]
    assert [len(name["beginnings"]) for name in names] == [
        len(name["ids"]) for name in names
    ]
    assert all(each.startswith(DOUBLED) for each in names[2]["beginnings"])
    assert beginning(" so\n it \t is ") == "so it is"
    assert beginning("x" * 90, 90) == "x" * 90
    assert beginning("x y " * 1000, 90) == f"{('x y ' * 1000)[:90]}…"
    assert beginning(f"x{' ' * 1000}y") == "x…"  # what is left out has a sign


@settings(deadline=None)  # it writes files
@given(sizes=st.lists(st.integers(0, 90), max_size=40))
def test_a_shelf_loses_no_row_and_tells_where_each_is(
    sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shelf")
    shelf = Shelf(folder, "rows.news", "rows", limit=100)
    rows = [["x" * size] for size in sizes]
    parts = [shelf.put([0], rows[:20]), shelf.put([1], rows[20:])]
    result: dict[int, list[Any]] = defaultdict(list)
    for location, first, own_part in reported(folder, "rows"):
        assert len(result[location]) == first
        result[location] += own_part
    assert [result[0], result[1]] == [rows[:20], rows[20:]]
    assert [[first for first, _ in part] for part in parts] == [
        [first for location, first, _ in reported(folder, "rows") if location == at]
        for at in (0, 1)
    ]
    for part in parts:
        for (first, number), after in zip(part, [*part[1:], None], strict=False):
            text = (folder / f"rows.news.{number}.js").read_text()
            assert f",{first},[" in text and (after is None or after[0] > first)


@pytest.mark.heavy
def test_the_shards_hold_every_judgment(study: ExploreStudy) -> None:
    folder = study.write().with_suffix("")
    [[index]] = reported(folder, "index")
    [data] = index["datasets"]
    assert [each[:2] for each in data["sets"]] == [
        list(each) for each in study.sets.items()
    ]
    assert data["sets"][1][2] == "Mistyped. Made by the rule typos."
    assert len(data["cells"]) == 18 and sum(cell[3] for cell in data["cells"]) == 6 * (
        4 + 4 + 8
    )
    lists = {number: each for _, number, each in reported(folder, "list")}
    rows = {
        number: own_part
        for _, number, first, own_part in reported(folder, "rows")
        if first == 0
    }
    assert sorted(lists) == sorted(rows) == list(range(18))
    at = data["cells"].index([2, 1, 0, 8])  # systems, annotator, fluency
    each, words = lists[at], lists[at]["words"]
    assert (each["t"], each["b"], each["v"]) == (None, None, [3.0] * 8)
    statuses = [name for name, _ in index["statuses"]]
    ok, refused = statuses.index("ok"), statuses.index("refused")
    both = 1 << ok | 1 << refused
    assert each["u"] == [both, 1 << ok, 1 << ok, both, 1 << ok, 1 << ok, both, 1 << ok]
    first, second = rows[at][0]
    assert first[:3] == ["Bad. 3", 3.0, ok] and second[:3] == ["No.", None, refused]
    assert (words[first[3]], words[first[4]], words[each["e"]]) == (
        "number",
        "x@1",
        "mean",
    )
    assert first[-1][0] == [15, 22, 4.0, "double", "Twice. ", "exact", "the the"]
    names = {number: own_part for _, number, own_part in reported(folder, "set")}
    assert names[2]["ratings"] == {"0": [[4.0, 5.0]] * 8} and names[2]["systems"][
        :2
    ] == [
        "able",
        "best",
    ]


@pytest.mark.heavy
def test_files_have_names_of_ids_alone(study: ExploreStudy) -> None:
    folder = study.write().with_suffix("")
    (folder / "rows.gone.js").write_text("")
    study.write()
    assert all(
        re.fullmatch(r"[a-z0-9_.-]+\.js", path.name) for path in folder.iterdir()
    )
    assert not (folder / "rows.gone.js").exists()
    assert len(list(folder.iterdir())) == 1 + 1 + 3 + 3 + 1 + 1


@pytest.mark.heavy
def test_cells_where_one_of_rating_and_score_is_best_at_its_lowest_are_named(
    study: ExploreStudy,
) -> None:
    sums = {
        "ratings": {"fluency": 6.0},
        "scores": {"plain": {"fluency": 6.0, "adequacy": 6.0}},
    }
    study.spec["datasets"][0]["turned"] = sums
    [[index]] = reported(study.write().with_suffix(""), "index")
    [data] = index["datasets"]
    opposed = {tuple(data["cells"][cell][1:3]) for cell in data["opposed"]}
    assert opposed == {
        (0, 1),
        (1, 0),
        (2, 0),
    }  # judge and aspect, in every set of texts
    assert len(data["opposed"]) == 9


@pytest.mark.heavy
def test_the_script_writes_the_same_bytes_and_no_path(study: ExploreStudy) -> None:
    written = []
    for seed in ("1", "2"):
        subprocess.run(
            [
                sys.executable,
                str(HOME / "scripts" / "job.py"),
                "explore",
                "--spec",
                "-",
            ],
            input=json.dumps(study.spec),
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"},
            check=True,
        )
        files = sorted(study.page.parent.rglob("*.*"))
        written.append({path.name: path.read_bytes() for path in files})
    assert written[0] == written[1] and len(written[0]) == 11
    assert not any(str(study.folder).encode() in text for text in written[0].values())


# --- texts ----------------------------------------------------------------------------


def target(before: str | None, text: str, *edits: Edit) -> Target:
    return Target("t", "i", "s", 0, text, before, edits)


def test_a_text_is_reported_once_with_its_changes() -> None:
    rule = PerturbationCard(name="", level="word", method="rule", kind="once")
    assert view(target(None, "As it is."), None) == "As it is."
    perturbed = target("One cat.", "One dog.", Edit(4, "cat", "dog"))
    assert view(perturbed, rule) == [["One ", [1, "cat", 0], [2, "dog", 0], "."]]
    each = target("A b c d e f.", "A x c d y f.", Edit(2, "b c d e", "x c d y"))
    assert view(each, replace(rule, method="llm")) == [
        ["A ", [1, "b", 0], [2, "x", 0], " c d ", [1, "e", 0], [2, "y", 0], " f."]
    ]
    moved = target("A. B.", "B. A.", Edit(0, "A.", "B."), Edit(3, "B.", "A."))
    assert view(moved, replace(rule, level="sentence")) == [
        [[3, "A.", 1], " ", [3, "B.", 2]],
        [[3, "B.", 2], " ", [3, "A.", 1]],
    ]


@given(ANY_TEXT.filter(bool), st.data())
def test_offsets_of_errors_count_as_a_script_counts(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = ListedError(start, end, 1.0, None, "e", "exact", "l")
    [[left, right, *_]] = errors([span], text)
    units = text.encode("utf-16-le", "surrogatepass")
    assert units[2 * left : 2 * right].decode("utf-16-le", "surrogatepass").encode(
        "utf-16-le", "surrogatepass"
    ) == text[start:end].encode("utf-16-le", "surrogatepass")


@pytest.mark.heavy
def test_the_page_holds_no_data_and_lets_nothing_else_run(tmp_path: Path) -> None:
    html = ExploreStudy(tmp_path, marked=HOSTILE).write().read_text(encoding="utf-8")
    parsed = Page(html)
    assert (parsed.wrong, parsed.open) == ([], []) and "harmed" not in html
    assert [tag for tag, _ in parsed.elements if tag in {"script", "img", "link"}] == [
        "script"
    ]
    assert not any(
        name.startswith("on") for _, own_part in parsed.elements for name in own_part
    )
    assert not re.search(r"https?://|url\(|innerHTML|eval\(|fetch\(", html)
    first, second = [
        each["content"] or "" for each in parsed.named("meta") if "http-equiv" in each
    ]
    script = html.partition("<script>")[2].partition("</script>")[0]
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert (
        f"style-src 'sha256-{script_hash(style)}';" in first and "'unsafe" not in first
    )
    assert f"script-src 'sha256-{script_hash(script)}' 'strict-dynamic'" in first
    assert "require-trusted-types-for 'script'" in first
    assert second == f"script-src 'sha256-{script_hash(script)}' 'self' file:"


def test_the_name_of_a_study_is_escaped() -> None:
    assert "&lt;b&gt;⟨U+202E⟩" in render("<b>\u202e")
