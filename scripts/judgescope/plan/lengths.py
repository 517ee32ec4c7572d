"""How long a reply usually is, by what its form asks for: until replies of the study tell."""

from judgescope.schema.cards import Judge

VERDICT, STRUCTURED, OTHER = 8, 16, 150
"""Tokens of a verdict alone, of one in JSON, of the reply to a form that is not known."""
FORMS = {
    **dict.fromkeys(("score-only", "score-shots", "score-steps"), VERDICT),
    **dict.fromkeys(("compare", "compare-anchors"), VERDICT),
    **dict.fromkeys(("rate-explain", "rate-hinted", "rate-own", "rate-shots"), 100),
    **dict.fromkeys(("explain-shots", "error-list"), 150),
    **dict.fromkeys(("analyze-rate", "analyze-shots", "critique", "rubric"), 200),
    **dict.fromkeys(("annotate", "distilled"), 250),
    "step-by-step": 400,
}
"""Form -> tokens of a usual reply: a rating, a few sentences, an analysis, a list of errors.

Round figures of models that do not reason before they answer; those write many times more.
"""


def usual_tokens(judge: Judge) -> int:
    """Return the tokens of a judge's usual reply, no more than its card allows."""
    structured = {"choice": VERDICT, "json": STRUCTURED}
    usual = structured[judge.structured] if judge.structured else FORMS.get(judge.form, OTHER)
    return min(usual, judge.max_tokens)
