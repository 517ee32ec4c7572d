"""The texts that models still have to write, at maximum length, and the requests for
them.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from msgspec import to_builtins

from judgescope.core import names
from judgescope.core.cells import unpack
from judgescope.core.rng import share_of
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects, parts_of
from judgescope.perturb.validation import LONGEST
from judgescope.plan import generators
from judgescope.plan.specs.judging import merge
from judgescope.plan.specs.subjects import every_file
from judgescope.plan.specs.texts import analyse, change, classes
from judgescope.plan.study import Plan
from judgescope.prompts import (
    NO_CHANGE,
    SourceParts,
    material,
    of_second,
    rated,
    to_merge_names,
    to_write,
)
from judgescope.prompts.filling import messages, system_message
from judgescope.replies.few_shot import AnalysisQuestion
from judgescope.replies.pricing import CHARACTERS
from judgescope.replies.store import Store
from judgescope.schema import cards
from judgescope.scoring.merge_specs import MergeSpec, SupervisedCell
from judgescope.scoring.supervising import questions

VERDICT = 8
"""Tokens of a bare verdict."""
MERGING = "errors merged for "
"""Before the id of an ensemble: the name of this work in a cost estimate."""


# ---- texts that are not there yet ----------------------------------------------------


class Imagined(Subjects):
    """The targets of a dataset; texts that do not exist yet have their maximum
    length.
    """

    def __init__(self, plan: Plan, dataset: str) -> None:
        super().__init__(every_file(plan, dataset), dataset, plan.study.seed)
        self.plan = plan

    def analyses(self, judge: str, aspect: str, model: str) -> Mapping[str, str]:
        """Return the existing analyses; missing ones have their maximum length."""
        written = Path(self.files.analyses[model]).is_file()
        card = generators.analyses_of(self.plan, judge)
        longest = "?" * (card.max_tokens * CHARACTERS if card else 0)
        known: Mapping[str, str] = {}
        if written:
            known = super().analyses(judge, aspect, model)
        return defaultdict(lambda: longest, known)

    def _read(self, perturbation: str) -> list[Subject]:
        if perturbation not in unmade(self.plan, self.dataset):
            return super()._read(perturbation)
        if perturbation == names.ORIGINAL:
            return self._originals()
        if perturbation in self.plan.new_sets(self.dataset):
            return self._new(perturbation)
        card = self.plan.perturbations[perturbation.partition(".")[0]]
        # No model has to write these.
        assert not isinstance(card, cards.GivenPerturbation)
        by_rule = (
            isinstance(
                card,
                cards.RulePerturbation
                | cards.AttackPerturbation
                | cards.ReadyPerturbation,
            )
            or not card.model
        )
        count = card.steps
        if isinstance(card, cards.GradedPerturbation):
            count = card.targets
        subjects = []
        for original in self.in_set(names.ORIGINAL):
            text = original.text if by_rule else longest(original.text)
            for step in range(1, count + 1):
                subjects.append(
                    replace(
                        original,
                        target=f"{original.item}:{perturbation}.{step}",
                        # unlike all others: equal texts would be asked about once
                        text=f"{text} {perturbation} {step}",
                        step=step,
                    )
                )
        return subjects

    def _new(self, perturbation: str) -> list[Subject]:
        """Return the texts that a model still has to write for training."""
        new = self.plan.distillation.write
        assert new is not None
        longest_text = "?" * (new.max_tokens * CHARACTERS)
        wanted = set[str]()
        for (name, _), targets in self.drawn.items():
            if name == perturbation:
                wanted |= targets
        subjects = []
        for item, row in self.items.items():
            target = names.new_target(item, perturbation)
            if target in wanted:
                subjects.append(
                    Subject(
                        target=target,
                        item=item,
                        system=perturbation,
                        perturbation=perturbation,
                        text=f"{longest_text} {target}",
                        source=row["source"],
                        parts=parts_of(row),
                        meta=row["meta"],
                    )
                )
        return subjects

    def _originals(self) -> list[Subject]:
        """Return the originals that a model still has to write, from references or from
        sources.
        """
        written = self.plan.improved(self.dataset)
        if not isinstance(written, cards.References):
            return [
                replace(subject, text=longest(subject.text))
                for subject in self.in_set(names.REFERENCES)
            ]
        longest_text = "?" * (written.max_tokens * CHARACTERS)
        return [
            Subject(
                target=f"{item}:{names.ORIGINAL}",
                item=item,
                system=None,
                perturbation=names.ORIGINAL,
                text=f"{longest_text} {item}",
                source=row["source"],
                parts=parts_of(row),
                references=tuple(row["references"]),
                meta=row["meta"],
            )
            for item, row in self.items.items()
        ]


def _characters(parts: SourceParts) -> int:
    return sum(len(part.text) for part in parts)


def longest(text: str) -> str:
    """Return a text as long as the longest that a model may make from it."""
    return text * math.ceil(LONGEST)


def unmade(plan: Plan, dataset: str) -> set[str]:
    """Return the sets of targets that a model still has to make."""
    sets = generators.waiting(plan, dataset)
    return {
        name for name in sets if not Path(plan.paths.targets(dataset, name)).exists()
    }


WritingCard = (
    generators.TargetWriter | cards.Anchoring | cards.Supervisor | cards.NewTexts
)
"""Cards with a form by which a model writes."""


# ---- what is asked -------------------------------------------------------------------


class Asked(NamedTuple):
    """The requests that a judge or a writer still needs for a dataset.

    `replied` is the mean number of completion tokens of its replies so far, None if
    there are too few; `usual` is the number that such a reply usually has.
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
    repeated: int = 0
    """Number of judgments whose prompt is the same as another's."""
    alone: bool = False
    """Whether every draw is a separate request, as at temperature 0."""

    def sent(self, requests: int) -> int:
        """Return the characters of the prompts of so many requests."""
        if self.prompts:
            return math.ceil(self.characters * requests / self.prompts)
        return 0


