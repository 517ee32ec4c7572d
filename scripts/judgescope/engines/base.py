"""Engines that compute or replay: subjects in, a list of draws for each subject out."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Struct

from judgescope.core.canonical import JobSpec, canonical
from judgescope.core.cells import CellBlock
from judgescope.core.job_files import OUT
from judgescope.core.names import ConfidenceSource
from judgescope.data.rated import NO_NAMES, SOURCE, NamesInData, SourcePart
from judgescope.engines.subject_files import SubjectFiles
from judgescope.schema.cards import (
    Judge,
    Model,
    PlantedModel,
    RatingScale,
    RecordedModel,
)

Status = Literal["ok", "error", "not_applicable"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A target, with everything that an engine may see of it.

    `perturbation` is `systems`, `original` or the perturbation's id. `references` are
    the item's, without the one that the text was made from. `step` is the text's
    position in its chain. `original` is the item's original text, if it was read.
    `length`: that of a text without words, if the data gives it. `parts`: those of the
    source, each with its name. `meta`: what else the data say of its item, as JSON.
    """

    target: str
    item: str
    system: str | None
    perturbation: str
    text: str
    source: str | None = None
    references: tuple[str, ...] = ()
    step: int = 0
    original: str | None = None
    length: float | None = None
    parts: tuple[SourcePart, ...] = ()
    meta: str = "{}"

    @property
    def material(self) -> tuple[SourcePart, ...]:
        """Return the parts of its source; a source without parts is one part."""
        return self.parts or ((SourcePart(SOURCE, self.source),) if self.source else ())


@dataclass(frozen=True, slots=True)
class Answer:
    """An engine's answer for one draw.

    text: the raw reply; for a computed or recorded score only the number; if the status
    is `not_applicable`, the reason (a slug). rationale: how the score was computed.
    confidence: how sure the answer is, if the engine knows that of its answers.
    """

    text: str
    status: Status = "ok"
    rationale: str | None = None
    confidence: "AnswerConfidence | None" = None


@dataclass(frozen=True, slots=True)
class AnswerConfidence:
    """The stated chance, 0 to 1, that an answer is right; None, and why there is none.

    about: the label whose probability it is, if that is not always the answer's.
    """

    chance: float | None
    source: ConfidenceSource
    rule: str
    about: str | None = None


def not_applicable(reason: str) -> Answer:
    """Return the answer of a judge that cannot judge a subject."""
    return Answer(reason, status="not_applicable")


def compared(subject: Subject, against: str | None) -> tuple[tuple[str, ...], str]:
    """Return the texts to compare a subject with, or () and the reason why there are
    none.

    A text is never compared with itself, with the reference that it was made from
    (which `references` leaves out) or with a reference of the same words
    (docs/methods.md, "Discernment"). Exception: a system's text that equals a
    reference is compared with it, after all other references. With
    `against="original"`, as Hu et al. (2024) use trained judges, the perturbed text's
    original is returned.
    """
    if against == "original":
        assert (
            subject.original is not None
        )  # only originals and texts made from them get here
        return (subject.original,), ""
    if against == "source":
        present = subject.source is not None and subject.source.strip()
        if present:
            return ((subject.source or "",), "")
        return ((), "no_source")
    words = subject.text.split()
    others = []
    for text in subject.references:
        if text.strip() and text.split() != words:
            others.append(text)
    if subject.perturbation == "systems":
        others += [
            text for text in subject.references if words and text.split() == words
        ]
    # a perturbed or original text is made from a reference, which `references` leaves
    # out
    had_any = subject.references or subject.perturbation != "systems"
    return tuple(others), "only_reference" if had_any else "no_reference"


