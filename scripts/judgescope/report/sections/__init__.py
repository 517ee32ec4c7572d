"""The sections of the report, in the order of the page.

A section is a function of the report, most often `section` of its module; it returns None where
the study has nothing for it.
"""

from judgescope.report.sections import (
    agreement,
    confusion,
    construction,
    cost,
    coverage,
    criteria,
    data,
    discernment,
    distilled,
    ensemble,
    faults,
    judges,
    perspectives,
    perturbations,
    prompt_forms,
    replies,
    reproduce,
    robustness,
    spans,
    tradeoff,
    unmeasured,
)

SECTIONS = (
    judges.section,
    agreement.section,
    prompt_forms.section,
    criteria.section,
    discernment.section,
    confusion.section,
    perspectives.section,
    robustness.section,
    ensemble.section,
    distilled.section,
    faults.section,
    spans.section,
    perturbations.section,
    construction.section,
    replies.repeatability,
    replies.pairwise,
    coverage.section,
    unmeasured.section,
    cost.section,
    tradeoff.section,
    data.section,
    reproduce.section,
)
