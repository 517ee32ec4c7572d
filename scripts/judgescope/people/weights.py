"""Which aspect does a perturbation lower most? Experts' answers become a card of
weights.

Wang et al. 2024 (DHP), appendix C, ask ten experts.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.people import form
from judgescope.people.form import Page, Question, Response
from judgescope.plan.study import Plan
from judgescope.report.words import plural
from judgescope.schema.cards import Weights
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import krippendorff_alpha


def pages_of(plan: Plan) -> Iterator[Page]:
    """Yield a study's pages, one for each task with more than one aspect.

    A question asks which aspect a perturbation lowers most. Answers are valid only for
    exactly the page's questions. Raises UserError for a perturbation whose card has no
    `issue`.
    """
    for task in dict.fromkeys(plan.datasets[name].task for name in plan.evaluated):
        datasets = [name for name in plan.evaluated if plan.datasets[name].task == task]
        aspects = dict.fromkeys(
            name for each in datasets for name in plan.plain_aspects(each)
        )
        perturbed = dict.fromkeys(
            name for each in datasets for name, _ in plan.perturbed(each)
        )
        if len(aspects) < 2 or not perturbed:
            continue
        issues = {}
        for name in perturbed:
            if (issue := plan.perturbations[name].issue) is None:
                raise UserError(
                    "this perturbation has no description for people",
                    where=f"perturbations/{name}.yaml",
                    todo="add the key `issue`: a sentence that says what is wrong with "
                    "such a text",
                )
            issues[name] = issue
        cards = {aspect: plan.aspects[aspect].in_task(task) for aspect in aspects}
        about = {aspect: (card.name, card.definition) for aspect, card in cards.items()}
        shown = canonical({"task": task, "aspects": about, "issues": issues})
        survey = hashlib.sha256(shown.encode()).hexdigest()[:16]
        options = tuple((aspect, name) for aspect, (name, _) in about.items())
        items = [
            form.Item((Question(each, options, each, issue),))
            for each, issue in issues.items()
        ]
        yield Page(
            "weights",
            task,
            f"{task}.html",
            survey,
            items,
            definitions=[*about.values()],
        )


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


def read(plan: Plan, folder: Path, name: str) -> tuple[Weights, list[str]]:
    """Return a card of weights from a folder of answers, and a line about each task.

    A weight is the share of the voters who chose the aspect. Raises UserErrors for
    answers that do not match the study's pages.
    """
    known = {
        (page.id, page.task): {item.id: item.questions[0] for item in page.items}
        for page in pages_of(plan)
    }

    def asked(response: Response[object]) -> dict[str, Question[object]]:
        return known.get((response.survey, response.task), {})

    def page_id(response: Response[object]) -> str | None:
        return (
            response.survey
            if response.answers.keys() == asked(response).keys()
            else None
        )

    responses = form.read_responses(
        folder, lambda response: asked(response).get, page_id
    )
    weights: dict[str, dict[str, dict[str, float]]] = {}
    voters: dict[str, int] = {}
    alphas: dict[str, float | None] = {}
    lines = []
    for (_, task), questions in known.items():
        votes = [response.answers for response in responses if response.task == task]
        if not votes:
            lines.append(f"{task}: no answers, so all aspects have the same weight")
            continue
        voters[task], weights[task] = len(votes), {}
        for question in questions.values():
            count = Counter(answers[question.id] for answers in votes)
            chosen = [aspect for aspect in question.values if count[aspect]]
            weights[task][question.id] = {
                each: count[each] / len(votes) for each in chosen
            }
        aspects = next(iter(questions.values())).values
        alphas[task] = alpha = krippendorff_alpha(
            np.array(
                [[aspects.index(each[name]) for name in questions] for each in votes],
                float,
            ),
            level="nominal",
            domain=range(len(aspects)),
            source=np.arange(len(questions)),
            weights=None,
        ).estimate.value
        shown = "undefined" if alpha is None else f"{alpha:.2f}"
        asked_of = (
            f"{plural(len(votes), 'voter')}, {plural(len(questions), 'question')}"
        )
        lines.append(f"{task}: {asked_of}, agreement (nominal alpha) {shown}")
    content = {
        "weights": name,
        "name": f"a survey for the study {plan.study.study}",
        "tasks": weights,
        "voters": voters,
        "agreement": alphas,
    }
    card: Weights = validate_card("weights", content, name)
    return card, lines
