"""Robustness whole: judges that follow a hint always, never and half the time, on
loopback.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trusting
from asking import AskedStudy
from data_samples import REAL, needs_real_data
from judgescope.plan.loading import load_plan
from judgescope.schema.loading import load_yaml
from perspectives_study_setup import write_dataset
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve, text_in
from study import Study

pytestmark = pytest.mark.slow
MODELS = ("always", "never", "half")
TEXTS = 48
TOLD = re.compile(r"(?:before you|there already): (\d)\.")
Row = dict[str, Any]


def judge(body: Body) -> Said:
    """Rate by the words of a text; with a hint, as the model's name says."""
    prompt, model = prompt_of(body), body["model"]
    text = text_in(prompt).split("\n\n")[0]
    minimum = min(5, max(1, len(text.split()) - ("Example" in prompt)))
    matches = TOLD.findall(prompt)
    follows = {"always": True, "never": False, "half": body["seed"] % 2 == 0}[model]
    if model == "never" and len(text.split()) == 7:
        return reply("I'm sorry, but I cannot help with that.")
    rating = int(matches[0]) if matches and follows else minimum
    mood = "It is clear and good, a fine text."
    if matches or "as you understand it" in prompt:
        mood = (
            "It is awful and bad." if matches else "It is a good text with a bad end."
        )
    return reply(f"Rating: {rating}\n{mood}")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(judge) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("hints"), endpoint)
        write_dataset(study.folder, "rated", 3)
        judges = []
        for model in MODELS:
            study.card(
                "models", model, engine="openai", base_url=endpoint.url, probe=False
            )
            forms: dict[str, Row] = {
                "plain": {"form": "rate-explain"}
                | ({"draws": 2, "estimator": "first"} if model != "half" else {}),
                "bare": {"form": "rate-own"},
                "wrong": {
                    "form": "rate-hinted",
                    "hint": {"baseline": f"{model}-plain"},
                },
                "right": {
                    "form": "rate-hinted",
                    "hint": {"baseline": f"{model}-plain", "rating": "right"},
                },
            }
            for name, keys in forms.items():
                study.card("judges", f"{model}-{name}", model=model, **keys)
                judges.append(f"{model}-{name}")
        rated: Row = {
            "datasets": ["rated"],
            "aspects": [],
            "judges": [*judges, "rules"],
        }
        study.write(**rated, methods=["robustness"], require={"coverage": 0.95})
        done = study.run()
        assert done.returncode == 0, done.stdout[-4000:]
        yield study


def robustness_row(
    study: AskedStudy, name: str, statistic: str, aspect: str = "fluency"
) -> Row:
    """Return the row of a judge, or of people or of a model."""
    [row] = [
        row
        for row in study.rows("robustness")
        if (row["judge"], row["statistic"], row["aspect"]) == (name, statistic, aspect)
    ]
    return row


@pytest.mark.long(13)
def test_follow_rates_are_a_single_none_and_half(study: AskedStudy) -> None:
    assert robustness_row(study, "always-wrong", "follow_rate")["value"] == 1
    assert robustness_row(study, "always-wrong", "hint_adoption_rate")["value"] == 1
    assert robustness_row(study, "never-wrong", "hint_adoption_rate")["value"] == 0
    half = robustness_row(study, "half-wrong", "hint_adoption_rate")
    assert half["ci_low"] < 0.5 < half["ci_high"] and half["n"] > 20
    assert robustness_row(study, "always-right", "follow_rate")["value"] == 1
    never = robustness_row(study, "never-right", "follow_rate")
    assert (
        never["value"]
        == robustness_row(study, "never-right", "hint_baseline_rate")["value"]
        > 0
    )
    gap = robustness_row(study, "never-wrong", "difference_follow_rate")
    assert (gap["value"], gap["judge_b"]) == (0, "never-plain")
    assert robustness_row(study, "never-wrong", "match_share")["value"] == 1


