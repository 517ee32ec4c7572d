"""The questions of a cell as requests, and the rows of the cell's reply file."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple

from judgescope import prompts
from judgescope.core.canonical import canonical
from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject, compared
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.prompts import filling
from judgescope.replies.few_shot import Demonstrations, Rated
from judgescope.schema import cards

ShownTexts = tuple[
    Subject, ...
]  # the texts of one question: one, or the two that are compared
MARK = "\0prompt\0"
# the variable with a hint's rating: a trusted number, so it needs no spotlight
HINT = "hint"
CHOICES = ["Choice: A", "Choice: B", "Choice: tie"]
"""The possible answers to the prompt form `compare`."""


class Outline(NamedTuple):
    """The part of a question that a plan stores: key, prompt length, parts of the
    prompt.
    """

    key: bytes
    characters: int
    parts: list[str]


@dataclass(frozen=True)
class Questions:
    """The questions of one cell; prompts are made only when they are needed."""

    model: cards.AskedModel
    judge: cards.Judge
    aspect: cards.Aspect
    scale: cards.RatedAspect
    shown: Sequence[ShownTexts]
    templates: prompts.Templates
    seed: int
    about_texts: prompts.TextWords
    """What prompts say about the kind of the texts."""
    criterion: str | None = None
    demonstrations: Demonstrations | None = None
    not_asked: Sequence[tuple[Subject, str]] = ()
    """The texts that lack a needed reference or rating, with the reason."""
    hints: Mapping[str, str] | None = None
    """Target -> the rating that the prompt shows as a hint."""
    _forms: dict[tuple[str, ...], filling.PreparedForm] = field(
        default_factory=dict, init=False, compare=False
    )

    def __len__(self) -> int:
        """Return how many questions the cell has."""
        return len(self.shown)

    def __getitem__(self, number: int) -> Request:
        """Return a question as a request."""
        messages = self.messages(self.prompt(number))
        return Request(
            {**self._alike, "messages": messages}, self.judge.draws, self.about(number)
        )

    def messages(self, prompt: str) -> list[dict[str, str]]:
        """Return a prompt of the cell as the messages in which it is sent; a system
        message for a model that takes none is in the prompt already.
        """
        role = getattr(self.model, "system_role", "system")
        return filling.as_messages(prompt, "" if role == "user" else self.system, role)

    @cached_property
    def system(self) -> str:
        """Return the system message, the same for all texts of the cell."""
        form = self.judge.system
        return filling.system_message(form, self.templates, self._values)

    def prompt(self, number: int) -> str:
        """Return the prompt of a question."""
        return self._filled(number).prompt

    def __iter__(self) -> Iterator[Request]:
        """Yield every question as a request."""
        return map(self.__getitem__, range(len(self)))

    def outline(self, number: int) -> Outline:
        """Return a question's outline, in a third of the time that its request takes.

        Its key is `Request.key` of the same question: the canonical JSON of a request
        of the cell is cut where the prompt stands (`_around`), and only that is new.
        """
        import orjson  # here: `audit` runs without

        prompt, parts = self._filled(number)
        before, after = self._around
        key = hashlib.sha256(before + orjson.dumps(prompt) + after).digest()
        beside = sum(len(message["content"]) for message in self.messages(""))
        return Outline(key, len(prompt) + beside, parts)

    @cached_property
    def _alike(self) -> Mapping[str, Any]:
        """Return the content of the cell's requests, with a placeholder for the
        prompt.
        """
        others = cards.ProgramModel | cards.SystemOneModel  # see their questions
        assert not isinstance(self.model, others)
        mark = self.messages(MARK)
        return request_of(
            self.model, self.judge, mark, seed=self.seed, wants=self.wants
        ).asked

    @cached_property
    def _around(self) -> tuple[bytes, bytes]:
        """Return the canonical JSON of a request: the parts before and after the
        prompt.
        """
        before, after = canonical(self._alike).split(canonical(MARK))
        return before.encode(), after.encode()

    def _filled(self, number: int) -> filling.Filled:
        """Return the prompt of a question: its form, after the system message for a
        model that takes none.
        """
        filled = self._body(number)
        head = filling.head_of(self.system, getattr(self.model, "system_role", ""))
        if not head:
            return filled
        first, *others = filled.parts
        return filling.Filled(head + filled.prompt, [head + first, *others])

    def _body(self, number: int) -> filling.Filled:
        """Return a question's filled form; if the judge has a spotlight, its texts are
        marked.
        """
        texts = self._texts(number)
        parts = self._parts(number)
        if not self.judge.spotlight:
            return self._form_of(number).fill(texts, parts)
        shots = self._shots(number) or []
        shot_texts = []
        for shot in shots:
            shot_texts += [shot[name] for name in prompts.SHOWN if name in shot]
        seed = self.seed if self.judge.seed == "study" else ""
        light = prompts.Spotlight.on([*texts.values(), *shot_texts], seed)
        marked = {}
        for name, text in texts.items():
            marked[name] = text if name == HINT else light.marked(text)
        if shots:
            form = self._form([light.shot(shot) for shot in shots])
        else:
            form = self._form_of(number)
        prompt, pieces = form.fill(marked, list(map(light.part, parts)))
        return filling.Filled(
            light.preamble + prompt, [light.preamble + pieces[0], *pieces[1:]]
        )

    @cached_property
    def pairs(self) -> bool:
        """Return whether a question is about two texts."""
        return asks_pairs(self.judge, self.templates)

    @property
    def own_scale(self) -> cards.RatingScale:
        """Return the scale on which the judge is asked to rate."""
        return self.judge.scale_on(self.aspect.aspect) or self.scale

    def _shots(self, number: int) -> list[dict[str, Any]] | None:
        if self.demonstrations is None:
            return None
        return self.demonstrations.variables(self.shown[number][0].item)

    def _form_of(self, number: int) -> filling.PreparedForm:
        """Return the judge's form, filled with aspect, scale and demonstrations;
        cached.
        """
        shots: tuple[Rated, ...] = ()
        if self.demonstrations is not None:
            shots = self.demonstrations.for_item(self.shown[number][0].item)
        key = tuple(shot.subject.target for shot in shots)
        if key not in self._forms:
            self._forms[key] = self._form(self._shots(number))
        return self._forms[key]

    def _form(self, shots: Sequence[Mapping[str, Any]] | None) -> filling.PreparedForm:
        values = dict(self._values)
        if shots is not None:
            values["shots"] = shots
        if self.judge.hint is not None:
            values["attributed"] = self.judge.hint.attributed
        return filling.PreparedForm(self.judge.form, self.templates, values)

    @cached_property
    def _values(self) -> dict[str, Any]:
        """Return what prompts say about the aspect, the scale and the kind of text."""
        values = self.about_texts.names | prompts.rated(self.aspect, self.own_scale)
        if self.judge.annotation is not None:
            values |= prompts.annotating(self.judge.annotation)
        return values

    @cached_property
    def wants(self) -> dict[str, Any]:
        """Return the fields by which the judge's requests ask for more than plain
        text.
        """
        judge = self.judge
        scale = self.own_scale
        wants: dict[str, Any] = {"stop": judge.stop} if judge.stop else {}
        if judge.needs_logprobs:
            wants["logprobs"] = judge.top_logprobs
        values = [prompts.plain(value) for value in scale.values() or []]
        if judge.structured == "choice" and self.pairs:
            wants["choices"] = CHOICES
        elif judge.structured == "choice":
            wants["choices"] = scale.labels or [str(value) for value in values]
        elif judge.structured == "json":
            wants["json_schema"] = {
                "type": "object",
                "properties": {"rating": {"enum": scale.labels or values}},
                "required": ["rating"],
                "additionalProperties": False,
            }
        return wants

    def kind(self, number: int) -> str:
        """Return the kind of a question, as in table `answers`; here all are alike."""
        return "compare" if self.pairs else "rate"

    def about(self, number: int) -> str:
        """Return a name of the question for messages."""
        names = [subject.target for subject in self.shown[number]]
        return " ".join([self.judge.judge, self.aspect.aspect, *names])

    def text_columns(self, number: int) -> dict[str, str]:
        """Return the texts that a question is about, as the first columns of its
        rows.
        """
        names = [subject.target for subject in self.shown[number]]
        columns = dict(zip(("target", "target_b"), names, strict=False))
        if self.hints is not None:
            columns["hint"] = self.hints[names[0]]
        return columns

    def _parts(self, number: int) -> prompts.SourceParts:
        """Return the parts of the source that a question shows."""
        return self._parts_of(number)

    def _parts_of(self, shown_number: int) -> prompts.SourceParts:
        """Return the parts of a text's source that the judge may see."""
        shown = self.shown[shown_number][0]
        if not self.scale.source_visible:
            return ()
        return [self._shortened(part) for part in shown.material]

    def _shortened(self, part: SourcePart) -> SourcePart:
        """Return a part as the judge's card wants it cut."""
        limits = self.judge.cut_parts
        limit = limits.get(part.name) or limits.get("*")
        if limit is None:
            return part
        text = prompts.cut(part.text, limit.characters, end=limit.keep == "end")
        return SourcePart(part.name, text)

    def cut_columns(self, number: int) -> dict[str, Any]:
        """Return how many parts of the source are cut, and their names, as columns of a
        row; none if the card cuts none.
        """
        if not self.judge.cut_parts:
            return {}
        material = self.shown[number][0].material
        pairs = zip(material, self._parts_of(number), strict=False)
        names = [complete.name for complete, part in pairs if complete != part]
        return {"cut": len(names), "cut_parts": names}

    def _texts(self, number: int) -> dict[str, str | None]:
        shown = self.shown[number]
        source = prompts.unnamed(self._parts(number))
        names = ("source_plain", "text", "text_b")
        texts = dict(
            zip(names, (source, *(subject.text for subject in shown)), strict=False)
        )
        if self.hints is not None:
            hint = self.hints[shown[0].target]
            texts[HINT] = (
                str(self.scale.shown(float(hint))) if self.scale.categorical else hint
            )
        if not needs_reference(self.judge, self.model):
            return texts
        return texts | {"reference": compared(shown[0], self.judge.against)[0][0]}


