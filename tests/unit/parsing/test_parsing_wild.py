"""Replies as judges write them that nobody here had seen: clear ones are read, traps are not."""

import pytest

from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.parsers import parse

FIVE = Scale(1, 5, 1)
TEN = Scale(1, 10, 1)
UNIT = Scale(0, 1)

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
    ("The text is 2 (weak) with regard to its style and tone, it drifts.", 2, "glossed"),
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
    ("Rating: 1 is poor.\nRating: 2 is weak.\nRating: 3 is fair.\nMy rating: 2", 2, "labelled"),
    ("Rating: 3\nRating: 4", 4, "labelled"),
    ("Rating: 5\nRating: 1\nRating: 3\nRating: 4", 4, "labelled"),
    ("Rating: 1\nRating: 5\nRating: 5", 5, "labelled"),
    ("Rating: 2\nRating: 4\nRating: 5", 5, "labelled"),
    ("Fluency rating: 2\nCoherence rating: 3\nOverall rating: 4", 4, "labelled"),
]


@pytest.mark.parametrize(("text", "value", "rule"), CLEAR)
def test_a_clear_verdict_is_read(text: str, value: float, rule: str) -> None:
    found = parse(text, scale=FIVE, finish="stop")
    assert (found.status, found.value, found.rule) == ("ok", value, rule)


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
    ("It is 3 (good) in terms of fluency but 2 (weak) in style.", "unparsed", "no_verdict"),
    ("It is 3 (good) in terms of fluency, 2 (weak) in style.", "unparsed", "no_verdict"),
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
    ("Rating: 1\nIt is bad.\nRating: 2\nIt is weak.\nRating: 3\nFair.", "unparsed", "enumerated"),
    ("Rating 2: weak. Rating 3: fair. Rating 4: good.", "unparsed", "enumerated"),
    ("Rating: one\nRating: two\nRating: three", "unparsed", "enumerated"),
    ("Rating: 1\nRating: 3\nRating: 5", "unparsed", "enumerated"),
    ("Rating: 5 is best, Rating: 2 is weak, Rating: 1 is worst.", "unparsed", "enumerated"),
    ("Rating: 2\nRating: 1\nRating: 2\nRating: 4\nRating: 5", "unparsed", "enumerated"),
    ("Score: .5", "out_of_range", "labelled.outside"),
    # another scale's top behind the unit
    ("I give it 3 stars out of 10.", "out_of_range", "given.denominator"),
    ("Rating: 4 stars out of 10", "out_of_range", "labelled.denominator"),
    ("4 points out of 100. It flows.", "out_of_range", "leading.denominator"),
]


@pytest.mark.parametrize(("text", "status", "rule"), TRAPS)
def test_a_trap_is_no_verdict(text: str, status: str, rule: str) -> None:
    found = parse(text, scale=FIVE, finish="stop")
    assert (found.status, found.rule, found.value) == (status, rule, None)


def test_a_walk_goes_by_the_steps_of_the_scale() -> None:
    text = "Score: 2\nScore: 4\nScore: 6"
    assert parse(text, scale=Scale(0, 10, 2), finish="stop").rule == "enumerated"
    assert parse(text, scale=TEN, finish="stop").value == 6
    assert parse("Score: .5", scale=UNIT, finish="stop").value == 0.5


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
    found = parse(text, scale=None, finish="stop", parser="choice", settings=settings)
    assert (found.value, found.rule) == (value, rule)
    assert found.status == ("unparsed" if value is None else "ok")
    labels: dict[float | None, str | None] = {1: "a", -1: "b", 0: "tie", None: None}
    assert found.label == labels[value]


def test_the_versions_tell_that_replies_are_read_differently() -> None:
    changed = {"score": 5, "result": 5, "annotation": 5, "merged": 3, "choice": 4, "number": 2}
    assert {name: PARSERS[name].version for name in changed} == changed
    assert PARSERS["chiang-lee"].version == 1
