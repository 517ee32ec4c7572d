"""The statistics by name: those of the room's modules, and those of other packages.

Reports, bars, signatures and docs/reference/statistics.md look them up here. The code
hash of a job does not follow the look-up: a job's module imports the modules whose
statistics it names, and plan/specs adds all of them where any may be named.
"""

from dataclasses import replace
from functools import cache
from typing import Final

from judgescope.core.registry import Registry
from judgescope.statistics.declared import Statistic
from judgescope.statistics.intervals import IntervalScale

STATISTICS: Final = Registry("statistics", Statistic, "judgescope.statistics")
"""By name; the name of a prefix ends in `_{}`."""


@cache
def statistic(name: str) -> Statistic:
    """The statistic of a name in result tables; KeyError if the name is not declared.

    >>> statistic("pearson").label
    'Pearson r'
    >>> statistic("rank_pearson").label
    'Rank by Pearson r'
    """
    if name in STATISTICS:
        return STATISTICS[name]
    templates = [each for each in STATISTICS if each.endswith("_{}")]
    for template in sorted(templates, key=len, reverse=True):
        prefix = template.removesuffix("{}")
        if name.startswith(prefix):
            return _derived(STATISTICS[template], name, name.removeprefix(prefix))
    raise KeyError(name)


def _derived(template: Statistic, name: str, rest: str) -> Statistic:
    """The statistic about `rest`, the name of another statistic or a status."""
    other = STATISTICS.get(rest)
    if other is None:
        label = template.label.format(rest.replace("_", " "))
        return replace(template, name=name, label=label)
    kind = template.kind
    if template.keeps_kind and other.kind == "correlation":
        kind = "correlation"
    return replace(
        template,
        name=name,
        label=template.label.format(other.label),
        kind=kind,
        ties=other.ties,
    )


def scale_of(name: str) -> IntervalScale:
    """The scale of a statistic's intervals and tests; KeyError as in `statistic`.

    >>> scale_of("spearman").kind, scale_of("difference_spearman").kind
    ('atanh', 'plain')
    """
    return statistic(name).scale


def tie_rule(name: str) -> str | None:
    """What ties count as in a statistic, or in that which its name is about.

    >>> tie_rule("p_kendall_b")
    'tau-b'
    """
    return statistic(name).ties


def has_bar(name: str) -> bool:
    """Whether a study can require a value of a statistic: not of p-values.

    >>> has_bar("pearson"), has_bar("p_pearson"), has_bar("rank_{}")
    (True, False, False)
    """
    try:
        return "{}" not in name and statistic(name).kind != "p_value"
    except KeyError:
        return False


def names_of_group(
    group: str, *, headline: bool = False, as_rater: bool = False
) -> tuple[str, ...]:
    """The names of a group in the order of their declaration.

    With `headline` or `as_rater`, those for which the field of `Statistic` is true.

    >>> names_of_group("loss")
    ('held_out_loss_before', 'held_out_loss_after', 'held_out_loss_change')
    >>> names_of_group("labels", as_rater=True)
    ('label_accuracy', 'balanced_accuracy', 'kappa_nominal')
    """
    members = []
    for each in STATISTICS.working().values():
        has_fields = each.headline >= headline and each.as_rater >= as_rater
        if each.group == group and has_fields:
            members.append(each)
    members.sort(key=lambda each: each.position)
    return tuple(each.name for each in members)
