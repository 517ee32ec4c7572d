"""What a job needs to know about a judge, from its card and the cards that it names."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.methods.base import JudgeFacts
from judgescope.plan.applicable import compares, replays, uses_references
from judgescope.plan.generators import analyses_of
from judgescope.plan.study import Plan
from judgescope.prompts import Spotlight, needed_names
from judgescope.schema.cards import (
    ORACLE,
    Analyses,
    Card,
    Judge,
    Model,
    PlantedModel,
    RatingScale,
    RecordedModel,
    Supervisor,
    SystemOneModel,
)
from judgescope.schema.cards.annotations import PARSER
from judgescope.schema.cards.engines import ENGINES

LIKELIHOOD = "likelihood"
"""The parser of texts whose probability is the score, which has no scale."""
DECISION = "decision"
"""The parser of decision models."""
COMPUTED = "errors"
"""The parser whose values are not on the grid, because they are computed from
errors."""


MembersScales = Sequence[RatingScale | None]
"""The scales of the members of a judge on an aspect; of a judge of its own, one."""


def card_hash(*cards: Card) -> str:
    """Return eight hex digits that change with any key of the cards that can change a
    number.
    """
    dumped = []
    for card in cards:
        dumped.append(card.model_dump(mode="json", exclude=card.keys_for("access")))
    return hashlib.sha256(canonical(dumped).encode()).hexdigest()[:8]


def prompt_hash(
    plan: Plan, dataset: str, *judges: Judge, supervisor: Supervisor | None = None
) -> str | None:
    """Return eight hex digits that change with any prompt of the judges; None: there is
    no prompt.

    A prompt depends on a form and its system message, on the wording of the dataset's
    aspects, and on what it calls its texts and the parts of their sources.
    """
    asking: list[Judge | Analyses | Supervisor] = []
    for judge in judges:
        if plan.is_prompted(judge.model):
            asking.append(judge)
    for judge in judges:
        analyses = analyses_of(plan, judge.judge)
        if analyses:
            asking.append(analyses)
    if supervisor:
        asking.append(supervisor)
    if not asking:
        return None
    aspects = []
    for name in plan.aspects_of(dataset):
        card = plan.aspect_of(dataset, name)
        aspects.append(card.model_dump(exclude={"parent", "criteria"}))
    parts: dict[str, object] = {
        "forms": [plan.templates_of(card.form, card.system) for card in asking],
        "aspects": aspects,
        "about": plan.about(dataset).names,
        "parts": part_names(plan, dataset),
    }
    if any(judge.spotlight for judge in judges):
        parts["spotlight"] = Spotlight("").preamble
    return hashlib.sha256(canonical(parts).encode()).hexdigest()[:8]


def part_names(plan: Plan, dataset: str) -> list[str]:
    """Return what determines the names of the parts of a dataset's sources: the names
    of its columns, or its format.
    """
    card = plan.datasets[dataset]
    only = plan.words(dataset).part
    if card.columns:
        return card.columns.part_names(only)
    return [card.format, only]


def engine_of(plan: Plan, judge: str) -> str:
    """Return the engine that answers for a judge."""
    if judge in plan.derived:
        return "derived"
    return str(plan.models[plan.judges[judge].model].engine)


def parser_of(plan: Plan, judge: str) -> str:
    """Return the judge's parser: its card's, else `score` for replies and `number` for
    values; `pattern` or `path` if the card has the key `read`.
    """
    card = plan.judges[judge]
    model = plan.models[card.model]
    if card.annotates:
        return PARSER
    if card.scores_texts:
        return LIKELIHOOD
    if isinstance(model, SystemOneModel):
        return DECISION
    if card.parser is not None:
        return card.parser
    if card.read is not None:
        if card.read.pattern:
            return "pattern"
        return "path"
    if compares(card, model, plan.templates):
        return "choice"
    engine = ENGINES[model.engine]
    if engine.parser:
        return engine.parser
    if engine.reads_prompts or replays(model):
        return "score"
    return "number"


def shares_score(plan: Plan, judge: Judge) -> bool:
    """Return whether a judge gives a text the same score for every aspect, because its
    prompt names none.
    """
    if not judge.scores_texts:
        return False
    return not needed_names(plan.templates[judge.form]) & {"aspect", "scale"}


def annotators(plan: Plan) -> list[str]:
    """Return the judges whose judgments list errors, and ensembles of such judges."""
    return [name for name in (*plan.judges, *plan.derived) if plan.annotates(name)]


def confidence_of(plan: Plan, judge: str) -> str:
    """Return where a judge's confidence in its verdicts comes from, "" if nowhere.

    logprobs or stated: in its replies; draws: how many of them are equal; column,
    decision or planted: from its engine.
    """
    if judge in plan.derived:
        return ""
    card = plan.judges[judge]
    if card.confidence is not None:
        if card.confidence == "none":
            return ""
        return card.confidence
    if card.estimator == "logprob_mean":
        return "logprobs"
    model = plan.models[card.model]
    if isinstance(model, SystemOneModel):
        return "decision"
    if isinstance(model, RecordedModel) and model.rows.confidence:
        return "column"
    if isinstance(model, PlantedModel) and model.is_sure:
        return "planted"
    return ""


def replied_confidence(plan: Plan, judge: str) -> Literal["", "logprobs", "stated"]:
    """Return where the replies of a judge have its confidence, "" if nowhere."""
    source = confidence_of(plan, judge)
    if source == "logprobs":
        return "logprobs"
    return "stated" if source == "stated" else ""


def confident_judges(plan: Plan) -> list[str]:
    """Return the judges whose judgments have a confidence; draws have none singly."""
    return [
        name for name in plan.judges if confidence_of(plan, name) not in ("", "draws")
    ]


def settings_of(plan: Plan, judge: str) -> dict[str, float | str | dict[str, str]]:
    """Return the settings of the judge's parser."""
    card = plan.judges[judge]
    parser = parser_of(plan, judge)
    settings: dict[str, float | str | dict[str, str]] = {}
    if parser == DECISION and card.threshold is not None:
        settings["expected"] = 1.0
    if parser == COMPUTED:
        settings |= card.severities.model_dump()
    elif card.read is not None:
        settings[parser] = card.read.pattern or card.read.path
        if card.read.map:
            settings["mapped"] = card.read.words
    if card.tie and (parser == "choice" or _reads_choices(plan, card)):
        settings["tie"] = card.tie
    return settings


