"""A small study that was run once, changes to it, and what each change makes run again.

`python tests/support/rerun.py` prints docs/rerun.md; tests/workflow/test_rerun.py makes
every change and holds the table to what happens.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from asking import FAST
from judgescope.schema.tables import read_table
from rerun_place import Jobs, Place, cloned, cloned_with_notes, copied


def touch(folder: Place) -> None:
    """Give every file of the checkout a new time."""
    for path in (
        *folder.folder.glob("config/**/*"),
        *folder.folder.glob("scripts/**/*"),
    ):
        path.touch()


def comment(folder: Place) -> None:
    """Add a comment to the code that parses, and to the workflow."""
    folder.edit(
        "scripts/judgescope/parsing/score.py",
        "\nimport re\n",
        "\n# A remark.\nimport re\n",
    )
    folder.edit("workflow/rules/score.smk", "\n\n", "\n# A remark.\n\n")


def parser(folder: Place) -> None:
    """Change the code that parses."""
    folder.edit(
        "scripts/judgescope/parsing/score.py",
        "\nimport re\n",
        "\nREMARK = 1\nimport re\n",
    )


def engine(folder: Place) -> None:
    """Change the code that asks."""
    folder.edit("scripts/judgescope/engines/openai/rate.py", "\n\n", "\nREMARK = 1\n\n")


def item(folder: Place) -> None:
    """Change one text of one system, in a file of the user's."""
    texts = folder.folder / "results/changing/targets/demo-dialogue/systems.parquet"
    text = read_table("targets", texts)["text"][0].as_py()
    folder.edit("config/demo/dialogue_outputs.jsonl", text, f"Well, {text}")
    folder.amend("datasets", "demo-dialogue", sha256={})


def rating(folder: Place) -> None:
    """Change one rating, in the file that also has the texts."""
    folder.edit(
        "config/demo/dialogue_outputs.jsonl", '"coherence": 5', '"coherence": 4'
    )
    folder.amend("datasets", "demo-dialogue", sha256={})


def shown(folder: Place) -> None:
    """Change the keys of a dataset that only pages show."""
    changes = {key: f"Another {key}" for key in ("name", "licence", "citation")}
    folder.amend("datasets", "demo-dialogue", **changes)


def package(position: Place) -> None:
    """Let another version of a package be installed whose behaviour shows in what
    judges say.
    """
    folder = position.folder / "scripts" / "sacrebleu-99.0.dist-info" / "METADATA"
    folder.parent.mkdir()
    folder.write_text(
        "Metadata-Version: 2.1\nName: sacrebleu\nVersion: 99.0\n", encoding="utf-8"
    )


def new_judge(folder: Place) -> None:
    """Add a judge of the model."""
    folder.card("judges", "third", model="loop", form="score-only", temperature=0.7)
    folder.vary(judges=["terse", "wordy", "rules", "third"])


def stronger(folder: Place) -> None:
    """Reorder three sentences in place of two."""
    degrees = {"minor": {"k": 3}, "major": {"k": "all"}}
    folder.amend("perturbations", "reordering", degrees=degrees)


def wording(folder: Place) -> None:
    """Say otherwise what an aspect is that the texts of one dataset are rated on."""
    folder.amend("aspects", "fluency", definition="How easily it reads.")


ONE = 48
"""Requests of a judge on an aspect of the larger dataset."""
ALL = 2 * ONE + 46
"""Those of a judge."""
NEW, STRONGER = 36, 28
"""Those about new texts, by both judges."""


ASK, SCORE = {"ask loop": 2}, {"score loop": 2}
COMPUTE = {"compute control": 2, "compute lexical": 2}
CHECK, REPORT, TEXTS = {"preflight": 1}, {"report": 1}, {"spotcheck": 1}
CARDS, EXPLORE = {"judge_cards": 1}, {"explore": 1}
JOINED = {"tables": 1}
"""The tables are joined again: table `verdicts` has sentences, which name datasets."""
TABLES = {"statistics": 18, "tables": 1} | REPORT | CARDS
ALL_TABLES = {"collect": 2} | TABLES | EXPLORE
OF_MODEL = ASK | SCORE | ALL_TABLES
"""What runs when the asking jobs run again."""
ONE_DATASET = {"collect": 1, "statistics": 10, "tables": 1} | REPORT | CARDS | EXPLORE


@dataclass(frozen=True)
class Change:
    """A change, what runs after it, and how many requests are sent."""

    what: str
    make: Callable[[Place], object] = lambda location: None
    requests: int = 0
    jobs: Jobs = field(default_factory=dict)
    place: Callable[[Place, Path], Place] = copied
    executed: bool = False
    """The jobs are run, and not only planned."""


