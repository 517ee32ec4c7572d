"""Aspects in several wordings: what judges are told, and where the numbers stand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import FAST, AskedStudy
from judgescope.core.cells import joined, split
from judgescope.core.errors import UserError, UserErrors
from judgescope.plan.loading import load_plan
from judgescope.schema.cards import Aspect, Wording
from judgescope.schema.tables import read_part
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve
from study import Study

ASPECT = Aspect(
    aspect="clear",
    name="Clarity",
    definition="How clear it is.",
    steps=["Read it."],
    criteria={
        "short": "Is it clear?",
        "loud": {"name": "CLARITY", "note": "Be strict."},
    },
)
STUDY: dict[str, Any] = {
    **{
        "study": "worded",
        "datasets": ["demo-dialogue"],
        "aspects": ["naturalness", "coherence"],
    },
    **{"judges": ["rules"], "methods": ["agreement"]},
}
ABLATIONS = ["empty", "meaningless", "term-only", "description-only"]
ABLATIONS += ["ignore-others", "naming-others"]


def test_a_cell_names_aspect_and_criterion() -> None:
    assert [split(joined(*each)) for each in (("a", None), ("a", "b"))] == [
        ("a", None),
        ("a", "b"),
    ]
    assert joined("a", "b") == "a.b"


@pytest.mark.parametrize(
    ("wording", "name", "definition"),
    [
        (ASPECT.criteria["short"], "Clarity", "Is it clear?"),
        (ASPECT.criteria["loud"], "CLARITY", "How clear it is. Be strict."),
        (Wording(name="", definition=""), "", ""),
        (Wording(definition="", note="Be strict."), "Clarity", "Be strict."),
        (Wording(), "Clarity", "How clear it is."),
    ],
)
def test_a_wording_replaces_what_it_gives(
    wording: Wording, name: str, definition: str
) -> None:
    result = ASPECT.worded(wording)
    assert (result.name, result.definition, result.steps) == (
        name,
        definition,
        ["Read it."],
    )


def plan_of(**keys: Any) -> Any:
    return load_plan(STUDY | keys, HOME, source="study.yaml")


@pytest.mark.heavy
def test_every_aspect_is_judged_in_every_criterion() -> None:
    plan = plan_of(criteria=["term-only", "empty"])
    assert plan.plain_aspects("demo-dialogue") == ["naturalness", "coherence"]
    cells = [cell.aspect for cell in plan.cell_aspects if cell.judge == "rules"]
    assert cells == [
        f"{a}.{c}" for a in ("naturalness", "coherence") for c in ("term-only", "empty")
    ]
    assert plan.aspect_of("demo-dialogue", "coherence.term-only").definition == ""
    assert plan.scale_of("demo-dialogue", "coherence.empty").max == 5
    aspects = [cell.aspect for cell in plan_of().cell_aspects if cell.judge == "rules"]
    assert aspects == ["naturalness", "coherence"]


def test_the_aspect_s_own_wording_goes_before_a_general_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change(
        "aspects", "naturalness", criteria={"empty": "Nearly empty."}
    )
    monkeypatch.chdir(tmp_path)
    plan = plan_of(criteria=["empty"])
    by_name = {
        name: plan.aspect_of("demo-dialogue", f"{name}.empty")
        for name in STUDY["aspects"]
    }
    assert (
        by_name["naturalness"].definition == "Nearly empty."
        and by_name["coherence"].definition == ""
    )


PAPER: dict[str, Any] = {
    **{"datasets": ["demo-confusion-news"], "aspects": [], "methods": ["confusion"]},
    "perturbations": ["spelling-mistake"],
}


@pytest.mark.heavy
def test_a_wording_that_some_aspects_have_is_asked_of_those_alone() -> None:
    kinds = ["default", "simplified", "detailed", "term", "list"]
    plan = plan_of(criteria=[*kinds, *(f"selection-{n}" for n in (1, 2, 3))], **PAPER)
    cells = plan.aspects_of("demo-confusion-news")
    assert len(cells) == 80  # those of Hu et al. (2024)
    assert "coherence.selection-3" in cells and "overall.selection-3" not in cells
    with pytest.raises(
        UserError, match="none of the study's alternative wordings"
    ) as error:
        plan_of(criteria=["selection-3"], **PAPER)
    assert "selection-2" in str(error.value)
    with pytest.raises(UserError) as error:
        plan_of(criteria=["defualt"], **PAPER)
    assert "default" in str(error.value)


def test_an_unknown_criterion_is_reported_with_the_nearest() -> None:
    with pytest.raises(UserError) as error:
        plan_of(criteria=["term-onyl"])
    message = str(error.value)
    assert (
        "study.yaml, key criteria" in message
        and "term-only" in message
        and "criteria/term-onyl" in message
    )
    with pytest.raises((UserError, UserErrors), match="at most one of `criteria`"):
        keys = {"methods": ["discernment"], "perturbations": ["reordering"]}
        plan_of(criteria=["empty", "term-only"], **keys)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    """A study of one aspect in six wordings; a judge that says how long its prompt
    is.
    """

    def by_length(body: Body) -> Said:
        prompt = prompt_of(body)
        return reply(str(1 + len(prompt) % 5))

    with serve(by_length) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("criteria"), endpoint)
        study.model(limits=FAST)
        study.write(criteria=ABLATIONS, judges=["terse", "rules"])
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield study


@pytest.mark.long(11)
@pytest.mark.slow
def test_prompts_differ_in_the_wording_alone(
    study: AskedStudy,
) -> None:
    prompts = study.endpoint.prompts
    assert len(prompts) == 6 * 120 == len(set(prompts))
    card = plan_of().aspects["naturalness"]
    named = [prompt for prompt in prompts if card.name.lower() in prompt.split("\n")[0]]
    assert len(named) == 3 * 120  # not: empty, meaningless, description-only
    defined = [prompt for prompt in prompts if card.definition in prompt]
    assert len(defined) == 3 * 120  # not: empty, meaningless, term-only
    assert sum("glavority" in prompt for prompt in prompts) == 120
    empty = [
        prompt
        for prompt in prompts
        if prompt.startswith("You rate a text. ")
        and prompt.split("\n\n")[1].startswith("The scale")
    ]
    assert len(empty) == 120


@pytest.mark.long(11)
@pytest.mark.slow
def test_numbers_stand_at_their_criterion(study: AskedStudy) -> None:
    results = study.folder / "results" / "asked"
    for criterion in ABLATIONS:
        for table in ("scores", "judgments"):
            path = results / table / "demo-dialogue/loop/systems/terse.parquet"
            rows = read_part(table, path, "naturalness", criterion).to_pylist()
            assert {(row["aspect"], row["criterion"]) for row in rows} == {
                ("naturalness", criterion)
            }
    collected = [
        row for row in study.rows("agreement") if row["statistic"] == "pearson"
    ]
    assert {row["criterion"] for row in collected if row["judge"] == "terse"} == {
        *ABLATIONS
    }
    assert {row["aspect"] for row in collected} == {
        "naturalness"
    }  # no average over wordings
    people = [row for row in study.rows("agreement") if row["judge"] == "human"]
    assert {row["criterion"] for row in people} == {None}
    rules = {
        row["value"]
        for row in collected
        if row["judge"] == "rules" and row["level"] == "pooled"
    }
    assert len(rules) == 1  # what computes looks at the aspect alone
    page = text_of_pages(results / "report")
    assert "(term-only)" in page