def _reads_choices(plan: Plan, card: Judge) -> bool:
    """Return whether the card says how to read a judge's choices between two texts."""
    return card.read is not None and plan.compares(card.judge)


def scale_of(
    plan: Plan, dataset: str, judge: str, aspect: str, perturbation: str = ""
) -> RatingScale | None:
    """Return the scale on which a judge's replies are read; None: any number.

    The oracle uses the classes of graded sets; for chains it has more values than
    these.
    """
    card = plan.judges[judge]
    own_scale = card.own_scale_on(split(aspect)[0])
    rated = own_scale or plan.scale_of(dataset, aspect)
    continuous = RatingScale(min=rated.min, max=rated.max, step=None, labels=[])
    parser = parser_of(plan, judge)
    if parser == LIKELIHOOD:
        return None
    if parser == COMPUTED:
        return continuous
    if own_scale is not None:
        return own_scale
    engine = engine_of(plan, judge)
    if engine == "lexical":
        if card.form == "rules":
            return continuous
        return None
    # Control forms whose values are not on the aspect's grid.
    continuous_forms = {"length", "shuffled"}
    if engine == "control":
        grid = None if card.form == "length" else continuous
        between = card.form == ORACLE and plan.kind_of(perturbation) == "chain"
        dealt = card.form == "shuffled" and rated.categorical
        if (card.form in continuous_forms and not dealt) or between:
            return grid
        return rated
    if engine == "planted" and parser != "choice":
        # A copy of people's mean lies between the steps of their scale.
        model = plan.models[card.model]
        assert isinstance(model, PlantedModel)
        copy = model.defect == "copy" and not rated.categorical
        return continuous if copy else rated
    if _reads_choices(plan, card) or (parser == DECISION and plan.compares(judge)):
        return None
    labelled = rated.categorical and card.threshold is None
    # Parsers of values that need not be on people's scale.
    any_value = {"number", "returned", "choice"}
    if parser not in any_value or labelled:
        return rated
    return None


