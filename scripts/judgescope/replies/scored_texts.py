"""The questions of judges that ask how probable a text is, not what a model writes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgescope import prompts
from judgescope.core.names import SCORE, SCORE_FREE
from judgescope.engines.requests import CONTINUATION, Request, request_of
from judgescope.prompts import filling
from judgescope.replies.judging import Outline, Questions
from judgescope.schema import cards


@dataclass(frozen=True)
class ScoredTextQuestions(Questions):
    """The questions of one cell: one for each text, with pmi two.

    The second one is the same form without the source. Token ids are in no request, so
    keys are planned without the model.
    """

    model: cards.LlamaModel | cards.VllmModel

    def __len__(self) -> int:
        """Return how many questions the cell has."""
        return len(self.shown) * len(self._kinds)

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        if self.judge.estimator == "pmi":
            return (SCORE, SCORE_FREE)
        return (SCORE,)

    def _text_number(self, number: int) -> int:
        return number // len(self._kinds)

    def kind(self, number: int) -> str:
        """Return whether a question shows the source (`score`) or not."""
        return self._kinds[number % len(self._kinds)]

    def about(self, number: int) -> str:
        """Return a name of the question for messages."""
        name = super().about(self._text_number(number))
        if self.kind(number) == SCORE:
            return name
        return f"{name} (without source)"

    def text_columns(self, number: int) -> dict[str, str]:
        """Return the text that a question is about, as the first column of its row."""
        return super().text_columns(self._text_number(number))

    def cut_columns(self, number: int) -> dict[str, Any]:
        """Return which parts of the text's source are cut, as columns of a row."""
        return super().cut_columns(self._text_number(number))

    def _parts(self, number: int) -> prompts.SourceParts:
        """Return the parts of the source that a question shows; with pmi, the second
        question about a text shows none.
        """
        if self.kind(number) == SCORE_FREE:
            return ()
        return self._parts_of(self._text_number(number))

    def prompt(self, number: int) -> str:
        """Return the prompt of a question, which never contains the text."""
        values = {**self._values, **prompts.material(self._parts(number))}
        [message] = filling.messages(self.judge.form, self.templates, **values)
        role = getattr(self.model, "system_role", "")
        return filling.head_of(self.system, role) + message["content"]

    def __getitem__(self, number: int) -> Request:
        """Return a question as a request."""
        [subject] = self.shown[self._text_number(number)]
        asked = {
            **request_of(
                self.model,
                cards.Decoding(max_tokens=self.judge.max_tokens),
                self.messages(self.prompt(number)),
                seed=self.seed,
                wants={CONTINUATION: subject.text},
            ).asked,
            **self.model.scoring_identity(),
        }
        return Request(asked, self.judge.draws, self.about(number))

    def outline(self, number: int) -> Outline:
        """Return a question's outline; its parts are the prompt and the text."""
        request = self[number]
        parts: list[Any] = [request.prompt, request.asked[CONTINUATION]]
        return Outline(bytes.fromhex(request.key), len(request.prompt), parts)
