"""Analyses that judges are shown: of which texts, and what the model that writes them is told."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgescope.core.cells import split
from judgescope.core.sampling import share_of
from judgescope.engines.subjects import Subjects
from judgescope.prompts import messages, rated
from judgescope.replies.few_shot import Demonstrations, rated_texts, shown
from judgescope.schema.cards import Aspect, RatedAspect, Shots


class Question(NamedTuple):
    """A rated text that a judge is shown; `told` has what a prompt sees of it and its aspect."""

    judge: str
    aspect: str
    target: str
    scale: RatedAspect
    told: Mapping[str, Any]

    def messages(self, spec: Mapping[str, Any], problem: str | None = None) -> list[dict[str, str]]:
        """Return the prompt; `problem` tells why an earlier answer cannot be used."""
        form = spec["judges"][self.judge]["form"]
        return messages(form, spec["templates"][form], **self.told, problem=problem)


def questions(spec: Mapping[str, Any], judge: str, subjects: Subjects) -> Iterator[Question]:
    """Yield the texts that a judge is shown for any item that it judges, by aspect and wording.

    Raises UserError where too few texts are rated.
    """
    own = spec["judges"][judge]
    items = share_of(subjects.items, own["share"], seed=spec["seed"], dataset=spec["dataset"])
    for name in own["aspects"]:
        scale = RatedAspect(**spec["scales"][name])
        values = rated(Aspect(**spec["aspects"][name]), scale)
        texts = rated_texts(subjects, split(name)[0])
        for one in Demonstrations(texts, Shots(n=own["n"]), scale).among(items):
            told = values | shown(one, scale)
            yield Question(judge, name, one.subject.target, scale, told)
