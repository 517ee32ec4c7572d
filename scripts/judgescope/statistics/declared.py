"""The record of a statistic, and the statistics that no module of their own computes.

A module declares the statistics that it computes: `DECLARED =
declare("order", tie_rate=percent(…), …)`. A declared name never changes its meaning.
`registry` finds all statistics by their names.
"""

from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Literal

from judgescope.statistics.intervals import (
    ACCURACY,
    CORRELATION,
    PLAIN,
    PROPORTION,
    IntervalScale,
)

ValueKind = Literal["correlation", "score", "percent", "p_value", "amount"]
"""How a value is written for people."""


class ValueRange(StrEnum):
    """The usual ranges of values; a statistic may state another one in words."""

    SIGNED = "-1 to 1"
    SHARE = "0 to 1"
    UP_TO_1 = "up to 1"
    POSITIVE = "0 and above"
    ANY = "any number"


@dataclass(frozen=True)
class Statistic:
    """The name of a statistic, how its value is written, and its meaning.

    A name whose label has `{}` is a prefix and ends in `_{}`: `rank_{}` stands for the
    ranks by any other statistic, such as `rank_pearson`, whose label replaces `{}`.
    """

    label: str
    meaning: str
    source: str = "this project"
    _: KW_ONLY
    name: str = ""
    """Set by `declare`, as are `group` and `position`."""
    group: str = ""
    """What it is one of: agreement, bias, loss, usage … Reports show a group
    together."""
    position: int = 0
    """Its number in its declaration: the order of a group's columns."""
    kind: ValueKind
    range: str
    ties: str | None = None
    """What equal numbers count as, where it depends on that: a part of signatures."""
    scaled: IntervalScale | None = None
    """The scale of intervals and tests, where `kind` and `range` do not decide it."""
    less_is_better: bool = False
    """A bar is then the most that is allowed, else the least."""
    complete: bool = False
    """Counted over all that was asked, of which nothing was sampled: a bar needs no
    interval."""
    keeps_kind: bool = False
    """Of a prefix: a value of the other statistic, written as that is if it is a
    correlation."""
    headline: bool = False
    """It sums up a judge over all aspects or perturbations."""
    as_rater: bool = False
    """On labels, a judge is compared with one more rater in it."""
    beats_controls: bool = False
    """No control has it for nothing, so that a judge below one has a warning. Without
    it: a control that passes all texts finds all positive ones."""
    at_base_rate: bool = False
    """Another base rate would change it: its notes say which one there is."""

    @property
    def scale(self) -> IntervalScale:
        """The scale of its intervals and tests.

        A correlation from -1 to 1 is on atanh, a share of things is a binomial
        proportion, and all else is taken as it is and cut to its range.

        >>> correlation("Pearson r", "linear correlation").scale.kind
        'atanh'
        >>> percent("Flips", "share of texts with differing draws").scale.kind
        'binomial'
        """
        if self.scaled is not None:
            return self.scaled
        if self.range == ValueRange.SIGNED and self.kind == "correlation":
            return CORRELATION
        if self.range == ValueRange.SHARE:
            return PROPORTION
        if self.range in (ValueRange.SIGNED, ValueRange.UP_TO_1):
            return IntervalScale("plain", -1.0, 1.0)
        if self.range == ValueRange.POSITIVE:
            return IntervalScale("plain", low=0.0)
        return PLAIN

    @property
    def is_proportion(self) -> bool:
        """Whether it is a share of cases that are right or wrong."""
        return self.scale.kind == "binomial" or self.name.startswith("accuracy_")


correlation = partial(Statistic, kind="correlation", range=ValueRange.SIGNED)
concordance = partial(correlation, range=ValueRange.SHARE, scaled=ACCURACY)
agreement = partial(Statistic, kind="correlation", range=ValueRange.UP_TO_1)
score = partial(Statistic, kind="score", range=ValueRange.POSITIVE)
percent = partial(Statistic, kind="percent", range=ValueRange.SHARE)
accuracy = partial(percent, scaled=ACCURACY)
undesired = partial(percent, less_is_better=True)
p_value = partial(Statistic, kind="p_value", range=ValueRange.SHARE)
amount = partial(Statistic, kind="amount", range=ValueRange.POSITIVE)
signed_amount = partial(Statistic, kind="amount", range=ValueRange.ANY)
spent = partial(amount, less_is_better=True, complete=True)


def p_of_null(
    label: str, null: str, source: str = "this project", ties: str | None = None
) -> Statistic:
    """The p-value of a test whose null hypothesis `null` says.

    >>> p_of_null("p, length", "no better than length").meaning
    'null hypothesis: no better than length'
    """
    return p_value(label, f"null hypothesis: {null}", source, ties=ties)


def declare(group: str = "", /, **statistics: Statistic) -> tuple[Statistic, ...]:
    """Name some statistics of one group, in the order of their columns in reports.

    >>> ties = percent("Ties", "share of ties")
    >>> rank = amount("Rank by {}", "1 is the best")
    >>> [(each.name, each.position) for each in declare("order", ties=ties, rank=rank)]
    [('ties', 0), ('rank_{}', 1)]
    """
    named = []
    for position, (name, record) in enumerate(statistics.items()):
        full = f"{name}_{{}}" if "{}" in record.label else name
        named.append(replace(record, name=full, group=group, position=position))
    return tuple(named)


