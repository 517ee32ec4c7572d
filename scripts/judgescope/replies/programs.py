"""The questions of a cell whose model is a program: what it is shown, as an object, no prompt."""

from dataclasses import dataclass

from judgescope.engines.requests import Request, request_of_program
from judgescope.prompts import rated
from judgescope.replies.judging import Outline, Questions
from judgescope.schema.cards import CommandModel

ALWAYS = {"form", "text", "text_b"}


@dataclass(frozen=True)
class ProgramQuestions(Questions):
    """What one cell asks of a program."""

    model: CommandModel

    def __getitem__(self, number: int) -> Request:
        """Return a question: of all there is, what the program's card says it sees."""
        texts = self._texts(number)
        told = rated(self.aspect, self.own_scale) | {"form": self.judge.form}
        # the rest of what is said of an aspect tells readers of prompts how to go about it
        about = {name: told["aspect"][name] for name in ("name", "definition")}
        told["aspect"] = {"id": self.aspect.aspect, **about}
        told |= {"references": list(self.shown[number][0].references), **texts}
        sees = {*ALWAYS, *self.model.inputs, *(["scale"] if "aspect" in self.model.inputs else [])}
        return request_of_program(
            self.model,
            self.judge,
            {name: value for name, value in told.items() if name in sees},
            seed=self.seed,
            draws=self.judge.draws,
            about=self.about(number),
        )

    def outline(self, number: int) -> Outline:
        """Return a question's outline; its parts are the form and the texts."""
        request, texts = self[number], self._texts(number)
        parts = [self.judge.form, *(text or "" for text in texts.values())]
        return Outline(bytes.fromhex(request.key), len(request.prompt), parts)
