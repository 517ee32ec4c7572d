"""The specs of pages: their templates, and the cards and texts that they show."""

import hashlib
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import asdict, replace

from judgescope.core import paths
from judgescope.core.canonical import canonical
from judgescope.core.cells import pack, split
from judgescope.core.names import ORIGINAL
from judgescope.core.secrets import is_secret
from judgescope.data.planted import DEFECTS
from judgescope.methods.registry import METHODS
from judgescope.plan.add_ons import declarations, report_targets
from judgescope.plan.code import PACKAGES, computing, installed_versions
from judgescope.plan.judges import (
    annotators,
    card_hash,
    engine_of,
    facts_of,
    parser_of,
    prompt_hash,
    scale_of,
    shares_score,
    voted_labels,
)
from judgescope.plan.notices import unordered
from judgescope.plan.specs.judging import joined_files
from judgescope.plan.specs.results import datasets_of, tables_of, turned_sums
from judgescope.plan.study import ALONE, CellAspect, Plan
from judgescope.report import specs
from judgescope.schema import cards

UNPERTURBED = {"original": "originals", "systems": "texts by systems"}
"""Unperturbed sets of texts, and their names on the page of all judgments."""
FEW = 3
"""Maximum number of an ensemble's members that are named next to it."""
SHOWN = {
    "engine",
    "name",
    "revision",
    "variant",
    "family",
    "dtype",
    "quantization",
    "adapter",
    "extra_body",
    "model_args",
    "field_names",
    "max_model_len",
    "inputs",
    "dataset",
    "price",
}
"""Keys of a model's card that its judges' cards show: no address, header, program or
path."""
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
SHOWN_OF_DATASET = {"name", "task", "ratings", "licence", "citation"}
"""Keys of the cards of a study and of its datasets that pages show."""
READS = {
    "form",
    "pairs",
    "use_reference",
    "scale",
    "share",
    "parser",
    "read",
    "family",
    "aspects",
}
"""Keys of a judge's card that also have a meaning for models that read no prompts."""
HIDDEN = "not shown"


def perturbed_sets(plan: Plan) -> dict[str, list[tuple[str, str]]]:
    """Return dataset -> its perturbed sets, (perturbation, degree); only datasets with
    any.

    Constructed texts in a dataset are left out, because they have no edits to inspect.
    """
    sets = {
        dataset: [
            (name, degree)
            for cell in plan.target_sets(dataset)
            if cell not in UNPERTURBED
            for name, _, degree in [cell.partition(".")]
        ]
        for dataset in plan.evaluated
        if not plan.datasets[dataset].gives_texts
    }
    return {dataset: cells for dataset, cells in sets.items() if cells}


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


def _look_of(*patterns: str) -> str:
    """Return a hash of templates, style sheets and the common templates of all
    pages.
    """
    look = ""
    for pattern in ("*.html.jinja", *patterns):
        for path in sorted(paths.WORKFLOW.glob(pattern)):
            if path.is_file():
                look += path.read_text(encoding="utf-8")
    return hashlib.sha256(look.encode()).hexdigest()[:16]


def spotcheck(plan: Plan) -> specs.SpotcheckSpec:
    """Show a sample of the perturbed texts."""
    sets = perturbed_sets(plan)
    names = set[str]()
    for perturbed in sets.values():
        names.update(name for name, _ in perturbed)
    return specs.SpotcheckSpec(
        **computing("spotcheck", *declarations()),
        study=plan.study.study,
        seed=plan.study.seed,
        templates=_look_of("texts/*", "report/style.css"),
        order=list(sets),
        datasets={
            dataset: specs.PerturbedDataset(
                name=plan.datasets[dataset].name,
                originals=plan.paths.targets(dataset, ORIGINAL),
                sets=[_perturbed_set(plan, dataset, *name) for name in each],
            )
            for dataset, each in sets.items()
        },
        perturbations={
            name: card
            for name, card in _perturbation_cards(plan).items()
            if name in names
        },
        output=plan.paths.report("texts.html"),
    )