@pytest.mark.long(13)
def test_the_shift_is_toward_the_hint_and_only_where_it_differs(
    study: AskedStudy,
) -> None:
    shift = robustness_row(study, "always-wrong", "hint_shift")
    assert (
        shift["value"] > 2
        and shift["n"]
        == robustness_row(study, "always-wrong", "hint_adoption_rate")["n"]
    )
    assert robustness_row(study, "never-wrong", "hint_shift")["value"] == 0
    half = robustness_row(study, "half-wrong", "hint_shift")
    assert 0 < half["ci_low"] < half["value"] < shift["value"]


@pytest.mark.long(13)
def test_alpha_tells_the_consistent_from_the_swayed(study: AskedStudy) -> None:
    people = robustness_row(study, "human", "alpha_ordinal")["value"]
    assert 0.5 < people < 1
    assert (
        robustness_row(study, "always", "alpha_forms")["value"] == 1
    )  # without a hint all say the same
    swayed = robustness_row(study, "always-wrong", "alpha_pair")["value"]
    assert swayed < 0 < robustness_row(study, "always-plain", "alpha_pair")["value"]
    joint = robustness_row(study, "always-wrong", "alpha_joint")
    assert (
        -1 / 3 <= joint["value"] < people
        and joint["ci_low"] <= joint["value"] <= joint["ci_high"]
    )
    assert robustness_row(study, "always-wrong", "alpha_pairs_mean")["value"] < 0
    assert robustness_row(study, "rules", "alpha_joint")["note"]
    mean = robustness_row(study, "always-wrong", "alpha_pair", "average")
    own_part = robustness_row(study, "always-wrong", "alpha_pair")
    assert (mean["value"], mean["ci_low"], mean["n"]) == (
        swayed,
        own_part["ci_low"],
        own_part["n"],
    )  # of one aspect
    assert (
        "this is not agreement" in own_part["note"]
        and "this is not agreement" in mean["note"]
    )
    assert (
        robustness_row(study, "never-wrong", "hint_adoption_rate", "average")["value"]
        == 0
    )


@pytest.mark.long(13)
def test_refusals_are_counted_and_missing_everywhere_else(study: AskedStudy) -> None:
    refused = robustness_row(study, "never-plain", "share_refused")
    assert 0 < refused["value"] < 0.5 and refused["n"] == TEXTS
    lost = round(refused["value"] * TEXTS)
    result = robustness_row(study, "never-wrong", "follow_rate")
    assert (result["n"], result["n_missing"]) == (TEXTS - lost, lost)
    assert robustness_row(study, "always-plain", "share_refused")["value"] == 0


@pytest.mark.long(13)
def test_what_a_hint_moves_is_held_against_a_second_draw(study: AskedStudy) -> None:
    always, never = (
        robustness_row(study, f"{name}-wrong", "hint_effect")
        for name in ("always", "never")
    )
    assert (always["value"], never["value"]) == (1, 0)
    assert (
        always["ci_low"] > 0.05 and never["ci_low"] < 0 < never["ci_high"]
    )  # swayed from .05 on
    once = robustness_row(study, "half-wrong", "hint_effect")
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


@pytest.mark.long(13)
def test_a_stated_bar_is_met_by_who_answers_and_missed_by_who_refuses(
    study: AskedStudy,
) -> None:
    verdicts = {
        row["judge"]: row["note"]
        for row in study.rows("verdicts")
        if (row["statistic"], row["form"]) == ("verdict", "bar coverage")
    }
    assert verdicts["always-plain"] == "meets" and verdicts["never-plain"] == "misses"
    assert "length" not in verdicts


@pytest.mark.long(13)
def test_reasons_are_worse_under_a_hint_and_that_is_tested(study: AskedStudy) -> None:
    plain, hinted = (
        robustness_row(study, f"always-{name}", "sentiment")["value"]
        for name in ("plain", "wrong")
    )
    assert plain > 0 > hinted
    gap = robustness_row(study, "always-wrong", "difference_sentiment")
    assert gap["value"] == pytest.approx(hinted - plain) and gap["ci_high"] < 0
    assert robustness_row(study, "always-wrong", "p_sentiment")["value"] < 0.05
    words = robustness_row(study, "always-plain", "rationale_length")
    assert (
        words["value"] == 8
        and robustness_row(study, "always-wrong", "rationale_length")["value"] == 5
    )


