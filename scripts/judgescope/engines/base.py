"""What every engine takes and gives: subjects in, one list of draws per subject out."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from judgescope.core.canonical import canonical
from judgescope.schema.cards import Judge, Model, RecordedModel, Scale

Status = Literal["ok", "error", "not_applicable"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A target, with everything that an engine may see of it.

    `perturbation` is `systems`, `original` or the perturbation's id. `references` are the item's,
    without the one that the text was made from. `step` counts the texts of a chain.
    """

    target: str
    item: str
    system: str | None
    perturbation: str
    text: str
    source: str | None = None
    references: tuple[str, ...] = ()
    step: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One draw: the raw reply, or a reason (a slug) as the text of one that is `not_applicable`.

    The text of a computed or recorded score is the number alone, `rationale` how it came about.
    """

    text: str
    finish: str = "stop"
    status: Status = "ok"
    usage: dict[str, int] | None = None
    rationale: str | None = None


def not_applicable(reason: str) -> Answer:
    """Return the answer of a judge that has nothing to say, and why."""
    return Answer(reason, status="not_applicable")


def compared(subject: Subject, against: str | None) -> tuple[tuple[str, ...], str]:
    """Return the texts that a subject is compared with, or none and the reason.

    A text is never scored against what it is, or was made from: a subject has its own reference
    not among `references`. A text that is made equal to a further reference is not compared with
    that either (methods.md 1 and 5); a system that wrote the words of a reference is: other
    references come first.
    """
    if against == "source":
        present = subject.source is not None and subject.source.strip()
        return ((subject.source or "",), "") if present else ((), "no_source")
    own = subject.text.split()
    others = [text for text in subject.references if text.strip() and text.split() != own]
    if subject.perturbation == "systems":
        others += [text for text in subject.references if own and text.split() == own]
    # texts of no system are made from a reference, which is no longer among the references
    had_any = subject.references or subject.perturbation != "systems"
    return tuple(others), "only_reference" if had_any else "no_reference"


def number_text(value: float) -> str:
    """Return the value rounded to 9 decimals, without exponent or trailing zeros: `4`, `0.25`."""
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class Engine(Protocol):
    """Something that answers for judges."""

    def answer(
        self, judge: Judge, aspect: str, scale: Scale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return for every subject, in order, `judge.draws` answers on `aspect`."""
        ...

    def version(self, judge: Judge) -> str:
        """Return what decides the answers beside the request, like `rouge_score 0.1.2`."""
        ...


def request_key(
    model: Model,
    judge: Judge,
    aspect: str,
    scale: Scale,
    subject: Subject,
    *,
    seed: int,
    dataset: str,
) -> str:
    """Return sha256(canonical JSON of all that determines the answer), 64 hex digits.

    Engine, model and form always; of the rest what the form uses: a ROUGE of one text against the
    same references is one key on every aspect. Ids of judges are never part of it, ids of targets
    only where an answer belongs to a target and not to its text. Controls made from ratings are
    keyed by dataset, not by the ratings.
    """
    used = _used(model, judge, aspect, scale, subject, seed, dataset)
    request = {"engine": model.engine, "model": model.model, "form": judge.form, **used}
    return hashlib.sha256(canonical(request).encode()).hexdigest()


def _used(
    model: Model,
    judge: Judge,
    aspect: str,
    scale: Scale,
    subject: Subject,
    seed: int,
    dataset: str,
) -> dict[str, Any]:
    text, source, references = subject.text, subject.source, list(subject.references)
    asked = {"aspect": aspect, "scale": [scale.min, scale.max, scale.step]}
    if isinstance(model, RecordedModel):
        row = {"item": subject.item, "system": subject.system, "text": text, "source": source}
        files = {"files": model.sha256 or model.files, "rows": model.row_keys}
        return {"aspect": aspect, "dataset": dataset, **row, **files}
    if model.engine == "control":
        if judge.form == "length":
            return {"text": text}
        return {**asked, "seed": seed, "dataset": dataset, "target": subject.target}
    if judge.form == "rules":
        seen = {"source": source, "references": references}
        return {**asked, **seen, "against": judge.against, "text": text}
    against = {"source": source} if judge.against == "source" else {"references": references}
    return {"against": judge.against, "text": text, **against}