def _perturbed_set(
    plan: Plan, dataset: str, perturbation: str, degree: str
) -> specs.PerturbedSet:
    """Return a set of perturbed texts, and its files."""
    name = f"{perturbation}.{degree}"
    written = isinstance(plan.perturbations[perturbation], cards.MadePerturbation)
    return specs.PerturbedSet(
        perturbation=perturbation,
        degree=degree,
        amount=plan.amount(dataset, perturbation, degree).model_dump(),
        targets=plan.paths.targets(dataset, name),
        replies=plan.paths.made(dataset, name) if written else None,
    )


def _perturbation_cards(plan: Plan) -> dict[str, specs.PerturbationCard]:
    return {name: _perturbation_card(card) for name, card in plan.perturbations.items()}


def _perturbation_card(card: cards.AnyPerturbation) -> specs.PerturbationCard:
    """Return a perturbation's description for pages."""
    if isinstance(card, cards.MadePerturbation):
        by = f"by the model {card.model}, form {card.form}"
    elif isinstance(card, cards.GradedPerturbation):
        made = f"the model {card.model}, form {card.form}" if card.model else "rule"
        by = f"by {made}; rated by {card.rating}"
    elif isinstance(card, cards.GivenPerturbation):
        by = f"by the authors of {card.dataset}"
    elif isinstance(card, cards.AttackPerturbation):
        by = f"by adding a text at the {card.position}"
    else:
        by = f"by the rule {card.rule}"
    return specs.PerturbationCard(
        **card.model_dump(include={"name", "level", "issue", "method"}),
        kind=card.kind,
        by=by,
    )


def _thresholded(judge: cards.Judge) -> bool:
    """Return whether a judge's scores are numbers even if people give labels."""
    return judge.threshold is not None or judge.form == "length"


def _planted(model: cards.Model) -> str:
    """Return the defect of a planted judge in words, "" for other judges."""
    if not isinstance(model, cards.PlantedModel):
        return ""
    defect = DEFECTS[model.defect]
    if not defect.unit:
        return defect.does
    strength = defect.stated if model.strength is None else model.strength
    return f"{defect.does} ({defect.unit}: {strength:g})"


def _judge_card(plan: Plan, name: str, judge: cards.Judge) -> specs.JudgeCard:
    """Return what the report shows about a judge."""
    card = specs.JudgeCard(
        engine=engine_of(plan, name),
        form=judge.form,
        against=None if judge.form in ALONE else judge.against,
        parser=parser_of(plan, name),
        draws=judge.draws,
        model=judge.model,
        hint=judge.hint.rating if judge.hint else "",
        planted=_planted(plan.models[judge.model]),
        thresholded=_thresholded(judge),
    )
    if not plan.is_prompted(judge.model):
        return card
    annotation = ""
    if (listed := judge.annotation) is not None:
        rules = "" if listed.rules else ", no rules"
        annotation = f"score in {listed.score}, severity in {listed.severity}{rules}"
    return replace(
        card,
        temperature=judge.temperature,
        max_tokens=judge.max_tokens,
        scores_texts=judge.estimator if judge.scores_texts else "",
        one_score=shares_score(plan, judge) and _scores_aspects(plan, name),
        shots=judge.shots.n if judge.shots else 0,
        annotation=annotation,
        alike=card_hash(judge.model_copy(update={"judge": "", "scale": None})),
        points={
            each: points
            for each in plan.evaluated
            if (points := _points(plan, each, name))
        },
    )


def _scores_aspects(plan: Plan, judge: str) -> bool:
    """Return whether a judge scores several aspects of a dataset."""
    return any(len(plan.rated_by(judge, each)) > 1 for each in plan.evaluated)


def _points(plan: Plan, dataset: str, judge: str) -> list[int]:
    """Return the numbers of values that a judge can give, by aspect; [] for any
    number.
    """
    scales = [
        scale_of(plan, dataset, judge, name) for name in plan.rated_by(judge, dataset)
    ]
    values = [scale.values() if scale else None for scale in scales]
    return [] if None in values else sorted({len(each) for each in values if each})


def _derived_card(plan: Plan, card: cards.DerivedJudge) -> specs.JudgeCard:
    """Return a derived judge's members and method in words, and the hint of a member,
    if any.
    """
    few = len(card.members) <= FEW
    voted = {
        bool(voted_labels(plan, dataset, card.judge, aspect))
        for dataset in plan.evaluated
        for aspect in plan.rated_by(card.judge, dataset)
    }
    how = {frozenset({True}): "majority", frozenset({True, False}): "mean or majority"}
    form = f"{how.get(frozenset(voted), 'mean')} of "
    form += ", ".join(card.members) if few else f"{len(card.members)} judges"
    form += f"; errors merged by {card.supervisor.model}" if card.supervisor else ""
    hints = [hint.rating for name in card.members if (hint := plan.judges[name].hint)]
    return specs.JudgeCard(engine="derived", form=form, hint=hints[0] if hints else "")


