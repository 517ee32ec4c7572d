"""A study's asking jobs, planned from the texts that are on disk."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from judgescope.core.cells import pack, unpack
from judgescope.core.errors import UserError
from judgescope.core.names import FilePrefix, slug
from judgescope.core.paths import located_folder
from judgescope.engines.factory import settled
from judgescope.engines.subjects import Subjects
from judgescope.plan.extending import before_judging
from judgescope.plan.generators import analysts, made_files, made_of
from judgescope.plan.specs.judging import ask
from judgescope.plan.specs.subjects import every_file, sample_file
from judgescope.plan.specs.texts import analyse
from judgescope.plan.study import Plan
from judgescope.replies.few_shot import AnalysisQuestion, questions
from judgescope.replies.journal import KEY, Keys
from judgescope.replies.probing import WITHOUT_LOGPROBS, read_findings
from judgescope.replies.questions import QuestionCell, QuestionPlan, plan_questions
from judgescope.replies.store import Store
from judgescope.schema.cards import AskedModel, OpenAIModel, ProbedModel
from judgescope.schema.tables import read_table


class StudyJob(NamedTuple):
    """The requests of a study to a model about a dataset.

    `later` counts the cells that wait for something that a model must write first, by
    its name.
    """

    dataset: str
    card: AskedModel
    job: QuestionPlan
    later: Mapping[str, int]


def jobs_of(plan: Plan, *, fallbacks: bool = False) -> Iterator[StudyJob]:
    """Yield the jobs of a study, each planned from those of its texts that exist.

    `fallbacks`: where no finding says whether a model returns log probabilities, also
    yield the job of the judges' fallbacks.
    """
    for dataset in plan.datasets:
        sets = plan.target_sets(dataset)
        sample = sample_file(plan, dataset)
        if sample is not None and not Path(sample).is_file():
            sets = []
        made = {
            name for name in sets if Path(plan.paths.targets(dataset, name)).is_file()
        }
        left = lacking(plan, dataset)
        unwritten = dict[str, str]()
        for writing_model, questions_of in left.items():
            unwritten |= dict.fromkeys(questions_of, writing_model)
        for name, card in plan.models.items():
            if not isinstance(card, AskedModel) or not plan.cell_aspects_of(
                dataset, name
            ):
                continue
            spec = ask(plan, dataset, name)
            cells = list[QuestionCell]()
            counts = Counter[str]()
            for cell in unpack(spec.cells):
                if cell[0] not in made:
                    counts[cell[0]] += 1
                elif cell[1] in unwritten:
                    counts[f"{FilePrefix.ANALYSES}{unwritten[cell[1]]}"] += 1
                else:
                    cells.append(cell)
            spec = replace(spec, cells=pack(cells))
            store = Store(Path(plan.study.store), card.served_name)
            model = settled(
                card, located_folder(spec.folder), Path(spec.data), spec.trained
            )
            findings = None
            if isinstance(model, ProbedModel):
                findings = read_findings(store, model)
            questions = plan_questions(spec, model, findings)
            yield StudyJob(dataset, model, questions, counts)
            tested = findings is not None and "logprobs" in findings
            if fallbacks and not tested and isinstance(model, ProbedModel):
                judges = {
                    name: card
                    for name, card in spec.judges.items()
                    if card.get("fallback")
                }
                cells = [cell for cell in cells if cell[1] in judges]
                spec = replace(spec, cells=pack(cells), judges=judges)
                questions = plan_questions(spec, model, WITHOUT_LOGPROBS)
                yield StudyJob(dataset, model, questions, counts)


def of_endpoints(plan: Plan) -> list[tuple[OpenAIModel, list[StudyJob]]]:
    """Return the models of a study that are behind an endpoint, each with its jobs."""
    by_endpoint: dict[str, tuple[OpenAIModel, list[StudyJob]]] = {}
    for job in jobs_of(plan):
        if isinstance(job.card, OpenAIModel):
            by_endpoint.setdefault(job.card.model, (job.card, []))[1].append(job)
    return list(by_endpoint.values())


def used_keys(plan: Plan, *, require_texts: bool) -> dict[str, Keys]:
    """Return the keys that a study uses, by shard: of its requests, its made texts and
    its drafts.

    `require_texts`: raises UserError if a text does not exist yet, because its requests
    are then unknown.
    """
    by_shard: dict[str, list[Keys]] = {}
    for study_job in jobs_of(plan, fallbacks=True):
        if require_texts and study_job.later:
            raise _unknown(plan, study_job.later)
        by_shard.setdefault(slug(study_job.card.served_name), []).append(
            study_job.job.keys
        )
    unmade = list[str]()
    for dataset in plan.datasets:
        for name in made_of(plan, dataset):
            if not Path(plan.paths.made(dataset, name)).is_file():
                unmade.append(f"{dataset}: {name}")
    for model in plan.models:
        needed = before_judging(plan, model)
        unmade += [path for path in needed if not Path(path).is_file()]
    if require_texts and unmade:
        raise _unknown(plan, unmade)
    for pattern, model in made_files(plan):
        keys = map(_keys, Path(plan.results).glob(f"made/{pattern}"))
        by_shard.setdefault(_shard(plan, model), []).extend(keys)
    if plan.study.drafter is not None and plan.study.drafter in plan.models:
        keys = map(_keys_of_draft, Path(plan.results).glob("drafts/*/*.yaml"))
        by_shard.setdefault(_shard(plan, plan.study.drafter), []).extend(keys)
    return {
        shard: np.unique(np.concatenate(keys))
        for shard, keys in by_shard.items()
        if keys
    }


def _unknown(plan: Plan, missing: Iterable[str]) -> UserError:
    return UserError(
        "some texts of this study do not exist yet, so the replies that it uses are "
        "unknown",
        where=f"study {plan.study.study}",
        got=", ".join(missing),
        todo="run the study first",
    )


def _shard(plan: Plan, model: str) -> str:
    return slug(getattr(plan.models[model], "served_name", model))


def _keys(path: Path) -> Keys:
    keys = read_table("answers", path, ["key"])["key"].to_pylist()
    return np.array([bytes.fromhex(key) for key in keys], KEY)


def _keys_of_draft(path: Path) -> Keys:
    """Return the keys in the comment above a draft."""
    keys = re.findall(
        r"^# +([0-9a-f]{64})$", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    return np.array([bytes.fromhex(key) for key in keys], KEY)


def lacking(plan: Plan, dataset: str) -> dict[str, dict[str, list[AnalysisQuestion]]]:
    """Return model -> judge -> the analyses of a dataset that do not exist yet."""
    missing: dict[str, dict[str, list[AnalysisQuestion]]] = {}
    for model, judges in analysts(plan, dataset).items():
        spec = analyse(plan, dataset, model)
        subjects = Subjects(every_file(plan, dataset), dataset, plan.study.seed)
        written = Path(spec.output).is_file()
        for judge in judges:
            unwritten = []
            for question in questions(spec, judge, subjects):
                if not written or question.target not in subjects.analyses(
                    judge, question.aspect, model
                ):
                    unwritten.append(question)
            if unwritten:
                missing.setdefault(model, {})[judge] = unwritten
    return missing
