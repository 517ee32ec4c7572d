"""Replies in, judgments out: tables of forms and traps, and properties."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.parsing.judgment import PARSERS, Judgment, Scale
from parsed import parse, settings_for

FIVE = Scale(1, 5, 1)
HALVES = Scale(1, 5, 0.5)
WORDS = Scale(1, 5, 1, ("Unacceptable", "Poor", "Fair", "Good", "Very good"))
TEN = Scale(1, 10, 1)
HUNDRED = Scale(0, 100, None)
UNIT = Scale(0, 1, None)
SIGNED = Scale(-2, 2, 1)


def judged(
    text: str, scale: Scale | None = FIVE, finish: str | None = "stop"
) -> Judgment:
    return parse(text, scale=scale, finish=finish)


VERDICTS: list[tuple[str, Scale, float, str]] = [
    # a label, in every dress
    ("Rating: 4", FIVE, 4, "labelled"),
    ("rating:4", FIVE, 4, "labelled"),
    ("SCORE = 2", FIVE, 2, "labelled"),
    ("Score - 3", FIVE, 3, "labelled"),
    ("Score – 3", FIVE, 3, "labelled"),
    ("Score—3", FIVE, 3, "labelled"),
    ("Score-3", FIVE, 3, "labelled"),
    ("score 2.", FIVE, 2, "labelled"),
    ("Verdict: 5", FIVE, 5, "labelled"),
    ("Overall: 3", FIVE, 3, "labelled"),
    ("Overall score: 3", FIVE, 3, "labelled"),
    ("Final Score: 4.0", FIVE, 4, "labelled"),
    ("Final answer: 2", FIVE, 2, "labelled"),
    ("My rating is 4.", FIVE, 4, "labelled"),
    ("My rating is: 4", FIVE, 4, "labelled"),
    ("The score would be 2, as it rambles.", FIVE, 2, "labelled"),
    ("The rating I would give this reply is 4.", FIVE, 4, "labelled"),
    ("Score for coherence: 3", FIVE, 3, "labelled"),
    ("Score (1-5): 3", FIVE, 3, "labelled"),
    ("Score (1 to 5, higher is better): 3", FIVE, 3, "labelled"),
    ("Score (1 = worst, 5 = best): 3", FIVE, 3, "labelled"),
    ("It rambles, hence a score of 2 for coherence.", FIVE, 2, "labelled"),
    ("It rambles, resulting in a score of 3.", FIVE, 3, "labelled"),
    ("It deserves a score of four.", FIVE, 4, "labelled"),
    ("A score of 2 is warranted.", FIVE, 2, "labelled"),
    ("Score: four", FIVE, 4, "labelled"),
    ("Rating: FIVE", FIVE, 5, "labelled"),
    ("Score: zero", Scale(0, 3, 1), 0, "labelled"),
    ("Score: ten", TEN, 10, "labelled"),
    ("**Rating:** 4", FIVE, 4, "labelled"),
    ("**Rating**: **4**", FIVE, 4, "labelled"),
    ("### Score\n\n4", FIVE, 4, "labelled"),
    ("Rating:\n4", FIVE, 4, "labelled"),
    ("Rating:\n\n  **4**\n\nIt reads well.", FIVE, 4, "labelled"),
    ("Rating: [4]", FIVE, 4, "labelled"),
    ("Rating: (4)", FIVE, 4, "labelled"),
    ("Rating: [[4]]", FIVE, 4, "labelled"),
    ("Rating: `4`", FIVE, 4, "labelled"),
    ("Rating: __4__", FIVE, 4, "labelled"),
    (r"Final answer: $\boxed{4}$", FIVE, 4, "labelled"),
    ("<score>4</score>", FIVE, 4, "labelled"),
    ('{"score": 4}', FIVE, 4, "labelled"),
    ('{"reason": "fine", "coherence_score": "4"}', FIVE, 4, "labelled"),
    ('```json\n{\n  "rating": 4\n}\n```', FIVE, 4, "labelled"),
    ("Rating: 4/5", FIVE, 4, "labelled"),
    ("Rating: **4**/5", FIVE, 4, "labelled"),
    ("Rating: 4 / 5.0", FIVE, 4, "labelled"),
    ("Score: 4 out of 5", FIVE, 4, "labelled"),
    ("Score: four out of five", FIVE, 4, "labelled"),
    ("Score: 4 out of a possible 5", FIVE, 4, "labelled"),
    ("Score: 4 (out of 5)", FIVE, 4, "labelled"),
    ("Score: 4.5", HALVES, 4.5, "labelled"),
    ("Score: 4.5/5", HALVES, 4.5, "labelled"),
    ("a score of four and a half", HALVES, 4.5, "labelled"),
    ("Score: 85%", HUNDRED, 85, "labelled"),
    ("Score: 0.85", UNIT, 0.85, "labelled"),
    ("Score: -1", SIGNED, -1, "labelled"),
    ("Score: −2", SIGNED, -2, "labelled"),
    ("Ｒａｔｉｎｇ：４", FIVE, 4, "labelled"),
    ("**Score out of 10:** 7", TEN, 7, "labelled"),
    ("Score out of 100: 85", HUNDRED, 85, "labelled"),
    ("Rating： ４．５", HALVES, 4.5, "labelled"),
    ("Score: 4 stars", FIVE, 4, "labelled"),
    ("Score 3 - It covers the main points.", FIVE, 3, "labelled"),
    ("Rating: 4\nRationale: It has 3 sentences and 2 facts.", FIVE, 4, "labelled"),
    ("Rating: 3 (on a scale of 1-5)", FIVE, 3, "labelled"),
    ("Rating: 4/5 or 80%", FIVE, 4, "labelled"),
    ("Rating: 4 and one slip at most", FIVE, 4, "labelled"),
    # category words
    ("Overall: Good", WORDS, 4, "labelled"),
    ("Rating: very good", WORDS, 5, "labelled"),
    ("The rating is **Poor**.", WORDS, 2, "labelled"),
    ("Fair", WORDS, 3, "bare"),
    ("Unacceptable\n\nNothing in it is true.", WORDS, 1, "leading"),
    # the last labelled verdict wins, also over other forms
    ("Rating: 2. On a second look, the final score is 4.", FIVE, 4, "labelled"),
    ("Score: 5\nScore: 3", FIVE, 3, "labelled"),
    ("Rating: 2\nI would give it a 4.", FIVE, 2, "labelled"),
    ("4\nA closer look, though: final score 3", FIVE, 3, "labelled"),
    # no label
    ("4", FIVE, 4, "bare"),
    (" 4.0 \n", FIVE, 4, "bare"),
    ("4.", FIVE, 4, "bare"),
    ("- 4", FIVE, 4, "bare"),
    ("**4**", FIVE, 4, "bare"),
    ("[4]", FIVE, 4, "bare"),
    ("(4)", FIVE, 4, "bare"),
    ("４", FIVE, 4, "bare"),
    ("4/5", FIVE, 4, "bare"),
    ("4 out of 5", FIVE, 4, "bare"),
    ("4 stars", FIVE, 4, "bare"),
    ("four", FIVE, 4, "bare"),
    ("4 (good)", FIVE, 4, "bare"),
    ("It reads well, so [[4]] it is.", FIVE, 4, "double_brackets"),
    ("It rambles, scoring a one out of five.", FIVE, 1, "given"),
    ("It is tight, earning it a 4.", FIVE, 4, "given"),
    ("The dialogue is rated 3 because it drifts.", FIVE, 3, "given"),
    ("I would give it a 2.", FIVE, 2, "given"),
    ("I'd give this summary a 3/5.", FIVE, 3, "given"),
    ("It deserves a 4.", FIVE, 4, "given"),
    ("On a scale of 1 to 5, I would rate it 3.", FIVE, 3, "given"),
    ("On a scale from 1 (worst) to 5 (best), this is a solid 4.", FIVE, 4, "given"),
    ("The opening is weak; 3 out of 5.", FIVE, 3, "fraction"),
    ("Off topic (1/5).", FIVE, 1, "fraction"),
    ("Coherence: 3", FIVE, 3, "named_line"),
    ("The reply stays on topic. Coherence: 3", FIVE, 3, "named_line"),
    ("- Uses knowledge: 4", FIVE, 4, "named_line"),
    ("4\n\nBecause every line follows from the last.", FIVE, 4, "leading"),
    ("4 - it follows.", FIVE, 4, "leading"),
    ("4. It follows from what was said.", FIVE, 4, "leading"),
    ("4, because it follows.", FIVE, 4, "leading"),
    ("Every line follows.\n\n4", FIVE, 4, "trailing"),
    ("Every line follows. 4", FIVE, 4, "trailing"),
    ("None of it holds, so it is off topic (1).", FIVE, 1, "trailing"),
    ("Rate from 1-5: 3", FIVE, 3, "named_line"),
    ("Coherence (1-5): 4", FIVE, 4, "named_line"),
    ("<answer>4</answer>", FIVE, 4, "labelled"),
    ("Score:\u00a04\ufeff", FIVE, 4, "labelled"),
    (
        "Rating: 3\nI did not assign a rating of 5, since it drifts.",
        FIVE,
        3,
        "labelled",
    ),
    # reasoning
    ("<think>Score: 1? No, better.</think>Score: 4", FIVE, 4, "labelled"),
    ("Perhaps a rating of 2.</think>\n4", FIVE, 4, "bare"),
    ("<THINKING>Score: 1</THINKING><think>2</think> 3", FIVE, 3, "bare"),
    ("[THINK]Score: 1[/THINK]Score: 2", FIVE, 2, "labelled"),
]
CLEAR: list[tuple[str, float, str]] = [
    # a value in words with its unit, then the reason
    ("Three stars. The reply answers the question but drifts.", 3, "leading"),
    ("Two stars: it repeats itself.", 2, "leading"),
    ("Four points! Nothing is left open.", 4, "leading"),
    ("**Five stars.** Every claim is backed.", 5, "leading"),
    ("One star, as it is off topic.", 1, "leading"),
    ("4 stars. It flows.", 4, "leading"),
    ("4 stars out of 5. It flows.", 4, "fraction"),
    ("Three stars out of five. It drifts.", 3, "fraction"),
    ("It gets two points out of five.", 2, "fraction"),
    ("Rating: 4 stars out of 5", 4, "labelled"),
    ("5 points / 5", 5, "bare"),
    # a dash without a space before it
    ("2- Somewhat interesting", 2, "leading"),
    ("4- Mostly clear, with one slip.", 4, "leading"),
    ("5– Nothing to add", 5, "leading"),
    ("1 - Not at all", 1, "leading"),
    # the aspect's name as the label, the reason on the same line
    ("Coherence: 3. The response stays on topic for a while.", 3, "named_lead"),
    ("Fluency: 4 - it reads well.", 4, "named_lead"),
    ("**Relevance**: 2, as half of it is padding.", 2, "named_lead"),
    ("Engagingness: 1 (dull from end to end)", 1, "named_lead"),
    ("- Naturalness: 5; nobody would write it otherwise.", 5, "named_lead"),
    ("A few words first.\nCoherence: 3. It drifts.", 3, "named_lead"),
    # a value with its meaning in brackets
    ("The coherence of the summary is 3 (good).", 3, "glossed"),
    ("It drifts twice, so its flow is 2 (weak).", 2, "glossed"),
    ("I think the fluency here is 5 (very good)", 5, "glossed"),
    ("The rating is 4 (good).", 4, "labelled"),
    ("The response is 3 (good) in terms of fluency.", 3, "glossed"),
    (
        "The text is 2 (weak) with regard to its style and tone, it drifts.",
        2,
        "glossed",
    ),
    # a quality by its name
    ("It has no slip, scoring a perfect fluency of 5.", 5, "given"),
    ("It drifts, earning a coherence of 2.", 2, "given"),
    ("The text reads well, receiving a high naturalness of 4.", 4, "given"),
    ("I'd rate the fluency of this response as 4.", 4, "given"),
    ("I rated the second half of it at 3.", 3, "given"),
    # the top of the scale where it is given
    ("Nothing is wrong, earning a perfect score of 5.", 5, "labelled"),
    ("I give this summary a full score of 5.", 5, "labelled"),
    ("It holds throughout, resulting in a perfect score of 5.", 5, "labelled"),
    ("No faults, hence a perfect rating of 5.", 5, "labelled"),
    # an answer that is announced
    ("The answer is: 1", 1, "labelled"),
    ("My answer is: 4", 4, "labelled"),
    ("The answer: 2", 2, "labelled"),
    ("The answer is 1", 1, "answer"),
    ("The answer is **4**.", 4, "answer"),
    ("The answer is 2\nIt drifts.", 2, "answer"),
    ("It drifts. So the answer is 2.", 2, "answer"),
    # a label beats prose, wherever each stands
    ("Rating: 1\nIt speaks of a game with a score of 4.", 1, "labelled"),
    ("Rating: 1. The fact tells of a score of 222 - 0.", 1, "labelled"),
    ("It names a score of 2 for the guests.\nRating: 4", 4, "labelled"),
    ("Score: 3\nThe boy had a grade of 5 at school.", 3, "labelled"),
    ("Final score: 4/5. It lacks detail to reach a perfect score of 5.", 4, "labelled"),
    ("Rating: 3. To deserve a full score of 5, it would need a source.", 3, "labelled"),
    ("It falls short of a perfect score of 5. I give it a 4.", 4, "given"),
    ("Rating: 2. A highest possible rating of 5 is out of reach.", 2, "labelled"),
    ("It drifts, with a score of 2, far from the top score of 5.", 2, "labelled"),
    # a walk through the scale, and then a verdict
    (
        "Rating: 1 is poor.\nRating: 2 is weak.\nRating: 3 is fair.\nMy rating: 2",
        2,
        "labelled",
    ),
    ("Rating: 3\nRating: 4", 4, "labelled"),
    ("Rating: 5\nRating: 1\nRating: 3\nRating: 4", 4, "labelled"),
    ("Rating: 1\nRating: 5\nRating: 5", 5, "labelled"),
    ("Rating: 2\nRating: 4\nRating: 5", 5, "labelled"),
    # a label names the top of the scale, or another line does
    ("Rating out of 5: 3", 3, "labelled"),
    ("**Rating out of five:** three", 3, "labelled"),
    ("Rating out of a possible 5: 3", 3, "labelled"),
    ("Rating of 5: 3", 3, "labelled"),
    ("Rating on a scale of 5: 3", 3, "labelled"),
    ("The score out of 5 is 3.", 3, "labelled"),
    ("Coherence out of 5: 3", 3, "named_line"),
    ("I give it a score of 5: 2 facts are named, both right.", 5, "labelled"),
    ("It earns a score of 4: good.", 4, "labelled"),
    ('{"score": 3, "max_score": 5}', 3, "labelled"),
    ('{"score": 3, "score_max": 5}', 3, "labelled"),
    ('{\n  "score": 3,\n  "max_score":5\n}', 3, "labelled"),
    ("Score: 3\nTop score: 5", 3, "labelled"),
    ("Score: 3 (max. score: 5)", 3, "labelled"),
    ("Score: 3\n**Highest score:** 5", 3, "labelled"),
    ("Score: 3\nPerfect rating: 5", 3, "labelled"),
    ("Perfect score: 5/5", 5, "labelled"),
    # a label beats a condition, and a number at the end of a longer sentence
    (
        "Rating: 2\nTwo facts are wrong. Without them the score would be 4.",
        2,
        "labelled",
    ),
    ("Rating: 2\nThe score should be 4 for a text with its source.", 2, "labelled"),
    ("Rating: 2\nThe rating is low because the number of errors is 4.", 2, "labelled"),
    ("Rating: 2\n\nThe overall score of the game in the text is 3.", 2, "labelled"),
    ("Rating: 2\n\nOn reflection, the final score is 4.", 4, "labelled"),
    ("Fluency rating: 2\nCoherence rating: 3\nOverall rating: 4", 4, "labelled"),
]
VERDICTS += [(text, FIVE, value, rule) for text, value, rule in CLEAR]


@pytest.mark.parametrize(("text", "scale", "value", "rule"), VERDICTS)
def test_a_verdict_is_read_by_a_named_rule(
    text: str, scale: Scale, value: float, rule: str
) -> None:
    result = judged(text, scale)
    assert (result.status, result.value, result.rule, result.parser) == (
        "ok",
        value,
        rule,
        "score@17",
    )


NO_VERDICTS: list[tuple[str, Scale, str, str]] = [
    # echoes of the scale
    ("1-5", FIVE, "unparsed", "no_verdict"),
    ("１-５", FIVE, "unparsed", "no_verdict"),
    ("(1–5)", FIVE, "unparsed", "no_verdict"),
    ("Score: 1-5", FIVE, "unparsed", "no_verdict"),
    ("Rating (1-5)", FIVE, "unparsed", "no_verdict"),
    ("Rate the summary on a scale of 1 to 5.", FIVE, "unparsed", "no_verdict"),
    ("I will rate it from one to five.", FIVE, "unparsed", "no_verdict"),
    ("1 = worst, 5 = best", FIVE, "unparsed", "no_verdict"),
    ("The rating is 1, 2, 3, 4 or 5.", FIVE, "unparsed", "no_verdict"),
    ("Score: 1/2/3/4/5", FIVE, "unparsed", "no_verdict"),
    ("1\n2\n3\n4\n5", FIVE, "unparsed", "no_verdict"),
    ("The maximum score is 5.", FIVE, "unparsed", "no_verdict"),
    ("A score of 5 means that nothing is missing.", FIVE, "unparsed", "no_verdict"),
    # undecided
    ("Score: 3-4", FIVE, "unparsed", "no_verdict"),
    ("I would give it a 3 or 4.", FIVE, "unparsed", "no_verdict"),
    ("A rating between 3 and 4.", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3 or 4", FIVE, "unparsed", "no_verdict"),
    ("Rating: **3** or **4**", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3 (or 4)", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3, or 4 [or even 5]", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3/5 or 4/5", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3 out of 5 or 4 out of 5", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3 and 4", FIVE, "unparsed", "no_verdict"),
    ("Rating: 3 or maybe 4\nIt drifts.", FIVE, "unparsed", "no_verdict"),
    ("Rating: three or four", FIVE, "unparsed", "no_verdict"),
    # another scale's top in the label
    ("Rating out of 10: 3", FIVE, "unparsed", "no_verdict"),
    ("Score out of 10: it flows", TEN, "unparsed", "no_verdict"),
    ("Fluency is rated 4. Coherence is rated 2.", FIVE, "unparsed", "no_verdict"),
    ("Coherence: 3\nFluency: 4", FIVE, "unparsed", "no_verdict"),
    ("It doesn't quite deserve a 5.", FIVE, "unparsed", "no_verdict"),
    ("I would not give it a 5.", FIVE, "unparsed", "no_verdict"),
    ("Scores: 4,5", HALVES, "unparsed", "no_verdict"),
    ("Score: 4 1/2", HALVES, "unparsed", "no_verdict"),
    ("Score: 4+", FIVE, "unparsed", "no_verdict"),
    ("Score: N/A", FIVE, "unparsed", "no_verdict"),
    ("Score: X", FIVE, "unparsed", "no_verdict"),
    ("Rating: not good", WORDS, "unparsed", "no_verdict"),
    # counts, dates, lists, football
    ("The summary has 3 sentences.", FIVE, "unparsed", "no_verdict"),
    ("It covers two of the five sentences.", FIVE, "unparsed", "no_verdict"),
    ("Score: two of the five sentences are wrong.", FIVE, "unparsed", "no_verdict"),
    ("The number of errors is 3.", FIVE, "unparsed", "no_verdict"),
    ("Errors: 3", FIVE, "unparsed", "no_verdict"),
    ("Number of mistakes per line: 2", FIVE, "unparsed", "no_verdict"),
    ("It happened on 4 May 2015.", FIVE, "unparsed", "no_verdict"),
    ("Published 4/5/2015", FIVE, "unparsed", "no_verdict"),
    ("It starts at 4:30.", FIVE, "unparsed", "no_verdict"),
    ("The match ended with a score of 3-1.", FIVE, "unparsed", "no_verdict"),
    ("He scored 2 goals and won 3 out of 5 matches.", FIVE, "unparsed", "no_verdict"),
    ("The 4th line and the 2nd are one-sided.", FIVE, "unparsed", "no_verdict"),
    ("1. It is short.\n2. It is true.", FIVE, "unparsed", "no_verdict"),
    ("Scores:\n1. It is short\n2. It is true", FIVE, "unparsed", "no_verdict"),
    (
        "There is one problem and it gets worse in 2 places.",
        FIVE,
        "unparsed",
        "no_verdict",
    ),
    ("The overall text is good.", WORDS, "unparsed", "no_verdict"),
    ("Good points and poor ones.", WORDS, "unparsed", "no_verdict"),
    ("Yes", FIVE, "unparsed", "no_verdict"),
    ("½", FIVE, "unparsed", "no_verdict"),
    # out of range is told, never moved into the range
    ("Score: 7", FIVE, "out_of_range", "labelled.outside"),
    ("0 out of 5", FIVE, "out_of_range", "bare.outside"),
    ("Score: -1", FIVE, "out_of_range", "labelled.outside"),
    ("Score -4", FIVE, "out_of_range", "labelled.outside"),
    ("4.5", FIVE, "off_grid", "bare.off_grid"),
    ("Score: 4.5", FIVE, "off_grid", "labelled.off_grid"),
    ("Score: 4.3", HALVES, "off_grid", "labelled.off_grid"),
    ("4/10", FIVE, "out_of_range", "bare.denominator"),
    ("Rating: 4/10", FIVE, "out_of_range", "labelled.denominator"),
    ("Rating: 4 out of 7", FIVE, "out_of_range", "labelled.denominator"),
    ("Rating: 4 out of zero", FIVE, "out_of_range", "labelled.denominator"),
    ("I would give it an 8/10.", FIVE, "out_of_range", "given.denominator"),
    ("Score: 80%", FIVE, "out_of_range", "labelled.denominator"),
    ("Score: 4, no: final score: 9", FIVE, "out_of_range", "labelled.outside"),
    # refusals
    ("I cannot evaluate this text.", FIVE, "refused", "refusal"),
    ("As an AI language model I can't rate people.", FIVE, "refused", "refusal"),
    ("I'm sorry, but I can't help with that.", FIVE, "refused", "refusal"),
    ("I’m sorry, I can’t rate it on a scale of 1 to 5.", FIVE, "refused", "refusal"),
    ("I am unable to provide a score.", FIVE, "refused", "refusal"),
    ("Without its source it cannot be rated.", FIVE, "refused", "refusal"),
    # nothing there
    ("", FIVE, "empty", "empty"),
    (" \n\t ", FIVE, "empty", "empty"),
    ("<think>Score: 4</think>", FIVE, "empty", "only_reasoning"),
    ("<think>Score: 4", FIVE, "truncated", "unclosed_reasoning"),
    ("<think>a</think>Score: 4 <think>or", FIVE, "truncated", "unclosed_reasoning"),
]
TRAPS: list[tuple[str, str, str]] = [
    # matches, ranges and goals
    ("The match ended with a score of 3 - 1.", "unparsed", "no_verdict"),
    ("They won with a score of 4 – 2, it says.", "unparsed", "no_verdict"),
    ("Rating: 3 - 4", "unparsed", "no_verdict"),
    ("It lacks the detail to reach a perfect score of 5.", "unparsed", "no_verdict"),
    ("It was kept from earning a perfect score of 5.", "unparsed", "no_verdict"),
    ("It almost deserves a full score of 5.", "unparsed", "no_verdict"),
    # counts and amounts
    ("They finished, scoring a total of 3.", "unparsed", "no_verdict"),
    ("He left, earning a salary of 4.", "unparsed", "no_verdict"),
    ("The number of slips is 3 (few).", "unparsed", "no_verdict"),
    ("Reason: 1. It is short. 2. It is true.", "unparsed", "no_verdict"),
    ("The response is 3 (three) in terms of paragraphs.", "unparsed", "no_verdict"),
    (
        "It is 3 (good) in terms of fluency but 2 (weak) in style.",
        "unparsed",
        "no_verdict",
    ),
    (
        "It is 3 (good) in terms of fluency, 2 (weak) in style.",
        "unparsed",
        "no_verdict",
    ),
    # the answer to the question that the text is about
    ("The answer is 2 sentences long.", "unparsed", "no_verdict"),
    ("The answer is 4 of many.", "unparsed", "no_verdict"),
    ("I wonder if the answer is 1.", "unparsed", "no_verdict"),
    ("The correct answer is 4.", "unparsed", "no_verdict"),
    ("The answer is 4. The text says 5 instead.", "unparsed", "no_verdict"),
    ("The answer is 3.5", "off_grid", "answer.off_grid"),
    # the end of a decimal number is no last sentence
    ("The median of these numbers is 6.5.", "unparsed", "no_verdict"),
    ("They add 3.7 and 6.2.", "unparsed", "no_verdict"),
    ("Example: 4. It rambles.", "unparsed", "no_verdict"),
    ("Coherence: 3. It drifts.\nFluency: 4. It reads well.", "unparsed", "no_verdict"),
    # what the values mean
    ("1: bad\n2: poor\n3: fair", "unparsed", "no_verdict"),
    ("1- dull\n2- so-so\n3- lively", "unparsed", "no_verdict"),
    ("Three stars: fair\n4 - good", "unparsed", "no_verdict"),
    # a walk through the scale
    ("Rating: 1\nRating: 2\nRating: 3\nRating: 4\nRating: 5", "unparsed", "enumerated"),
    ("Rating: 1 Rating: 2 Rating: 3", "unparsed", "enumerated"),
    ("Rating: 5\nRating: 4\nRating: 3\nRating: 2\nRating: 1", "unparsed", "enumerated"),
    (
        "Rating: 1\nIt is bad.\nRating: 2\nIt is weak.\nRating: 3\nFair.",
        "unparsed",
        "enumerated",
    ),
    ("Rating 2: weak. Rating 3: fair. Rating 4: good.", "unparsed", "enumerated"),
    ("Rating: one\nRating: two\nRating: three", "unparsed", "enumerated"),
    ("Rating: 1\nRating: 3\nRating: 5", "unparsed", "enumerated"),
    (
        "Rating: 5 is best, Rating: 2 is weak, Rating: 1 is worst.",
        "unparsed",
        "enumerated",
    ),
    ("Rating: 2\nRating: 1\nRating: 2\nRating: 4\nRating: 5", "unparsed", "enumerated"),
    ("Score: .5", "out_of_range", "labelled.outside"),
    # another scale's top behind the unit
    ("I give it 3 stars out of 10.", "out_of_range", "given.denominator"),
    ("Rating: 4 stars out of 10", "out_of_range", "labelled.denominator"),
    ("4 points out of 100. It flows.", "out_of_range", "leading.denominator"),
]
NO_VERDICTS += [(text, FIVE, status, rule) for text, status, rule in TRAPS]


@pytest.mark.parametrize(("text", "scale", "status", "rule"), NO_VERDICTS)
def test_what_is_no_verdict_never_becomes_a_number(
    text: str, scale: Scale, status: str, rule: str
) -> None:
    result = judged(text, scale)
    assert (result.status, result.rule) == (status, rule)
    assert (result.value, result.label, result.rationale) == (None, None, None)


def test_a_refusal_that_still_gives_a_verdict_is_a_verdict() -> None:
    assert judged("I cannot judge the style, but overall: 3").value == 3


@pytest.mark.parametrize(
    ("text", "finish", "reply_status", "status", "rule"),
    [
        ("Score: 4", "length", "ok", "truncated", "finish_length"),
        ("", "length", "ok", "truncated", "finish_length"),
        ("", "content_filter", "ok", "refused", "filtered"),
        ("The text", "content_filter", "ok", "refused", "filtered"),
        ("HTTP 400: 4 tokens too many", None, "error", "error", "refused"),
        ("no_references", "stop", "not_applicable", "not_applicable", "no_references"),
        (None, "stop", "ok", "empty", "empty"),
    ],
)
@pytest.mark.parametrize("parser", PARSERS)
def test_replies_that_are_no_answers_are_the_same_for_all_parsers(
    text: str | None,
    finish: str | None,
    reply_status: str,
    status: str,
    rule: str,
    parser: str,
) -> None:
    parsed = parse(
        text,
        scale=FIVE,
        finish=finish,
        parser=parser,
        reply_status=reply_status,
        settings=settings_for(parser),
    )
    assert (parsed.status, parsed.rule, parsed.value) == (status, rule, None)
    assert parsed.parser == f"{parser}@{PARSERS[parser].version}"


def test_a_missing_scale_and_missing_settings_are_errors() -> None:
    with pytest.raises(ValueError, match="needs a scale"):
        judged("4", None)
    with pytest.raises(ValueError, match="'minor', 'major', 'critical', 'bottom'"):
        parse("No errors", scale=FIVE, finish="stop", parser="errors")


@pytest.mark.parametrize(
    ("text", "rationale"),
    [
        ("4", None),
        ("Rating: 4", None),
        ('{"score": 4}', None),
        ("Rating: 4\nRationale: It holds.", "It holds."),
        ("**Rating:** 4\n\n**Explanation:** It holds.", "It holds."),
        ("Analysis: It holds.\nRating: 4", "It holds."),
        ("It drifts, resulting in a score of 2.", "It drifts"),
        ("<think>Hm.</think>It holds. Score: 4.", "It holds."),
        ("4 - it holds", "it holds"),
        ("Ｓｃｏｒｅ：４ It HOLDS, İstanbul too.", "It HOLDS, İstanbul too."),
    ],
)
def test_the_rationale_is_the_reply_without_its_verdict(
    text: str, rationale: str | None
) -> None:
    assert judged(text).rationale == rationale


def test_a_category_word_is_kept_as_the_scale_spells_it() -> None:
    assert judged("Overall: VERY\n GOOD", WORDS).label == "Very good"
    assert judged("Overall: 5", WORDS).label is None


FORMS = [
    "{}", "**{}**", "[{}]", "({})", "[[{}]]", "Rating: {}", "Score = {}",
    "final score is {}.", "Verdict - {}", "Overall：{}", "**Score:** {}", "Rating:\n{}",
    '{{"score": {}}}', "rated {}", "Score (1-5): {}", "It drifts, with a score of {}.",
    "I would give it a {}.", "{}/5", "Score: {} out of 5", "{}\n\nBecause it holds.",
    "It holds.\n{}", "Coherence: {}",
    "<think>Score: 1</think>{}", "Score: 1\nOn reflection: score {}",
]  # fmt: skip


@settings(deadline=None)
@given(
    value=st.sampled_from(HALVES.grid() or []),
    form=st.sampled_from(FORMS),
    wide=st.booleans(),
)
def test_every_value_is_read_back_from_every_form(
    value: float, form: str, wide: bool
) -> None:
    text = form.format(f"{value:g}")
    if wide:
        text = re.sub(r"\d", lambda digit: chr(ord(digit[0]) + 0xFEE0), text)
    assert judged(text, HALVES).value == value


AWKWARD = st.text(
    st.characters(codec=None) | st.sampled_from("0145/-:. \n\u202e\u0130\ud800([*<>")
)
JOINED = (
    "score| is |: |4|five|/5| out of |<think>|</think>|1-5|give| it a "
    "|\n|%|**|(|good|\ud800|\u202e|4.5|overall|[[|-1|rating"
)
PIECES = st.lists(st.sampled_from(JOINED.split("|"))).map("".join)


@settings(deadline=None)
@given(text=AWKWARD | PIECES, parser=st.sampled_from(sorted(PARSERS)))
def test_any_text_has_a_judgment_that_keeps_its_promises(
    text: str, parser: str
) -> None:
    parsed = parse(
        text, scale=WORDS, finish="stop", parser=parser, settings=settings_for(parser)
    )
    # a merged list has errors, a scored text the values of its tokens
    if parser not in ("merged", "likelihood"):
        assert (parsed.value is not None) == (parsed.status == "ok")
    assert parsed.rule
    if parser == "score" and parsed.value is not None:
        assert WORDS.contains(parsed.value)
        assert WORDS.on_grid(parsed.value)


REPEATED = (
    "score |4|4 |1,|\n| |(|<think>|rating of |give it a |very |x: |score\n|[[|*|a |-|/5"
)


@pytest.mark.heavy
@pytest.mark.parametrize("unit", [*REPEATED.split("|"), "4 out of a ", "no. 4"])
def test_long_replies_are_read_without_backtracking(unit: str) -> None:
    """A quadratic pattern would need half a minute for one of these."""
    text = unit * (50_000 // len(unit))
    for reply in (f"{text}x", f"4{text}x", f"score:{text}x", f"1 to{text}5 or so"):
        result = judged(reply, WORDS)
        assert (result.value is not None) == (result.status == "ok")


@pytest.mark.heavy
@pytest.mark.parametrize("unit", ["{a}. ", "> A is good.\n", "```x```. ", "A, but "])
def test_long_comparisons_are_read_without_comparing_all_parts(unit: str) -> None:
    """Sentences times quotations would take minutes for one of these."""
    text = unit * (200_000 // len(unit))
    result = parse(text, scale=None, finish="stop", parser="choice")
    assert result.status == "unparsed"


@pytest.mark.parametrize(
    ("text", "scale", "status", "value"),
    [
        ("4", None, "ok", 4.0),
        (" 0.25\n", None, "ok", 0.25),
        ("-3.5e-2", None, "ok", -0.035),
        ("2.6666666667", Scale(1, 5), "ok", 2.6666666667),
        ("2.6666666667", FIVE, "off_grid", None),
        ("5.1", FIVE, "out_of_range", None),
        ("nan", FIVE, "empty", None),
        ("NaN", None, "empty", None),
        ("inf", None, "unparsed", None),
        ("1e999", None, "unparsed", None),
        ("1_000", None, "unparsed", None),
        ("4 of 5", FIVE, "unparsed", None),
        ("Score: 4", FIVE, "unparsed", None),
    ],
)
def test_numbers_of_scorers(
    text: str, scale: Scale | None, status: str, value: float | None
) -> None:
    parsed = parse(text, scale=scale, finish="stop", parser="number")
    assert (parsed.status, parsed.value) == (status, value)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_float_is_read_back_exactly(value: float) -> None:
    assert parse(repr(value), scale=None, finish="stop", parser="number").value == value


@pytest.mark.parametrize(
    ("text", "status", "value", "rule"),
    [
        ("Rating: 2.5", "ok", 2, "after_rating"),
        ("Rating: 1\nOn reflection, RATING: 3", "ok", 3, "after_rating"),
        ("It has 7 faults. Rating: none, 9", "ok", 9, "after_rating"),
        ("I say 4", "ok", 4, "whole_text"),
        ("On a scale of 1-5, four", "ok", 1, "whole_text"),
        ("Score: 7", "ok", 7, "whole_text"),
        ("Of 3 faults. Rating: bad", "unparsed", None, "after_rating.no_digit"),
        ("Yes", "unparsed", None, "whole_text.no_digit"),
    ],
)
def test_the_rule_of_chiang_and_lee(
    text: str, status: str, value: float | None, rule: str
) -> None:
    parsed = parse(text, scale=FIVE, finish="stop", parser="chiang-lee")
    assert (parsed.status, parsed.value, parsed.rule) == (status, value, rule)


ANY_SHARE = Scale(0, 1)


def test_a_walk_goes_by_the_steps_of_the_scale() -> None:
    text = "Score: 2\nScore: 4\nScore: 6"
    assert parse(text, scale=Scale(0, 10, 2), finish="stop").rule == "enumerated"
    assert parse(text, scale=TEN, finish="stop").value == 6
    assert parse("Score: .5", scale=ANY_SHARE, finish="stop").value == 0.5


CHOICES: list[tuple[str, str, float | None, str]] = [
    ("A: Summary #1 is more consistent.", "", 1, "leading"),
    ("B: Summary #2 is more fluent.", "", -1, "leading"),
    ("**B** - it is tighter", "", -1, "leading"),
    ("B, because it names its source.", "", -1, "leading"),
    ("A. The first reads better.", "", 1, "leading"),
    ("Tie: both hold.", "", 0, "leading"),
    ("C", "C", 0, "alone"),
    ("C: Both are equally clear.", "C", 0, "leading"),
    ("Choice: C", "C", 0, "labelled"),
    ("(c)", "C", 0, "alone"),
    ("Output (a)", "", 1, "alone"),
    ("Summary B.", "", -1, "alone"),
    ("It drifts less. Therefore, output (b) is better.", "", -1, "concluding"),
    ("Both are short. Overall, Text A is the better one.", "", 1, "concluding"),
    ("C", "", None, "no_choice"),
    ("C: Both are equally clear.", "", None, "no_choice"),
    ("A: Summary #2 is more consistent.", "", None, "contradiction"),
    ("A: it drifts.\nB: it holds.", "", None, "contradiction"),
    ("A: 4, B: 3", "", None, "contradiction"),
    ("A. Smith wrote the first one.", "", None, "no_choice"),
    ("I wonder whether output (a) is better.", "", None, "no_choice"),
    ("Output (a) is not better.", "", None, "no_choice"),
    ("Output (a) is better. Still, neither is good.", "", None, "no_choice"),
    ('It says "Output (a) is better".', "", None, "no_choice"),
]


@pytest.mark.parametrize(("text", "tie", "value", "rule"), CHOICES)
def test_a_choice_is_read_where_it_is_clear(
    text: str, tie: str, value: float | None, rule: str
) -> None:
    settings = {"tie": tie} if tie else {}
    parsed = parse(text, scale=None, finish="stop", parser="choice", settings=settings)
    assert (parsed.value, parsed.rule) == (value, rule)
    assert parsed.status == ("unparsed" if value is None else "ok")
    labels: dict[float | None, str | None] = {1: "a", -1: "b", 0: "tie", None: None}
    assert parsed.label == labels[value]


def test_the_versions_tell_that_replies_are_read_differently() -> None:
    changed = {
        "score": 17,
        "result": 16,
        "annotation": 15,
        "merged": 10,
        "choice": 15,
        "errors": 6,
    }
    assert {name: PARSERS[name].version for name in changed} == changed
    assert (PARSERS["number"].version, PARSERS["chiang-lee"].version) == (2, 1)
