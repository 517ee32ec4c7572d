"""What writers of texts, and comparators of them, are asked at most."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import to_builtins
from msgspec.json import decode

from judgescope.core.rng import share_of
from judgescope.core.set_names import (
    COMPARED,
    ORIGINAL,
    REFEREE,
    REFERENCES,
    SYSTEMS,
    TRIAL,
    WRITTEN,
)
from judgescope.plan.generators import Maker, graded, parts_of, writer_of
from judgescope.plan.lengths import VERDICT
from judgescope.plan.placeholders import Imagined, longest, unmade
from judgescope.plan.specs import Specs
from judgescope.plan.study import Plan
from judgescope.prompts import NO_CHANGE, messages, rated, to_write
from judgescope.replies.few_shot import Question
from judgescope.replies.pricing import CHARACTERS
from judgescope.replies.specs import AnalyseSpec
from judgescope.schema.cards import Anchoring, GradedPerturbation, References


class Asked(NamedTuple):
    """What a judge, or a writer of texts, still has to be asked about a dataset.

    `replied` is the mean completion tokens of its replies so far, None where they are too few;
    `usual` those that a reply usually has.
    """

    dataset: str
    name: str
    model: str
    wanted: int
    missing: int
    prompts: int
    characters: int
    max_tokens: int
    usual: int
    replied: float | None
    bound: bool

    @property
    def sent(self) -> int:
        """Return the characters of all prompts if every draw were a request of its own."""
        return math.ceil(self.characters * self.missing / self.prompts) if self.prompts else 0


def asked_of_writers(
    specs: Specs, model: str, texts: Imagined, analyses: Mapping[str, Sequence[Question]]
) -> Iterator[Asked]:
    """Yield what a model has to be asked at most to write for a dataset: texts and analyses.

    `analyses` are those that it has yet to write, by judge.
    """
    plan, dataset = specs.plan, texts.dataset
    if analyses:
        yield from _analysed(specs, model, dataset, analyses)
    missing = unmade(plan, texts.targets_path, dataset)
    if (new := f"{WRITTEN}{model}") in missing:
        yield _new(plan, texts, new)
    for name in sorted(missing.intersection(plan.written(dataset))):
        writer = writer_of(plan, dataset, name)
        if isinstance(writer, GradedPerturbation):
            yield from _Graded(specs, texts, name.partition(".")[0]).asked(model)
        elif writer.model == model:
            yield _written(specs, texts, name, writer)


def _new(plan: Plan, texts: Imagined, name: str) -> Asked:
    """Return what a writer has to be asked for texts that a judge learns from, where drawn."""
    card = plan.distillation.write
    assert card is not None
    templates, task = plan.templates[card.form], plan.datasets[texts.dataset].task
    seen = [to_write(task, {}, NO_CHANGE, source=one.source, text="") for one in texts.of(name)]
    filled = [messages(card.form, templates, **values)[0]["content"] for values in seen]
    n = len(filled)
    counts = (n, n, n, sum(map(len, filled)))
    return at_most(texts.dataset, name, name.removeprefix(WRITTEN), counts, card.max_tokens)


def _written(specs: Specs, texts: Imagined, name: str, card: Maker) -> Asked:
    """Return what a writer has to be asked at most: every text in as many tries as it may."""
    plan = specs.plan
    templates, task = plan.templates[card.form], plan.datasets[texts.dataset].task
    degree = card.degrees_for(texts.dataset)[name.partition(".")[2]]  # type: ignore[index]
    change = specs.change(texts.dataset, card)
    if isinstance(card, References):
        seed, dataset = plan.study.seed, texts.dataset
        items = share_of(texts.items, plan.study.share, seed=seed, dataset=dataset)
        known = [(texts.items[item]["source"], "") for item in sorted(items)]
        draws, tries = card.draws, 1
    else:
        origin = texts.of(REFERENCES if name == ORIGINAL else ORIGINAL, plan.study.share)
        known = [(one.source, longest(one.text)) for one in origin]
        draws, tries = 1, card.steps * card.attempts
    seen = [
        to_write(task, degree.model_dump(), change, source=source, text=text)
        for source, text in known
    ]
    filled = [messages(card.form, templates, **values)[0]["content"] for values in seen]
    prompts, characters = len(filled) * tries, sum(map(len, filled)) * tries
    counts = (prompts * draws, prompts * draws, prompts, characters)
    return at_most(texts.dataset, name, card.model, counts, card.max_tokens)


def at_most(
    dataset: str,
    name: str,
    model: str,
    counts: tuple[int, int, int, int],
    most: int,
    usual: int | None = None,
) -> Asked:
    """Return what is asked at most: `counts` are those of Asked, `most` tokens has a reply.

    Without `usual`, a text that is written is thought to be as long as what its prompt shows.
    """
    _, _, prompts, characters = counts
    shown = math.ceil(characters / max(prompts, 1) / CHARACTERS)
    usual = min(most, shown if usual is None else usual)
    return Asked(dataset, name, model, *counts, most, usual, replied=None, bound=True)


def _analysed(
    specs: Specs, model: str, dataset: str, left: Mapping[str, Sequence[Question]]
) -> Iterator[Asked]:
    """Yield what a writer of analyses has to be asked at most, for each judge alone."""
    spec = decode(specs.analyse(dataset, model), type=AnalyseSpec)
    for judge, questions in left.items():
        attempts, decoding = spec.judges[judge].attempts, spec.judges[judge].decoding
        requests = len(questions) * attempts
        prompts = (one.messages(spec)[0]["content"] for one in questions)
        characters = sum(map(len, prompts)) * attempts
        counts = (requests, requests, requests, characters)
        yield at_most(dataset, f"analyses for {judge}", model, counts, int(decoding["max_tokens"]))


class _Graded:
    """What models are asked for a graded set, in the parts that are not there yet."""

    def __init__(self, specs: Specs, texts: Imagined, name: str) -> None:
        self.specs, self.plan, self.texts, self.name = specs, specs.plan, texts, name
        self.card = graded(specs.plan)[name]
        self.classes = len(specs.classes(texts.dataset, name))

    def asked(self, model: str) -> Iterator[Asked]:
        """Yield what a model is asked for candidates, and what for comparisons."""
        card, anchors = self.card, self.card.anchors
        for part in parts_of(card) if card.model == model else []:
            if not Path(self.specs.construction(self.texts.dataset, self.name, part)).is_file():
                yield self._candidates(part, model)
        if anchors and anchors.model == model:
            for part in (REFEREE, *parts_of(card)):
                if not Path(self.specs.compared(self.texts.dataset, self.name, part)).is_file():
                    yield self._comparisons(part, anchors)

    def _each(self, part: str) -> tuple[float, int]:
        """Return the share of the items that have candidates in a part, and how many each."""
        share, anchors = self.plan.study.share, self.card.anchors
        if anchors is None:
            return share, self.card.targets
        if part == TRIAL:
            return share * anchors.calibration_share, anchors.max_errors + 1
        return share, self.classes * math.ceil(
            anchors.oversample * self.card.targets / self.classes
        )

    def _items(self, share: float) -> list[str]:
        dataset = self.texts.dataset
        return sorted(share_of(self.texts.items, share, seed=self.plan.study.seed, dataset=dataset))

    def _candidates(self, part: str, model: str) -> Asked:
        """Return what a model is asked for a part's candidates, each in as many tries as it may."""
        card, dataset = self.card, self.texts.dataset
        share, each = self._each(part)
        change = self.specs.change(dataset, card)
        assert change.aspect is not None  # as is checked
        errors = to_builtins(change.aspect.sub_aspects[:1])
        task, most = self.plan.datasets[dataset].task, self.plan.most_errors(dataset, self.name)
        characters = 0
        for one in self.texts.of(ORIGINAL, share):
            seen = {"source": one.source, "text": longest(one.text), "problem": None}
            values = to_write(task, {"k": most}, change, **seen) | {"errors": errors * most}
            [message] = messages(card.form, self.plan.templates[card.form], **values)
            characters += len(message["content"]) * each * card.attempts
        requests = len(self._items(share)) * each * card.attempts
        counts = (requests, requests, requests, characters)
        return at_most(dataset, f"{self.name}, {part}", model, counts, card.max_tokens)

    def _comparisons(self, part: str, anchors: Anchoring) -> Asked:
        """Return what a comparator is asked: each text with every anchor, in both orders."""
        dataset, n = self.texts.dataset, anchors.per_rating
        if part == REFEREE:
            pairs = n * n * self.classes * (self.classes - 1) // 2
        else:
            share, each = self._each(part)
            pairs = len(self._items(share)) * each * n * self.classes
        characters = len(self._longest(anchors)) * pairs * 2
        counts = (pairs * 2, pairs * 2, pairs * 2, characters)
        name = f"{COMPARED}{self.name}, {part}"
        most = anchors.max_tokens
        return at_most(dataset, name, anchors.model, counts, most, VERDICT)

    def _longest(self, anchors: Anchoring) -> str:
        """Return the longest question that there may be."""
        dataset = self.texts.dataset
        aspect = self.plan.lowered(dataset, self.card)
        scale = self.plan.scale_of(dataset, aspect)
        source = max((row["source"] for row in self.texts.items.values()), key=len, default="")
        shown = source if scale.source_visible else None
        texts = [longest(one.text) for one in self.texts.of(ORIGINAL)]
        anchor = max((one.text for one in self.texts.of(SYSTEMS)), key=len, default="")
        text = max([*texts, anchor], key=len)
        values = {
            "aspect": rated(self.plan.aspect_of(dataset, aspect), scale)["aspect"],
            **{"text": text, "text_b": anchor, "source": shown, "source_b": shown},
        }
        [message] = messages(anchors.form, self.plan.templates[anchors.form], **values)
        return message["content"]
