"""The sections of the report, in the order of the page.

A section is a module with one function `section(report: Report) -> Section | None`: None where the
study has nothing for it.
"""

from metajudge.report.sections import (
    agreement,
    cost,
    coverage,
    data,
    discernment,
    faults,
    judges,
    perturbations,
    reproduce,
)

SECTIONS = (
    judges.section,
    agreement.section,
    discernment.section,
    faults.section,
    perturbations.section,
    coverage.section,
    cost.section,
    data.section,
    reproduce.section,
)
