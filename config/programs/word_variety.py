"""A scorer of engine `command`: how varied a text's words are, between 0 and 1.

The score is the moving-average type-token ratio (Covington and McFall 2010): the share of different
words in a window, averaged over all windows of that many words; of a shorter text in the whole.
It reads a JSON object a line (`id`, `text`) and writes one (`id`, `score`), as they come.
"""

import json
import re
import sys

WORD = re.compile(r"\w+")


def variety(words: list[str], window: int) -> float:
    """Return mean over windows of |different words| / |words|."""
    starts = range(max(1, len(words) - window + 1))
    ratios = [len(set(part)) / len(part) for start in starts if (part := words[start:][:window])]
    return sum(ratios) / len(ratios)


def main(window: int) -> None:
    """Answer every line of standard input on standard output."""
    for line in sys.stdin:
        target = json.loads(line)
        words = WORD.findall(target["text"].lower())
        told = {"score": variety(words, window)} if words else {"error": "there are no words"}
        print(json.dumps({"id": target["id"], **told}), flush=True)


if __name__ == "__main__":
    main(window=int(sys.argv[1]))
