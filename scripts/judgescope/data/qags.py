"""QAGS as its authors publish it: JSONL, one summary per line, with people's votes per
sentence.

Fields: article, and summary_sentences, a list of {sentence, responses}; responses is a
list of {worker_id, response: yes or no}, "yes" if the article supports the sentence.
There are no ids: an item's id is its position. The summary is its sentences, joined.
"""

from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.data.draft import MEAN, ONLY_SYSTEM, Draft, FilesByRole, RowFault
from judgescope.data.rows import FileRow, all_rows
from judgescope.data.wording import numbered
from judgescope.schema.cards import Format


class _Sentence(NamedTuple):
    text: str
    votes: dict[str, str]
    supported: bool


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the texts; a rating is the share of sentences that a majority of workers
    accepts.

    Its only rater is `mean`, its only system `system`; the votes are kept in the items'
    `meta`.
    """
    if len(draft.card.aspects) != 1:
        raise UserError(
            "QAGS has one question per sentence: whether the article supports it",
            where=f"datasets/{draft.card.dataset}.yaml, key aspects",
            got=", ".join(draft.card.aspects),
            todo="name one aspect",
        )
    rows = all_rows(files["data"])
    for position, (path, number, row) in enumerate(rows, start=1):
        _add(
            draft, path, number, row, numbered(draft.card.dataset, position, len(rows))
        )


def _add(draft: Draft, path: Path, number: int, row: FileRow, name: str) -> None:
    """Add the summary of a row with its rating; without one if a sentence is faulty."""
    # The key of an item's `meta` that holds the sentences of its summary, each with its
    # votes.
    key = "sentences"
    entries: list[Any] = []
    with draft.reading(path, number):
        entries = draft.pick(row, "summary_sentences[*]")
        if not entries:
            raise RowFault("a summary has no sentence", got=row["summary_sentences"])
    sentences = list[_Sentence]()
    for index, entry in enumerate(entries, start=1):
        with draft.reading(path, number, f"sentence {index}"):
            sentence = _sentence(draft, entry)
            if sentence.text:
                sentences.append(sentence)
    votes = list[dict[str, object]]()
    for sentence in sentences:
        votes.append({"sentence": sentence.text, "votes": sentence.votes})
    with draft.reading(path, number):
        source = [("Article", draft.pick(row, "article"))]
        item = draft.item(name, source, None, {key: votes})
        if sentences and len(sentences) == len(entries):
            summary = " ".join(sentence.text for sentence in sentences)
            output = draft.output(item, ONLY_SYSTEM, summary)
            share = fmean(sentence.supported for sentence in sentences)
            for aspect in draft.columns:
                draft.rating(output, aspect, MEAN, share)


def _sentence(draft: Draft, entry: FileRow) -> _Sentence:
    """Return a sentence with the votes of its workers, or raise UserError."""
    text = draft.text(draft.pick(entry, "sentence"), "sentence").strip()
    votes: dict[str, str] = {}
    for response in draft.pick(entry, "responses[*]"):
        worker = draft.name(draft.pick(response, "worker_id"), "worker")
        answer = draft.pick(response, "response")
        if answer not in ("no", "yes"):
            raise RowFault("unknown answer", got=answer, allowed=("no", "yes"))
        if worker in votes:
            raise RowFault("a worker answered twice", got=worker)
        votes[worker] = answer
    yes = list(votes.values()).count("yes")
    if 2 * yes == len(votes):
        raise RowFault("the votes have no majority", got=f"{yes} yes of {len(votes)}")
    return _Sentence(text, votes, 2 * yes > len(votes))


FORMAT = Format(name="qags_mturk_jsonl", read=read, means=True, parts=("Article",))
