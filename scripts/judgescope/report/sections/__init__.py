"""The sections of the report, in the order of the page.

A section is a function of the report that returns None where the study has nothing for it.
"""

from dataclasses import replace

from judgescope.report.elements import Section
from judgescope.report.report import Report
from judgescope.report.sections import (
    agreement,
    confusion,
    cost,
    discernment,
    ensemble,
    judges,
    legend,
    perspectives,
    perturbations,
    robustness,
    spans,
    study,
)

SECTIONS = {
    "Verdict": (judges.section, judges.evidence_section, judges.limits),
    "Evidence": (
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
        agreement.repeatability,
        agreement.pairwise,
        cost.section,
        cost.tradeoff,
    ),
    "Data quality": (
        perturbations.perturbations,
        perturbations.construction,
        study.coverage,
        study.unmeasured,
        study.data,
    ),
    "Reproduce": (study.reproduce, legend.section),
}
"""Group of the table of contents -> its sections."""


def sections_of(report: Report) -> list[Section]:
    """Return the sections that the study has something for."""
    return [
        replace(section, group=group)
        for group, makers in SECTIONS.items()
        for make in makers
        if (section := make(report)) is not None
    ]
