"""Statistics that methods count or average themselves, without a function of this package."""

from typing import Final

from judgescope.statistics.declared import (
    ANY,
    SIGNED,
    amount,
    correlation,
    declare,
    percent,
    score,
    signed_amount,
)

PAPER = "Wang et al. 2024, section 3.3"
STUDENT = "Kartáč et al. 2025, section 5"
DECLARED: Final = declare(
    amount(
        "class_count",
        "Texts",
        "of class k, as people or a graded set have it, in the judge's k_b; 0 is left out",
        "Hu et al. 2025, table 4 and figure 4",
    ),
    percent(
        "cross_aspect_share",
        "Follows another aspect",
        "aspects that go more with people's ratings of another",
        "Hu et al. 2024",
        less_is_better=True,
    ),
    score(
        "score_mean",
        "Mean score",
        "in points of the judge, of texts' means over aspects",
        PAPER,
        range=ANY,
    ),
    percent("score_share", "Share of texts", "whose mean over aspects lies in bin k of 20", PAPER),
    signed_amount("range_bottom", "Bottom of the range", "of its scale, else the lowest score"),
    signed_amount("range_top", "Top of the range", "of its scale, else the highest score"),
    percent(
        "reevaluation_agreement",
        "Found again",
        "people's judgments that name the text known to be better (no difference names none), or "
        "a text's known rating",
        "Hu et al. 2025, appendices A.1 and C.3",
    ),
    percent(
        "reevaluation_no_difference",
        "No difference",
        "people's judgments that see none",
        less_is_better=True,
    ),
    amount(
        "reevaluation_distance",
        "Distance of ratings",
        "people's mean distance from a text's known rating, in steps of the scale",
        less_is_better=True,
    ),
    percent("detection_rate", "Faults noticed", "scored below the good text", ties="not noticed"),
    percent(
        "miss_rate",
        "Faults missed",
        "scored no lower than the good text",
        ties="not noticed",
        less_is_better=True,
    ),
    amount(
        "sentiment",
        "Sentiment",
        "mean polarity of the reasons",
        "Chaudhary et al. 2024, table 4",
        range=SIGNED,
    ),
    amount("rationale_length", "Words", "mean words of the reasons"),
    amount("edits", "Edits", "mean number per text"),
    amount("edit_distance", "Edit distance", "mean Levenshtein distance", "Levenshtein 1966"),
    percent("coverage", "Coverage", "planned judgments that can be used", complete=True),
    amount("replies", "Replies", "replies of a model", complete=True),
    amount(
        "prompt_tokens",
        "Prompt tokens",
        "as the endpoint counted",
        less_is_better=True,
        complete=True,
    ),
    amount(
        "completion_tokens",
        "Completion tokens",
        "as the endpoint counted",
        less_is_better=True,
        complete=True,
    ),
    amount(
        "reasoning_tokens",
        "Reasoning tokens",
        "part of the completion tokens",
        less_is_better=True,
        complete=True,
    ),
    amount(
        "cached_tokens", "Cached tokens", "part of the prompt tokens, from a cache", complete=True
    ),
    amount(
        "usd_per_1000",
        "US dollars per 1,000",
        "price of 1,000 judgments with a value",
        less_is_better=True,
        complete=True,
    ),
    amount(
        "usd",
        "US dollars",
        "tokens by the prices of the model card",
        less_is_better=True,
        complete=True,
    ),
    amount(
        "taught_examples",
        "Examples",
        "replies of a teacher that are taught (level train) or held out",
        STUDENT,
    ),
    amount(
        "held_out_loss_before",
        "Loss before",
        "negative log likelihood of a token of a held-out reply, in nats: the mean over a reply's "
        "tokens, then over replies, before any training",
    ),
    amount("held_out_loss_after", "Loss after", "the same after the last step"),
    signed_amount(
        "held_out_loss_change", "Change of the loss", "after less before, reply by reply"
    ),
    correlation(
        "student",
        "{} of the judge that was taught",
        "the second judge, taught what the first says, with people",
        STUDENT,
    ),
    signed_amount(
        "student_difference",
        "Difference from the judge that was taught, of {}",
        "an ensemble minus the second judge, taught what it says, on shared targets",
        keeps_kind=True,
    ),
    correlation(
        "student_with_teacher",
        "{} of teacher and taught",
        "the second judge, taught what the first says, with the first",
    ),
    percent("share", "Share {}", "of texts that a perturbation left so", less_is_better=True),
    amount("count", "Judgments {}", "of this status"),
)
