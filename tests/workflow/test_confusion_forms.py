"""A model that confuses qualities when it rates and not when it lists errors: what
comes out.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from asking import AskedStudy
from confusion_study_setup import ASPECTS, Planted
from judgescope.plan.loading import load_plan
from judgescope.schema.loading import load_yaml
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve, text_in

FORMS = ["ten-draws", "step-by-step", "error-list"]
WORDINGS = [
    *("default", "empty", "meaningless", "term-only", "description-only"),
    *("ignore-others", "naming-others"),
]


class Listing(Planted):
    """Lists the errors of the quality that it is asked about; rated, any fault makes a
    3.
    """

    def __call__(self, body: Body) -> Said:
        """Answer either form."""
        prompt = prompt_of(body)
        if " to check:\n" not in prompt:
            return super().__call__(body)
        text = text_in(prompt).split("\n\nList every error")[0]
        aspect = prompt.split("concern one quality: ")[1].split(".")[0]
        return reply(
            'major: "it" - is wrong' if self.faults(text).get(aspect) else "No errors"
        )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(Listing()) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("forms"), endpoint)
        study.card("judges", "plain", model="loop", form="score-only", temperature=0.5)
        lists(study)
        study.write(
            datasets=["demo-confusion-news"],
            aspects=ASPECTS,
            criteria=["term", "default"],
            judges=["plain", "listing"],
            perturbations=["spelling-mistake", "sentence-deletion"],
            methods=["confusion"],
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield study


def lists(study: AskedStudy, **severities: float) -> None:
    fields = {"model": "loop", "form": "error-list", "parser": "errors"}
    study.card("judges", "listing", **fields, severities=severities)


def gaps(study: AskedStudy, **where: Any) -> dict[str, dict[str, Any]]:
    """Return statistic -> the row of its difference."""
    return {
        row["statistic"].removeprefix("difference_"): row
        for row in study.rows("confusion")
        if row["statistic"].startswith("difference_")
        and all(row[key] == result for key, result in where.items())
    }


@pytest.mark.long(17)
@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["default", "term"])
def test_the_change_from_the_plain_form_comes_out(
    study: AskedStudy, criterion: str
) -> None:
    result = gaps(study, judge="listing", judge_b="plain", criterion=criterion)
    # rated: 2 off for any fault; listed: a major error, 5 of 25 of the scale, for the
    # aspect's own
    assert result["s_t_mean"]["value"] == pytest.approx(0.8 - 2)
    assert result["s_f_mean"]["value"] == pytest.approx(-2)
    assert result["confusion_index"]["value"] == pytest.approx(-1)
    assert result["confusion_auc"]["value"] == 0.5
    assert result["s_f_mean"]["ci_high"] < -1.9 and result["s_f_mean"]["n"] == 12
    wordings = gaps(study, judge="listing", criterion="default", criterion_b="term")
    assert [row["value"] for row in wordings.values()] == [0] * 4


@pytest.mark.long(17)
@pytest.mark.slow
def test_the_report_shows_the_change(study: AskedStudy) -> None:
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "listing minus plain" in page and "listing, minus the wording term" in page


@pytest.mark.long(17)
@pytest.mark.slow
def test_other_penalties_change_the_score_and_ask_nothing(study: AskedStudy) -> None:
    asked = len(study.endpoint.asked)
    lists(study, major=10)
    done = study.run()
    assert done.returncode == 0, done.stdout[-3000:]
    result = gaps(study, judge="listing", judge_b="plain", criterion="default")
    assert result["s_t_mean"]["value"] == pytest.approx(1.6 - 2)
    assert len(study.endpoint.asked) == asked


@pytest.mark.heavy
def test_the_shipped_study_holds_the_forms_beside_each_other_in_every_wording() -> None:
    path = HOME / "config" / "studies" / "confusion-forms.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=str(path))
    assert list(plan.judges)[:3] == FORMS and plan.study.criteria == WORDINGS
    assert plan.expectations is not None
    assert set(plan.perturbations) == set(plan.expectations.perturbations)
    plain = plan.judges["ten-draws"]
    for name in FORMS[1:]:
        card = plan.judges[name]
        assert (card.model, card.draws, card.temperature) == ("judge", 10, 1)
        assert card.share == plain.share
