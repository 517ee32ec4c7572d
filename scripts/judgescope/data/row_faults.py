"""The faults of rows: collected while data is read, raised together."""

from collections.abc import Iterable
from typing import NamedTuple

from judgescope.core.errors import UserError, UserErrors
from judgescope.data.wording import Location, rows_of


class _FaultKey(NamedTuple):
    """What equal faults have in common."""

    what: str
    about: str
    got: str
    file: str


class RowFaults:
    """The faults of the rows of some data.

    >>> faults = RowFaults()
    >>> bool(faults)
    False
    >>> for row in (1, 2):
    ...     location = Location("data.csv", row)
    ...     faults.add("a rating is not a number", "", [location], got="good")
    >>> bool(faults)
    True
    """

    def __init__(self) -> None:
        self._rows: dict[_FaultKey, tuple[UserError, list[Location]]] = {}

    def __bool__(self) -> bool:
        """Whether there is any fault."""
        return bool(self._rows)

    def add(
        self,
        what: str,
        about: str,
        locations: list[Location],
        *,
        got: object = None,
        allowed: Iterable[str] | str | None = None,
        todo: str = "",
        alike: bool = False,
    ) -> None:
        """Add a fault of the last location; equal faults become one error with all
        their rows.

        alike: faults that differ in their value are equal too.
        """
        shown = "" if alike else repr(got)
        key = _FaultKey(what, about, shown, locations[-1].file)
        if key not in self._rows:
            # Only for the first: an error sorts what is allowed, perhaps all items.
            error = UserError(what, where=about, got=got, allowed=allowed, todo=todo)
            self._rows[key] = (error, [])
        self._rows[key][1].extend(locations)

    def check(self, n_shown: int = 20) -> None:
        """Raise UserErrors with all faults so far, if there are any.

        Of too many, those that differ only in their values become one error with all
        their rows.
        """
        faults = list(self._rows.values())
        if len(faults) > n_shown:
            faults = self._whatever_the_value()
        errors = []
        for error, locations in faults[:n_shown]:
            error.where = ", ".join(filter(None, [rows_of(locations), error.where]))
            errors.append(error)
        if more := len(faults) - len(errors):
            last = rows_of(faults[-1][1])
            rest = UserError(f"… and {more} more problems", where=f"up to {last}")
            errors.append(rest)
        if errors:
            raise UserErrors(errors)

    def _whatever_the_value(self) -> list[tuple[UserError, list[Location]]]:
        """Return the faults, those that differ only in their values as one."""
        alike: dict[_FaultKey, tuple[UserError, list[Location]]] = {}
        for key, (error, locations) in self._rows.items():
            without_value = key._replace(got="")
            _, rows = alike.setdefault(without_value, (error, []))
            rows.extend(locations)
        return list(alike.values())
