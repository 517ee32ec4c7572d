"""What every job's spec is: a record that the plan writes and the job reads, in JSON."""

from msgspec import Struct


class SpecPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a spec."""


class JobSpec(SpecPart, frozen=True, kw_only=True):
    """All that decides a job's output, beside the files that it reads."""

    code: str
    """A hash of the code that the job reaches."""
    versions: dict[str, str]
    """Of the packages whose behaviour shows in the output."""
