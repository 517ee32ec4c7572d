"""A survey of which aspect a kind of damage lowers most: its pages, and the weights it gives.

Paper 000 asks ten experts so (appendix C). A page works offline and saves a voter's answers as a
file; a folder of such files becomes a card of weights.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.people.responses import Ballot, ballots
from judgescope.plan import Plan
from judgescope.report.html import environment_of, finished
from judgescope.schema.cards import Weights
from judgescope.schema.loading import validate_card, write_new_card
from judgescope.statistics.alpha import krippendorff_alpha


class Survey(NamedTuple):
    """The questions on one task: aspect -> (name, definition), perturbation -> its issue."""

    task: str
    aspects: dict[str, tuple[str, str]]
    issues: dict[str, str]

    @property
    def id(self) -> str:
        """Return what answers name: they belong to these questions and no others."""
        return hashlib.sha256(canonical(self._asdict()).encode()).hexdigest()[:16]


def surveys(plan: Plan) -> Iterator[Survey]:
    """Yield a study's surveys, one for each task with more than one aspect.

    Raises UserError for a perturbation whose card says no `issue`.
    """
    evaluated = {name: plan.datasets[name] for name in plan.evaluated}
    for task in dict.fromkeys(card.task for card in evaluated.values()):
        own = [name for name, card in evaluated.items() if card.task == task]
        aspects = dict.fromkeys(aspect for name in own for aspect in plan.plain_aspects(name))
        damages = dict.fromkeys(damage for name in own for damage, _ in plan.perturbed(name))
        if len(aspects) < 2 or not damages:
            continue
        cards = {aspect: plan.aspects[aspect].in_task(task) for aspect in aspects}
        yield Survey(
            task,
            {aspect: (card.name, card.definition) for aspect, card in cards.items()},
            {damage: _issue(plan, damage) for damage in damages},
        )


def _issue(plan: Plan, damage: str) -> str:
    issue = plan.perturbations[damage].issue
    if issue is None:
        raise UserError(
            "this perturbation does not say what people are asked about it",
            where=f"perturbations/{damage}.yaml",
            todo="add the key `issue`: what is wrong with such a text, in a sentence",
        )
    return issue


def make(plan: Plan, folder: Path, templates: Path) -> list[Path]:
    """Write the page of each task into a folder and return them.

    Raises UserError where there is nothing to ask.
    """
    found = list(surveys(plan))
    if not found:
        raise UserError(
            "there is nothing to ask: no task has several aspects and a perturbation",
            where=plan.study.study,
        )
    folder.mkdir(parents=True, exist_ok=True)
    page = environment_of(templates).get_template("page.html.jinja")
    script = (templates / "save.js").read_text(encoding="utf-8")
    paths = []
    for survey in found:
        path = folder / f"{survey.task}.html"
        text = finished(page.render(survey=survey, script=Markup(script)), script)
        path.write_text(text, encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def read(plan: Plan, folder: Path, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return a card of weights from a folder of answers, and what to say of each task.

    A weight is the share of the voters who chose the aspect. A file that is there twice counts
    once. Raises UserErrors for what are no answers to the study's surveys.
    """
    known = {survey.id: survey for survey in surveys(plan)}
    given: dict[str, list[Ballot]] = {one.task: [] for one in known.values()}
    for ballot in ballots(folder, partial(_check, known)).values():
        given[ballot.task].append(ballot)
    told = [one for one in known.values() if given[one.task]]
    card = {
        "weights": name,
        "name": f"a survey for the study {plan.study.study}",
        "tasks": {one.task: _weights(one, given[one.task]) for one in told},
        "voters": {one.task: len(given[one.task]) for one in told},
        "agreement": {one.task: _alpha(one, given[one.task]) for one in told},
    }
    validate_card("weights", card, name)
    return card, [_line(one, card) for one in told]


def _check(known: Mapping[str, Survey], ballot: Ballot, where: str) -> None:
    """Raise UserError unless every question of the study's survey, and no other, has an answer."""
    survey = known.get(ballot.survey)
    if survey is None or survey.task != ballot.task:
        raise UserError(
            "these answers belong to other questions",
            where=where,
            got=ballot.task,
            todo="the study's cards were changed since its survey was made: ask again, or use "
            "the cards of that time",
        )
    if set(ballot.answers) != set(survey.issues):
        raise UserError(
            "a question has no answer, or an answer no question",
            where=where,
            got=sorted(ballot.answers),
            allowed=survey.issues,
        )
    for damage, aspect in ballot.answers.items():
        if aspect not in survey.aspects:
            raise UserError(
                "there is no such aspect",
                where=f"{where}, answer to {damage}",
                got=aspect,
                allowed=survey.aspects,
            )


def _weights(survey: Survey, given: list[Ballot]) -> dict[str, dict[str, float]]:
    votes = {damage: Counter(one.answers[damage] for one in given) for damage in survey.issues}
    return {
        damage: {aspect: found[aspect] / len(given) for aspect in survey.aspects if found[aspect]}
        for damage, found in votes.items()
    }


def _alpha(survey: Survey, given: list[Ballot]) -> float | None:
    """Return Krippendorff's nominal alpha of voters over questions, None if it is undefined."""
    numbers = {aspect: float(number) for number, aspect in enumerate(survey.aspects)}
    votes = np.array([[numbers[one.answers[damage]] for damage in survey.issues] for one in given])
    found = krippendorff_alpha(
        votes,
        level="nominal",
        domain=list(numbers.values()),
        source=np.arange(len(survey.issues)),
        weights=None,
    )
    return found.value


def _line(survey: Survey, card: Mapping[str, Any]) -> str:
    alpha = card["agreement"][survey.task]
    shown = "undefined" if alpha is None else f"{alpha:.2f}"
    return (
        f"{survey.task}: {card['voters'][survey.task]} voters, {len(survey.issues)} questions, "
        f"agreement (nominal alpha) {shown}"
    )


def write(card: Mapping[str, Any], path: Path) -> None:
    """Write a card of weights; one that is there is not overwritten (UserError)."""
    write_new_card(Weights.model_validate(card).model_dump(mode="json"), path)
