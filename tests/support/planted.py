"""A whole study whose endpoint and whose program say back what they were given, in
every shape.

Run as a program, `python planted.py FOLDER`, in a network of its own (see `enclosed`)
where that is allowed. Everything that the study and the commands leave behind is in the
folder, what they said too, and `told.json` says how each command ended. The keys
themselves are in the environment.
"""

import base64
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import enclosed
import running
from asking import WRITING, AskedStudy
from scripted import Body, Endpoint, Said, prompt_of, refusal, reply, serve, text_in
from waiting import patience

KEY = 'pk~planted/9f+Zq=7&"Tail<0>wXyz'
"""No provider's mark is on it; JSON, addresses and HTML all write it in another way."""
TOKEN = "tok/planted+8Kd=5&Vw<1>uRst"
"""What the program is given."""
BYSTANDER = "by/planted+3Lm=2&Gh<2>oPqr"
"""A key that neither has any business with."""
SECRETS = {"PLANTED_KEY": KEY, "PLANTED_TOKEN": TOKEN, "PLANTED_OTHER": BYSTANDER}
STUBBORN = "Wrong!"
"""What is in the prompts at which the endpoint fails as long as it is told to."""

PROGRAM = """
import base64, json, os, pathlib, sys
token = os.environ["PLANTED_TOKEN"]
crash = pathlib.Path(os.environ["PLANTED_FOLDER"], "crash")
for line in sys.stdin:
    given = json.loads(line)
    said = f"{token} {base64.b64encode(token.encode()).decode()} {dict(os.environ)}"
    print(json.dumps({"id": given["id"], "text": f"Rating: 3\\n{said}"}), flush=True)
    print(said)
    if crash.exists():
        raise RuntimeError(f"the token {token} was refused")
"""


def echo() -> str:
    """Return the key as a server may say it back."""
    coded = base64.b64encode(f"user:{KEY}".encode()).decode()
    return (
        f"Authorization: Bearer {KEY} ({quote(KEY, safe='')}, {quote(KEY)}, Basic "
        f"{coded})"
    )


class Answers:
    """What the endpoint says: faults first, then replies, all with the key in them."""

    def __init__(self) -> None:
        self.refuses, self.stubborn = True, True
        self.tried: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __call__(self, body: Body) -> Said:
        prompt = prompt_of(body)
        with self.lock:
            self.tried[prompt] += 1
            first = self.tried[prompt] == 1
        if self.refuses:
            return refusal(401, f"Incorrect API key provided: {KEY} ({echo()})")
        if self.stubborn and STUBBORN in prompt:
            return refusal(500, f"worker died: {echo()}")
        faults = [
            refusal(500, f"worker died: {echo()}", **{"Retry-After": "0"}),
            refusal(400, f"no such field: {echo()}"),
            Said({"error": {"headers": {"Authorization": f"Bearer {KEY}"}}}),
            Said(f"<html>{echo()}</html>".encode()),
            Said({"choices": []}, lacks=9),
        ]
        kind = len(prompt) % 9
        if kind < len(faults) and (first or kind == 1):
            return faults[kind]
        return self._reply(body, prompt)

    def _reply(self, body: Body, prompt: str) -> Said:
        if WRITING in prompt:
            text = text_in(prompt).split("\n\nAnswer with")[0]
            return reply(f"{text.strip()} Wrong! {KEY}")
        result = reply(f"Rating: {1 + body['seed'] % 5}\nReasoning: {echo()}")
        assert isinstance(result.body, dict)
        return Said({**result.body, "model": f"m {KEY}", "system_fingerprint": KEY})


