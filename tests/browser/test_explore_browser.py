"""The page of all judgments in a browser: links, filters, pages, keys, and texts that
do harm.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from browser import Browser, browser, needs_browser
from explore_study import DOUBLED, ExploreStudy
from judgescope.report.explore import literal

pytestmark = [pytest.mark.heavy, needs_browser]
CODES = {"Tab": 9, "Space": 32, "End": 35, "ArrowDown": 40, "ArrowUp": 38}
LINE = 1_000_000
EVIL = (
    "</script><script>document.title='harmed'</script><img src=x "
    "onerror=document.title='harmed'> {{ 7 * 7 }} a\u2028b\u202ec\u200fd\u0085e\ufeff "
)
SHOWN = (
    "</script><script>document.title='harmed'</script><img src=x "
    "onerror=document.title='harmed'> {{ 7 * 7 }} "
    "a⟨U+2028⟩b⟨U+202E⟩c⟨U+200F⟩d⟨U+0085⟩e⟨U+FEFF⟩ "
)


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Browser]:
    with browser(tmp_path / "browser") as result:
        yield result


def opened(window: Browser, page: Path, **where: str) -> None:
    """Open the page at what an address asks for, anew."""
    window.send("Page.navigate", url="about:blank")
    window.open(page)
    shows(window, "judgment")
    if where:
        text = "&".join(f"{name}={value}" for name, value in where.items())
        window.value(f"location.hash = {json.dumps(text)}")
        window.until(lambda: window.value("document.querySelector('.opener') !== null"))


def status(window: Browser) -> str:
    return str(window.value("document.querySelector('[role=status]').textContent"))


def shows(window: Browser, message: str) -> None:
    """Wait until the line above the list says something."""
    window.until(lambda: message in status(window).replace("\u202f", ""))


def press(window: Browser, *keys: str) -> None:
    for name in keys:
        key: dict[str, Any] = {
            "key": name,
            "code": name,
            "windowsVirtualKeyCode": CODES[name],
        }
        key |= {"key": " ", "text": " "} if name == "Space" else {}
        for kind in ("keyDown", "keyUp"):
            window.send("Input.dispatchKeyEvent", type=kind, **key)


def tab_to(window: Browser, what: str) -> None:
    """Press the tab key until an element is reached."""
    for _ in range(200):
        press(window, "Tab")
        if window.value(f"document.activeElement.matches({json.dumps(what)})"):
            return
    raise AssertionError(f"the tab key does not reach {what}")


def texts(window: Browser, what: str) -> list[str]:
    script = (
        f"Array.from(document.querySelectorAll({json.dumps(what)}), (one) => "
        "one.textContent)"
    )
    result: list[str] = window.value(script)
    return result


def test_an_address_leads_to_a_single_judgment_with_all_that_was_stated(
    window: Browser, tmp_path: Path
) -> None:
    page = ExploreStudy(tmp_path).write()
    opened(
        window,
        page,
        dataset="news",
        judge="annotator",
        aspect="fluency",
        target="n000:best",
    )
    shows(window, "1 judgment of 96")
    window.until(lambda: bool(texts(window, ".panel .draw")))
    first, second = texts(window, ".panel .draw")
    assert "draw 1 of 2 · read as 3 · by the rule “number” · parser x@1" in first
    assert (
        "Bad. 3" in first
        and "“the the”, severity 4, double, found: exact: Twice." in first
    )
    assert (
        "“a horse”, severity 1, not found in the text" in first
        and "draw 2 of 2" in second
    )
    assert texts(window, ".panel .marked mark") == ["the the1"] * 2
    assert (
        texts(window, ".panel .marked .text")[0]
        == DOUBLED.replace("the the", "the the1") + ". "
    )
    [facts] = texts(window, ".panel dl")
    assert "People's rating4.5 (mean of 4, 5)" in facts and "Itemn000" in facts
    assert texts(window, ".panel .boxed") == ["Source of n000. ", "So."]


def test_the_changes_of_a_perturbed_text_are_marked(
    window: Browser, tmp_path: Path
) -> None:
    study = ExploreStudy(tmp_path)
    where = {"judge": "mean", "aspect": "adequacy", "perturbation": "typos.minor"}
    opened(window, study.write(), **where, target="n001:typos")
    window.until(lambda: bool(texts(window, ".panel .text del")))
    [row] = [row for row in study.targets["typos.minor"] if row["item"] == "n001"]
    gone = "".join(edit["before"] for edit in row["edits"])
    assert len(gone) == 2 and "".join(texts(window, ".panel del")) == gone
    assert "computed from other judges" in texts(window, ".panel .draw")[0]


def test_of_a_pair_both_texts_are_shown(window: Browser, tmp_path: Path) -> None:
    study = ExploreStudy(tmp_path)
    study.compare()
    opened(window, study.write(), judge="versus", target="n001:best", other="n001:able")
    shows(window, "1 judgment of 104")
    window.until(lambda: bool(texts(window, ".panel .draw")))
    assert texts(window, ".opener") == ["n001:best against n001:able"]
    assert texts(window, ".panel h2")[:2] == ["The first text", "The second text"]
    assert (
        "read as 1 · label “A” · by the rule “choice”"
        in texts(window, ".panel .draw")[0]
    )
    assert texts(window, "tbody td.number")[:2] == ["–", "–"]


def test_what_a_study_does_not_have_is_stated(window: Browser, tmp_path: Path) -> None:
    page = ExploreStudy(tmp_path).write()
    opened(window, page)
    for location, result in {
        "judge=nobody": "News has no judge “nobody”.",
        "dataset=chat": "This study has no dataset “chat”.",
        "perturbation=x%E2%80%AE": "News has no perturbation “x⟨U+202E⟩”.",
        "judge=plain&find=nowhere": "0 judgments of 96",
    }.items():
        window.value(f"location.hash = {json.dumps(location)}")
        shows(window, result)
        assert not window.value("document.querySelector('main > table').offsetHeight")
    page.with_suffix("").joinpath("list.news.plain.js").unlink()
    window.send("Page.navigate", url="about:blank")
    window.open(page)
    shows(window, "explore/list.news.plain.js cannot be read")


def test_it_is_filtered_and_paged_by_keys(window: Browser, tmp_path: Path) -> None:
    page = ExploreStudy(tmp_path, items=40).write()
    opened(window, page, order="study")
    shows(window, "960 judgments of 960: 1 to 50")
    assert window.value("document.querySelectorAll('tbody > tr').length") == 50
    tab_to(window, "[name=judge]")
    press(window, "ArrowDown")
    shows(window, "320 judgments of 960: 1 to 50")
    assert window.value("location.hash") == "#judge=plain&order=study"
    tab_to(window, "[name=perturbation]")
    press(window, "End")
    shows(window, "160 judgments of 960: 1 to 50")
    assert set(texts(window, "tbody code")) == {"plain"}
    tab_to(window, "nav [value='1']")
    press(window, "Space")
    shows(window, "160 judgments of 960: 51 to 100")
    assert (
        window.value("location.hash")
        == "#judge=plain&perturbation=systems&order=study&page=2"
    )
    press(window, "Space", "Space")
    shows(window, "151 to 160")
    assert texts(window, ".opener")[-1] == "n039:best"
    window.value("document.querySelector('[name=order]').focus()")
    tab_to(window, ".opener")
    press(window, "ArrowDown", "Space")
    assert (
        window.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    )
    window.until(lambda: len(texts(window, ".panel .draw")) == 1)
    press(window, "Space", "ArrowUp")
    assert window.value("document.querySelector('.panel').offsetHeight") == 0
    assert window.value("document.activeElement === document.querySelector('.opener')")
    window.value("history.back()")
    shows(window, "101 to 150")


def test_the_list_is_searched_and_ordered(window: Browser, tmp_path: Path) -> None:
    opened(window, ExploreStudy(tmp_path).write())
    window.value("document.querySelector('[name=find]').focus()")
    window.send("Input.insertText", text="N003:B")
    shows(window, "6 judgments of 96")
    assert set(texts(window, ".opener")) == {"n003:best"}
    for order, scores in {"low": ["1", "4"], "high": ["4", "1"]}.items():
        window.value(
            f"location.hash = 'judge=plain&perturbation=original&order={order}'"
        )
        window.until(lambda s=scores: texts(window, "tbody td:nth-child(3)")[::7] == s)  # type: ignore[misc]
    window.value("location.hash = 'status=refused'")
    shows(window, "14 judgments of 96")
    assert set(texts(window, "tbody td:nth-child(3) small")) == {"refused"}


def test_the_score_that_is_farthest_from_the_ratings_comes_first(
    window: Browser, tmp_path: Path
) -> None:
    text = "judge=plain&aspect=fluency&perturbation=systems"
    opened(
        window,
        ExploreStudy(tmp_path).write(),
        **dict(parse_qsl(f"{text}&order=study")),
    )
    shows(window, "8 judgments of 96")
    ids = texts(window, ".opener")
    ratings = [[float(score)] for score in texts(window, "tbody td:nth-child(3)")]
    worst = ratings.index(min(ratings))
    ratings[worst] = [max(ratings)[0] + 1]
    window.value(f"study.datasets[0].sets[2][3].ratings[0] = {json.dumps(ratings)}")
    window.value(f"location.hash = '{text}'")
    window.until(lambda: texts(window, ".opener")[:1] == [ids[worst]])
    assert sorted(texts(window, ".opener")) == sorted(ids)
    beginnings = texts(window, ".beginning")
    assert len(beginnings) == len(ids) and all(
        beginning.startswith(DOUBLED) for beginning in beginnings
    )
    numbers = window.value("[1.23456, -0.5, 12345.6, null].map(rounded)")
    assert numbers == ["1.235", "\u22120.5", "12346", "–"]


def test_no_text_runs_freezes_or_is_lost(window: Browser, tmp_path: Path) -> None:
    study = ExploreStudy(tmp_path, items=1, marked=EVIL + "x" * LINE)
    page = study.write()
    sources = page.with_suffix("") / "sources.news.0.js"
    half = sources.read_text("utf-8").replace('"So."', literal("half \ud800 of it"))
    sources.write_text(half, encoding="utf-8")
    opened(window, page, judge="plain", aspect="fluency", target="n000:typos")
    window.until(lambda: bool(texts(window, ".panel .draw")))
    assert window.value("document.querySelector('.panel').textContent.length") < 30_000
    assert len(texts(window, ".panel .more")) >= 3
    window.value(
        "document.querySelectorAll('.panel .more').forEach((one) => one.click())"
    )
    reply, source = texts(window, ".panel .reply")[0], texts(window, ".panel .boxed")[0]
    assert (
        reply == f"1 {SHOWN}{'x' * LINE}"
        and source == f"Source of n000. {SHOWN}{'x' * LINE}"
    )
    [text] = texts(window, ".panel > td > .text")
    expected = f"The mayor of n000 opened the bridge. {SHOWN}{'x' * LINE}"
    assert text == expected and "".join(texts(window, ".panel del"))
    assert texts(window, ".panel .boxed")[1] == "half ⟨U+D800⟩ of it"
    assert window.value("document.title") == "tiny: all judgments"
    assert window.value("document.images.length + document.scripts.length") == 1