CHANGES = [
    Change("nothing; the project was moved to another folder"),
    Change("every card, script and data file has a new time", touch),
    Change("a comment in the code and in a rule", comment),
    Change("the code of a parser", parser, jobs=SCORE | ALL_TABLES, executed=True),
    Change("the code of the HTTP engine", engine, jobs=OF_MODEL),
    Change(
        "the prompt of a form",
        lambda location: location.edit(
            "config/prompts/score-only.jinja", "\n", "\nBe fair.\n"
        ),
        requests=ALL,
        jobs=OF_MODEL,
    ),
    Change(
        "the wording of an aspect that one of the datasets has",
        wording,
        requests=2 * ONE,
        jobs=CHECK | {"ask loop": 1, "score loop": 1} | ONE_DATASET,
    ),
    Change(
        "a judge's temperature",
        lambda location: location.amend("judges", "terse", temperature=0.5),
        requests=ALL,
        jobs=CHECK | OF_MODEL,
    ),
    Change(
        "a judge's draws, from 1 to 3",
        lambda location: location.amend("judges", "terse", draws=3),
        requests=2 * ALL,
        jobs=CHECK | OF_MODEL | {"statistics": 20, "tables": 1},
        executed=True,
    ),
    Change(
        "a model's price",
        lambda location: location.amend(
            "models", "loop", price={"input": 1, "output": 2}
        ),
        # what a judge costs, and what should be bought, of each dataset
        jobs=CHECK | {"statistics": 4, "tables": 1} | REPORT | CARDS,
    ),
    Change(
        "a model's concurrency",
        lambda location: location.amend(
            "models", "loop", limits={**FAST, "concurrency": 2}
        ),
        jobs=CHECK,
    ),
    Change(
        "a model's address",
        lambda location: location.edit(
            "config/models/loop.yaml", "127.0.0.1", "localhost"
        ),
        jobs=CHECK,
    ),
    Change(
        "one text of one system",
        item,
        requests=2,
        jobs=CHECK
        | {"ingest": 1, "read_ratings": 1, "perturb reordering": 2}
        | {"ask loop": 1, "score loop": 1}
        | {"compute control": 1, "compute lexical": 1}
        | {"collect": 1, "statistics": 9, "tables": 1}
        | REPORT
        | CARDS
        | EXPLORE
        | TEXTS,
        executed=True,
    ),
    Change(
        "one rating, in the file that also has the texts",
        rating,
        jobs=CHECK
        | {"read_ratings": 1, "compute control": 1}
        | {"collect": 1, "statistics": 9, "tables": 1}
        | REPORT
        | CARDS
        | EXPLORE,
        executed=True,
    ),
    Change(
        "a dataset's name, licence and citation",
        shown,
        jobs=CHECK | JOINED | REPORT | CARDS | EXPLORE | TEXTS,
    ),
    Change(
        "the order of the judges",
        lambda location: location.vary(judges=["rules", "wordy", "terse"]),
        jobs=CHECK | JOINED | REPORT | CARDS,
    ),
    Change(
        "how unread judgments count (`unread`)",
        lambda location: location.vary(unread="worst"),
        jobs=CHECK | SCORE | ALL_TABLES,
    ),
    Change(
        "a new judge of the model",
        new_judge,
        requests=ALL,
        jobs=CHECK | OF_MODEL,
        executed=True,
    ),
    Change(
        "a new perturbation",
        lambda location: location.vary(perturbations=["reordering", "random-text"]),
        requests=NEW,
        jobs=CHECK
        | {"perturb random-text": 2}
        | ASK
        | COMPUTE
        | SCORE
        | ALL_TABLES
        | TEXTS,
        executed=True,
    ),
    Change(
        "one degree of a perturbation, k from 2 to 3",
        stronger,
        requests=STRONGER,
        jobs=CHECK
        | {"perturb reordering": 2}
        | ASK
        | COMPUTE
        | SCORE
        | ALL_TABLES
        | TEXTS,
        executed=True,
    ),
    Change(
        "a removed dataset",
        lambda location: location.vary(datasets=["demo-news"]),
        jobs=CHECK | {"tables": 1} | REPORT | CARDS | EXPLORE | TEXTS,
        executed=True,
    ),
    Change(
        "another version of a package that affects outputs (sacrebleu)",
        package,
        jobs={"compute lexical": 2} | ALL_TABLES,
    ),
    Change(
        "the look of the report",
        lambda location: location.edit("workflow/report/style.css", "{", " { "),
        jobs=REPORT | CARDS | EXPLORE | TEXTS,
    ),
    Change(
        "a fresh clone with `results/`, `cache/` and `.snakemake/` copied",
        place=cloned_with_notes,
    ),
    Change(
        "a fresh clone with `results/` and `cache/` copied",
        place=cloned,
        jobs={"read_ratings": 2} | ASK | COMPUTE | SCORE | ALL_TABLES | TEXTS,
    ),
]

HEAD = f"""# What a change makes run again

Generated by `python tests/support/rerun.py`; `tests/workflow/test_rerun.py` makes \
every change on
the real workflow and compares the jobs.

The study: two datasets of 6 items, 5 systems and 4 sets of texts each (systems, \
originals, two
degrees of `reordering`), both judged on coherence and one on fluency, by `terse` and \
`wordy` (two
forms of one model behind an endpoint), by `rules` (computed) and by the controls. \
After a first run
with {2 * ALL} requests, one thing is changed.

The table lists the jobs that `judgescope run` then runs. A job that asks a model \
requests only
replies that the store lacks. *results* stands for the jobs that collect judgments and \
write tables,
report and pages.

| change | requests | jobs |
|---|---|---|
"""


RESULTS = {"collect", "tables", "report", "judge_cards", "explore", "spotcheck"}


def jobs_in_words(jobs: Jobs) -> str:
    """Return jobs in words; those of RESULTS as one word."""
    shown = [f"{job} {count}" for job, count in jobs.items() if job not in RESULTS]
    return "; ".join(shown + ["results"] * bool(jobs.keys() & RESULTS)) or "nothing"


def document() -> str:
    """Return docs/rerun.md."""
    rows = [
        f"| {change.what} | {change.requests} | {jobs_in_words(change.jobs)} |\n"
        for change in CHANGES
    ]
    return HEAD + "".join(rows)


if __name__ == "__main__":
    print(document(), end="")