class Planted(AskedStudy):
    """The study, its cards, and its commands."""

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self.said, self.tried = folder / "said", folder / "tried.txt"
        self.work = folder / "work"
        for path in (self.said, self.work, folder / "home", folder / "tmp"):
            path.mkdir()
        self.statuses: dict[str, int] = {}
        super().__init__(self.work, endpoint)
        self.model(api_key_env="PLANTED_KEY", limits={"backoff": 0.01, "attempts": 3})
        self._cards()

    def _cards(self) -> None:
        self.card("judges", "wordy", model="loop", form="rate-explain")
        key = self.work.parents[1] / "planted.key"
        key.write_text(f"{KEY}\n", encoding="utf-8")
        key.chmod(0o600)
        self.card(
            "models",
            "filed",
            **{
                "engine": "openai",
                "base_url": self.endpoint.url,
                "api_key_file": str(key),
                "probe": False,
            },
            limits={"backoff": 0.01, "attempts": 3},
        )
        (self.work / "score.py").write_text(PROGRAM, encoding="utf-8")
        (self.work / "crash").touch()
        program: dict[str, Any] = {
            "engine": "command",
            "argv": ["{python}", "{program}"],
        }
        program |= {"files": {"program": "../../score.py"}}
        program |= {"env": ["PLANTED_TOKEN", "PLANTED_FOLDER"]}
        self.card("models", "mine", **program)
        self.card("judges", "own", model="mine")
        lie = {
            "level": "sentence",
            "method": "llm",
            "model": "filed",
            "form": "wrong-fact",
        }
        self.card("perturbations", "lie", name="A lie", **lie)
        shipped = running.HOME / "config/demo"
        self.card(
            "datasets",
            "few",
            name="A few dialogues",
            task="dialogue",
            format="table",
            files={
                "items": f"{shipped}/dialogue_items.jsonl",
                "data": f"{shipped}/dialogue_outputs.jsonl",
            },
            columns={
                **{
                    "item": "item",
                    "source": ["context", "fact"],
                    "references": ["reference"],
                },
                **{"system": "system", "text": "response"},
                "ratings": {"naturalness": ["naturalness"]},
            },
            aspects={"naturalness": {"min": 1, "max": 5, "step": 1}},
            select={"n": 5},
            licence="MIT",
            citation="none",
        )
        self.write(
            study="planted",
            datasets=["few"],
            judges=["wordy", "own", "rules"],
            perturbations=["lie"],
            methods=["agreement", "discernment"],
        )

    def does(self, name: str, *words: str) -> None:
        """Run a command; what it says is a file, and its status is noted."""
        with (self.said / f"{name}.txt").open("w", encoding="utf-8") as file:
            done = subprocess.run(
                [running.forking(running.HOME, enclosed.GUARD), "-m", *words],
                cwd=self.work,
                env=running.environment() | enclosed.watched(self.tried),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=patience(300),
            )
        self.statuses[name] = done.returncode


def main(folder: Path) -> None:
    """Run the study to its report through all faults, then every command that reads or
    writes.
    """
    answers = Answers()
    with serve(answers) as endpoint:
        planted = Planted(folder, endpoint)
        planted.does("check", "judgescope", "check", STUDY, "--verbose")
        planted.does(
            "refused", "judgescope", "run", STUDY, "--verbose", "--printshellcmds"
        )
        answers.refuses = False
        planted.does("failed", "judgescope", "run", STUDY)
        answers.stubborn = False
        (planted.work / "crash").unlink()
        planted.does("run", "judgescope", "run", STUDY, "--verbose", "--printshellcmds")
        for name, words in COMMANDS.items():
            planted.does(name, *words)
        authorised = set(endpoint.authorised) == {f"Bearer {KEY}"}
    fields = {
        "statuses": planted.statuses,
        "authorised": authorised,
        "kernel": enclosed.kernel_refuses(),
        "python": enclosed.python_refuses(folder / "effective.txt"),
    }
    (folder / "told.json").write_text(json.dumps(fields), encoding="utf-8")


STUDY = "study.yaml"
COMMANDS = {
    "show": ("judgescope", "show", STUDY, "coverage"),
    "read": ("judgescope", "replies", "show", STUDY, "--file", "replies.jsonl"),
    "out": ("judgescope", "export", STUDY, "replies", "replies.parquet"),
    "card": ("judgescope", "export", STUDY, "card", "RESULTS.md"),
    "judgments": (
        "judgescope",
        "export",
        STUDY,
        "judgments",
        "judgments.csv",
        "--texts",
    ),
    "targets": ("judgescope", "export", STUDY, "targets", "texts.jsonl", "--made"),
    "votes": ("judgescope", "people", "pairs", "make", STUDY, "votes"),
    "report": (
        *(
            "snakemake",
            "--snakefile",
            str(running.HOME / "workflow" / "Snakefile"),
            "--configfile",
            STUDY,
        ),
        *("--workflow-profile", str(running.HOME / "profiles" / "default")),
        *("--report", "report.zip"),
    ),
    "retry": ("judgescope", "replies", "retry", STUDY),
    "batch": ("judgescope", "batch", "export", STUDY, "batch"),
}
"""What is done after the run: every command that reads or writes something of replies
or texts."""


def run(folder: Path) -> dict[str, Any]:
    """Run all that in a network of its own, if the kernel lets us; return what came of
    it.
    """
    homes = {name: str(folder / "tmp") for name in ("TMPDIR", "TEMP", "TMP")}
    fields = {
        **SECRETS,
        "HOME": str(folder / "home"),
        "PLANTED_FOLDER": str(folder / "work"),
    }
    dropped = dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), "")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    program = enclosed.enclosed(__file__, str(folder))
    paths = os.pathsep.join(
        map(str, (running.HOME / "scripts", running.HOME / "tests" / "support"))
    )
    environment = {**kept, **homes, **fields, "PYTHONPATH": paths}
    done = subprocess.run(
        program,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(1200),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    content: dict[str, Any] = json.loads((folder / "told.json").read_text("utf-8"))
    return {**content, "alone": program[0] != sys.executable}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
