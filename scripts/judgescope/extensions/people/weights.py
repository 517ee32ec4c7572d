"""Which aspect does a perturbation lower most? Experts' answers become a card of
weights.

Wang et al. 2024 (DHP), appendix C, ask ten experts.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.extensions.people import answers, form
from judgescope.extensions.people.answers import Response
from judgescope.extensions.people.form import FormQuestion, Page
from judgescope.plan.study import Plan
from judgescope.report.words import plural
from judgescope.schema.cards import TaskWeights
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import krippendorff_alpha


def pages_of(plan: Plan) -> Iterator[Page]:
    """Yield a study's pages, one for each task with more than one aspect.

    A question asks which aspect a perturbation lowers most. Answers are valid only for
    exactly the page's questions. Raises UserError for a perturbation whose card has no
    `issue`.
    """
    for task in dict.fromkeys(plan.datasets[name].task for name in plan.evaluated):
        aspects: dict[str, None] = {}
        perturbed: dict[str, None] = {}
        for dataset in plan.evaluated:
            if plan.datasets[dataset].task == task:
                aspects |= dict.fromkeys(plan.plain_aspects(dataset))
                perturbed |= dict.fromkeys(name for name, _ in plan.perturbed(dataset))
        if len(aspects) >= 2 and perturbed:
            yield _page(plan, task, aspects, perturbed)


def _page(
    plan: Plan, task: str, aspects: Iterable[str], perturbations: Iterable[str]
) -> Page:
    """Return the page of a task."""
    issues = {name: _issue(plan, name) for name in perturbations}
    wordings = {}
    for aspect in aspects:
        card = plan.aspects[aspect].in_task(task)
        wordings[aspect] = (card.name, card.definition)
    shown = canonical({"task": task, "aspects": wordings, "issues": issues})
    survey = hashlib.sha256(shown.encode()).hexdigest()[:16]
    options = tuple((aspect, name) for aspect, (name, _) in wordings.items())
    items = []
    for perturbation, issue in issues.items():
        question = FormQuestion(perturbation, options, perturbation, issue)
        items.append(form.FormItem((question,)))
    definitions = list(wordings.values())
    file = f"{task}.html"
    return Page("weights", task, file, survey, items, definitions=definitions)


def _issue(plan: Plan, perturbation: str) -> str:
    """Return what is wrong with a perturbed text; UserError if its card does not say
    it.
    """
    issue = plan.perturbations[perturbation].issue
    if issue is None:
        raise UserError(
            "this perturbation has no description for people",
            where=f"perturbations/{perturbation}.yaml",
            todo="add the key `issue`: a sentence that says what is wrong with "
            "such a text",
        )
    return issue


def make(plan: Plan, folder: Path, *, force: bool = False) -> form.Made[str]:
    """Write the page of each task into a folder and return the pages; the lines are
    their paths.

    Raises UserError if there is nothing to ask.
    """
    pages = list(pages_of(plan))
    if not pages:
        raise form.nothing_to_ask(
            plan, "no task has both several aspects and a perturbation"
        )
    form.write_pages(pages, folder, force=force)
    return form.Made(pages, {}, [str(folder / page.file) for page in pages])


def read(plan: Plan, folder: Path, name: str) -> tuple[TaskWeights, list[str]]:
    """Return a card of weights from a folder of answers, and a line about each task.

    A weight is the share of the voters who chose the aspect. Raises UserErrors for
    answers that do not match the study's pages.
    """
    known: dict[tuple[str, str], dict[str, FormQuestion[object]]] = {}
    for page in pages_of(plan):
        questions = {item.id: item.questions[0] for item in page.items}
        known[page.id, page.task] = questions
    responses = _responses(folder, known)
    weights: dict[str, dict[str, dict[str, float]]] = {}
    voters: dict[str, int] = {}
    alphas: dict[str, float | None] = {}
    lines = []
    for (_, task), questions in known.items():
        votes = [response.answers for response in responses if response.task == task]
        if not votes:
            lines.append(f"{task}: no answers, so all aspects have the same weight")
            continue
        voters[task] = len(votes)
        weights[task] = {}
        for question in questions.values():
            count = Counter(chosen[question.id] for chosen in votes)
            shares = {}
            for aspect in question.values:
                if count[aspect]:
                    shares[aspect] = count[aspect] / len(votes)
            weights[task][question.id] = shares
        alpha = _agreement(questions, votes)
        alphas[task] = alpha
        shown = "undefined" if alpha is None else f"{alpha:.2f}"
        size = f"{plural(len(votes), 'voter')}, {plural(len(questions), 'question')}"
        lines.append(f"{task}: {size}, agreement (nominal alpha) {shown}")
    content = {
        "weights": name,
        "name": f"a survey for the study {plan.study.study}",
        "tasks": weights,
        "voters": voters,
        "agreement": alphas,
    }
    card: TaskWeights = validate_card("weights", content, name)
    return card, lines


def _responses(
    folder: Path, known: Mapping[tuple[str, str], dict[str, FormQuestion[object]]]
) -> list[Response[object]]:
    """Return the responses in a folder.

    known: (id, task) of a page -> question id -> its question.
    """

    def questions_of(response: Response[object]) -> dict[str, FormQuestion[object]]:
        return known.get((response.survey, response.task), {})

    def page_id(response: Response[object]) -> str | None:
        if response.answers.keys() != questions_of(response).keys():
            return None
        return response.survey

    return answers.read_responses(
        folder, lambda response: questions_of(response).get, page_id
    )


def _agreement(
    questions: Mapping[str, FormQuestion[object]], votes: Sequence[Mapping[str, str]]
) -> float | None:
    """Return the nominal alpha of the voters of a task; None if it is undefined."""
    aspects = next(iter(questions.values())).values
    chosen = []
    for answer in votes:
        chosen.append([aspects.index(answer[name]) for name in questions])
    return krippendorff_alpha(
        np.array(chosen, float),
        level="nominal",
        domain=range(len(aspects)),
        source=np.arange(len(questions)),
        weights=None,
    ).estimate.value