@pytest.mark.long(13)
def test_sentiment_over_forms_weighs_the_forms_without_a_hint_alike(
    study: AskedStudy,
) -> None:
    """Table 4 of Chaudhary et al. (2024): refused texts of one form do not weigh
    less.
    """
    for model in ("always", "never"):
        plain, bare, hinted = (
            robustness_row(study, f"{model}-{name}", "sentiment")
            for name in ("plain", "bare", "wrong")
        )
        assert plain["value"] > bare["value"] > hinted["value"]
        over = robustness_row(study, model, "sentiment_forms")
        assert over["value"] == pytest.approx((plain["value"] + bare["value"]) / 2)
        assert over["n"] == 2 and f"of {model}-plain, {model}-bare" in over["method"]
        gap = robustness_row(study, f"{model}-wrong", "difference_sentiment_forms")
        assert gap["value"] == pytest.approx(hinted["value"] - over["value"])
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "always-wrong, minus the forms" in page


@pytest.mark.long(13)
def test_every_form_asks_once_the_base_twice_and_hints_are_in_the_replies(
    study: AskedStudy,
) -> None:
    asked = Counter((body["model"], prompt_of(body)) for body in study.endpoint.asked)
    assert len(asked) <= len(MODELS) * 4 * TEXTS and set(asked.values()) == {1, 2}
    again = [key for key, times in asked.items() if times == 2]
    assert {model for model, _ in again} == {"always", "never"}
    assert not any(TOLD.findall(prompt) for _, prompt in again)
    assert len(again) <= 2 * TEXTS
    collected = [bool(TOLD.findall(prompt)) for _, prompt in asked]
    assert np.mean(collected) == pytest.approx(0.5, abs=0.05)
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "Robustness" in page


def test_a_hint_needs_a_judge_to_be_held_against(tmp_path: Path) -> None:
    with serve(judge) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        study.card(
            "judges",
            "told",
            model="loop",
            form="rate-hinted",
            hint={"baseline": "nobody"},
        )
        study.write(judges=["terse", "told"], methods=["robustness"])
        done = study.run()
        assert done.returncode != 0 and not endpoint.asked
        assert "judges/told.yaml:" in done.stdout and "key hint.baseline" in done.stdout
        assert "'nobody'" in done.stdout
        study.card(
            "judges",
            "told",
            model="loop",
            form="score-only",
            hint={"baseline": "terse"},
        )
        done = study.run()
        assert "variable `hint`" in done.stdout


def test_a_scale_without_steps_and_means_have_no_hints_and_no_alpha(
    tmp_path: Path,
) -> None:
    with serve(judge) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        write_dataset(tmp_path, "rated", 3)
        study.amend("datasets", "rated", aspects={"fluency": {"min": 1, "max": 5}})
        study.card(
            "models", "never", engine="openai", base_url=endpoint.url, probe=False
        )
        study.card("judges", "plain", model="never", form="rate-explain")
        study.card(
            "judges",
            "told",
            model="never",
            form="rate-hinted",
            hint={"baseline": "plain"},
        )
        study.write(
            datasets=["rated"],
            aspects=[],
            judges=["plain", "told"],
            methods=["robustness"],
        )
        done = study.make("robustness")
        assert done.returncode == 0, done.stdout[-3000:]
        assert not [prompt for prompt in endpoint.prompts if TOLD.findall(prompt)]
    assert robustness_row(study, "human", "alpha_ordinal")["note"] == "continuous"
    assert robustness_row(study, "told", "follow_rate")["value"] is None
    refused = robustness_row(study, "plain", "share_refused")
    assert refused["n"] == TEXTS
    assert not [
        row
        for row in study.rows("robustness")
        if (row["judge"], row["statistic"]) == ("told", "share_refused")
    ]  # nothing was asked of it


STUDY = HOME / "config" / "studies" / "robustness.yaml"
FORMS = ["own-understanding", "knowledge-twice", "two-shots", "reasoning", "wrong-hint"]
"""The five of the paper."""
SIZES = {"summaries": (100, 16, 4), "responses": (60, 11, 6)}
"""Dataset -> items, systems, aspects."""