def turned(plan: Plan, dataset: str, judge: str) -> dict[str, float]:
    """Return aspect -> min + max, from which scores are subtracted, if the lowest is
    best.

    For measures and for scores made from errors, higher is always better; all other
    scores are on the judge's own scale, or else on people's. Raises UserError for a
    derived judge with both kinds.
    """
    if judge in plan.derived:
        members = plan.derived[judge].members
        of_members = [turned(plan, dataset, name) for name in members]
        if any(of_member != of_members[0] for of_member in of_members):
            raise UserError(
                "some members of this judge have a scale whose lowest value is best, "
                "others not",
                where=f"judges/{judge}.yaml, key members",
                got=", ".join(members),
                todo="name members that use the same scale",
            )
        return of_members[0]
    card = plan.judges[judge]
    if engine_of(plan, judge) == "lexical" or card.form == "length":
        return {}
    if parser_of(plan, judge) in (COMPUTED, LIKELIHOOD):
        return {}
    turns = {}
    for name in plan.aspects_of(dataset):
        scale = card.own_scale_on(split(name)[0]) or plan.scale_of(dataset, name)
        if scale.turn is not None:
            turns[name] = scale.turn
    return turns


def _is_expectation(
    plan: Plan, card: Judge, scales: Mapping[str, MembersScales]
) -> bool:
    """Return whether a judge's scores are means over the probabilities of a decision:
    on scales of numbers, and of labels with a threshold.
    """
    if parser_of(plan, card.judge) != DECISION:
        return False
    numbers = []
    for [scale] in scales.values():
        if scale and not scale.categorical:
            numbers.append(scale)
    return card.threshold is not None or bool(numbers)


def prompt_aspects(plan: Plan, dataset: str) -> dict[str, dict[str, object]]:
    """Return aspect -> what prompts can show about it."""
    cards = {}
    for name in plan.aspects_of(dataset):
        cards[name] = plan.aspect_of(dataset, name)
    return {
        name: card.model_dump(include=card.keys_for("asking"))
        for name, card in cards.items()
    }


def rating_scales(plan: Plan, dataset: str) -> dict[str, dict[str, object]]:
    """Return aspect -> how people rated it, and what they saw."""
    names = plan.aspects_of(dataset)
    return {
        name: plan.scale_of(dataset, name).model_dump(mode="json") for name in names
    }


def _shared_ends(scales: list[RatingScale | None]) -> tuple[float, float] | None:
    ends = {(scale.min, scale.max) if scale else None for scale in scales}
    if len(ends) == 1:
        return ends.pop()
    return None


def voted_labels(plan: Plan, dataset: str, judge: str, aspect: str) -> list[str]:
    """Return the labels among which all members of a derived judge choose; empty for
    numbers.
    """
    scales = []
    for name in plan.derived[judge].members:
        scales.append(scale_of(plan, dataset, name, aspect))
    labels = [scale.labels if scale and scale.categorical else [] for scale in scales]
    if all(labels):
        return labels[0]
    return []


def _models(plan: Plan, judge: Judge) -> list[Model]:
    """Return the model of a judge, and the model whose analyses its prompts show."""
    models = [plan.models[judge.model]]
    analyses = analyses_of(plan, judge.judge)
    if analyses:
        models.append(plan.models[analyses.model])
    return models