def number_text(value: float) -> str:
    """Return the value rounded to 9 decimals, without exponent or trailing zeros: `4`,
    `0.25`.
    """
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class ErrorCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Error counts of a set of texts: the most in one text, and whether texts form
    classes.
    """

    maximum: int
    in_classes: bool


class CellsSpec(JobSpec, frozen=True, kw_only=True):
    """A job in which one model answers for all cells of one dataset."""

    dataset: str
    engine: str
    """Where the engine of the model is: `module:OBJECT`."""
    model: dict[str, Any]
    """The model's card, or those of its keys on which its replies depend."""
    judges: dict[str, dict[str, Any]]
    """Judge -> the keys of its card that its engine reads or on which its requests
    depend."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> the scale on which people rated it."""
    cells: list[CellBlock]
    seed: int
    folder: str
    """The folder of the model's card; the paths in the card are relative to it."""
    data: str
    """The folder that `{data}` stands for in paths."""
    subjects: SubjectFiles
    hashes: Annotated[str | None, OUT] = None
    """The file for the hashes of the files that the job writes."""


@dataclass(frozen=True, kw_only=True)
class EngineInputs:
    """What engines that compute or replay may read about a dataset.

    ratings: (target, aspect) -> people's ratings. preferences: aspect -> the pairs of
    targets that people compared. counted: set of texts with errors -> its counts.
    folder: the folder of the model card. data: the folder that `{data}` stands for in
    the card's paths. names: the names of items and systems in the dataset's own files.
    texts: the dataset's references, its sources where it has none. language: that of
    the dataset's card, "" to guess it.
    """

    seed: int
    dataset: str
    ratings: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    preferences: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    counted: Mapping[str, ErrorCounts] = field(default_factory=dict)
    folder: Path = Path()
    data: Path = Path()
    names: NamesInData = NO_NAMES
    texts: Sequence[str] = ()
    language: str = ""


def request_key(
    model: Model,
    judge: Judge,
    aspect: str,
    scale: RatingScale,
    subject: Subject,
    *,
    seed: int,
    dataset: str,
    other: Subject | None = None,
) -> str:
    """Return sha256(canonical JSON of all that determines the answer), 64 hex digits.

    Engine, model and form are always part of it; everything else only if the form uses
    it. So the ROUGE of a text against the same references has the same key on every
    aspect. Ids of judges are never part of it, ids of targets only if an answer depends
    on more than the text. Controls made from ratings are keyed by dataset, not by the
    ratings. `other`: the second text of a recorded comparison.
    """
    request: dict[str, Any] = {"engine": model.engine, "form": judge.form}
    if isinstance(model, RecordedModel):
        request |= {
            "aspect": aspect,
            "dataset": dataset,
            "files": model.sha256 or model.files,
        }
        begin = canonical(request)[:-1]
        return _sha256(f"{begin},{_recorded_row(model, subject, other)}")
    request |= {"model": model.model, "text": subject.text}
    rated: dict[str, Any] = {
        "aspect": aspect,
        "scale": [scale.min, scale.max, scale.step],
    }
    if scale.categorical:
        rated["labels"] = scale.labels
    drawn = {"seed": seed, "dataset": dataset, "target": subject.target}
    if model.engine == "control" and judge.form == "length":
        if subject.length is not None:
            request["length"] = subject.length
    elif model.engine == "control":
        del request["text"]
        request |= rated | drawn
    elif isinstance(model, PlantedModel):
        # The whole card: any key of it may change the scores.
        request |= rated | drawn
        request["card"] = model.model_dump(mode="json")
        request["other"] = other.target if other else None
    else:
        request["against"] = judge.against
        if judge.form == "rules":
            request |= rated
        if judge.form == "rules" or judge.against == "source":
            request["source"] = subject.source
        if judge.form == "rules" or judge.against != "source":
            request["references"] = list(subject.references)
    return _sha256(canonical(request))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _recorded_row(model: RecordedModel, subject: Subject, other: Subject | None) -> str:
    """Return the part of a request's canonical JSON that all forms and aspects of a
    text share.

    Its field names sort after those of the other part.
    """
    row = {"source": subject.source, "system": subject.system, "text": subject.text}
    if other is not None:
        row |= {"system_b": other.system, "text_b": other.text}
    item = canonical(subject.item)
    name = canonical(model.model)
    return f'"item":{item},"model":{name},"rows":{model.row_keys},{canonical(row)[1:]}'
