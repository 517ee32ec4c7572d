"""Analyses that judges are shown: of which texts, and what the model that writes them is told."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgescope.core.cells import split
from judgescope.core.job_spec import JobSpec
from judgescope.core.rng import share_of
from judgescope.engines.subjects import Subjects
from judgescope.prompts import messages, rated
from judgescope.replies.few_shot import Demonstrations, rated_texts, shown
from judgescope.replies.specs import ModelSpec, PromptSpec
from judgescope.schema.cards import Aspect, RatedAspect, Shots


class AnalysedJudge(PromptSpec, frozen=True, kw_only=True):
    """A judge that is shown analyses, and how they are asked for."""

    n: int
    """The number of demonstrations that it is shown."""
    share: float
    """The share of the items that it judges."""
    aspects: list[str]
    attempts: int


class AnalyseSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model explains the ratings of demonstrations that judges are shown."""

    dataset: str
    seed: int
    model: ModelSpec
    judges: dict[str, AnalysedJudge]
    templates: dict[str, dict[str, str]]
    """Form -> file name -> template."""
    aspects: dict[str, dict[str, Any]]
    """Aspect -> the keys of its card that prompts can show."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> the scale on which people rated it."""
    results: str
    output: str
    replies: str


class Question(NamedTuple):
    """A rated text that a judge is shown; `shown` has what a prompt sees of it and its aspect."""

    judge: str
    aspect: str
    target: str
    scale: RatedAspect
    shown: Mapping[str, Any]

    def messages(self, spec: AnalyseSpec) -> list[dict[str, str]]:
        """Return the prompt for a first answer."""
        form = spec.judges[self.judge].form
        return messages(form, spec.templates[form], **self.shown, problem=None)


def questions(spec: AnalyseSpec, judge: str, subjects: Subjects) -> Iterator[Question]:
    """Yield the texts that a judge is shown for any item that it judges, by aspect and wording.

    Raises UserError where too few texts are rated.
    """
    own = spec.judges[judge]
    items = share_of(subjects.items, own.share, seed=spec.seed, dataset=spec.dataset)
    for name in own.aspects:
        scale = RatedAspect(**spec.scales[name])
        values = rated(Aspect(**spec.aspects[name]), scale)
        texts = rated_texts(subjects, split(name)[0])
        for one in Demonstrations(texts, Shots(n=own.n), scale).among(items):
            yield Question(judge, name, one.subject.target, scale, values | shown(one, scale))