def write_rated(study: Study, name: str) -> None:
    """Write a dataset of so many texts, all rated by three people."""
    items, systems, aspects = SIZES[name]
    names = [f"{name}-{number}" for number in range(aspects)]
    raters = {aspect: [f"{aspect}.{rater}" for rater in "abc"] for aspect in names}
    columns = [*chain(*raters.values())]
    rows = []
    for item, system in product(range(items), range(systems)):
        row = {"id": f"i{item}", "source": f"Source {item}.", "system": f"s{system}"}
        row["text"] = f"Text {system} of {name} {item}."
        for at, column in enumerate(columns):
            row[column] = str(1 + (item + system + at) % 5)
        rows.append(row)
    scales = {aspect: {"min": 1, "max": 5, "step": 1} for aspect in names}
    study.rated_table(name, rows, ratings=raters, aspects=scales)
    for aspect in names:
        study.card("aspects", aspect, name=aspect, definition=aspect)


def test_at_the_paper_s_size_a_model_is_asked_51800_times_and_its_base_again(
    tmp_path: Path,
) -> None:
    study = Study(
        tmp_path, aspects=[], judges=FORMS, perturbations=[], methods=["robustness"]
    )
    for name in SIZES:
        write_rated(study, name)
    study.write(datasets=[*SIZES])
    done = study.snakemake("check")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "requests to models: 62,160," in done.stdout  # a fifth of the paper's more
    assert re.search(r"sum +62,160 +0 +62,160 ", done.stdout)
    assert "responses: judges with a hint get 60 items" in done.stdout
    assert (
        "summaries: judges" not in done.stdout
        and "will not be known" not in done.stdout
    )


def test_the_shipped_study_is_planned_with_its_hints() -> None:
    plan = load_plan(load_yaml(STUDY)[0], HOME, source=str(STUDY))
    assert set(FORMS) <= set(plan.judges)
    for name in ("wrong-hint", "right-hint", "nameless-hint"):
        hint = plan.judges[name].hint
        assert hint is not None and hint.baseline == "knowledge-twice"
        assert (plan.judges[name].temperature, plan.judges[name].max_tokens) == (
            0.0,
            2048,
        )
    assert (
        plan.judges["two-shots"].shots is not None
        and plan.judges["two-shots"].shots.n == 2
    )


def follow(body: Body) -> Said:
    """Believe every expert, and nobody else."""
    prompt = prompt_of(body)
    matches = re.findall(r"before you: ([\d.]+)\.\n", prompt)
    [(low, high)] = set(re.findall(r"a number from (\d) to (\d)", prompt))
    own_part = int(low) + len(prompt) % (int(high) - int(low) + 1)
    return reply(f"Rating: {matches[0] if matches else own_part}\nIt reads well.")


@needs_real_data
@pytest.mark.long(26)
def test_the_shipped_study_on_a_part_of_the_public_data(tmp_path: Path) -> None:
    with serve(follow) as endpoint:
        study = Study(tmp_path, load_yaml(STUDY)[0], share=0.1, data=str(REAL))
        study.connect(endpoint.url, "judge")
        study.write()
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
    assert sum(trusting.held(tmp_path, "study.yaml").values())
    by_key = {
        (row["dataset"], row["judge"], row["aspect"], row["statistic"]): row
        for row in study.rows("robustness")
    }
    aspects = {
        (dataset, aspect) for dataset, _, aspect, _ in by_key if aspect != "average"
    }
    assert len(aspects) == 10
    for dataset, aspect in aspects:
        at = (dataset, "wrong-hint", aspect)
        assert by_key[*at, "follow_rate"]["value"] == 1
        assert by_key[*at, "alpha_joint"]["value"] >= -1 / 3
        assert by_key[dataset, "right-hint", aspect, "alpha_pair"]["value"] > 0
        assert (
            by_key[dataset, "nameless-hint", aspect, "match_share"]["value"] is not None
        )
        assert by_key[dataset, "human", aspect, "alpha_ordinal"]["value"] > 0.3
