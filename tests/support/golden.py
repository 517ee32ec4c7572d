"""The keys of replies, as they were when people paid for them: tests/golden/keys.json.

A key that changes loses every reply that was bought under it. `python
tests/support/golden.py` names those that changed, and with `--write` it writes the file
anew: only in a commit that says that it does so, and why.

The studies here are of shipped cards and prompts, of stand-in texts, and of models
whose replies are scripted, so that what is asked after them is known. The jobs run in
this process.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

import golden_studies
import graded_study
from golden_studies import GoldenStudy, say
from inputs_alone import inputs_alone
from judgescope.core.names import GradedPart
from judgescope.engines.factory import settled
from judgescope.engines.subjects import Subjects
from judgescope.extensions.distill import job_specs
from judgescope.plan.drafts import draft_spec, drafts_of
from judgescope.plan.generators import analysts, graded, improvements, supervisors
from judgescope.plan.jobs import job as job_of
from judgescope.plan.jobs import typed
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import graded_sets, judging, texts
from judgescope.plan.specs.subjects import every_file
from judgescope.plan.study import Plan
from judgescope.replies.questions import plan_questions
from judgescope.schema.cards import AskedModel, MadePerturbation
from judgescope.schema.tables import read_table
from running import HOME
from scripted import Endpoint, serve

KEYS = HOME / "tests" / "golden" / "keys.json"
BUDGET = json.dumps({"study": "golden", "caps": []})
EACH = 2
"""So many questions of a cell, or of a stage that writes texts, are kept."""
Keys = dict[str, str]
"""Study, stage, and what is asked about -> the key of the replies."""


class Run:
    """The jobs of one study, run one by one in this process."""

    def __init__(
        self, folder: Path, study: Mapping[str, Any], drafting: bool = False
    ) -> None:
        self.name, self.folder = study["study"], folder
        self.keys: Keys = {}
        first = [folder / "config"]
        self.out = str(folder / "results" / self.name)
        # the scripted writers cannot write every kind of text; no key depends on it
        study = {**study, "allow_missing": True}
        self.plan: Plan = load_plan(
            study,
            HOME,
            source="golden",
            drafting=drafting,
            first=first,
            results=self.out,
        )

    def job(self, job: str, spec: Struct, model: str = "") -> None:
        """Run a job beside nothing but its inputs; `model` is whom it asks."""
        options = {}
        if model:
            card = f"{self.plan.folders['model', model]}/{model}.yaml"
            options = {
                "card": card,
                "store": str(self.folder / "store"),
                "budget": BUDGET,
            }
        main = job_of(job)
        with inputs_alone(Path(self.out), spec):
            main(typed(main, to_builtins(spec)), **options)

    def texts(self) -> None:
        """Read the datasets, perturb by rule, and let models write, what judges are
        shown.
        """
        for dataset in self.plan.datasets:
            self.job("ingest", texts.ingest(self.plan, dataset))
            self.job("read_ratings", texts.read_ratings(self.plan, dataset))
            if dataset in improvements(self.plan):
                self._improve(dataset)
            for name, degree in self.plan.perturbed(dataset, "once", "chain", "attack"):
                card = self.plan.perturbations[name]
                if not isinstance(card, MadePerturbation):
                    self.job("perturb", texts.perturb(self.plan, dataset, name, degree))
                    continue
                spec = texts.make_texts(self.plan, dataset, name, degree)
                self.job("write_texts", spec, card.model)
                self.made("texts", f"made/{dataset}/{name}.{degree}")

    def _improve(self, dataset: str) -> None:
        model = improvements(self.plan)[dataset].model
        if self.plan.study.references:
            self.job(
                "write_references", texts.write_references(self.plan, dataset), model
            )
        else:
            self.job(
                "write_texts", texts.make_texts(self.plan, dataset, "original"), model
            )
        self.made("originals", f"made/{dataset}/original")

    def analyses(self) -> None:
        """Let models explain the ratings of demonstrations."""
        for dataset in self.plan.datasets:
            for model in analysts(self.plan, dataset):
                self.job("analyse", texts.analyse(self.plan, dataset, model), model)
                self.made("analyses", f"made/{dataset}/analyses.{model}")

    def graded(self) -> None:
        """Build the sets of texts of every rating."""
        for dataset in self.plan.datasets:
            for name, card in graded(self.plan).items():
                anchors = card.anchors
                assert anchors and anchors.judge and card.model
                text = f"construction/{dataset}/{name}"
                rater = self.plan.judges[anchors.judge].model
                self.job("ask", graded_sets.rate(self.plan, dataset, name), rater)
                self.made("rated", f"{text}.rated")
                self.job("anchors", graded_sets.anchors(self.plan, dataset, name))
                for part in (GradedPart.REFEREE, GradedPart.TRIAL, GradedPart.REST):
                    if part != GradedPart.REFEREE:
                        candidates = graded_sets.candidates(
                            self.plan, dataset, name, part
                        )
                        self.job("candidates", candidates, card.model)
                        self.made("candidates", f"made/{dataset}/{name}.{part}")
                    spec = graded_sets.compare(self.plan, dataset, name, part)
                    self.job("compare_anchors", spec, anchors.model)
                    self.made("compared", f"made/{dataset}/comparisons.{name}.{part}")

    def merges(self) -> None:
        """Ask the members of ensembles, score what they say, and let supervisors merge
        it.
        """
        for dataset in self.plan.datasets:
            cells = self.plan.cells_of(dataset)
            asked = {
                cell.judge for cell in cells if cell.judge not in self.plan.derived
            }
            for model in sorted({self.plan.judges[judge].model for judge in asked}):
                if self.plan.is_asked(model):
                    self.job("ask", judging.ask(self.plan, dataset, model), model)
                    self.job("score", judging.score(self.plan, dataset, model))
            for model in supervisors(self.plan, dataset):
                self.job("merge", judging.merge(self.plan, dataset, model), model)
                self.made("merged", f"made/{dataset}/merges.{model}")

    def lessons(self) -> None:
        """Draw what a judge learns from, and let models write texts for it."""
        self.job("sample_distill", job_specs.sample(self.plan))
        for dataset in self.plan.taught:
            for name in self.plan.new_sets(dataset):
                model = name.partition(".")[2]
                self.job(
                    "write_new", job_specs.write_new(self.plan, dataset, model), model
                )
                self.made("lessons", f"made/{dataset}/{name}")

    def drafts(self) -> None:
        """Let a model draft what cards lack; its keys stand at the head of its
        drafts.
        """
        drafts = {draft.file: draft for draft in drafts_of(self.plan, "golden")}
        for name in drafts:
            file = Path(self.plan.paths.draft(name))
            file.parent.mkdir(parents=True, exist_ok=True)
            self.job(
                "draft",
                draft_spec(self.plan, drafts, name),
                self.plan.study.drafter or "",
            )
            lines = file.read_text(encoding="utf-8").splitlines()
            keys = [line[1:].strip() for line in lines if line.startswith("#   ")]
            for number, key in enumerate(keys):
                self._keep(f"drafts/{name}.yaml#{number}", key)

    def judges(self) -> None:
        """Keep what judges ask, as a job plans it; nothing is asked."""
        for dataset in self.plan.datasets:
            for model in self.plan.models:
                if not self.plan.is_asked(model) or not self.plan.cells_of(
                    dataset, model
                ):
                    continue
                for name, key in self._planned(dataset, model):
                    self._keep(f"judges/{name}", key)

    def _planned(self, dataset: str, model: str) -> Iterator[tuple[str, str]]:
        spec = judging.ask(self.plan, dataset, model)
        card = self.plan.models[model]
        assert isinstance(card, AskedModel)
        folder = Path(self.plan.folders["model", model])
        card = settled(card, folder, Path(self.plan.study.data), spec.trained)
        files = every_file(self.plan, dataset)
        subjects = Subjects(files, dataset, self.plan.study.seed)
        for cell, asked in plan_questions(spec, card, None, subjects).cells.items():
            perturbation, judge, aspect = cell
            for number in range(min(EACH, len(asked))):
                about = " ".join(asked.text_columns(number).values())
                name = f"{judge}/{dataset}/{perturbation}/{aspect}/{about}"
                yield name, asked.outline(number).key.hex()

    def made(self, stage: str, file: str) -> None:
        """Keep the first replies of a table of a stage."""
        rows = read_table("answers", f"{self.out}/{file}.parquet").to_pylist()
        kept: Counter[str] = Counter()
        for row in rows:
            retried = " again" if row["hint"] else ""
            kind = f"{file.partition('/')[2]}/{row['judge']} {row['kind']}{retried}"
            about = " ".join(
                filter(None, (row["aspect"], row["target"], row["target_b"]))
            )
            name = f"{stage}/{kind}/{about}"
            if row["draw"] or kept[kind] == EACH or name in kept:
                continue
            kept.update([kind, name])
            self._keep(name, row["key"])

    def _keep(self, name: str, key: str) -> None:
        name = f"{self.name}/{name}"
        assert self.keys.setdefault(name, key) == key, f"two keys of one name: {name}"


def keys() -> Keys:
    """Return the keys of all studies."""
    every: Keys = {}
    with tempfile.TemporaryDirectory() as folder, serve(say) as endpoint:
        for study in golden_studies.studies():
            every |= _keys_of(study, Path(folder) / study.name, endpoint.url)
        every |= _graded(Path(folder) / "graded", endpoint)
    return dict(sorted(every.items()))


def _keys_of(study: GoldenStudy, folder: Path, url: str) -> Keys:
    study.write(folder, url)
    run = Run(folder, study.card, drafting="drafts" in study.stages)
    for stage in study.stages:
        getattr(run, stage)()
    return run.keys


def _graded(folder: Path, endpoint: Endpoint) -> Keys:
    """Return the keys of a study that builds texts of every rating, from references it
    writes.
    """
    folder.mkdir()
    endpoint.script = graded_study.Scripted()
    references = {"model": "generator", "draws": 4, "keep": 2, "max_tokens": 64}
    anchors = graded_study.GRADED["anchors"] | {"per_rating": 1, "oversample": 1}
    study, data = {"references": references}, {"files": str(folder / "neat.csv")}
    graded = {"targets": 5, "anchors": anchors}
    run = Run(
        folder,
        graded_study.GradedStudy(folder, endpoint.url, data, study, **graded).keys,
    )
    run.texts()
    run.graded()
    return run.keys


def changed(before: Keys, after: Keys) -> list[str]:
    """Return what is not the same, a line each, by name."""
    lines = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            lines.append(f"gone: {name}")
        elif name not in before:
            lines.append(f"new: {name}")
        elif before[name] != after[name]:
            lines.append(f"changed: {name}")
    return lines


def written() -> Keys:
    """Return the keys in the file."""
    every: Keys = json.loads(KEYS.read_text(encoding="utf-8"))
    return every


def main() -> None:
    """Tell what has changed; with --write, write the file anew."""
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        fresh = keys()
    if "--write" in sys.argv[1:]:
        KEYS.write_text(
            json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    print(*changed(written(), fresh), f"{len(fresh)} keys", sep="\n")


if __name__ == "__main__":
    main()
