"""Errors put into a text one after the other, each beside all that were there before.

What an error made is locked: no later one touches it, so a text with n errors has n of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from judgescope.perturb.edits import Perturbed, edit_between, impossible
from judgescope.perturb.error_rules import BETWEEN, OFF_TOPIC, WITHIN, Site, Span
from judgescope.perturb.sentences import split_sentences

if TYPE_CHECKING:
    from numpy.random import Generator

PUT_IN = -1
"""The place of a sentence that the text did not have."""


@dataclass(frozen=True)
class Sentence:
    """A sentence as it is now, the parts of it that are locked, and its place in the original."""

    text: str
    place: int
    locks: tuple[Span, ...] = ()

    def free(self, site: Site) -> bool:
        """Return whether no lock touches a site."""
        return all(site.end <= start or end <= site.start for start, end in self.locks)

    def with_error(self, site: Site, new: str) -> "Sentence":
        """Return the sentence with a site's error, which is locked."""
        moved = len(new) - (site.end - site.start)
        locks = [
            (start + moved, end + moved) if start >= site.end else (start, end)
            for start, end in self.locks
        ]
        text = f"{self.text[: site.start]}{new}{self.text[site.end :]}"
        own = (site.start, site.start + len(new))
        return replace(self, text=text, locks=tuple(sorted([*locks, own])))


@dataclass(frozen=True)
class Draft:
    """The sentences of a text, and what stands before, between and behind them."""

    sentences: tuple[Sentence, ...]
    gaps: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the whole text."""
        told = zip(self.gaps, (*(one.text for one in self.sentences), ""), strict=True)
        return "".join(f"{gap}{sentence}" for gap, sentence in told)

    def put(self, at: int, sentence: Sentence) -> "Draft":
        """Return the text with a sentence before the one at `at`, at 1 or later."""
        sentences = (*self.sentences[:at], sentence, *self.sentences[at:])
        gap = self.gaps[1] if len(self.sentences) > 1 else " "
        return Draft(sentences, (*self.gaps[:at], gap, *self.gaps[at:]))

    def without(self, at: int) -> "Draft":
        """Return the text without a sentence and the gap before it; of the first, behind it."""
        gone = max(1, at)
        return Draft(
            self.sentences[:at] + self.sentences[at + 1 :],
            self.gaps[:gone] + self.gaps[gone + 1 :],
        )

    def turned(self, at: int) -> "Draft":
        """Return the text with two neighbours in each other's place."""
        first, second = self.sentences[at : at + 2]
        return replace(
            self, sentences=(*self.sentences[:at], second, first, *self.sentences[at + 2 :])
        )


def draft_of(text: str) -> Draft:
    """Return a text in its sentences."""
    spans = split_sentences(text)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return Draft(
        tuple(Sentence(text[start:end], place) for place, (start, end) in enumerate(spans)),
        tuple(text[end:start] for end, start in zip(ends, starts, strict=True)),
    )


def inject(text: str, rng: "Generator", *, kinds: Sequence[str], count: int) -> list[Perturbed]:
    """Return the text with one error, with two, … and with `count`, each edited from the last.

    Where there is no room for another error, the last text is the one before it, impossible.
    Source: paper 002, local and global injection, by rule.
    """
    before, found = draft_of(text).text, list[Perturbed]()
    for draft in islice(drafts(text, rng, kinds=kinds), count):
        found.append(Perturbed(draft.text, "ok", tuple(edit_between(before, draft.text))))
        before = draft.text
    if len(found) < count:
        found.append(impossible(before, f"there is no room for error {len(found) + 1}"))
    return found


def drafts(text: str, rng: "Generator", *, kinds: Sequence[str]) -> Iterator[Draft]:
    """Yield the text with one error more each time, until it has no room for another.

    The kind is drawn first, then the place, then the error. Errors within sentences do not
    overlap; sentences change places so that two that are in the wrong order stay so; one that has
    an error is never left out.
    """
    draft = draft_of(text)
    while open_ := [ways for kind in kinds if (ways := list(_ways(draft, kind, rng)))]:
        ways = open_[rng.integers(len(open_))]
        draft = ways[rng.integers(len(ways))]
        yield draft


def _ways(draft: Draft, kind: str, rng: "Generator") -> Iterator[Draft]:
    """Yield the text with one more error of a kind, in every place that has room for it."""
    if kind in WITHIN:
        for at, sentence in enumerate(draft.sentences):
            for site in WITHIN[kind](sentence.text):
                if sentence.free(site):
                    new = site.options[rng.integers(len(site.options))]
                    changed = sentence.with_error(site, new)
                    sentences = (*draft.sentences[:at], changed, *draft.sentences[at + 1 :])
                    yield replace(draft, sentences=sentences)
    if kind in BETWEEN:
        yield from _BETWEEN[kind](draft)


def _reordered(draft: Draft) -> Iterator[Draft]:
    """Neighbours that are in the right order, and only those, may change places."""
    for at, (first, second) in enumerate(zip(draft.sentences, draft.sentences[1:], strict=False)):
        if PUT_IN < first.place < second.place and first.text != second.text:
            yield draft.turned(at)


def _said_twice(draft: Draft) -> Iterator[Draft]:
    """A sentence of the text comes again right behind itself."""
    for at, one in enumerate(draft.sentences):
        again = draft.sentences[at + 1 : at + 2]
        if one.place > PUT_IN and (not again or again[0].text != one.text):
            yield draft.put(at + 1, _locked(one.text))


def _shortened(draft: Draft) -> Iterator[Draft]:
    """A sentence goes that has no error and stands in the right order to all others."""
    own = [one for one in draft.sentences if one.place > PUT_IN]
    for at, one in enumerate(draft.sentences):
        if len(own) > 1 and one.place > PUT_IN and not one.locks and _in_order(draft, at):
            yield draft.without(at)


def _in_order(draft: Draft, at: int) -> bool:
    place = draft.sentences[at].place
    before = all(one.place < place for one in draft.sentences[:at])
    return before and all(
        one.place > place or one.place == PUT_IN for one in draft.sentences[at + 1 :]
    )


def _strayed(draft: Draft) -> Iterator[Draft]:
    """A sentence about something else comes in, anywhere but at the beginning."""
    there = {one.text for one in draft.sentences}
    for at in range(1, len(draft.sentences) + 1):
        for told in OFF_TOPIC:
            if told not in there:
                yield draft.put(at, _locked(told))


def _locked(text: str) -> Sentence:
    return Sentence(text, PUT_IN, ((0, len(text)),))


_BETWEEN = {
    "order": _reordered,
    "redundancy": _said_twice,
    "deletion": _shortened,
    "off-topic": _strayed,
}