def asked_of_writers(
    model: str, texts: Imagined, analyses: Mapping[str, Sequence[AnalysisQuestion]]
) -> Iterator[Asked]:
    """Yield the maximum requests to a model for writing for a dataset: texts and
    analyses.

    `analyses` are those that it still has to write, by judge.
    """
    plan = texts.plan
    dataset = texts.dataset
    if analyses:
        yield from _analysed(plan, model, dataset, analyses)
    missing = unmade(plan, dataset)
    new_set = f"{names.FilePrefix.WRITTEN}{model}"
    if new_set in missing:
        yield _new(plan, texts, new_set)
    for name in sorted(missing.intersection(plan.written(dataset))):
        writer = generators.writer_of(plan, dataset, name)
        if isinstance(writer, cards.GradedPerturbation):
            yield from _asked_for_graded(texts, name.partition(".")[0], model)
        elif writer.model == model:
            yield _written(texts, name, writer)


def _new(plan: Plan, texts: Imagined, name: str) -> Asked:
    """Return the requests to a writer for the drawn training texts."""
    card = plan.distillation.write
    assert card is not None
    about = plan.about(texts.dataset)
    sizes = []
    for subject in texts.in_set(name):
        sizes.append(
            _size(plan, card, to_write(about, {}, NO_CHANGE, subject.material, text=""))
        )
    model = name.removeprefix(names.FilePrefix.WRITTEN)
    return at_most(texts.dataset, name, model, len(sizes), sum(sizes), card.max_tokens)


def _written(texts: Imagined, name: str, card: generators.Maker) -> Asked:
    """Return the maximum requests to a writer: every text with all its attempts."""
    plan = texts.plan
    about = plan.about(texts.dataset)
    degree = card.degrees_for(texts.dataset)[name.partition(".")[2]]
    asked = change(plan, texts.dataset, card)
    error: dict[str, object] = {}
    if asked.aspect is not None:
        sub_aspects = [to_builtins(part) for part in asked.aspect.sub_aspects]
        error = {"error": max(sub_aspects, key=lambda part: len(part["definition"]))}
    draws = 1
    tries = 1
    if isinstance(card, cards.References):
        items = share_of(
            texts.items, plan.study.share, seed=plan.study.seed, dataset=texts.dataset
        )
        known = [(parts_of(texts.items[item]), "") for item in sorted(items)]
        draws = card.draws
    else:
        of_references = name == names.ORIGINAL
        origin = names.REFERENCES if of_references else names.ORIGINAL
        subjects = texts.in_set(origin, plan.study.share)
        known = [(subject.material, longest(subject.text)) for subject in subjects]
        tries = card.steps * card.most_attempts
    characters = 0
    for parts, text in known:
        values = to_write(about, degree.model_dump(), asked, parts, text=text)
        characters += _size(plan, card, values | error) * tries
    prompts = len(known) * tries
    return at_most(
        texts.dataset, name, card.model, prompts, characters, card.max_tokens, draws
    )


def _size(plan: Plan, card: WritingCard, values: Mapping[str, object]) -> int:
    """Return the characters of a filled form and of its system message."""
    form = card.form
    assert form is not None  # the card's own check
    [message] = messages(form, plan.templates[form], **values)
    templates = plan.templates_of(form, card.system)
    system = system_message(card.system, templates, values)
    return len(message["content"]) + len(system)


