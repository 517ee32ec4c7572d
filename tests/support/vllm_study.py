"""A study whose model a job loads; a program stands in for vLLM's server."""

import json
import shutil
import sys
from typing import Any

import pytest

from asking import FAST, AskedStudy
from running import HOME

SERVER = """
import sys
sys.path.insert(0, {tests!r})
import vllm_noting
vllm_noting.main()
"""
CARD: dict[str, Any] = {
    "engine": "vllm",
    "name": "org/it",
    "path": "weights",
    "mode": "served",
    "limits": FAST,
}


class ServedStudy:
    """The notes of a study's servers."""

    def __init__(self, study: AskedStudy) -> None:
        self.study, self.notes = study, study.folder / "notes"

    @staticmethod
    def card(**keys: Any) -> dict[str, Any]:
        """Return the card of a model that a job loads."""
        return CARD | keys

    def starts(self) -> list[dict[str, Any]]:
        """Return what each server noted at its start."""
        collected = []
        for path in sorted(self.notes.glob("server-*.json")):
            collected.append(json.loads(path.read_text(encoding="utf-8")))
        return collected

    def devices_of_requests(self) -> list[str]:
        """Return for each request the devices that its server saw."""
        path = self.notes / "requests.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def forget(self) -> None:
        """Delete results, store and notes."""
        for name in ("results", "cache", "pids", "notes"):
            shutil.rmtree(self.study.folder / name, ignore_errors=True)
        for name in ("pids", "notes"):
            (self.study.folder / name).mkdir()


def with_vllm(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch, **keys: Any
) -> ServedStudy:
    """Let the study's model be one that a job loads, with these keys in its card."""
    study.card("models", "loop", **ServedStudy.card(**keys))
    package = study.folder / "stand_in" / "vllm" / "entrypoints"
    code = SERVER.format(tests=str(HOME / "tests" / "support"))
    for program in ("openai/api_server.py", "cli/main.py"):
        path = package / program
        path.parent.mkdir(parents=True)
        path.write_text(code, encoding="utf-8")
    python = study.folder / "python"
    modules = f"{HOME / 'scripts'}:{study.folder / 'stand_in'}"
    line = f'#!/bin/sh\nPYTHONPATH={modules} exec {sys.executable} "$@"\n'
    python.write_text(line, encoding="utf-8")
    python.chmod(0o700)
    monkeypatch.setenv("JUDGESCOPE_PYTHON_VLLM", str(python))
    monkeypatch.setenv("PIDS", str(study.folder / "pids"))
    monkeypatch.setenv("NOTES", str(study.folder / "notes"))
    served = ServedStudy(study)
    served.forget()
    return served
