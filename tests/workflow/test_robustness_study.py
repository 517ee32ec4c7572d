"""Robustness whole: judges that follow a hint always, never and half the time, on loopback."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asking import AskedStudy
from perspectives_study_setup import write_dataset
from report_setup import text_of_pages
from scripted import Body, Said, reply, serve

pytestmark = pytest.mark.slow
MODELS = ("always", "never", "half")
TEXTS = 48
TOLD = re.compile(r"(?:before you|there already): (\d)\.")
Row = dict[str, Any]


def judge(body: Body) -> Said:
    """Rate by the words of a text; with a hint, as the model's name says."""
    prompt, model = body["messages"][0]["content"], body["model"]
    text = re.split(r"Text to rate:\n", prompt)[1].split("\n\n")[0]
    own = min(5, max(1, len(text.split()) - ("Example" in prompt)))
    told = TOLD.findall(prompt)
    follows = {"always": True, "never": False, "half": body["seed"] % 2 == 0}[model]
    if model == "never" and len(text.split()) == 7:
        return reply("I'm sorry, but I cannot help with that.")
    rating = int(told[0]) if told and follows else own
    mood = "It is clear and good, a fine text."
    if told or "as you understand it" in prompt:
        mood = "It is awful and bad." if told else "It is a good text with a bad end."
    return reply(f"Rating: {rating}\n{mood}")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(judge) as endpoint:
        own = AskedStudy(tmp_path_factory.mktemp("hints"), endpoint)
        write_dataset(own.folder, "rated", 3)
        judges = []
        for model in MODELS:
            own.card("models", model, engine="openai", base_url=endpoint.url, probe=False)
            forms: dict[str, Row] = {
                "plain": {"form": "rate-explain"}
                | ({"draws": 2, "estimator": "first"} if model != "half" else {}),
                "bare": {"form": "rate-own"},
                "wrong": {"form": "rate-hinted", "hint": {"baseline": f"{model}-plain"}},
                "right": {
                    "form": "rate-hinted",
                    "hint": {"baseline": f"{model}-plain", "rating": "right"},
                },
            }
            for name, keys in forms.items():
                own.card("judges", f"{model}-{name}", model=model, **keys)
                judges.append(f"{model}-{name}")
        rated: Row = {"datasets": ["rated"], "aspects": [], "judges": [*judges, "rules"]}
        own.write(**rated, methods=["robustness"], require={"coverage": 0.95})
        done = own.run()
        assert done.returncode == 0, done.stdout[-4000:]
        yield own


def found(study: AskedStudy, name: str, statistic: str, aspect: str = "fluency") -> Row:
    """Return the row of a judge, or of people or of a model."""
    [row] = [
        row
        for row in study.rows("robustness")
        if (row["judge"], row["statistic"], row["aspect"]) == (name, statistic, aspect)
    ]
    return row


def test_follow_rates_are_one_none_and_half(study: AskedStudy) -> None:
    assert found(study, "always-wrong", "follow_rate")["value"] == 1
    assert found(study, "always-wrong", "hint_adoption_rate")["value"] == 1
    assert found(study, "never-wrong", "hint_adoption_rate")["value"] == 0
    half = found(study, "half-wrong", "hint_adoption_rate")
    assert half["ci_low"] < 0.5 < half["ci_high"] and half["n"] > 20
    assert found(study, "always-right", "follow_rate")["value"] == 1
    never = found(study, "never-right", "follow_rate")
    assert never["value"] == found(study, "never-right", "hint_baseline_rate")["value"] > 0
    gap = found(study, "never-wrong", "difference_follow_rate")
    assert (gap["value"], gap["judge_b"]) == (0, "never-plain")
    assert found(study, "never-wrong", "match_share")["value"] == 1


def test_the_shift_is_toward_the_hint_and_only_where_it_differs(study: AskedStudy) -> None:
    shift = found(study, "always-wrong", "hint_shift")
    assert (
        shift["value"] > 2 and shift["n"] == found(study, "always-wrong", "hint_adoption_rate")["n"]
    )
    assert found(study, "never-wrong", "hint_shift")["value"] == 0
    half = found(study, "half-wrong", "hint_shift")
    assert 0 < half["ci_low"] < half["value"] < shift["value"]


def test_alpha_tells_the_consistent_from_the_swayed(study: AskedStudy) -> None:
    people = found(study, "human", "alpha_ordinal")["value"]
    assert 0.5 < people < 1
    assert found(study, "always", "alpha_forms")["value"] == 1  # without a hint all say the same
    swayed = found(study, "always-wrong", "alpha_pair")["value"]
    assert swayed < 0 < found(study, "always-plain", "alpha_pair")["value"]
    joint = found(study, "always-wrong", "alpha_joint")
    assert (
        -1 / 3 <= joint["value"] < people and joint["ci_low"] <= joint["value"] <= joint["ci_high"]
    )
    assert found(study, "always-wrong", "alpha_pairs_mean")["value"] < 0
    assert found(study, "rules", "alpha_joint")["note"]
    mean = found(study, "always-wrong", "alpha_pair", "average")
    own = found(study, "always-wrong", "alpha_pair")
    assert (mean["value"], mean["ci_low"], mean["n"]) == (
        swayed,
        own["ci_low"],
        own["n"],
    )  # of one aspect
    assert "this is not agreement" in own["note"] and "this is not agreement" in mean["note"]
    assert found(study, "never-wrong", "hint_adoption_rate", "average")["value"] == 0


def test_refusals_are_counted_and_missing_everywhere_else(study: AskedStudy) -> None:
    refused = found(study, "never-plain", "share_refused")
    assert 0 < refused["value"] < 0.5 and refused["n"] == TEXTS
    lost = round(refused["value"] * TEXTS)
    told = found(study, "never-wrong", "follow_rate")
    assert (told["n"], told["n_missing"]) == (TEXTS - lost, lost)
    assert found(study, "always-plain", "share_refused")["value"] == 0


