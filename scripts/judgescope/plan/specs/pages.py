"""The specs of the report and its tables, and what all their pages show."""

from msgspec.structs import asdict, replace

from judgescope.core import paths
from judgescope.methods.registry import METHODS
from judgescope.plan.add_ons import declarations, report_targets
from judgescope.plan.code import PACKAGES, computing, installed_versions
from judgescope.plan.judges import annotators
from judgescope.plan.notices import unordered
from judgescope.plan.specs.judging import joined_files
from judgescope.plan.specs.page_facts import (
    judge_facts,
    look_of,
    perturbation_degrees,
    perturbed_sets,
)
from judgescope.plan.specs.results import datasets_of, tables_of, turned_sums
from judgescope.plan.study import Plan
from judgescope.report import specs

SHOWN_OF_STUDY = {
    "study",
    "seed",
    "datasets",
    "perturbations",
    "share",
    "allow_missing",
    "gold",
    "orders",
    "unread",
}


def report(plan: Plan, command: str) -> specs.ReportSpec:
    """Write the report; `command` reproduces the study."""
    loaded = (*declarations(), *report_targets(plan, tables_of(plan)))
    joined = {}
    files = {}
    for name in plan.datasets:
        rows = joined_files(plan, name)
        if rows:
            joined[name] = rows
        files[name] = specs.PageFiles(
            ratings=plan.paths.ratings(name),
            scores=plan.paths.collected(name, "scores"),
        )
    return replace(
        page_of(plan, "report", "index.html", perturbation_degrees(plan), "report/*"),
        # one spec names the pages of all jobs
        versions=installed_versions(PACKAGES.values())
        | computing("report", *loaded)["versions"],
        command=command,
        left_out=list(unordered(plan)),
        texts=bool(perturbed_sets(plan)),
        annotated=annotated(plan),
        distilled=_distilled(plan),
        joined=joined,
        cards="judges/",
        csv=_csv_files(plan),
        files=files,
        pages=plan.paths.report("sections"),
        figures=plan.paths.figures(),
        sections=plan.paths.sections(),
    )


def _distilled(plan: Plan) -> specs.Distilled | None:
    """Return what the report shows of a training, None for a study without one."""
    distill = plan.study.distill
    if distill is None:
        return None
    _, model = plan.student
    return specs.Distilled(
        judge=distill.judge,
        teacher=distill.teacher,
        model=model.name,
        recipe=distill.recipe.model_dump(mode="json"),
        log=plan.paths.distill("training.parquet"),
    )


def annotated(plan: Plan) -> dict[str, specs.AnnotatedTexts]:
    """Return dataset -> the files of its texts and of the errors that judges list in
    them.

    The texts are those by systems if they are judged, otherwise the originals.
    """
    annotating = set(annotators(plan))
    paths = plan.paths
    texts = {}
    for dataset in plan.evaluated:
        cells = plan.cells_of(dataset)
        judged = {cell.perturbation for cell in cells if cell.judge in annotating}
        if "systems" in judged:
            name = "systems"
        elif "original" in judged:
            name = "original"
        else:
            continue
        marked = plan.datasets[dataset].gives_spans and name == "systems"
        texts[dataset] = specs.AnnotatedTexts(
            set=name,
            marked=paths.collected(dataset, "marked"),
            targets=paths.targets(dataset, name),
            gold=paths.spans(dataset) if marked else None,
        )
    return texts


def _csv_files(plan: Plan) -> dict[str, str]:
    """Return result table -> its CSV file."""
    return {name: plan.paths.table_csv(name) for name in tables_of(plan)}


def judged_files(
    plan: Plan, dataset: str, paths: paths.Paths | None = None
) -> specs.PageFiles:
    """Return the files of a page that shows judgments with their texts.

    paths: those of other results than the study's.
    """
    paths = paths or plan.paths
    return specs.PageFiles(
        items=paths.items(dataset),
        targets={
            name: paths.targets(dataset, name) for name in plan.target_sets(dataset)
        },
        ratings=paths.ratings(dataset),
        cells=paths.cell_hashes(dataset),
        results=paths.results,
    )


def page_of(
    plan: Plan,
    job: str,
    page: str,
    perturbations: dict[str, specs.PerturbationCard],
    *looks: str,
) -> specs.ReportSpec:
    """Return the common part of the report and the judges' cards; `looks`: their
    templates.
    """
    targets = report_targets(plan, tables_of(plan))
    turned = {}
    for name in plan.evaluated:
        sums = turned_sums(plan, name, plan.judges_of(name))
        if sums:
            turned[name] = sums
    return specs.ReportSpec(
        **computing(job, *declarations(), *targets),
        add_ons=targets,
        templates=look_of(*looks),
        perturbations=perturbations,
        output=plan.paths.report(page),
        study=specs.StudyFacts(
            **plan.study.model_dump(include=SHOWN_OF_STUDY),
            judges=[*plan.judges, *plan.derived],
        ),
        tables={name: plan.paths.table(name) for name in tables_of(plan)},
        datasets={name: _dataset_card(plan, name) for name in plan.datasets},
        judges=judge_facts(plan),
        aspects={name: card.name for name, card in plan.aspects.items()},
        turned=turned,
    )


def _dataset_card(plan: Plan, name: str) -> specs.DatasetCard:
    """Return what pages show of a dataset."""
    card = plan.datasets[name]
    labels = {}
    for aspect, scale in card.aspects.items():
        if scale.categorical:
            labels[aspect] = scale.labels
    # Keys of the cards of a study and of its datasets that pages show.
    shown_of_dataset = {"name", "task", "ratings", "licence", "citation"}
    return specs.DatasetCard(
        **card.model_dump(include=shown_of_dataset),
        aspects=plan.aspects_of(name),
        report=plan.paths.ingested(name),
        labels=labels,
    )


def tables(plan: Plan) -> specs.TablesSpec:
    """Join the datasets' parts of every result table."""
    joined = {}
    across = []
    for name in tables_of(plan):
        parts = [plan.paths.statistics(name, each) for each in datasets_of(plan, name)]
        across_datasets = METHODS[name].across
        target = across_datasets.__module__ if across_datasets else None
        joined[name] = specs.JoinedTable(parts=parts, across=target)
        if target:
            across.append(target)
    page = page_of(plan, "tables", "", perturbation_degrees(plan))
    # The look of pages and the scales of ratings change no word of a sentence.
    page = replace(page, **computing("tables", *across), templates="", turned={})
    # Sentences need no counts of what was read.
    datasets = {
        name: replace(dataset, report="") for name, dataset in page.datasets.items()
    }
    page = replace(page, datasets=datasets, csv=_csv_files(plan), output="")
    return specs.TablesSpec(**asdict(page), parts=joined)
