"""The rehearsal of a study: all its prompts are filled once with sample texts.

What fills prompts is imported only for a study that has some: the imports take half as
long as those of a command that has none, such as `audit`.
"""

from judgescope.core.errors import UserError
from judgescope.plan.study import Plan
from judgescope.schema import cards
from judgescope.schema.cards.engines import prompted_engines


def rehearse(plan: Plan) -> None:
    """Fill the form of every judge and writer with each aspect, scale and kind of
    source it meets.

    Raises UserError for a form that cannot be filled, or that does not print a text
    that it is about.
    """
    for judge in plan.judges.values():
        if plan.is_prompted(judge.model):
            # here: `audit` runs without
            from judgescope.plan.checks.judge_forms import rehearse_judge

            rehearse_judge(plan, judge)
        elif judge.annotation is not None:
            raise _annotation_without_prompt(plan, judge)
    for ensemble in plan.derived.values():
        if ensemble.supervisor is not None:
            # here: `audit` runs without
            from judgescope.plan.checks.judge_forms import rehearse_supervisor

            for name in plan.datasets:
                rehearse_supervisor(plan, ensemble.supervisor, plan.about(name))
    for dataset in plan.datasets.values():
        _check_names_of_parts(plan, dataset)
        if plan.perturbations or plan.new_sets(dataset.dataset):
            # here: `audit` runs without
            from judgescope.plan.checks.writer_forms import rehearse_writers

            rehearse_writers(plan, dataset)


def _annotation_without_prompt(plan: Plan, judge: cards.Judge) -> UserError:
    return UserError(
        "`annotation` needs a model that reads prompts",
        where=f"judges/{judge.judge}.yaml, key annotation",
        got=f"{judge.model} (engine {plan.models[judge.model].engine})",
        allowed=f"a model of engine {' or '.join(prompted_engines())}",
        todo="to read recorded annotations, write `parser: annotation` instead",
    )


def _check_names_of_parts(plan: Plan, dataset: cards.Dataset) -> None:
    """Check that no part of a source has the heading of one of two texts."""
    noun = plan.words(dataset.dataset).noun
    headings = [f"{noun} {letter}".casefold() for letter in "ab"]
    names = dataset.columns.source if dataset.columns else []
    for name in names if isinstance(names, dict) else ():
        if name.casefold() in headings:
            raise UserError(
                "this name of a part is the heading of a text in prompts that compare",
                where=f"datasets/{dataset.dataset}.yaml, key columns.source",
                got=name,
                todo="give the part another name",
            )