def report(plan: Plan, command: str) -> specs.ReportSpec:
    """Write the report; `command` reproduces the study."""
    distill = plan.study.distill
    distilled = distill and specs.Distilled(
        judge=distill.judge,
        teacher=distill.teacher,
        model=plan.student[1].name,
        recipe=distill.recipe.model_dump(mode="json"),
        log=plan.paths.distill("training.parquet"),
    )
    loaded = (*declarations(), *report_targets(plan, tables_of(plan)))
    return replace(
        _page(plan, "report", "index.html", _degrees(plan), "report/*"),
        # one spec names the pages of all jobs
        versions=installed_versions(PACKAGES.values())
        | computing("report", *loaded)["versions"],
        command=command,
        left_out=[*unordered(plan)],
        texts=bool(perturbed_sets(plan)),
        annotated=annotated(plan),
        distilled=distilled,
        joined={
            name: files for name in plan.datasets if (files := joined_files(plan, name))
        },
        cards="judges/",
        csv=_csv_files(plan),
        files={
            name: specs.PageFiles(
                ratings=plan.paths.ratings(name),
                scores=plan.paths.collected(name, "scores"),
            )
            for name in plan.datasets
        },
        pages=plan.paths.report("sections"),
        figures=plan.paths.figures(),
        sections=plan.paths.sections(),
    )


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


def _degrees(plan: Plan) -> dict[str, specs.PerturbationCard]:
    """Return the perturbations with their degrees."""
    return {
        name: specs.PerturbationCard(
            name=card.name,
            level=card.level,
            degrees=list(plan.degrees_of(name)),
            doses=_doses(plan, name),
        )
        for name, card in plan.perturbations.items()
    }


def _page(
    plan: Plan,
    job: str,
    page: str,
    perturbations: dict[str, specs.PerturbationCard],
    *looks: str,
) -> specs.ReportSpec:
    """Return the common part of the report and the judges' cards; `looks`: their
    templates.
    """
    paths = plan.paths
    return specs.ReportSpec(
        **computing(job, *declarations(), *report_targets(plan, tables_of(plan))),
        add_ons=report_targets(plan, tables_of(plan)),
        templates=_look_of(*looks),
        perturbations=perturbations,
        output=paths.report(page),
        study=specs.StudyFacts(
            **plan.study.model_dump(include=SHOWN_OF_STUDY),
            judges=[*plan.judges, *plan.derived],
        ),
        tables={name: paths.table(name) for name in tables_of(plan)},
        datasets={
            name: specs.DatasetCard(
                **card.model_dump(include=SHOWN_OF_DATASET),
                aspects=plan.aspects_of(name),
                report=paths.ingested(name),
                labels={
                    aspect: scale.labels
                    for aspect, scale in card.aspects.items()
                    if scale.categorical
                },
            )
            for name, card in plan.datasets.items()
        },
        judges={
            name: _judge_card(plan, name, card) for name, card in plan.judges.items()
        }
        | {name: _derived_card(plan, card) for name, card in plan.derived.items()},
        aspects={name: card.name for name, card in plan.aspects.items()},
        turned={
            name: sums
            for name in plan.evaluated
            if (sums := turned_sums(plan, name, plan.judges_of(name)))
        },
    )


def tables(plan: Plan) -> specs.TablesSpec:
    """Join the datasets' parts of every result table."""
    parts = {
        name: specs.JoinedTable(
            parts=[
                plan.paths.statistics(name, each) for each in datasets_of(plan, name)
            ],
            across=METHODS[name].across or None,
        )
        for name in tables_of(plan)
    }
    across = [table.across for table in parts.values() if table.across]
    page = _page(plan, "tables", "", _degrees(plan))
    # The look of pages and the scales of ratings change no word of a sentence.
    page = replace(page, **computing("tables", *across), templates="", turned={})
    # Sentences need no counts of what was read.
    datasets = {name: replace(one, report="") for name, one in page.datasets.items()}
    page = replace(page, datasets=datasets, csv=_csv_files(plan), output="")
    return specs.TablesSpec(**asdict(page), parts=parts)


