"""A dataset with perturbed texts of every kind, as tables on disk, and the spec of
their page.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import convert

from judgescope.perturb.edits import edit_between
from judgescope.perturb.targets import perturb_dataset
from judgescope.report.specs import SpotcheckSpec
from judgescope.report.spotcheck import render
from judgescope.schema.tables import table_of, write_table

Row = dict[str, Any]
Texts = Mapping[str, str]


class Study:
    """A folder with the tables of one dataset and the spec of its page."""

    def __init__(self, folder: Path, originals: Texts) -> None:
        self.folder, self.originals = folder, originals
        self.spec: Row = {
            **{"code": "", "versions": {}, "templates": ""},
            **{"study": "tiny", "seed": 7},
            **{
                "order": ["news"],
                "datasets": {
                    "news": {
                        "name": "The news",
                        "originals": f"{folder}/targets/news/original.parquet",
                        "sets": [],
                    }
                },
            },
            **{"perturbations": {}, "output": str(folder / "report" / "texts.html")},
        }
        rows = [self.row(item, item, text) for item, text in originals.items()]
        self.write("original", rows)

    def row(self, item: str, target: str, text: str, **more: Any) -> Row:
        fields = {
            "dataset": "news",
            "item": item,
            "target": target,
            "text": text,
            "status": "ok",
        }
        return {**fields, "edits": [], "step": 1, "parent": item, **more}

    def write(self, name: str, rows: list[Row]) -> None:
        table = table_of("targets", rows)
        write_table(
            "targets", table, self.folder / "targets" / "news" / f"{name}.parquet"
        )

    def add(
        self,
        name: str,
        rows: list[Row],
        replies: Sequence[tuple[str, str]] = (),
        **card: Any,
    ) -> None:
        """Add a perturbation with its texts; with `replies` (target, text) a model made
        them.
        """
        fields = {
            "name": name,
            "level": "word",
            "issue": "Bad.",
            "method": "rule",
            "kind": "once",
        }
        self.spec["perturbations"][name] = {**fields, "by": "by hand", **card}
        amount = {"k": 3, "min_edits": None}
        path = self.folder / "made" / "news" / f"{name}.minor.parquet"
        perturbation: Row = {"perturbation": name, "degree": "minor", "amount": amount}
        perturbation["targets"] = f"{self.folder}/targets/news/{name}.minor.parquet"
        perturbation["replies"] = str(path) if replies else None
        self.spec["datasets"]["news"]["sets"].append(perturbation)
        self.write(f"{name}.minor", rows)
        answers = [
            {
                "judge": name,
                "kind": "edit",
                "target": target,
                "hint": f"{at}",
                "text": text,
            }
            for at, (target, text) in enumerate(replies)
        ]
        write_table("answers", table_of("answers", answers), path)

    def perturbation(self, rule: str, level: str = "word", **options: Any) -> None:
        """Add a perturbation by a rule."""
        names = {"dataset": "news", "perturbation": rule, "degree": "minor"}
        result = perturb_dataset(rule, options, self.originals, seed=7, **names)
        rows = [
            self.row(item, f"{item}:{rule}.minor", reply.text, status=reply.status)
            | {"edits": [edit._asdict() for edit in reply.edits]}
            for item, reply in result.items()
        ]
        self.add(rule, rows, level=level)

    def made(self, texts: Texts, failed: Mapping[str, tuple[str, list[str]]]) -> None:
        """Add texts of a model: item -> text, and of those that failed -> (status,
        replies).
        """
        rows = [
            self.row(item, f"{item}:lie", text)
            | {"edits": [e._asdict() for e in edit_between(self.originals[item], text)]}
            for item, text in texts.items()
        ]
        rows += [
            self.row(item, f"{item}:lie", self.originals[item], status=status)
            for item, (status, _) in failed.items()
        ]
        replies = [
            (f"{item}:lie", text)
            for item, (_, result) in failed.items()
            for text in result
        ]
        self.add("lie", rows, replies, method="llm")

    def page(self) -> str:
        return render(convert(self.spec, SpotcheckSpec))
