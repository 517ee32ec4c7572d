"""The questions of judges whose model decides: a state, and a question with options."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from judgescope import prompts
from judgescope.core.canonical import canonical
from judgescope.engines.requests import Request
from judgescope.prompts import filling
from judgescope.replies.judging import HINT, Outline, Questions
from judgescope.schema import cards

FIRST: Final = "text_a"
SECOND: Final = "text_b"


def question_type(
    judge: cards.Judge, scale: cards.RatingScale, *, pairs: bool
) -> cards.QuestionType:
    """Return the type of a judge's question: its card's, else that which fits the
    scale.
    """
    if pairs:
        return "choice"
    if judge.question is not None:
        return judge.question
    if not scale.categorical:
        return "score"
    if scale.ordered and len(scale.labels) == 2:
        return "noul"
    return "choice"


def options_of(scale: cards.RatingScale) -> list[str]:
    """Return a scale's labels, or its values as text, in its order."""
    values = [str(prompts.plain(value)) for value in scale.values() or []]
    return list(scale.labels) or values


def ends_of(scale: cards.RatingScale) -> tuple[str, str]:
    """Return the worst and the best option of a scale."""
    first, *_, last = options_of(scale)
    if scale.best == "max":
        return (first, last)
    return (last, first)


def shown_decision(
    judge: cards.Judge, scale: cards.RatingScale, *, pairs: bool
) -> dict[str, str]:
    """Return the name `decision` of a form: the type of the question, and the best
    option of a scale.
    """
    kind = question_type(judge, scale, pairs=pairs)
    if pairs:
        return {"type": kind}
    return {"type": kind, "best": ends_of(scale)[1]}


def criteria_of(
    kind: cards.QuestionType, scale: cards.RatingScale, *, pairs: bool
) -> dict[str, str | None] | list[str]:
    """Return what a question says about its options.

    choice: option -> its description; noul: the meaning of true and false; score: the
    levels, the lowest value first.
    """
    # The options of a question about two texts.
    sides = {
        "A": f"the text in `{FIRST}` is better",
        "B": f"the text in `{SECOND}` is better",
        "tie": "neither is better",
    }
    if pairs:
        return dict(sides)
    options = options_of(scale)
    if kind == "choice":
        return dict.fromkeys(options)
    worst, best = ends_of(scale)
    if kind == "noul":
        return {"true": f"the verdict is: {best}", "false": f"the verdict is: {worst}"}
    if scale.labels:
        return list(options)
    named = {worst: f"{worst} (worst)", best: f"{best} (best)"}
    return [named.get(value, value) for value in options]


def names_shown(*, pairs: bool) -> dict[str, str]:
    """Return what a form prints in place of the texts: the names of their fields."""
    if pairs:
        return {"text": FIRST, "text_b": SECOND}
    return {"text": "text", "reference": "reference"}


@dataclass(frozen=True)
class DecisionQuestions(Questions):
    """The questions of one cell to a decision model, one a request."""

    model: cards.SystemOneModel

    @cached_property
    def kind_of_question(self) -> cards.QuestionType:
        """Return the type of the cell's questions."""
        return question_type(self.judge, self.own_scale, pairs=self.pairs)

    @cached_property
    def question(self) -> dict[str, Any]:
        """Return the question, the same for all texts of the cell."""
        kind = self.kind_of_question
        shown = shown_decision(self.judge, self.own_scale, pairs=self.pairs)
        values = {**self._values, "decision": shown, **names_shown(pairs=self.pairs)}
        instructions = filling.rendered(self.judge.form, self.templates, **values)
        return {
            "type": kind,
            "instructions": instructions.strip(),
            "criteria": criteria_of(kind, self.own_scale, pairs=self.pairs),
        }

    def state(self, number: int) -> dict[str, Any]:
        """Return what the model knows: the texts, and the parts of their source."""
        texts = self._texts(number)
        names = names_shown(pairs=self.pairs)
        state: dict[str, Any] = {}
        for name, text in texts.items():
            if name in names and name != HINT:
                state[names[name]] = text
        parts = self._parts(number)
        # The fields of a state; a form prints their names where others print the texts.
        source_name = "source"
        if parts:
            state[source_name] = [part._asdict() for part in parts]
        return state

    def prompt(self, number: int) -> str:
        """Return the instructions and the state, as people read them."""
        return self[number].prompt

    def __getitem__(self, number: int) -> Request:
        """Return a question as a request."""
        asked = {
            **self.model.identity(),
            "state": self.state(number),
            "question": self.question,
        }
        return Request(asked, self.judge.draws, self.about(number))

    def outline(self, number: int) -> Outline:
        """Return a question's outline; its parts are the instructions and the state."""
        request = self[number]
        parts = [self.question["instructions"], canonical(request.asked["state"])]
        return Outline(bytes.fromhex(request.key), len(request.prompt), parts)