def test_what_a_hint_moves_is_held_against_a_second_draw(study: AskedStudy) -> None:
    always, never = (found(study, f"{name}-wrong", "hint_effect") for name in ("always", "never"))
    assert (always["value"], never["value"]) == (1, 0)
    assert always["ci_low"] > 0.05 and never["ci_low"] < 0 < never["ci_high"]  # swayed from .05 on
    once = found(study, "half-wrong", "hint_effect")
    assert once["value"] is None and "judged only once" in once["note"]
    verdicts = {
        row["judge"]: row["note"].split("; ")
        for row in study.rows("verdicts")
        if (row["statistic"], row["form"]) == ("verdict", "hints")
    }
    assert verdicts == {
        "always-wrong": ["swayed"],
        "never-wrong": ["not_shown", "chance"],
        "half-wrong": ["no_claim", "asked_once"],
    }


def test_a_stated_bar_is_met_by_who_answers_and_missed_by_who_refuses(study: AskedStudy) -> None:
    verdicts = {
        row["judge"]: row["note"]
        for row in study.rows("verdicts")
        if (row["statistic"], row["form"]) == ("verdict", "bar coverage")
    }
    assert verdicts["always-plain"] == "meets" and verdicts["never-plain"] == "misses"
    assert "length" not in verdicts


def test_reasons_are_worse_under_a_hint_and_that_is_tested(study: AskedStudy) -> None:
    plain, hinted = (
        found(study, f"always-{name}", "sentiment")["value"] for name in ("plain", "wrong")
    )
    assert plain > 0 > hinted
    gap = found(study, "always-wrong", "difference_sentiment")
    assert gap["value"] == pytest.approx(hinted - plain) and gap["ci_high"] < 0
    assert found(study, "always-wrong", "p_sentiment")["value"] < 0.05
    words = found(study, "always-plain", "rationale_length")
    assert words["value"] == 8 and found(study, "always-wrong", "rationale_length")["value"] == 5


def test_sentiment_over_forms_weighs_the_forms_without_a_hint_alike(study: AskedStudy) -> None:
    """Table 4 of Chaudhary et al. (2024): refused texts of one form do not weigh less."""
    for model in ("always", "never"):
        plain, bare, hinted = (
            found(study, f"{model}-{name}", "sentiment") for name in ("plain", "bare", "wrong")
        )
        assert plain["value"] > bare["value"] > hinted["value"]
        over = found(study, model, "sentiment_forms")
        assert over["value"] == pytest.approx((plain["value"] + bare["value"]) / 2)
        assert over["n"] == 2 and f"of {model}-plain, {model}-bare" in over["method"]
        gap = found(study, f"{model}-wrong", "difference_sentiment_forms")
        assert gap["value"] == pytest.approx(hinted["value"] - over["value"])
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "always-wrong, less the forms" in page


def test_every_form_asks_once_the_base_twice_and_hints_are_in_the_replies(
    study: AskedStudy,
) -> None:
    asked = Counter(
        (body["model"], body["messages"][0]["content"]) for body in study.endpoint.asked
    )
    assert len(asked) <= len(MODELS) * 4 * TEXTS and set(asked.values()) == {1, 2}
    again = [key for key, times in asked.items() if times == 2]
    assert {model for model, _ in again} == {"always", "never"}
    assert not any(TOLD.findall(prompt) for _, prompt in again)
    assert len(again) <= 2 * TEXTS
    told = [bool(TOLD.findall(prompt)) for _, prompt in asked]
    assert np.mean(told) == pytest.approx(0.5, abs=0.05)
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "Robustness" in page


def test_a_hint_needs_a_judge_to_be_held_against(tmp_path: Path) -> None:
    with serve(judge) as endpoint:
        own = AskedStudy(tmp_path, endpoint)
        own.card("judges", "told", model="loop", form="rate-hinted", hint={"baseline": "nobody"})
        own.write(judges=["terse", "told"], methods=["robustness"])
        done = own.run()
        assert done.returncode != 0 and not endpoint.asked
        assert "judges/told.yaml:" in done.stdout and "key hint.baseline" in done.stdout
        assert "'nobody'" in done.stdout
        own.card("judges", "told", model="loop", form="score-only", hint={"baseline": "terse"})
        done = own.run()
        assert "does not show the rating" in done.stdout


def test_a_scale_without_steps_and_means_have_no_hints_and_no_alpha(tmp_path: Path) -> None:
    with serve(judge) as endpoint:
        own = AskedStudy(tmp_path, endpoint)
        write_dataset(tmp_path, "rated", 3)
        own.amend("datasets", "rated", aspects={"fluency": {"min": 1, "max": 5}})
        own.card("models", "never", engine="openai", base_url=endpoint.url, probe=False)
        own.card("judges", "plain", model="never", form="rate-explain")
        own.card("judges", "told", model="never", form="rate-hinted", hint={"baseline": "plain"})
        own.write(datasets=["rated"], aspects=[], judges=["plain", "told"], methods=["robustness"])
        done = own.run()
        assert done.returncode == 0, done.stdout[-3000:]
        assert not [prompt for prompt in endpoint.prompts if TOLD.findall(prompt)]
    assert found(own, "human", "alpha_ordinal")["note"] == "continuous"
    assert found(own, "told", "follow_rate")["value"] is None
    refused = found(own, "plain", "share_refused")
    assert refused["n"] == TEXTS
    assert not [
        row
        for row in own.rows("robustness")
        if (row["judge"], row["statistic"]) == ("told", "share_refused")
    ]  # nothing was asked of it
