"""Scorers of engine `command`: METEOR and SARI, which need no download.

A JSON object a line in (`id`, `text`, `references`; SARI also `source`), one a line out.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence

WORD = re.compile(r"\w+|[^\w\s]")
Grams = Counter[tuple[str, ...]]


class NoSynonyms:
    """Stands where METEOR looks synonyms up: WordNet would have to be downloaded."""

    def synsets(self, _: str) -> list[object]:
        """Return no set of synonyms."""
        return []


def meteor(words: list[str], _: list[str], references: Sequence[list[str]]) -> float:
    """Return the best METEOR over references, of exact words and stems (Banerjee, Lavie 2005).

    F = P R / (.9 P + .1 R), times 1 - .5 (chunks / matches)³.
    """
    from nltk.translate.meteor_score import meteor_score

    return float(meteor_score(references, words, wordnet=NoSynonyms()))


def sari(words: list[str], source: list[str], references: Sequence[list[str]]) -> float:
    """Return 100 (F_keep + P_delete + F_add) / 3, means over n-grams of 1 to 4 words (Xu 2016).

    Counts of source and text are multiplied by the number of references; 0 / 0 = 1, so that a text
    that equals its reference has the best score.
    """
    parts = [_sari_of(n, words, source, references) for n in range(1, 5)]
    return 100 * sum(sum(part) / 3 for part in parts) / len(parts)


def _sari_of(
    n: int, words: list[str], source: list[str], references: Sequence[list[str]]
) -> tuple[float, float, float]:
    times = len(references)
    before, after = (_times(_grams(one, n), times) for one in (source, words))
    wanted = sum((_grams(one, n) for one in references), Counter())
    kept, to_keep = before & after, before & wanted
    good = kept & wanted
    precision = _ratio(sum(good[gram] / kept[gram] for gram in good), len(kept))
    keep = _f1(precision, _ratio(good.total(), to_keep.total()))
    deleted = before - after
    rightly = deleted - wanted
    delete = _ratio(sum(rightly[gram] / deleted[gram] for gram in rightly), len(deleted))
    added, to_add = set(after) - set(before), set(wanted) - set(before)
    hits = len(added & set(wanted))
    return keep, delete, _f1(_ratio(hits, len(added)), _ratio(hits, len(to_add)))


def _grams(words: list[str], n: int) -> Grams:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _times(grams: Grams, times: int) -> Grams:
    return Counter({gram: count * times for gram, count in grams.items()})


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


MEASURES: dict[str, Callable[[list[str], list[str], Sequence[list[str]]], float]] = {
    "meteor": meteor,
    "sari": sari,
}


def main(name: str) -> None:
    """Answer every line of standard input on standard output."""
    for line in sys.stdin:
        target = json.loads(line)
        texts = [target["text"], target.get("source") or "", *target["references"]]
        words, source, *references = [WORD.findall(text.lower()) for text in texts]
        told: dict[str, object]
        if not references:
            told = {"error": "there is no reference"}
        elif name == "sari" and not source:
            told = {"error": "there is no source"}
        else:
            told = {"score": MEASURES[name](words, source, references)}
        print(json.dumps({"id": target["id"], **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
