"""The registry of one kind of thing: formats, engines, parsers, methods …

A thing of this package is a record at the top level of a module in the kind's room. One
of another package, an add-on, is the object of an entry point in the kind's group. Both
are the same record, and cards name both in the same way.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pkgutil import walk_packages
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, TypeVar

from judgescope.core.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

PACKAGE = "judgescope"


class NamedRecord(Protocol):
    """A record that cards name."""

    @property
    def name(self) -> str:
        """The name in cards."""


Record = TypeVar("Record", bound=NamedRecord)


@cache
def add_ons() -> tuple["EntryPoint", ...]:
    """Everything that other packages add, of all kinds."""
    from importlib.metadata import distributions  # slow to import

    by_package: dict[str, EntryPoints] = {}
    for package in distributions():
        # Reading is fast; `entry_points()` parses the text of every package.
        if f"[{PACKAGE}." in (package.read_text("entry_points.txt") or ""):
            # The first on the path is the one that Python imports.
            by_package.setdefault(package.name, package.entry_points)
    points = chain.from_iterable(by_package.values())
    return tuple(each for each in points if each.group.startswith(f"{PACKAGE}."))


def package_of(point: "EntryPoint") -> str:
    """The name and version of the distribution that an add-on is from."""
    if point.dist:
        return f"{point.dist.name} {point.dist.version}"
    return point.value


def module_of(target: str) -> ModuleType:
    """The module of a target `module:OBJECT`, imported; the object may be left out."""
    return import_module(target.partition(":")[0])


class Registry(Mapping[str, Record]):
    """The records of a kind by name; the modules of `room` have the built-in ones.

    A module with several records has a tuple of them, `DECLARED`. Several entry points
    of an add-on, one a name, may have the same tuple.

    >>> from judgescope.schema.cards import FORMATS
    >>> FORMATS["wmt_text"].joins, FORMATS.target("wmt_text")
    (('documents',), 'judgescope.data.wmt:FORMAT')
    """

    def __init__(self, kind: str, record: type[Record], room: str) -> None:
        self.group = f"{PACKAGE}.{kind}"
        self.record = record
        self.room = room
        self._loaded: dict[str, Record] = {}
        self._loaded_targets: dict[str, str] = {}
        self._absent: list[ModuleNotFoundError] = []
        """Errors of modules of the room that need an extra that is not installed."""

    def __getitem__(self, name: str) -> Record:
        """The record of a name; KeyError without one, UserError if it cannot load."""
        if name in self and name not in self._loaded:
            self._loaded[name] = self._loaded_from(self.add_ons[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a record or an add-on of the name, which may be broken.

        ModuleNotFoundError if the module that may have it needs an extra that is not
        installed.
        """
        if name in self._loaded or name in self._targets:
            return True
        if self._absent:
            raise self._absent[0]
        return False

    def __iter__(self) -> Iterator[str]:
        """The names in the order of the alphabet."""
        return iter(sorted(self._targets))

    def __len__(self) -> int:
        """The number of names."""
        return len(self._targets)

    def target(self, name: str) -> str:
        """`module:OBJECT` of a name, which a job's spec holds; KeyError without one."""
        return self._loaded_targets.get(name) or self._targets[name]

    def load(self, target: str) -> Record:
        """The record of a target, in a process that knows no other one of the room."""
        points = {point.value: point for point in self.add_ons.values()}
        if target in points:
            record = self._loaded_from(points[target])
        else:
            record = getattr(module_of(target), target.partition(":")[2])
        self._loaded_targets.setdefault(record.name, target)
        return self._loaded.setdefault(record.name, record)

    def working(self) -> dict[str, Record]:
        """All records by name, without add-ons that cannot be loaded."""
        records = dict[str, Record]()
        for name in self:
            with suppress(UserError):
                records[name] = self[name]
        return records

    @cached_property
    def add_ons(self) -> dict[str, "EntryPoint"]:
        """Name -> the add-on of this kind; UserError if two have the same name."""
        points: dict[str, EntryPoint] = {}
        for point in add_ons():
            if point.group == self.group:
                if point.name in points:
                    raise self._twice(point, package_of(points[point.name]))
                points[point.name] = point
        return points

    @cached_property
    def _targets(self) -> dict[str, str]:
        """Name -> target, after an import of every module of the room.

        Modules that need an extra that is not installed are left out.
        """
        targets = dict[str, str]()
        room = find_spec(self.room)
        assert room is not None, f"{self.room} is no package"
        folders = room.submodule_search_locations
        for info in walk_packages(folders, f"{self.room}."):
            try:
                module = import_module(info.name)
            except ModuleNotFoundError as error:
                # By name: what extras install is no part of the code of jobs.
                extras = import_module(f"{PACKAGE}.core.extras")
                if extras.missing_package(error) is None:
                    raise
                self._absent.append(error)
                continue
            for variable, value in vars(module).items():
                for record in value if variable == "DECLARED" else (value,):
                    home = getattr(record, "module", info.name)
                    if isinstance(record, self.record) and home == info.name:
                        assert record.name not in targets, f"two are {record.name}"
                        targets[record.name] = f"{info.name}:{variable}"
                        self._loaded.setdefault(record.name, record)
        for name, point in self.add_ons.items():
            if name in targets:
                raise self._twice(point, PACKAGE)
            targets[name] = point.value
        return targets

    def _loaded_from(self, point: "EntryPoint") -> Record:
        where = f"package {package_of(point)}, {point.name} of {point.group}"
        try:
            value = point.load()
        except Exception as error:  # of any kind: this is another package's code
            what = f"an add-on cannot be loaded: {type(error).__name__}: {error}"
            todo = "repair the package or remove it"
            raise UserError(what, where=where, todo=todo) from error
        for record in value if isinstance(value, tuple) else (value,):
            if isinstance(record, self.record) and record.name == point.name:
                return record
        form = f"a {self.record.__name__} named {point.name}"
        what = "the object of an add-on has the wrong type or name"
        raise UserError(what, where=where, got=repr(value), allowed=form)

    def _twice(self, point: "EntryPoint", other: str) -> UserError:
        what = f"two packages provide the same name: {other} and {package_of(point)}"
        where = f"entry points of {self.group}"
        todo = "remove one of the packages, or let its author rename the entry point"
        return UserError(what, where=where, got=point.name, todo=todo)
