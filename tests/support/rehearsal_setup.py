"""What several tests of rehearsal share."""

from pathlib import Path
from typing import Any

import pytest

from asking import AskedStudy
from judgescope.plan.study import Plan
from scripted import Endpoint, reply


def planned(
    monkeypatch: pytest.MonkeyPatch, folder: Path, form: str, used: str = "judge", /, **keys: Any
) -> Plan:
    """Return the plan of a study whose judge or writer is asked with this form."""
    monkeypatch.chdir(folder)
    (folder / "config" / "prompts").mkdir(parents=True)
    (folder / "config" / "prompts" / "mine.jinja").write_text(form, encoding="utf-8")
    study = AskedStudy(folder, Endpoint("http://127.0.0.1:9/v1", lambda body: reply("4")))
    if used == "judge":
        study.card("judges", "terse", model="loop", **{"form": "mine"} | keys)
        more: dict[str, Any] = {}
    else:
        card = {"name": "Wrong fact", "level": "word", "method": "llm", "model": "loop"}
        study.card("perturbations", "wrong", **card | {"form": "mine"} | keys)
        more = {"perturbations": ["wrong"], "methods": ["discernment"]}
    return study.plan(**more)
