"""The sections of the report: functions of the report that `in_group` registers."""

from dataclasses import replace

from judgescope.core.declarations import import_all
from judgescope.report.elements import Section
from judgescope.report.report import GROUPS, MAKERS, Report

import_all("judgescope.report.sections")


def sections_of(report: Report) -> list[Section]:
    """Return the sections that the study has something for, in the order of the
    page.
    """
    return [
        replace(section, group=GROUPS[group])
        for (group, *_), make in sorted(MAKERS.items())
        if (section := make(report)) is not None
    ]