DECLARED = declare(
    "texts",
    class_count=amount(
        "Texts",
        "number of texts of true class k (by people, or of a graded set) that the "
        "judge puts in class k_b; zero counts are omitted",
        "Hu et al. 2025, table 4 and figure 4",
    ),
    unresolved=amount(
        "Unresolved",
        "number of rated texts on which no label has more than half of the raters' "
        "votes",
        complete=True,
    ),
    cross_aspect_share=undesired(
        "Follows another aspect",
        "share of aspects whose scores correlate more with people's ratings of another "
        "aspect",
        "Hu et al. 2024",
    ),
)
DECLARED += declare(
    "scores",
    score_mean=score(
        "Mean score",
        "mean score over texts and aspects, in points of the judge's scale",
        "Wang et al. 2024, section 3.3",
        range=ValueRange.ANY,
    ),
    score_share=percent(
        "Share of texts",
        "share of texts whose mean score over aspects lies in bin k of 20",
        "Wang et al. 2024, section 3.3",
    ),
    range_bottom=signed_amount(
        "Bottom of the range",
        "bottom of the judge's scale, or its lowest score if it has none",
    ),
    range_top=signed_amount(
        "Top of the range",
        "top of the judge's scale, or its highest score if it has none",
    ),
)
DECLARED += declare(
    "reevaluation",
    reevaluation_agreement=percent(
        "People agree",
        'share of human judgments that name the text known to be better ("no '
        'difference" counts as '
        "wrong), or a text's known rating",
        "Hu et al. 2025, appendices A.1 and C.3",
    ),
    reevaluation_no_difference=undesired(
        "No difference", "share of human judgments that see no difference"
    ),
    reevaluation_distance=amount(
        "Distance of ratings",
        "mean distance of human ratings from a text's known rating, in steps of the "
        "scale",
        less_is_better=True,
    ),
)
DECLARED += declare(
    "faults",
    detection_rate=percent(
        "Faults noticed",
        "share of faulty texts scored below the clean text",
        ties="not noticed",
    ),
    miss_rate=undesired(
        "Faults missed",
        "share of faulty texts scored no lower than the clean text",
        ties="not noticed",
    ),
)
DECLARED += declare(
    "rationales",
    sentiment=amount(
        "Sentiment",
        "mean polarity of the rationales",
        "Chaudhary et al. 2024, table 4",
        range=ValueRange.SIGNED,
    ),
    sentiment_forms=amount(
        "Sentiment over forms",
        "mean polarity of the rationales, averaged over a model's prompt forms without "
        "a hint",
        "Chaudhary et al. 2024, table 4",
        range=ValueRange.SIGNED,
    ),
    rationale_length=amount("Words", "mean length of the rationales in words"),
)
DECLARED += declare(
    "edits",
    edits=amount("Edits", "mean number of edits per text"),
    edit_distance=amount(
        "Edit distance", "mean Levenshtein distance", "Levenshtein 1966"
    ),
    coverage=percent(
        "Coverage", "share of planned judgments with a usable score", complete=True
    ),
)
DECLARED += declare(
    "usage",
    replies=amount("Replies", "number of a model's replies", complete=True),
    prompt_tokens=spent("Prompt tokens", "as reported by the endpoint"),
    cached_tokens=amount(
        "Cached tokens", "prompt tokens read from a cache", complete=True
    ),
    completion_tokens=spent(
        "Completion tokens",
        "as reported by the endpoint, with reasoning that only its total has",
    ),
    reasoning_tokens=spent("Reasoning tokens", "part of the completion tokens"),
)
DECLARED += declare(
    "price",
    usd_per_1000=spent(
        "US dollars per 1,000", "cost of 1,000 judgments with a usable score"
    ),
    usd=spent("US dollars", "tokens times the prices of the model card"),
)
DECLARED += declare(
    "training",
    taught_examples=amount(
        "Examples",
        "number of teacher replies used for training (level train) or held out",
        "Kartáč et al. 2025, section 5",
    ),
)
DECLARED += declare(
    "loss",
    held_out_loss_before=amount(
        "Loss before",
        "negative log likelihood per token of held-out replies, in nats, before "
        "training: mean over the tokens of a reply, then over replies",
    ),
    held_out_loss_after=amount(
        "Loss after", "the same loss after the last step of training"
    ),
    held_out_loss_change=signed_amount(
        "Change in loss", "loss after minus loss before, per reply"
    ),
)
DECLARED += declare(
    "student",
    student=correlation(
        "{} of the distilled judge",
        "agreement with people of the second judge, which was trained on the first "
        "judge's replies",
        "Kartáč et al. 2025, section 5",
    ),
    student_difference=signed_amount(
        "Difference from the distilled judge, {}",
        "ensemble's agreement with people minus that of the second judge, which was "
        "trained on its replies, on shared targets",
        keeps_kind=True,
    ),
    student_with_teacher=correlation(
        "{} of teacher and distilled judge",
        "agreement of the second judge, which was trained on the first judge's "
        "replies, with the first",
    ),
)
DECLARED += declare(
    "status",
    share=undesired("Share {}", "share of texts with this perturbation status"),
    count=amount("Judgments {}", "number of judgments with this status"),
)
DECLARED += declare(
    "corrected_p",
    p_holm=p_value(
        "Holm-adjusted p",
        "one-sided Wilcoxon test",
        "Holm 1979",
        ties="zeros dropped, midranks",
    ),
    p_fdr=p_value(
        "FDR-adjusted p",
        "corrected over a judge's expected drops",
        "Benjamini, Hochberg 1995",
        ties="zeros dropped, midranks",
    ),
)
DECLARED += declare(
    "corrected_p_of",
    p_holm=p_value(
        "Holm-adjusted p for {}",
        "corrected over all pairs of judges on an aspect",
        "Holm 1979",
    ),
    p_fdr=p_value(
        "FDR-adjusted p for {}",
        "corrected over all pairs of judges on an aspect",
        "Benjamini, Hochberg 1995",
    ),
)