def judge_cards(plan: Plan) -> specs.JudgeCardSpec:
    """Write the judges' cards, one job for all of them."""
    ends, ends_of = _ends(plan)
    looks, perturbations = ("report/*", "texts/style.css"), _perturbation_cards(plan)
    page = _page(plan, "judge_card", "judges", perturbations, *looks)
    return specs.JudgeCardSpec(
        **asdict(replace(page, cards="", files=_files_of_cards(plan))),
        cards_of_judges=[
            plan.paths.judge_card(name) for name in [*plan.judges, *plan.derived]
        ],
        settings={
            name: settings_of(plan, name) for name in [*plan.judges, *plan.derived]
        },
        models={name: model_settings(card) for name, card in plan.models.items()},
        worst={dataset: _worst(plan, dataset) for dataset in plan.evaluated},
        ends=ends,
        ends_of=ends_of,
    )


def _files_of_cards(plan: Plan) -> dict[str, specs.PageFiles]:
    """Return dataset -> the files that the judges' cards read of it."""
    files = {}
    for name in plan.datasets:
        files[name] = replace(
            judged_files(plan, name),
            scores=plan.paths.collected(name, "scores"),
            statuses=plan.paths.collected(name, "statuses"),
        )
    return files


def settings_of(plan: Plan, judge: str) -> dict[str, object]:
    """Return the keys of a judge's card that differ from the defaults."""
    if judge in plan.derived:
        return plan.derived[judge].model_dump(mode="json", exclude={"judge"})
    card = plan.judges[judge]
    read = None if plan.is_prompted(card.model) else READS
    settings: dict[str, object] = card.model_dump(
        mode="json",
        include=read,
        # Example replies decide nothing that a report shows.
        exclude={"judge", "examples"},
        exclude_defaults=True,
    )
    settings |= {"model": card.model, "parser": parser_of(plan, judge)}
    hashes = {name: prompt_hash(plan, name, card) for name in plan.evaluated}
    prompts = {name: value for name, value in hashes.items() if value}
    return {**settings, **({"prompts": prompts} if prompts else {})}


def model_settings(card: cards.Model) -> dict[str, object]:
    """Return the keys of a model's card that may be published."""
    shown = card.model_dump(mode="json", include=SHOWN, exclude_none=True)
    return {
        key: _masked(value) for key, value in shown.items() if value not in ({}, [])
    }


def _masked(value: object) -> object:
    """Return a value in which entries with the name of a secret are hidden."""
    if isinstance(value, dict):
        return {
            name: HIDDEN
            if is_secret(name) and not isinstance(one, int | float)
            else _masked(one)
            for name, one in value.items()
            if name != "path"
        }
    return [_masked(one) for one in value] if isinstance(value, list) else value


def _worst(plan: Plan, dataset: str) -> specs.WorstCases:
    """Return what determines which judgments of a dataset are the worst.

    Graded sets are left out: their texts are made from any reference, which has no
    score.
    """
    sets = plan.target_sets(dataset)
    scales = {name: plan.scale_of(dataset, name) for name in plan.aspects_of(dataset)}
    return specs.WorstCases(
        perturbations=[
            _lowered(plan, dataset, name, degree)
            for name, degree in plan.perturbed(dataset, "once", "chain")
            if f"{name}.{degree}" in sets and "original" in sets
        ],
        rated="systems" in sets and plan.datasets[dataset].ratings != "none",
        scales={
            name: (scale.min, scale.max)
            for name, scale in scales.items()
            if scale.ordered
        },
    )


def _doses(plan: Plan, perturbation: str) -> dict[str, int]:
    """Return degree -> its number of edits, for the degrees that give one."""
    degrees = plan.degrees_of(perturbation)
    return {name: one.k for name, one in degrees.items() if isinstance(one.k, int)}


def _mildness(plan: Plan, perturbation: str, degree: str) -> int:
    """Return how far a degree is from the heaviest one; see specs.ExpectedDrop."""
    degrees = list(plan.degrees_of(perturbation))
    behind = len(degrees) - 1 - degrees.index(degree)
    return 1 if len(degrees) == 1 else behind + (behind > 0)


