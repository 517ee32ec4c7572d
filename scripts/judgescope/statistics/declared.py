"""The record of a statistic, by which signatures, reports and bars know it; those
without a module.

A module declares the statistics that it computes: `DECLARED =
declare(tie_rate=percent(…), …)`. A declared name never changes its meaning. `registry`
imports all modules of the package; a job sees those that its method imports. In
reports, statistics stand in the order of their modules' `ORDER`, and of the modules'
names.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, partial
from typing import Final, Literal

from judgescope.statistics.intervals import (
    ACCURACY,
    CORRELATION,
    PLAIN,
    PROPORTION,
    Scale,
)

Kind = Literal["correlation", "score", "percent", "p_value", "amount"]
"""How a value is written for people."""
SIGNED, SHARE, UP_TO_1, POSITIVE, ANY = (
    "-1 to 1",
    "0 to 1",
    "up to 1",
    "0 and above",
    "any number",
)


@dataclass(frozen=True)
class Statistic:
    """The name of a statistic, how its value is written, and its meaning.

    A name whose label has `{}` is a prefix: `rank` stands for the ranks by any other
    statistic, such as `rank_pearson`, whose label replaces `{}`.
    """

    label: str
    meaning: str
    source: str = "this project"
    _: KW_ONLY
    name: str = ""
    """Set by `declare`."""
    kind: Kind
    range: str
    ties: str | None = None
    """What equal numbers count as, where it depends on that: a part of signatures."""
    scaled: Scale | None = None
    """The scale of intervals and tests, where `kind` and `range` do not decide it."""
    less_is_better: bool = False
    """A bar is then the most that is allowed, else the least."""
    complete: bool = False
    """Counted over all that was asked, of which nothing was sampled: a bar needs no
    interval."""
    keeps_kind: bool = False
    """Of a prefix: a value of the other statistic, written as that is if it is a
    correlation."""

    @property
    def scale(self) -> Scale:
        """Return the scale of its intervals and tests.

        A correlation from -1 to 1 is on atanh, a share of things is a binomial
        proportion, and all else is taken as it is and cut to its range.
        """
        if self.scaled is not None:
            return self.scaled
        if self.range == SIGNED:
            return (
                CORRELATION if self.kind == "correlation" else Scale("plain", -1.0, 1.0)
            )
        by_range = {
            SHARE: PROPORTION,
            UP_TO_1: Scale("plain", -1.0, 1.0),
            POSITIVE: Scale("plain", low=0.0),
        }
        return by_range.get(self.range, PLAIN)

    @property
    def is_proportion(self) -> bool:
        """Return whether it is a share of cases that are right or wrong."""
        return self.scale.kind == "binomial" or self.name.startswith("accuracy_")


correlation = partial(Statistic, kind="correlation", range=SIGNED)
concordance = partial(correlation, range=SHARE, scaled=ACCURACY)
agreement = partial(Statistic, kind="correlation", range=UP_TO_1)
score = partial(Statistic, kind="score", range=POSITIVE)
percent = partial(Statistic, kind="percent", range=SHARE)
accuracy = partial(percent, scaled=ACCURACY)
undesired = partial(percent, less_is_better=True)
p_value = partial(Statistic, kind="p_value", range=SHARE)
amount = partial(Statistic, kind="amount", range=POSITIVE)
signed_amount = partial(Statistic, kind="amount", range=ANY)


def p_of_null(
    label: str, null: str, source: str = "this project", ties: str | None = None
) -> Statistic:
    """Return the p-value of a test whose null hypothesis `null` says."""
    return p_value(label, f"null hypothesis: {null}", source, ties=ties)


STATISTICS: dict[str, Statistic] = {}
PREFIXES: dict[str, Statistic] = {}


def declare(**statistics: Statistic) -> tuple[Statistic, ...]:
    """Make the statistics known by their names; ValueError for a name that is taken."""
    named = tuple(replace(one, name=name) for name, one in statistics.items())
    for one in named:
        known = PREFIXES if "{}" in one.label else STATISTICS
        if known.setdefault(one.name, one) != one:
            raise ValueError(f"two statistics are called {one.name}")
    statistic.cache_clear()
    return named


@cache
def statistic(name: str) -> Statistic:
    """Return the statistic of a name in result tables; KeyError if the name is not
    declared.
    """
    if name in STATISTICS:
        return STATISTICS[name]
    for prefix in sorted(PREFIXES, key=len, reverse=True):
        if name.startswith(f"{prefix}_"):
            rest = name.removeprefix(f"{prefix}_")
            derived, other = PREFIXES[prefix], STATISTICS.get(rest)
            label = derived.label.format(
                other.label if other else rest.replace("_", " ")
            )
            if derived.keeps_kind and other is not None and other.kind == "correlation":
                return replace(
                    derived, label=label, kind="correlation", ties=other.ties
                )
            return replace(derived, label=label, ties=other.ties if other else None)
    raise KeyError(name)


def scale_of(name: str) -> Scale:
    """Return the scale of a statistic's intervals and tests; KeyError as in
    `statistic`.
    """
    return statistic(name).scale


def tie_rule(name: str) -> str | None:
    """Return what ties count as in a statistic, or in that which its name is about."""
    return statistic(name).ties


HOLM_1979 = "Holm 1979"
ZEROS = "zeros dropped, midranks"
BENJAMINI_HOCHBERG = "Benjamini, Hochberg 1995"
PAPER = "Wang et al. 2024, section 3.3"
STUDENT = "Kartáč et al. 2025, section 5"
spent = partial(amount, less_is_better=True, complete=True)
DECLARED: Final = declare(
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
    score_mean=score(
        "Mean score",
        "mean score over texts and aspects, in points of the judge's scale",
        PAPER,
        range=ANY,
    ),
    score_share=percent(
        "Share of texts",
        "share of texts whose mean score over aspects lies in bin k of 20",
        PAPER,
    ),
    range_bottom=signed_amount(
        "Bottom of the range",
        "bottom of the judge's scale, or its lowest score if it has none",
    ),
    range_top=signed_amount(
        "Top of the range",
        "top of the judge's scale, or its highest score if it has none",
    ),
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
    sentiment=amount(
        "Sentiment",
        "mean polarity of the rationales",
        "Chaudhary et al. 2024, table 4",
        range=SIGNED,
    ),
    sentiment_forms=amount(
        "Sentiment over forms",
        "mean polarity of the rationales, averaged over a model's prompt forms without "
        "a hint",
        "Chaudhary et al. 2024, table 4",
        range=SIGNED,
    ),
    rationale_length=amount("Words", "mean length of the rationales in words"),
    edits=amount("Edits", "mean number of edits per text"),
    edit_distance=amount(
        "Edit distance", "mean Levenshtein distance", "Levenshtein 1966"
    ),
    coverage=percent(
        "Coverage", "share of planned judgments with a usable score", complete=True
    ),
    replies=amount("Replies", "number of a model's replies", complete=True),
    prompt_tokens=spent("Prompt tokens", "as reported by the endpoint"),
    completion_tokens=spent(
        "Completion tokens",
        "as reported by the endpoint, with reasoning that only its total has",
    ),
    reasoning_tokens=spent("Reasoning tokens", "part of the completion tokens"),
    cached_tokens=amount(
        "Cached tokens", "prompt tokens read from a cache", complete=True
    ),
    usd_per_1000=spent(
        "US dollars per 1,000", "cost of 1,000 judgments with a usable score"
    ),
    usd=spent("US dollars", "tokens times the prices of the model card"),
    taught_examples=amount(
        "Examples",
        "number of teacher replies used for training (level train) or held out",
        STUDENT,
    ),
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
    student=correlation(
        "{} of the distilled judge",
        "agreement with people of the second judge, which was trained on the first "
        "judge's replies",
        STUDENT,
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
    share=undesired("Share {}", "share of texts with this perturbation status"),
    count=amount("Judgments {}", "number of judgments with this status"),
    p_holm=p_value("Holm-adjusted p", "one-sided Wilcoxon test", HOLM_1979, ties=ZEROS),
    p_fdr=p_value(
        "FDR-adjusted p",
        "corrected over a judge's expected drops",
        BENJAMINI_HOCHBERG,
        ties=ZEROS,
    ),
) + declare(
    p_holm=p_value(
        "Holm-adjusted p for {}",
        "corrected over all pairs of judges on an aspect",
        HOLM_1979,
    ),
    p_fdr=p_value(
        "FDR-adjusted p for {}",
        "corrected over all pairs of judges on an aspect",
        BENJAMINI_HOCHBERG,
    ),
)
