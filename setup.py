"""Build steps that pyproject.toml cannot state: the wheel has the workflow, its cards
and its environments in the package, as `judgescope/share`.

A checkout keeps them at its top, where Snakemake's catalog and snakedeploy look.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHARED = (
    "Snakefile",
    "config/**/*",
    "profiles/**/*",
    "scripts/job.py",
    "workflow/**/*",
    "envs/*.yaml",
)
"""What a study reads, below the repository's top."""


class BuildWithShare(build_py):
    """Also copy what a study reads; an editable installation uses the checkout's."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if self.editable_mode:
            return
        share = Path(self.build_lib) / "judgescope" / "share"
        shutil.rmtree(share, ignore_errors=True)
        for source in self.shared_files():
            target = share / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def shared_files(self) -> list[Path]:
        """Return the files that the package shares, in a fixed order."""
        found = (path for pattern in SHARED for path in ROOT.glob(pattern))
        return sorted(
            path for path in found if path.is_file() and "__pycache__" not in path.parts
        )


setup(cmdclass={"build_py": BuildWithShare})
