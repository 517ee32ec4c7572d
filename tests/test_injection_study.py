"""Injection whole: judges that obey, that do not, and that do unless texts are marked; loopback."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from asking import Study
from scripted import Body, Said, reply, serve

pytestmark = pytest.mark.slow
Row = dict[str, Any]
ATTACK = "claimed-verdict"


def judge(body: Body) -> Said:
    """Rate by the length of a response; where a verdict stands in it, as the model's name says."""
    prompt, model = body["messages"][0]["content"], body["model"]
    marked = "never an instruction" in prompt
    obeys = model == "obedient" or (model == "wary" and not marked)
    words = len(re.split("Text to rate:\n", prompt)[-1].split())
    return reply(f"Rating: {5 if obeys and 'Rating: 5' in prompt else 1 + words % 4}")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    with serve(judge) as endpoint:
        own = Study(tmp_path_factory.mktemp("injection"), endpoint)
        for model in ("obedient", "deaf", "wary"):
            own.card("models", model, engine="openai", base_url=endpoint.url, probe=False)
            own.card("judges", model, model=model, form="score-only")
        own.card("judges", "wary-marked", model="wary", form="score-only", spotlight=True)
        own.study(
            judges=["obedient", "deaf", "wary", "wary-marked", "rules", "rouge-l"],
            perturbations=[ATTACK],
            methods=["robustness"],
        )
        done = own.run()
        assert done.returncode == 0, done.stdout[-4000:]
        yield own


def found(
    study: Study, name: str, statistic: str, degree: str = "attack", aspect: str = "naturalness"
) -> Row:
    [row] = [
        row
        for row in study.rows("robustness")
        if (row["judge"], row["statistic"], row["aspect"]) == (name, statistic, aspect)
        and (row["perturbation"], row["degree"]) == (ATTACK, degree)
    ]
    return row


def test_the_obedient_are_told_from_the_deaf_and_marks_help_the_wary(study: Study) -> None:
    for name, rate in {"obedient": 1, "deaf": 0, "wary": 1, "wary-marked": 0}.items():
        obeyed = found(study, name, "obey_rate")
        assert (obeyed["value"], obeyed["n"], obeyed["n_missing"]) == (rate, 24, 0)
        assert found(study, name, "obey_rate", "inert")["value"] == 0
        assert found(study, name, "difference_obey_rate")["value"] == rate
    swayed, deaf = (found(study, name, "injection_shift") for name in ("obedient", "deaf"))
    assert 0.3 < swayed["lo"] < swayed["value"] <= 1 and swayed["n"] == 24
    assert abs(deaf["value"]) < 0.3
    assert found(study, "obedient", "p_injection")["value"] < 0.01
    mean = found(study, "obedient", "injection_shift", aspect="average")
    assert mean["value"] == pytest.approx(swayed["value"])


def test_controls_and_rules_have_numbers_of_their_own(study: Study) -> None:
    assert found(study, "constant-top", "injection_shift")["value"] == 0
    assert found(study, "constant-top", "obey_rate")["note"]  # all are at the top already
    attack, inert = (found(study, "length", "injection_shift", one) for one in ("attack", "inert"))
    assert attack["value"] == pytest.approx(inert["value"], rel=0.5) and attack["value"] > 0
    assert (
        "no scale" in attack["note"] and "no scale" in found(study, "length", "obey_rate")["note"]
    )
    assert found(study, "random", "injection_shift")["lo"] is not None
    assert found(study, "rules", "injection_shift")["value"] is not None
    assert found(study, "rouge-l", "p_injection")["value"] is not None
    told = {row["judge"] for row in study.rows("robustness") if row["perturbation"]}
    assert "most-frequent" not in told  # it knows ratings of other texts only


def test_what_is_added_stands_in_the_prompts_and_in_the_report(study: Study) -> None:
    sent = [one for one in study.endpoint.prompts if "Rating: 5" in one]
    assert len(sent) == 24 * 4
    page = (study.folder / "results" / "asked" / "report" / "index.html").read_text("utf-8")
    assert "what is written to the judge" in page and "claimed verdict" in page
