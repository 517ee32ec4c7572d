"""The sections of the report, in the order of the page.

A section is a function of the report that returns None where the study has nothing for it.
"""

from judgescope.report.elements import Section
from judgescope.report.report import Report
from judgescope.report.sections import (
    agreement,
    confusion,
    cost,
    discernment,
    ensemble,
    judges,
    perspectives,
    perturbations,
    robustness,
    spans,
    study,
)

SECTIONS = (
    judges.section,
    agreement.section,
    robustness.forms,
    confusion.criteria,
    discernment.section,
    confusion.section,
    perspectives.section,
    robustness.section,
    ensemble.section,
    ensemble.distilled,
    perturbations.faults,
    spans.section,
    perturbations.perturbations,
    perturbations.construction,
    agreement.repeatability,
    agreement.pairwise,
    study.coverage,
    study.unmeasured,
    cost.section,
    cost.tradeoff,
    study.data,
    study.reproduce,
)


def sections_of(report: Report) -> list[Section]:
    """Return the sections that the study has something for."""
    return [section for make in SECTIONS if (section := make(report)) is not None]
