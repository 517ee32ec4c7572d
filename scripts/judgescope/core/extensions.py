"""The extensions of this package: folders of extensions/ that no other room imports.

A room that is open to extensions asks for one module of each by its name, as the
command line does for `commands`.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from judgescope.core.paths import PACKAGE

FOLDER = PACKAGE / "extensions"


def extension_files(name: str) -> list[Path]:
    """The files of a name in the folders of extensions, such as `rules.smk`."""
    return sorted(FOLDER.glob(f"[!_]*/{name}"))


@cache
def extension_modules(name: str) -> tuple[ModuleType, ...]:
    """The modules of a name, of all extensions that have one."""
    packages = [path.parent.name for path in extension_files(f"{name}.py")]
    return tuple(
        import_module(f"judgescope.extensions.{package}.{name}") for package in packages
    )