def at_most(
    dataset: str,
    name: str,
    model: str,
    prompts: int,
    characters: int,
    max_tokens: int,
    draws: int = 1,
    usual: int | None = None,
) -> Asked:
    """Return the maximum requests: `draws` of each prompt, with `characters` in all
    prompts.

    Without `usual`, a written text is assumed to be as long as its prompt.
    """
    shown = math.ceil(characters / max(prompts, 1) / CHARACTERS)
    return Asked(
        dataset,
        name,
        model,
        wanted=prompts * draws,
        missing=prompts * draws,
        prompts=prompts,
        characters=characters,
        max_tokens=max_tokens,
        usual=min(max_tokens, shown if usual is None else usual),
        replied=None,
        bound=True,
    )


def _analysed(
    plan: Plan, model: str, dataset: str, left: Mapping[str, Sequence[AnalysisQuestion]]
) -> Iterator[Asked]:
    """Yield the maximum requests to a writer of analyses, for each judge."""
    spec = analyse(plan, dataset, model)
    for judge, unasked in left.items():
        card = generators.analyses_of(plan, judge)
        assert card is not None  # analysts() returns only such judges
        attempts = card.most_attempts
        requests = len(unasked) * attempts
        characters = sum(question.characters(spec) for question in unasked) * attempts
        limit = int(spec.judges[judge].decoding["max_tokens"])
        name = f"analyses for {judge}"
        yield at_most(dataset, name, model, requests, characters, limit)


# ---- graded sets ---------------------------------------------------------------------


def _asked_for_graded(texts: Imagined, name: str, model: str) -> Iterator[Asked]:
    """Yield the requests to a model for the missing candidates and comparisons."""
    plan = texts.plan
    dataset = texts.dataset
    card = generators.graded(plan)[name]
    parts = generators.parts_of(card)
    if card.model == model:
        for part in parts:
            if not Path(plan.paths.set_part(dataset, name, part)).is_file():
                yield _candidates(texts, card, part, model)
    anchors = card.anchors
    if anchors and anchors.model == model:
        for part in (names.GradedPart.REFEREE, *parts):
            if not Path(plan.paths.compared(dataset, name, part)).is_file():
                yield _comparisons(texts, card, part, anchors)


def _each(
    texts: Imagined, card: cards.GradedPerturbation, part: str
) -> tuple[float, int]:
    """Return the share of the items that have candidates in a part, and the number per
    item.
    """
    share = texts.plan.study.share
    anchors = card.anchors
    if anchors is None:
        return share, card.targets
    if part == names.GradedPart.TRIAL:
        return share * anchors.calibration_share, anchors.max_errors + 1
    ratings = len(classes(texts.plan, texts.dataset, card.perturbation))
    return share, ratings * math.ceil(anchors.oversample * card.targets / ratings)


def _items(texts: Imagined, share: float) -> int:
    seed = texts.plan.study.seed
    return len(share_of(texts.items, share, seed=seed, dataset=texts.dataset))


def _candidates(
    texts: Imagined, card: cards.GradedPerturbation, part: str, model: str
) -> Asked:
    """Return the requests to a model for a part's candidates, each with all its
    attempts.
    """
    plan = texts.plan
    dataset = texts.dataset
    share, per_item = _each(texts, card, part)
    asked_change = change(plan, dataset, card)
    # checks/writer_forms.py refuses others
    assert asked_change.aspect is not None and card.form is not None
    errors = to_builtins(asked_change.aspect.sub_aspects[:1])
    about = plan.about(dataset)
    n_errors = plan.most_errors(dataset, card.perturbation)
    characters = 0
    for original in texts.in_set(names.ORIGINAL, share):
        values = to_write(
            about,
            {"k": n_errors},
            asked_change,
            original.material,
            text=longest(original.text),
            problem=None,
        )
        values["errors"] = errors * n_errors
        characters += _size(plan, card, values) * per_item * card.most_attempts
    requests = _items(texts, share) * per_item * card.most_attempts
    name = f"{card.perturbation}, {part}"
    return at_most(dataset, name, model, requests, characters, card.max_tokens)