def _cuts(judge: Judge) -> str:
    """Return how a judge's card shortens the parts of sources, in words."""
    return ", ".join(
        f"{name} to {limit.characters:,} characters ({limit.keep})"
        for name, limit in judge.cut_parts.items()
    )


def _threshold(judge: Judge) -> float | Literal["best"] | None:
    """Return the threshold for a judge's scores as used, reversed if lower is
    better.
    """
    turn = next((scale.turn for scale in judge.scales if scale.turn is not None), None)
    if turn is None or not isinstance(judge.threshold, float):
        return judge.threshold
    return turn - judge.threshold


def facts_of(plan: Plan, dataset: str, judge: str) -> JudgeFacts:
    """Return what statistics need to know about a judge; for a derived judge, from its
    members.
    """
    derived = plan.derived.get(judge)
    supervisor = derived.supervisor if derived else None
    members = []
    for name in derived.members if derived else [judge]:
        members.append(plan.judges[name])
    cards: list[Card] = [derived] if derived else []
    cards += members
    for member in members:
        cards += _models(plan, member)
    if supervisor:
        cards.append(plan.models[supervisor.model])
    scales = {}
    for aspect in plan.aspects_of(dataset):
        scales[aspect] = [
            scale_of(plan, dataset, member.judge, aspect) for member in members
        ]
    hints = [member.hint.rating for member in members if member.hint]
    facts = JudgeFacts(
        card=card_hash(*cards),
        engine=engine_of(plan, judge),
        form=derived.combine if derived else members[0].form,
        draws=1,
        share=min(member.share for member in members),
        cuts=", ".join(sorted({_cuts(member) for member in members} - {""})),
        prompt=prompt_hash(plan, dataset, *members, supervisor=supervisor),
        references=any(map(uses_references, members)),
        family=None,
        grid=dict.fromkeys(scales),
        ends={aspect: _shared_ends(each) for aspect, each in scales.items()},
        weighted=False,
        first_draw=False,
        discrete=False,
        hint=hints[0] if hints else None,
    )
    if derived:
        return replace(facts, grid=_voted_grid(plan, dataset, judge, scales))
    return _facts_of_one(plan, facts, members[0], scales)


def _voted_grid(
    plan: Plan, dataset: str, judge: str, scales: Mapping[str, MembersScales]
) -> dict[str, list[float] | None]:
    """Return aspect -> the values of its labels if members vote, else None."""
    grid: dict[str, list[float] | None] = dict.fromkeys(scales)
    for aspect, [scale, *_] in scales.items():
        if scale and voted_labels(plan, dataset, judge, aspect):
            grid[aspect] = scale.values()
    return grid


def _facts_of_one(
    plan: Plan, facts: JudgeFacts, card: Judge, scales: Mapping[str, MembersScales]
) -> JudgeFacts:
    """Return the facts with those that only a judge of its own has."""
    grid: dict[str, list[float] | None] = dict.fromkeys(scales)
    for aspect, [scale] in scales.items():
        if scale and card.off_grid != "keep":
            grid[aspect] = scale.values()
    weighted = card.estimator == "logprob_mean" or _is_expectation(plan, card, scales)
    one_draw = card.draws == 1 and card.estimator == "mean" and not weighted
    return replace(
        facts,
        draws=card.draws,
        asked=plan.is_asked(card.model),
        compares=plan.compares(card.judge),
        confidence=confidence_of(plan, card.judge),
        parser=parser_of(plan, card.judge),
        temperature=card.temperature if plan.samples(card.model) else None,
        grid=grid,
        family=card.family or getattr(plan.models[card.model], "family", None),
        weighted=weighted,
        threshold=_threshold(card),
        first_draw=card.estimator == "first",
        discrete=card.estimator in {"mode", "first"} or one_draw,
    )
