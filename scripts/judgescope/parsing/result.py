"""Verdicts behind the mark [RESULT], as judges write them that are trained on rubrics."""

import re

from judgescope.parsing.judgment import Reading, Scale
from judgescope.parsing.quoted import own
from judgescope.parsing.score import is_refusal, read_score
from judgescope.parsing.text import fold, without_reasoning

_MARK = re.compile(r"\[\s*result\s*\][*_\"'`]*\s*:?", re.IGNORECASE)


def read_result(text: str, scale: Scale | None) -> Reading:
    """Return the rating behind the last [RESULT]; what stands before it is the reason.

    Unparsed without the mark, whatever numbers there are. ValueError without a scale.
    """
    answer, unclosed = without_reasoning(text)
    if unclosed:
        return Reading("truncated", "unclosed_reasoning")
    if not answer:
        return Reading("empty", "only_reasoning")
    marks = own(_MARK.finditer(answer), fold(answer))
    if not marks:
        refused = is_refusal(answer)
        return Reading("refused", "refusal") if refused else Reading("unparsed", "no_result")
    last = marks[-1]
    found = read_score(f"Rating: {answer[last.end() :].strip()}", scale)
    reason = answer[: last.start()].strip() or None
    return found._replace(rule=f"result.{found.rule}", rationale=reason, tail=None)
