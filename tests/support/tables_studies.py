"""The studies whose result tables tables_equal.py compares, each run as far as its
tables.

`python tests/support/tables_studies.py STUDY FOLDER` runs one with the checkout that
this file is in. It exits with 3, and says why, where the data of a study is not there.
"""

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confusing
import dhp
import running
from golden_studies import ANNOTATED, ERRORS, RATING, SHOWN, write
from running import HOME, SHARED
from scripted import Body, Said, answer, serve
from study import Study
from waiting import patience

ABSENT = 3
"""The exit status of a study whose data is not there."""
DATA: dict[str, list[str]] = {
    "summeval": ["summeval", "recorded/summeval_gpt35"],
    "usr": ["usr"],
    "topical_chat": ["topical_chat", "recorded/topical_chat_gpt35"],
    "sfres": ["data2text"],
    "hanna": ["hanna"],
    "hanna-ensemble": ["hanna"],
    "llmbar-raw": ["llmbar"],
    "discernment": ["summeval", "sumpubmed"],
}
"""Study -> the folders of ../shared/data that it reads."""
STUDIES = ("demo", "labels", *DATA, "confusion", "everything")
"""The names that can be asked for; `everything` is the study with every feature,
below."""
ITEMS = 8
LONGEST = 4 * 3600
"""Seconds that a study may take."""


def lacks(study: str) -> str | None:
    """Return why a study cannot be run here, None where it can."""
    absent = [name for name in DATA.get(study, []) if not (SHARED / name).is_dir()]
    return (
        f"not there: {', '.join(f'../shared/data/{name}' for name in absent)}"
        if absent
        else None
    )


def run(study: str, folder: Path) -> int:
    """Run a study in `folder` as far as its tables, results/<id>/tables; return the
    exit status.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if study == "discernment":
        return _discernment(folder)
    if study == "confusion":
        return _confusion(folder)
    if study == "everything":
        return _everything(folder)
    path = (
        HOME
        / "config"
        / ("config.yaml" if study == "demo" else f"studies/{study}.yaml")
    )
    return _tables(folder, path, data=str(SHARED))


def _tables(folder: Path, study: Path | Mapping[str, Any], **config: str) -> int:
    """Run a study's jobs as far as the rule that writes tables."""
    if isinstance(study, Mapping):
        study = Study(folder, study).write()
    collected = [f"{key}={value}" for key, value in config.items()]
    options = ["--config", *collected] if collected else []
    command = [
        "-m",
        "snakemake",
        "-s",
        str(HOME / "workflow" / "Snakefile"),
        "--configfile",
        str(study),
    ]
    command += [*options, "--workflow-profile", str(HOME / "profiles" / "default")]
    command += ["--until", "tables", "-q", "progress"]
    done = running.run(*command, cwd=folder, timeout=patience(LONGEST))
    print(done.stdout[-4000:] if done.returncode else "", end="")
    return done.returncode


def _discernment(folder: Path) -> int:
    """Run the shipped study on a few items, with a scripted writer and judge."""
    dhp.write_data(folder / "public")
    dhp.link_data(folder / "public")
    study = dhp.few_items(folder, ITEMS, judges=["steps", "rouge-l-source", "rules"])
    with dhp.endpoint(study):
        return _tables(folder, study.keys)


def _confusion(folder: Path) -> int:
    """Run the shipped study on a few of the shipped texts, with a scripted writer and
    judges.
    """
    keys = {"criteria": ["default", "term"], "judges": ["clear", "ten-draws", "rules"]}
    study = confusing.few_news(folder, ITEMS, **keys)
    study.change("judges", "ten-draws", draws=2)
    with confusing.endpoint(study):
        return _tables(folder, study.keys)


# --- one study with every feature ---

JUDGES: list[dict[str, Any]] = [
    {
        "judge": "terse",
        "form": "score-only",
        "draws": 3,
        "temperature": 1,
        "parser": "score",
    },
    {"judge": "likely", "form": "score-only", "estimator": "logprob_mean"},
    {"judge": "frequent", "form": "rate-explain", "draws": 4, "estimator": "mode"},
    {"judge": "chosen", "form": "score-only", "structured": "choice"},
    {"judge": "object", "form": "score-only", "structured": "json"},
    {"judge": "shown", "form": "score-shots", "shots": {"n": 2}, "share": 0.5},
    {
        **{"judge": "explained", "form": "analyze-shots"},
        "shots": {"n": 2, "analyses": {"model": "judge", "form": "analysis"}},
    },
    {"judge": "hinted", "form": "rate-hinted", "hint": {"baseline": "marked"}},
    {"judge": "marked", "form": "rate-explain", "spotlight": True},
    {"judge": "neighbours", "form": "compare", "draws": 2},
    {"judge": "severe", "form": "error-list", "parser": "errors"},
    {"judge": "like", "form": "rubric", "use_reference": True, "parser": "result"},
    *(
        {
            "judge": f"finder-{n}",
            "form": "annotate",
            "annotation": {},
            "temperature": n / 10,
        }
        for n in (1, 2, 3)
    ),
]
FINDERS = [f"finder-{n}" for n in (1, 2, 3)]
DERIVED: list[dict[str, Any]] = [
    {"judge": "by-rule", "members": FINDERS, "min_annotators": 2},
    {
        **{"judge": "by-model", "members": FINDERS, "combine": "supervisor"},
        "supervisor": {"model": "judge"},
    },
]
STUDY: dict[str, Any] = {
    **{"study": "everything", "seed": 5, "datasets": ["demo-news"]},
    "judges": [judge["judge"] for judge in [*JUDGES, *DERIVED]]
    + ["rules", "word-variety", "oracle"],
    "aspects": ["fluency"],
    "methods": [
        "agreement",
        "discernment",
        "perspectives",
        "robustness",
        "ensemble",
        "faults",
    ],
    "perturbations": [
        *(
            "reordering",
            "fictional-entities",
            "local-rule-fluency",
            "local-llm-fluency",
        ),
        *("global-rule-fluency", "fake-turn"),
    ],
    "comparison": {"permutations": 199},
}


