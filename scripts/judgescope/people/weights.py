"""Which aspect does a perturbation lower most? Experts' answers become a card of weights.

Wang et al. 2024 (DHP), appendix C, ask ten experts.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.people import form
from judgescope.people.form import Asked, Page, Response
from judgescope.plan.study import Plan
from judgescope.schema.cards import Weights
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import krippendorff_alpha


def pages_of(plan: Plan) -> Iterator[Page]:
    """Yield a study's pages, one for each task with more than one aspect.

    A question asks which aspect a perturbation lowers most. Answers are valid only for exactly
    the page's questions. Raises UserError for a perturbation whose card has no `issue`.
    """
    for task in dict.fromkeys(plan.datasets[name].task for name in plan.evaluated):
        datasets = [name for name in plan.evaluated if plan.datasets[name].task == task]
        aspects = dict.fromkeys(name for each in datasets for name in plan.plain_aspects(each))
        perturbed = dict.fromkeys(name for each in datasets for name, _ in plan.perturbed(each))
        if len(aspects) < 2 or not perturbed:
            continue
        issues = {}
        for name in perturbed:
            if (issue := plan.perturbations[name].issue) is None:
                raise UserError(
                    "this perturbation has no description for people",
                    where=f"perturbations/{name}.yaml",
                    todo="add the key `issue`: a sentence that says what is wrong with such a text",
                )
            issues[name] = issue
        cards = {aspect: plan.aspects[aspect].in_task(task) for aspect in aspects}
        about = {aspect: (card.name, card.definition) for aspect, card in cards.items()}
        shown = canonical({"task": task, "aspects": about, "issues": issues})
        survey = hashlib.sha256(shown.encode()).hexdigest()[:16]
        options = tuple((aspect, name) for aspect, (name, _) in about.items())
        items = [form.Item((form.Question(each, options, issues[each]),)) for each in issues]
        yield Page("weights", task, f"{task}.html", survey, items, definitions=[*about.values()])


def make(plan: Plan, folder: Path) -> form.Made[str]:
    """Write the page of each task into a folder and return the pages; the lines are their paths.

    Raises UserError if there is nothing to ask.
    """
    pages = list(pages_of(plan))
    if not pages:
        raise form.nothing_to_ask(plan, "no task has both several aspects and a perturbation")
    form.write_pages(pages, folder)
    return form.Made(pages, {}, [str(folder / page.file) for page in pages])


def read(plan: Plan, folder: Path, name: str) -> tuple[Weights, list[str]]:
    """Return a card of weights from a folder of answers, and a line about each task.

    A weight is the share of the voters who chose the aspect. Raises UserErrors for answers that do
    not match the study's pages.
    """
    known = {(page.id, page.task): page for page in pages_of(plan)}

    def asked(response: Response[str]) -> dict[str, Asked[str]]:
        page = known.get((response.survey, response.task))
        questions = [item.questions[0] for item in page.items] if page else []
        return {each.id: Asked(each.id, [*dict(each.options)]) for each in questions}

    def page_id(response: Response[str]) -> str | None:
        return response.survey if response.answers.keys() == asked(response).keys() else None

    votes: dict[str, list[Mapping[str, str]]] = {}
    for response in form.read_responses(folder, lambda response: asked(response).get, page_id):
        votes.setdefault(response.task, []).append(response.answers)
    answered = {page.task: page for page in known.values() if page.task in votes}
    weights: dict[str, dict[str, dict[str, float]]] = {}
    for task, page in answered.items():
        for [question] in (item.questions for item in page.items):
            count = Counter(answers[question.id] for answers in votes[task])
            chosen = [aspect for aspect, _ in question.options if count[aspect]]
            shares = {aspect: count[aspect] / len(votes[task]) for aspect in chosen}
            weights.setdefault(task, {})[question.id] = shares
    content = {
        "weights": name,
        "name": f"a survey for the study {plan.study.study}",
        "tasks": weights,
        "voters": {task: len(votes[task]) for task in answered},
        "agreement": {task: _alpha(page, votes[task]) for task, page in answered.items()},
    }
    card: Weights = validate_card("weights", content, name)
    lines = []
    for task, alpha in card.agreement.items():
        questions = f"{card.voters[task]} voters, {len(answered[task].items)} questions"
        shown = "undefined" if alpha is None else f"{alpha:.2f}"
        lines.append(f"{task}: {questions}, agreement (nominal alpha) {shown}")
    return card, lines


def _alpha(page: Page, votes: list[Mapping[str, str]]) -> float | None:
    """Return Krippendorff's nominal alpha of voters over questions, None if it is undefined."""
    options = dict(page.items[0].questions[0].options)
    numbers = {aspect: float(number) for number, aspect in enumerate(options)}
    ratings = [[numbers[answers[item.id]] for item in page.items] for answers in votes]
    return krippendorff_alpha(
        np.array(ratings),
        level="nominal",
        domain=list(numbers.values()),
        source=np.arange(len(page.items)),
        weights=None,
    ).estimate.value