def _lowered(
    plan: Plan, dataset: str, perturbation: str, degree: str
) -> specs.ExpectedDrop:
    """Return the aspects in which a perturbation should show, and why it should."""
    plain = set(plan.judged_on(dataset, perturbation))
    expected = (
        plan.expectations.perturbations.get(perturbation) if plan.expectations else None
    )
    task = plan.datasets[dataset].task
    weights = (
        plan.weights.tasks.get(task, {}).get(perturbation) if plan.weights else None
    )
    why: Literal["expected", "weighted", "all"] = "all"
    if expected is not None:
        plain, why = plain & set(expected.drop), "expected"
    elif weights is not None:
        plain &= {name for name, weight in weights.items() if weight > 0}
        why = "weighted"
    aspects = [name for name in plan.aspects_of(dataset) if split(name)[0] in plain]
    return specs.ExpectedDrop(
        cell=f"{perturbation}.{degree}",
        mildness=_mildness(plan, perturbation, degree),
        aspects=aspects,
        why=why,
    )


def _ends(plan: Plan) -> tuple[list[dict[str, dict[str, specs.Ends]]], dict[str, int]]:
    """Return the distinct ends of judges' scores, and judge -> the position of its
    ends.
    """
    distinct, which = dict[str, dict[str, dict[str, specs.Ends]]](), dict[str, int]()
    for judge in [*plan.judges, *plan.derived]:
        names = [name for name in plan.evaluated if judge in plan.judges_of(name)]
        ends = {name: facts_of(plan, name, judge).ends for name in names}
        distinct.setdefault(canonical(ends), ends)
        which[judge] = list(distinct).index(canonical(ends))
    return list(distinct.values()), which


def explore(plan: Plan) -> specs.ExploreSpec:
    """Show every judgment next to its text."""
    names = [*plan.judges, *plan.derived]
    return specs.ExploreSpec(
        **computing("explore", *declarations()),
        study=plan.study.study,
        templates=_look_of("explore/*", "texts/style.css", "report/style.css"),
        datasets=[
            _explored(plan, name, cells)
            for name in plan.datasets
            if (cells := plan.cell_aspects_of(name))
        ],
        judges={
            name: f"made from {len(plan.derived[name].members)} judges"
            if name in plan.derived
            else f"{engine_of(plan, name)}, form {plan.judges[name].form}"
            for name in names
        },
        models={name: plan.model_of(name) for name in names},
        perturbations=_perturbation_cards(plan),
        output=plan.paths.report("explore.html"),
        shards=plan.paths.report("explore"),
        thresholded=[
            name
            for name in names
            if name in plan.judges and _thresholded(plan.judges[name])
        ],
    )


def _explored(
    plan: Plan, name: str, cells: Sequence[CellAspect]
) -> specs.ExploredDataset:
    """Return a dataset with its sets of texts, aspects and cells, each in the study's
    order.
    """
    card = plan.datasets[name]
    judged = {cell.perturbation for cell in cells}
    return specs.ExploredDataset(
        id=name,
        name=card.name,
        ratings=card.ratings,
        sets=[
            (each, _set_name(plan, each))
            for each in plan.target_sets(name)
            if each in judged
        ],
        aspects=[(each, _aspect_name(plan, each)) for each in plan.aspects_of(name)],
        cells=pack(cell[1:] for cell in cells),
        files=judged_files(plan, name),
        labels={
            aspect: (scale.labels, scale.ordered)
            for aspect in plan.aspects_of(name)
            if (scale := plan.scale_of(name, aspect)).categorical
        },
        turned=turned_sums(plan, name, plan.judges_of(name)),
    )


def _set_name(plan: Plan, perturbation: str) -> str:
    if perturbation in UNPERTURBED:
        return UNPERTURBED[perturbation]
    name, _, degree = perturbation.partition(".")
    card = plan.perturbations.get(
        name
    )  # None for texts that a model writes for a student
    title = card.name if card else perturbation
    return title if degree in {"", "single"} else f"{title}, {degree}"


def _aspect_name(plan: Plan, aspect: str) -> str:
    name, criterion = split(aspect)
    title = plan.aspects[name].name
    return f"{title}, criterion {criterion}" if criterion else title