def _everything(folder: Path) -> int:
    """Run a study of every kind of judge, text and method on some of the demo's
    texts.
    """
    for card in [*({"model": "judge", **judge} for judge in JUDGES), *DERIVED]:
        write(folder, "judge", card)
    files = {
        role: str(HOME / "config" / "demo" / f"news_{name}.jsonl")
        for role, name in (("items", "items"), ("data", "outputs"))
    }
    Study(folder).change("datasets", "demo-news", select={"n": ITEMS}, files=files)
    Study(folder).change("perturbations", "local-llm-fluency", steps=3)
    for name in ("reordering", "fictional-entities"):
        Study(folder).change("perturbations", name, degrees={"minor": {"k": 2}})
    with _endpoint(folder):
        return _tables(folder, STUDY)


@contextmanager
def _endpoint(folder: Path) -> Iterator[None]:
    """Serve the models `judge` and `generator` of a study in `folder`."""
    with serve(say) as endpoint:
        Study(folder).connect(endpoint.url, "judge", "generator")
        yield


def say(body: Body) -> Said:
    """Answer any prompt of the study, by the prompt and the seed of the draw."""
    prompt = body["messages"][-1]["content"]
    draws = [
        random.Random(f"{body['seed'] + n} {prompt}") for n in range(body.get("n", 1))
    ]
    return answer(*(_choice(body, prompt, rng) for rng in draws))


def _choice(body: Body, prompt: str, rng: random.Random) -> Body:
    rating = str(rng.choice([1, 2, 3, 3, 4, 4, 5]))
    text = _reply(prompt, rating, rng)
    if body.get("response_format"):
        text = json.dumps({"rating": int(rating)})
    elif any(key in body for key in ("structured_outputs", "guided_choice")):
        text = rating
    choice: Body = {"finish_reason": "stop", "message": {"content": text}}
    if body.get("logprobs"):
        choice["message"] = {"content": rating}
        likely = [
            {"token": str(value), "logprob": -rng.random() * 3} for value in range(1, 6)
        ]
        token = {"token": rating, "logprob": -0.5, "top_logprobs": likely}
        choice["logprobs"] = {"content": [token]}
    return choice


def _reply(prompt: str, rating: str, rng: random.Random) -> str:
    if (known := RATING.search(prompt)) is not None:
        return f"Some of it is well done.\nRating: {known[1]}"
    if (marked := ANNOTATED.search(prompt)) is not None:
        words = prompt[marked.end() :].split()
        start = rng.randrange(6)
        verdict = rng.choice(["Poor", "Fair", "Good"])
        errors = ERRORS.format(" ".join(words[start : start + 3]))
        return errors.replace("Fair", verdict, 1)
    if prompt.startswith("Several annotators"):
        words = re.split(r"^The [a-z ]+:\n", prompt, flags=re.M)[1].split()
        return ERRORS.format(" ".join(words[2:4])).partition("\n\n")[0]
    if (shown := SHOWN.search(prompt)) is not None and "Write the " in prompt:
        # The study's card asks for exactly two changes of named entities.
        return _perturbed(shown[1], 2 if "named entities" in prompt else 1)
    if re.search(r"^[A-Z][a-z]+ A:$", prompt, re.M):
        return f"Choice: {rng.choice(['A', 'B', 'tie'])}"
    if "[RESULT]" in prompt:
        return f"It is well done. [RESULT] {rating}"
    if rng.random() < 0.05:
        return "I would rather not say."
    return f"It has its faults.\nRating: {rating}"


def _perturbed(text: str, places: int) -> str:
    """Return a text with invented names in the place of its second word, its fifth and
    so on.
    """
    words = text.split(" ")
    for index in range(places):
        words[1 + 3 * index] = "Quorvane"
    return " ".join(words)


if __name__ == "__main__":
    name, place = sys.argv[1:]
    if reason := lacks(name):
        print(reason)
        sys.exit(ABSENT)
    sys.exit(run(name, Path(place)))
