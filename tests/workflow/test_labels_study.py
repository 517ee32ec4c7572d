"""Studies of labels, run whole: the shipped one, recorded, and one whose judge is
asked.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

from asking import AskedStudy
from data_samples import jsonl
from judgescope.schema.tables import read_table
from running import HOME
from scripted import Body, Said, prompt_of, replies, serve
from study import Study

pytestmark = pytest.mark.slow
KINDS = ("praise", "question", "complaint")
DRAWS = {
    "praise": ("praise", "Praise", "It thanks.\nVerdict: praise"),
    "question": ("question", "complaint", "**Question**"),
    "complaint": ("complaint", "praise", "question"),  # no majority
}
"""What a text is -> what the judge says of it in three draws."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = HOME / "config/studies/labels.yaml"
    study = Study(
        tmp_path_factory.mktemp("labels"),
        yaml.safe_load(path.read_text(encoding="utf-8")),
    )
    study.write()
    run = study.run()
    assert not run.returncode, run.stdout
    return study


def of(study: Study, table: str, judge: str, **where: Any) -> dict[str, dict[str, Any]]:
    """Return statistic -> row of a judge."""
    rows = (row for row in study.rows(table) if row["judge"] == judge and not row["k"])
    return {
        row["statistic"]: row
        for row in rows
        if all(row[name] == value for name, value in where.items())
    }


def first_page(study: Study) -> str:
    """Return the words of the first page."""
    page = (study.out / "report/index.html").read_text(encoding="utf-8")
    page = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", page)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_a_lenient_judge_is_stated_not_to_reach_the_bar_before_anything_else(
    recorded: Study,
) -> None:
    rows = of(recorded, "labels", "demo-lenient")
    assert (rows["tnr"]["value"], rows["tnr"]["n"], rows["tpr"]["value"]) == (
        0.6,
        20,
        1.0,
    )
    page = (recorded.out / "report/judges/demo-lenient.html").read_text("utf-8")
    headline = page.partition("<h1>")[2].partition("</h1>")[0]
    # The study's own bar replaces the default one, and is open with so few texts.
    assert "<em>demo-lenient</em> leaves 1 bar open (60\u202f%, bar " in headline


def test_the_first_page_speaks_of_the_stated_bar_first(recorded: Study) -> None:
    page = first_page(recorded)
    answer = page[: page.index("Judges by questions")]
    assert " meets its bar: it catches 100" in answer and "asked for 80" in answer
    assert "Required bars" in page and "bar 80" in page


def test_a_bar_says_how_many_more_texts_of_which_label_and_ratings_would_tell(
    recorded: Study,
) -> None:
    rows = of(recorded, "verdicts", "demo-strict", form="bar tnr")
    assert rows["verdict"]["note"].startswith("cannot_tell")
    need = rows["more_needed"]
    assert "texts that people label “fail”" in need["method"]
    assert (
        f"about {3 * round(need['value'])} ratings, as 33% are such texts"
        in need["method"]
    )
    assert (
        of(recorded, "verdicts", "demo-points", form="bar tnr")["verdict"]["note"]
        == "meets"
    )


def test_replies_and_points_become_labels(recorded: Study) -> None:
    strict, points = (
        of(recorded, "labels", name) for name in ("demo-strict", "demo-points")
    )
    assert strict["tnr"]["value"] == 19 / 20
    assert strict["tpr"]["value"] == 35 / 40
    assert "threshold chosen leaving each source out" in points["tnr"]["note"]
    [path] = recorded.out.glob("judgments/demo-answers/**/demo-strict.parquet")
    judged = read_table("judgments", path).to_pylist()
    assert {row["label"] for row in judged} == {"pass", "fail"}


def test_the_cells_of_the_confusion_matrix_lead_to_their_texts(recorded: Study) -> None:
    page = (recorded.out / "report/sections/labels.html").read_text(encoding="utf-8")
    link = (
        "../explore.html#dataset=demo-answers&amp;judge=demo-lenient&amp;"
        "aspect=correctness&amp;"
        'perturbation=systems&amp;people=0&amp;score=1">8</a>'
    )
    assert link in page
    assert "judge=demo-points" in page
    assert not re.search(
        r"judge=demo-points[^\"]*score=", page
    )  # its scores are points


