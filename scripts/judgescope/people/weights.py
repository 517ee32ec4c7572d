"""Which aspect does a perturbation lower most? Experts' answers become a card of weights.

Wang et al. 2024 (DHP), appendix C, ask ten experts.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.people import form
from judgescope.people.form import Asked, Find, Response
from judgescope.plan.study import Plan
from judgescope.schema.cards import Weights
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import krippendorff_alpha


class Survey(NamedTuple):
    """The questions on one task: aspect -> (name, definition), perturbation -> its issue."""

    task: str
    aspects: dict[str, tuple[str, str]]
    issues: dict[str, str]

    @property
    def id(self) -> str:
        """Return the id of the page: answers are valid only for exactly these questions."""
        return hashlib.sha256(canonical(self._asdict()).encode()).hexdigest()[:16]


def surveys(plan: Plan) -> Iterator[Survey]:
    """Yield a study's surveys, one for each task with more than one aspect.

    Raises UserError for a perturbation whose card has no `issue`.
    """
    for task in dict.fromkeys(plan.datasets[name].task for name in plan.evaluated):
        datasets = [name for name in plan.evaluated if plan.datasets[name].task == task]
        aspects = dict.fromkeys(name for each in datasets for name in plan.plain_aspects(each))
        perturbed = dict.fromkeys(name for each in datasets for name, _ in plan.perturbed(each))
        if len(aspects) > 1 and perturbed:
            cards = {aspect: plan.aspects[aspect].in_task(task) for aspect in aspects}
            yield Survey(
                task,
                {aspect: (card.name, card.definition) for aspect, card in cards.items()},
                {name: _issue(plan, name) for name in perturbed},
            )


def _issue(plan: Plan, perturbation: str) -> str:
    issue = plan.perturbations[perturbation].issue
    if issue is None:
        raise UserError(
            "this perturbation has no description for people",
            where=f"perturbations/{perturbation}.yaml",
            todo="add the key `issue`: a sentence that says what is wrong with such a text",
        )
    return issue


def make(plan: Plan, folder: Path) -> form.Made[Survey]:
    """Write the page of each task into a folder and return the pages; the lines are their paths.

    Raises UserError if there is nothing to ask.
    """
    pages = []
    for survey in surveys(plan):
        options = tuple((aspect, name) for aspect, (name, _) in survey.aspects.items())
        items = [
            form.Item((form.Question(perturbation, options, issue),))
            for perturbation, issue in survey.issues.items()
        ]
        page = form.Page("weights", survey.task, f"{survey.task}.html", survey.id, items)
        pages.append(page._replace(definitions=[*survey.aspects.values()]))
    if not pages:
        raise form.nothing_to_ask(plan, "no task has both several aspects and a perturbation")
    form.write_pages(pages, folder)
    return form.Made(pages, {}, [str(folder / page.file) for page in pages])


def read(plan: Plan, folder: Path, name: str) -> tuple[Weights, list[str]]:
    """Return a card of weights from a folder of answers, and a line about each task.

    A weight is the share of the voters who chose the aspect. Raises UserErrors for answers that do
    not match the study's surveys.
    """
    known = {(survey.id, survey.task): survey for survey in surveys(plan)}

    def survey_of(response: Response[str]) -> Survey:
        return known.get((response.survey, response.task), Survey("", {}, {}))

    def find(response: Response[str]) -> Find[str]:
        _, aspects, issues = survey_of(response)
        return lambda issue: Asked(issue, list(aspects)) if issue in issues else None

    def page(response: Response[str]) -> str | None:
        return response.survey if {*response.answers} == {*survey_of(response).issues} else None

    votes: dict[str, list[Mapping[str, str]]] = {}
    for response in form.read_responses(folder, find, page):
        votes.setdefault(response.task, []).append(response.answers)
    answered = {survey.task: survey for survey in known.values() if survey.task in votes}
    content = {
        "weights": name,
        "name": f"a survey for the study {plan.study.study}",
        "tasks": {task: _weights(survey, votes[task]) for task, survey in answered.items()},
        "voters": {task: len(votes[task]) for task in answered},
        "agreement": {task: _alpha(survey, votes[task]) for task, survey in answered.items()},
    }
    card: Weights = validate_card("weights", content, name)
    lines = []
    for task, alpha in card.agreement.items():
        questions = f"{card.voters[task]} voters, {len(answered[task].issues)} questions"
        shown = "undefined" if alpha is None else f"{alpha:.2f}"
        lines.append(f"{task}: {questions}, agreement (nominal alpha) {shown}")
    return card, lines


def _weights(survey: Survey, votes: list[Mapping[str, str]]) -> dict[str, dict[str, float]]:
    counts = {issue: Counter(answers[issue] for answers in votes) for issue in survey.issues}
    return {
        issue: {aspect: count[aspect] / len(votes) for aspect in survey.aspects if count[aspect]}
        for issue, count in counts.items()
    }


def _alpha(survey: Survey, votes: list[Mapping[str, str]]) -> float | None:
    """Return Krippendorff's nominal alpha of voters over questions, None if it is undefined."""
    numbers = {aspect: float(number) for number, aspect in enumerate(survey.aspects)}
    ratings = [[numbers[answers[issue]] for issue in survey.issues] for answers in votes]
    return krippendorff_alpha(
        np.array(ratings),
        level="nominal",
        domain=list(numbers.values()),
        source=np.arange(len(survey.issues)),
        weights=None,
    ).estimate.value
