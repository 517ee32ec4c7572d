"""Texts in a row of the demo: rule-made errors, their order recovered, and what
controls reach.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from asking import AskedStudy
from judgescope.core.errors import UserError
from judgescope.data.sentences import frequency
from judgescope.perturb.inject import NAMES, OFF_TOPIC
from judgescope.plan.loading import load_plan
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve, text_in
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long(12)]

WORDS = re.compile(r"[a-z]{5,}")
DATA = "demo-confusion-news"
STEPS, ITEMS = 15, 12
Row = dict[str, Any]


def counting(body: Body) -> Said:
    """Rate by what the prompt alone shows: misspelt words, or stray sentences, of a
    text.
    """
    prompt = prompt_of(body)
    text = text_in(prompt).split("\n\nAnswer with")[0]
    source = prompt.rpartition("\n\nReply to rate:")[0]
    known = {*WORDS.findall(source)}
    misspelt = [
        match
        for match in WORDS.findall(text)
        if not frequency(match) and match not in known
    ]
    strays = [match for match in OFF_TOPIC if match in text]
    spelling = "one quality of a text: fluency" in prompt
    return reply(str(100 - len(misspelt if spelling else strays)))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(counting) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("rows"), endpoint)
        study.card("judges", "counter", model="loop", form="score-only")
        files = {"items": str(HOME / "config" / "demo" / "confusion_news.jsonl")}
        scales = {
            name: {"min": 1, "max": 100, "step": 1} for name in ("fluency", "coherence")
        }
        Study(study.folder).change("datasets", DATA, files=files, aspects=scales)
        for name, kind, aspect in (
            ("slips", "spelling", "fluency"),
            ("strays", "off-topic", "coherence"),
        ):
            study.card("perturbations", name, **CARD, errors=[kind], aspects=[aspect])
        study.write(
            datasets=[DATA],
            aspects=["fluency", "coherence"],
            judges=["counter", "constant-top", "random", "length"],
            perturbations=["slips", "strays"],
            methods=["perspectives"],
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield study


CARD: dict[str, Any] = {
    **{
        "name": "more errors",
        "level": "sentence",
        "method": "rule",
        "rule": "inject_errors",
    },
    **{"steps": STEPS, "degrees": {"single": {}}},
}


def order_rows(
    study: AskedStudy, judge: str, statistic: str, **where: Any
) -> list[Row]:
    return [
        row
        for row in study.rows("perspectives")
        if (row["judge"], row["statistic"], row["level"]) == (judge, statistic, "local")
        and all(row[name] == value for name, value in where.items())
    ]


def test_a_judge_that_counts_errors_by_itself_recovers_the_order(
    study: AskedStudy,
) -> None:
    for perturbation in ("slips", "strays"):
        (row,) = order_rows(
            study, "counter", "accuracy_adjacent", perturbation=perturbation
        )
        assert row["value"] == 1 and row["n"] == ITEMS * STEPS
        # of 12 sources that are all right: the exact bound
        assert (
            row["ci_low"] == pytest.approx(0.025 ** (1 / ITEMS)) and row["ci_high"] == 1
        )
        far = order_rows(
            study, "counter", "accuracy_by_distance", perturbation=perturbation
        )
        assert [row["k"] for row in far] == [*range(1, STEPS + 1)]
        assert {row["value"] for row in far} == {1}
        grid = order_rows(
            study, "counter", "accuracy_by_position", perturbation=perturbation
        )
        assert len(grid) == STEPS * (STEPS + 1) // 2 and {row["n"] for row in grid} == {
            ITEMS
        }
    (mean,) = order_rows(study, "counter", "accuracy_adjacent", aspect="average")
    assert mean["value"] == 1 and mean["n"] == 2


def test_a_row_is_judged_on_its_aspect_and_asked_about_once(study: AskedStudy) -> None:
    assert {
        row["aspect"]
        for row in order_rows(study, "counter", "tie_rate", perturbation="slips")
    } == {"fluency"}
    originals = 2 * ITEMS
    assert len(study.endpoint.asked) == originals + 2 * ITEMS * STEPS


def test_controls_reach_what_chance_gives(study: AskedStudy) -> None:
    for perturbation in ("slips", "strays"):
        where = {"perturbation": perturbation}
        (strict,) = order_rows(study, "constant-top", "accuracy_adjacent", **where)
        (half,) = order_rows(study, "constant-top", "accuracy_adjacent_half", **where)
        assert (strict["value"], half["value"]) == (0, 0.5)
        assert strict["n_tied"] == ITEMS * STEPS
        (random,) = order_rows(study, "random", "accuracy_adjacent_half", **where)
        assert random["ci_low"] < 0.5 < random["ci_high"]
    (length,) = order_rows(study, "length", "accuracy_adjacent", perturbation="strays")
    assert length["value"] == 0  # a stray sentence makes a text longer


def test_the_report_shows_the_rows(study: AskedStudy) -> None:
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "error-injection chains" in page and "slips.single" in page
    assert "by number of errors between the two" in page
    assert "The highest at 1 error is 100" in page  # the figure's sentence


@pytest.mark.parametrize("method", ["agreement", "perspectives"])
def test_a_separate_scale_is_for_the_order_of_texts(method: str) -> None:
    study = {
        **{"study": "s", "datasets": ["demo-dialogue"], "judges": ["ten-points"]},
        "methods": [method],
    }
    if method == "perspectives":
        assert load_plan(study, HOME, source="s").judges["ten-points"].scale is not None
    else:
        with pytest.raises(UserError, match="a scale with these ends") as error:
            load_plan(study, HOME, source="s")
        assert "perspectives allows any" in str(error.value)


def test_invented_names_are_nobody_s_in_the_shipped_texts() -> None:
    texts = "".join(
        path.read_text("utf-8") for path in (HOME / "config/demo").glob("*.jsonl")
    )
    assert not [name for name in NAMES if name in texts]