def test_pages_of_judgments_write_labels_in_words(recorded: Study) -> None:
    card = (recorded.out / "report/judges/demo-lenient.html").read_text(
        encoding="utf-8"
    )
    words = " ".join(re.sub(r"<[^>]+>", " ", card).split())
    assert "planned rating fail, fail and fail score pass" in words
    index = (recorded.out / "report/explore/index.js").read_text(encoding="utf-8")
    assert '"labels":{"0":[["fail","pass"],true]}' in index


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[AskedStudy, list[str]]]:
    prompts: list[str] = []

    def reply_to(body: Body) -> Said:
        prompts.append(json.dumps(body))
        [kind] = [kind for kind in KINDS if f"This is a {kind}" in prompt_of(body)]
        return replies(*DRAWS[kind])

    with serve(reply_to) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("kinds"), endpoint)
        _write_kinds(study)
        study.change("judges", "verdict", model="loop", draws=3, temperature=1)
        study.write(
            study="kinds",
            datasets=["kinds"],
            judges=["verdict", "random"],
            methods=["agreement", "labels"],
            aspects=["kind"],
            perturbations=[],
        )
        run = study.run()
        assert not run.returncode, run.stdout
        yield study, prompts


def _write_kinds(study: AskedStudy) -> None:
    rows = [
        {
            **{
                "id": f"i{at}",
                "source": f"Case {at}.",
                "text": f"This is a {KINDS[at % 3]} {at}.",
            },
            "r1": KINDS[at % 3].upper(),
            # raters differ on two texts, whose label is unresolved
            "r2": KINDS[(at + (at < 2)) % 3],
        }
        for at in range(18)
    ]
    jsonl(study.folder / "kinds.jsonl", rows)
    columns = {"item": "id", "source": "source", "text": "text"}
    columns["ratings"] = {"kind": ["r1", "r2"]}  # type: ignore[assignment]
    study.card(
        *("datasets", "kinds"),
        **{
            "name": "Kinds",
            "task": "qa",
            "format": "table",
            "files": "../../kinds.jsonl",
        },
        columns=columns,
        aspects={"kind": {"labels": [*KINDS], "ordered": False}},
        licence="none",
        citation="none",
    )
    study.card("aspects", "kind", name="Kind", definition="What the message is.")


@pytest.mark.long(7)
def test_labels_without_an_order_are_asked_for_and_read(
    asked: tuple[AskedStudy, list[str]],
) -> None:
    study, prompts = asked
    assert "one of 3 labels: praise, question or complaint." in prompts[0]
    rows = of(study, "labels", "verdict")
    # 4 unresolved or without a majority of draws: 2 of people (praise, question), 6 of
    # the judge
    accuracy = rows["label_accuracy"]
    assert (accuracy["value"], accuracy["n"], accuracy["n_missing"]) == (1.0, 10, 8)
    assert of(study, "labels", "human")["unresolved"]["value"] == 2
    spearman = of(study, "agreement", "verdict", level="pooled")["spearman"]
    assert spearman["value"] is None
    assert "without an order" in spearman["note"]
    form = of(study, "verdicts", "verdict", form="labels")
    assert form["verdict"]["note"].startswith(
        "no_claim"
    )  # a third of its labels is lost


def test_a_form_that_asks_for_numbers_is_refused(tmp_path: Path) -> None:
    with serve(lambda _: replies("1")) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        _write_kinds(study)
        study.change("judges", "score-only", model="loop")
        study.write(
            study="kinds",
            datasets=["kinds"],
            judges=["score-only"],
            methods=["labels"],
            aspects=["kind"],
            perturbations=[],
        )
        refused = study.run()
        assert refused.returncode
        assert "asks for a number, but the scale has labels" in refused.stdout
        assert not endpoint.asked