def _comparisons(
    texts: Imagined, card: cards.GradedPerturbation, part: str, anchors: cards.Anchoring
) -> Asked:
    """Return the requests to a comparator: each text with every anchor, in both orders.

    Each is counted with the number of characters of the longest possible question.
    """
    plan = texts.plan
    dataset = texts.dataset
    n = anchors.per_rating
    ratings = len(classes(plan, dataset, card.perturbation))
    if part == names.GradedPart.REFEREE:
        pairs = n * n * ratings * (ratings - 1) // 2
    else:
        share, per_item = _each(texts, card, part)
        pairs = _items(texts, share) * per_item * n * ratings
    aspect = plan.lowered(dataset, card.perturbation)
    scale = plan.scale_of(dataset, aspect)
    sources = (parts_of(row) for row in texts.items.values())
    longest_source = max(sources, key=_characters, default=())
    shown = longest_source if scale.source_visible else ()
    candidates = [longest(original.text) for original in texts.in_set(names.ORIGINAL)]
    system_texts = [target.text for target in texts.in_set(names.SYSTEMS)]
    anchor = max(system_texts, key=len, default="")
    values = {
        "aspect": rated(plan.aspect_of(dataset, aspect), scale)["aspect"],
        "text": max([*candidates, anchor], key=len),
        "text_b": anchor,
        **plan.about(dataset).names,
        **material(shown),
        **of_second(shown),
    }
    requests = pairs * 2
    return at_most(
        dataset,
        f"{names.FilePrefix.COMPARED}{card.perturbation}, {part}",
        anchors.model,
        requests,
        _size(plan, anchors, values) * requests,
        anchors.max_tokens,
        usual=VERDICT,
    )


# ---- supervisors ---------------------------------------------------------------------


def asked_of_supervisor(
    card: cards.PromptedModel, store: Store, texts: Imagined, unasked: Set[str]
) -> Iterator[Asked]:
    """Yield the requests to a model for merging errors in the texts of a dataset.

    Exact if the members' lists exist, otherwise an upper bound. `unasked` are judges
    that have not been asked yet, so that their lists are unknown.
    """
    plan = texts.plan
    dataset = texts.dataset
    if card.model not in generators.supervisors(plan, dataset):
        return
    spec = merge(plan, dataset, card.model)
    for judge, ensemble in spec.ensembles.items():
        cells = []
        for cell in unpack(spec.cells):
            if cell[1] == judge:
                cells.append(cell)
        complete = []
        if unasked.isdisjoint(ensemble.members):
            complete = [cell for cell in cells if _has_lists(spec, cell)]
        if complete:
            yield _merges(spec, card, store, judge, complete)
        left = [cell for cell in cells if cell not in complete]
        if left:
            yield _merges_at_most(plan, texts, judge, left)


def _has_lists(spec: MergeSpec, cell: SupervisedCell) -> bool:
    """Return whether a cell's texts and its members' lists exist."""
    files = [spec.targets[cell[0]]]
    for of_member in spec.members_files(cell):
        files += of_member
    return all(Path(path).is_file() for path in files)


def _merges(
    spec: MergeSpec,
    card: cards.PromptedModel,
    store: Store,
    judge: str,
    cells: Sequence[SupervisedCell],
) -> Asked:
    """Return the requests for existing lists that are not in the store."""
    asked = {}
    for cell in cells:
        for _, request in questions(spec, card, cell):
            asked[request.key] = request
    stored = store.read(dict.fromkeys(asked, 1))
    missing = [request for key, request in asked.items() if (key, 0) not in stored]
    limit = int(spec.ensembles[judge].decoding["max_tokens"])
    characters = sum(len(request.prompt) for request in missing)
    missing_requests = at_most(
        spec.dataset, MERGING + judge, card.model, len(missing), characters, limit
    )
    return missing_requests._replace(wanted=len(asked), bound=False)


def _merges_at_most(
    plan: Plan, texts: Imagined, judge: str, cells: Sequence[SupervisedCell]
) -> Asked:
    """Return the maximum requests: about every text, with the longest lists."""
    supervisor = plan.derived[judge].supervisor
    assert supervisor is not None
    judges = [plan.judges[name] for name in plan.derived[judge].members]
    no_error = dict.fromkeys(("location", "explanation", "severity", "category"))
    lists = []
    for member in judges:
        lists.append(
            [{**no_error, "explanation": "?" * member.max_tokens * CHARACTERS}]
        )
    share = min(member.share for member in judges)
    about = plan.about(texts.dataset)
    prompts = 0
    characters = 0
    for perturbation, _, aspect in cells:
        for subject in texts.in_set(perturbation, share, aspect):
            values = to_merge_names(about, subject.text, lists)
            prompts += 1
            characters += _size(plan, supervisor, values)
    return at_most(
        texts.dataset,
        MERGING + judge,
        supervisor.model,
        prompts,
        characters,
        supervisor.max_tokens,
    )


# ---- judges --------------------------------------------------------------------------


def usual_tokens(plan: Plan, judge: cards.Judge) -> int:
    """Return the number of tokens of a judge's usual reply, at most its
    `max_tokens`.
    """
    if judge.structured == "choice":
        usual = VERDICT
    elif judge.structured == "json":
        usual = 16
    else:
        usual = plan.usual_tokens.get(judge.form, 150)
    return min(usual, judge.max_tokens)