@dataclass(frozen=True)
class ProgramQuestions(Questions):
    """The questions of one cell to a program, which gets objects instead of prompts."""

    model: cards.CommandModel | cards.PythonModel

    def __getitem__(self, number: int) -> Request:
        """Return a question with the fields that the program sees."""
        values = prompts.rated(self.aspect, self.own_scale)
        # the aspect's other texts are instructions for models that read prompts
        about = {name: values["aspect"][name] for name in ("name", "definition")}
        values["scale"].pop("agreement", None)  # words of a prompt
        target = {
            **values,
            "form": self.judge.form,
            "aspect": {"id": self.aspect.aspect, **about},
            "references": list(self.shown[number][0].references),
            "parts": [part._asdict() for part in self._parts(number)],
            **self._texts(number),
        }
        target["source"] = target.pop("source_plain")
        if "meta" in self.model.sees:
            target["meta"] = json.loads(self.shown[number][0].meta)
        always_seen = {"form", "text", "text_b"}  # the fields that every program gets
        seen = {*always_seen, *self.model.sees}
        target = {name: value for name, value in target.items() if name in seen}
        asked = {**self.model.identity(), "target": target}
        if self.judge.seed == "study":
            asked["study_seed"] = self.seed
        return Request(asked, self.judge.draws, self.about(number))

    def outline(self, number: int) -> Outline:
        """Return a question's outline; its parts are the form and the texts."""
        request = self[number]
        texts = self._texts(number)
        parts = [self.judge.form, *(text or "" for text in texts.values())]
        return Outline(bytes.fromhex(request.key), len(request.prompt), parts)


