"""Let a model write why rated texts deserve their ratings, for judges that are shown them."""

from collections.abc import Mapping
from typing import Any

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.engines.requests import Request, request_of
from judgescope.engines.subjects import Subjects
from judgescope.jobs.run import run
from judgescope.parsing.analysis import problem_of, without_rating
from judgescope.parsing.judgment import Scale
from judgescope.perturb.made import Made, make_texts
from judgescope.replies.analyses import Question, questions
from judgescope.replies.asker import Obtain, asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.tables import table_of, write_table

Row = dict[str, Any]
Written = list[tuple[Question, Made]]


def main(spec: dict[str, Any], *, card: str, store: str, budget: str) -> None:
    """Find the demonstrations of every judge; write their analyses, and the replies behind them."""
    subjects = Subjects(spec["results"], spec["dataset"], spec["seed"])
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        written: Written = []
        for judge in spec["judges"]:
            wanted = list(questions(spec, judge, subjects))
            written += _written(spec, model, wanted, obtain)
    analyses = [_analysis(spec["dataset"], *one) for one in written]
    write_table("analyses", table_of("analyses", analyses), spec["output"])
    answers = [row for one in written for row in _answers(*one)]
    write_table("answers", table_of("answers", answers), spec["replies"])


def _written(
    spec: dict[str, Any], model: PromptedModel, wanted: list[Question], obtain: Obtain
) -> Written:
    """Return a judge's questions, each with its analysis."""
    if not wanted:
        return []
    told = spec["judges"][wanted[0].judge]
    decoding = Decoding(**{name: told[name] for name in Decoding.model_fields})
    known = {f"{one.judge} {one.aspect} {one.target}": one for one in wanted}

    def ask_for(about: str, _: str, problem: str | None) -> Request:
        filled = known[about].messages(spec, problem)
        return request_of(model, decoding, filled, seed=spec["seed"], about=f"analysis of {about}")

    def problem_with(about: str, text: str) -> str | None:
        one = known[about]
        scale = Scale(one.scale.min, one.scale.max, one.scale.step, tuple(one.scale.labels))
        return problem_of(text, one.told["rating"], scale)

    made = make_texts(
        {about: one.told["text"] for about, one in known.items()},
        ask_for=ask_for,
        obtain=obtain,
        checks=["not_refusal"],
        attempts=told["attempts"],
        also=problem_with,
    )
    _check(spec, known, made)
    return [(one, made[about]) for about, one in known.items()]


def _check(spec: dict[str, Any], known: Mapping[str, Question], made: Mapping[str, Made]) -> None:
    """Raise UserError where an analysis failed: another text in its place would be another study.

    All judges of as many demonstrations are shown the same ones, with analyses or without.
    """
    failed = {about: one for about, one in made.items() if one.status != "ok"}
    if not failed:
        return
    about, last = next(iter(failed.items()))
    judge, why = known[about].judge, last.status.removeprefix("failed: ")
    raise UserError(
        f"{len(failed)} of {len(made)} analyses of demonstrations cannot be used: after "
        f"{len(last.tries)} attempts at the first, {why}",
        where=f"judges/{judge}.yaml, key shots.analyses: {spec['model']['model']} on {about}",
        got=last.reply.text,
        todo="the judge was not asked; the replies are kept, and the same come again: name another "
        "model or form, allow more `attempts`, or show the ratings alone (form score-shots)",
    )


def _analysis(dataset: str, one: Question, made: Made) -> Row:
    aspect, criterion = split(one.aspect)
    return {
        **{"dataset": dataset, "judge": one.judge, "aspect": aspect, "criterion": criterion},
        **{"target": one.target, "rating": one.told["rating"], "text": without_rating(made.text)},
    }


def _answers(one: Question, made: Made) -> list[Row]:
    """Return a row for every reply that an analysis took."""
    aspect, criterion = split(one.aspect)
    place: Row = {"judge": one.judge, "kind": "analyze", "target": one.target}
    place |= {"aspect": aspect, "criterion": criterion}
    return [{**place, "hint": problem, **reply_columns(reply)} for problem, reply in made.tries]


if __name__ == "__main__":
    run(main, "card", "store", "budget")
