"""The base of all job specs: records that the plan writes and the jobs read, as JSON."""

from msgspec import Struct


class SpecPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a spec."""


class JobSpec(SpecPart, frozen=True, kw_only=True):
    """Everything that decides a job's output, except the files that it reads."""

    code: str
    """A hash of the code that the job can import."""
    versions: dict[str, str]
    """Versions of the packages whose behaviour shows in the output."""
