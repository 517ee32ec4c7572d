"""Statistics that methods count or average themselves, without a function of this package."""

from functools import partial
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
    undesired,
)

PAPER = "Wang et al. 2024, section 3.3"
STUDENT = "Kartáč et al. 2025, section 5"
spent = partial(amount, less_is_better=True, complete=True)
DECLARED: Final = declare(
    amount(
        "class_count",
        "Texts",
        "texts of true class k (of people or of a graded set) that the judge puts in class "
        "k_b; zero counts are omitted",
        "Hu et al. 2025, table 4 and figure 4",
    ),
    amount(
        "unresolved",
        "Unresolved",
        "rated texts without a label that more than half of their raters give",
        complete=True,
    ),
    undesired(
        "cross_aspect_share",
        "Follows another aspect",
        "aspects whose scores correlate more with people's ratings of another aspect",
        "Hu et al. 2024",
    ),
    score(
        "score_mean",
        "Mean score",
        "mean over texts of the mean over aspects, in points of the judge",
        PAPER,
        range=ANY,
    ),
    percent("score_share", "Share of texts", "whose mean over aspects lies in bin k of 20", PAPER),
    signed_amount(
        "range_bottom",
        "Bottom of the range",
        "bottom of the judge's scale, or its lowest score if it has none",
    ),
    signed_amount(
        "range_top",
        "Top of the range",
        "top of the judge's scale, or its highest score if it has none",
    ),
    percent(
        "reevaluation_agreement",
        "People agree",
        'human judgments that name the known better text ("no difference" counts against), '
        "or a text's known rating",
        "Hu et al. 2025, appendices A.1 and C.3",
    ),
    undesired(
        "reevaluation_no_difference", "No difference", "human judgments that see no difference"
    ),
    amount(
        "reevaluation_distance",
        "Distance of ratings",
        "mean distance of human ratings from a text's known rating, in steps of the scale",
        less_is_better=True,
    ),
    percent("detection_rate", "Faults noticed", "scored below the good text", ties="not noticed"),
    undesired(
        "miss_rate", "Faults missed", "scored no lower than the good text", ties="not noticed"
    ),
    amount(
        "sentiment",
        "Sentiment",
        "mean polarity of the rationales",
        "Chaudhary et al. 2024, table 4",
        range=SIGNED,
    ),
    amount(
        "sentiment_forms",
        "Sentiment over forms",
        "mean polarity of the rationales, the mean over a model's forms without a hint",
        "Chaudhary et al. 2024, table 4",
        range=SIGNED,
    ),
    amount("rationale_length", "Words", "mean length of the rationales in words"),
    amount("edits", "Edits", "mean number per text"),
    amount("edit_distance", "Edit distance", "mean Levenshtein distance", "Levenshtein 1966"),
    percent("coverage", "Coverage", "planned judgments with a usable score", complete=True),
    amount("replies", "Replies", "replies of a model", complete=True),
    spent("prompt_tokens", "Prompt tokens", "as reported by the endpoint"),
    spent("completion_tokens", "Completion tokens", "as reported by the endpoint"),
    spent("reasoning_tokens", "Reasoning tokens", "part of the completion tokens"),
    amount("cached_tokens", "Cached tokens", "prompt tokens read from a cache", complete=True),
    spent("usd_per_1000", "US dollars per 1,000", "cost of 1,000 judgments with a usable score"),
    spent("usd", "US dollars", "tokens times the prices of the model card"),
    amount(
        "taught_examples",
        "Examples",
        "teacher replies used for training (level train) or held out",
        STUDENT,
    ),
    amount(
        "held_out_loss_before",
        "Loss before",
        "negative log likelihood of a token of a held-out reply, in nats: the mean over a reply's "
        "tokens, then over replies, before any training",
    ),
    amount("held_out_loss_after", "Loss after", "the same after the last step"),
    signed_amount("held_out_loss_change", "Change in loss", "after minus before, per reply"),
    correlation(
        "student",
        "{} of the distilled judge",
        "the second judge, trained on the first judge's replies, against people",
        STUDENT,
    ),
    signed_amount(
        "student_difference",
        "Difference from the distilled judge, {}",
        "ensemble minus the second judge, which was trained on its replies, on shared targets",
        keeps_kind=True,
    ),
    correlation(
        "student_with_teacher",
        "{} of teacher and distilled judge",
        "the second judge, trained on the first judge's replies, against the first",
    ),
    undesired("share", "Share {}", "texts with this perturbation status"),
    amount("count", "Judgments {}", "judgments with this status"),
)
