"""How to get the same numbers again."""

import sys

from judgescope import __version__
from judgescope.report.elements import Facts, Heading, Section, Text
from judgescope.report.report import Report

SIGNED = (
    ("judge", "the judge's id"),
    ("card", "hash of the judge's card and of its model's"),
    ("draws", "replies asked for each target"),
    ("parser", "how a reply becomes a number"),
    ("data", "the dataset and the first digits of its files' checksum"),
    ("stat", "the statistic"),
    ("level", "over what it is computed"),
    ("ties", "what equal scores count as, where the statistic depends on it"),
    ("seed", "the study's seed, from which every random number comes"),
    ("v", "the version of judgescope"),
)


def section(report: Report) -> Section:
    """Return the command, the seed, the versions, and how to read a signature."""
    versions = [("judgescope", __version__), ("Python", "{}.{}".format(*sys.version_info))]
    versions += sorted(report.spec.versions.items())
    facts = [("command", report.spec.command), ("seed", str(report.spec.study.seed))]
    lead = (
        "The same lock file and the same replies give the same bytes: the tables, and this file. "
        "Intervals are 95 %, jackknife-t over the items, unless a table's method says otherwise."
    )
    return Section(
        "reproduce",
        "How to reproduce",
        lead,
        [
            Facts(facts, code=True),
            Heading("Versions", "versions"),
            Facts(versions, code=True),
            Heading("Signatures", "signatures"),
            Text("Every number of the tables has a signature; its parts, joined by |, are:"),
            Facts(SIGNED),
        ],
    )