def asks_pairs(judge: cards.Judge, templates: prompts.Templates) -> bool:
    """Return whether a judge compares two texts: its prompt shows two; a program's form
    says so.
    """
    if templates:
        return prompts.shows(templates, prompts.SECOND)
    return judge.form == cards.COMPARE


def needs_reference(judge: cards.Judge, model: cards.AskedModel) -> bool:
    """Return whether a judge's prompt shows a reference; for a program, whether it
    `sees` one.
    """
    return judge.against is not None and not isinstance(model, cards.ProgramModel)


def shown(
    judge: cards.Judge,
    subjects: Sequence[Subject],
    preferred: Sequence[tuple[str, str]] = (),
    *,
    pairs: bool,
) -> list[ShownTexts]:
    """Return the texts of each question: one per target, or two (both orders) per
    compared pair; `pairs`: whether the judge compares.

    preferred: the pairs of targets that people compared, which are asked instead of
    adjacent targets.
    """
    if not pairs:
        return [(subject,) for subject in subjects]
    compared = pairs_of(subjects, judge.pairs)
    if preferred and judge.pairs == "adjacent":
        known = {subject.target: subject for subject in subjects}
        compared = (
            (known[a], known[b]) for a, b in preferred if a in known and b in known
        )
    shown = list[ShownTexts]()
    for pair in compared:
        shown.append(pair)
        if judge.orders == "both":
            shown.append(pair[::-1])
    return shown


def pairs_of(
    subjects: Sequence[Subject], which: str
) -> Iterator[tuple[Subject, Subject]]:
    """Yield the pairs of an item's texts to compare, ordered by step and id."""
    ordered = sorted(
        subjects, key=lambda subject: (subject.item, subject.step, subject.target)
    )
    for _, group in groupby(ordered, key=lambda subject: subject.item):
        texts = list(group)
        yield from pairwise(texts) if which == "adjacent" else combinations(texts, 2)


def rows(
    questions: Questions, reply_to: Callable[[int, int], Reply | None]
) -> list[dict[str, Any]]:
    """Return the rows of a cell's reply file; `reply_to(number, draw)` may return
    None.
    """
    judge = questions.judge
    aspect = questions.aspect.aspect
    cell = {
        "judge": judge.judge,
        "aspect": aspect,
        "criterion": questions.criterion,
    }
    rows = list[dict[str, Any]]()
    for number in range(len(questions)):
        for draw in range(judge.draws):
            reply = reply_to(number, draw)
            if reply is not None:
                row: dict[str, Any] = {**cell, "kind": questions.kind(number)}
                row |= questions.text_columns(number)
                row |= questions.cut_columns(number)
                rows.append(row | reply_columns(reply))
    for subject, reason in questions.not_asked:
        for draw in range(judge.draws):
            row = {**cell, "kind": questions.kind(0), "target": subject.target}
            row |= {"draw": draw, "text": reason, "status": "not_applicable"}
            rows.append(row)
    return rows


def reply_columns(reply: Reply) -> dict[str, Any]:
    """Return a reply as columns of a table."""
    return {name: getattr(reply, name) for name in Reply.__slots__}
