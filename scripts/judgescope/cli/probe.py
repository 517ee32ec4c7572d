"""What the endpoints of a study do with fields of requests: `judgescope check --probe`.

A few small requests per model show what the cards need before a run; the lines that are
missing are printed, and written if the user asks for it.
"""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Final, get_args

from judgescope.cli.context import agrees, plan_of_study
from judgescope.cli.decision_probe import answered
from judgescope.core.cells import split
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.files import atomic_write
from judgescope.engines.factory import FILES_NAMED, settled
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.wire import field_line
from judgescope.engines.systemone import SystemOneEngine
from judgescope.plan.access import admit
from judgescope.plan.checks.study import caps_of
from judgescope.plan.study import Plan
from judgescope.replies.budget import Spending
from judgescope.replies.decision_questions import question_type
from judgescope.replies.pricing import nanodollars
from judgescope.replies.probing import (
    FIELDS,
    PROBE,
    Findings,
    able,
    tried_out,
    untested,
)
from judgescope.replies.store import Store
from judgescope.schema.cards import (
    FOLDERS,
    EndpointModel,
    Judge,
    OpenAIModel,
    QuestionType,
    SystemOneModel,
)
from judgescope.schema.edited import with_names

MOST: Final = 8
"""The maximum number of test requests per model."""
OWN_CARDS: Final = Path("config", FOLDERS["model"])
"""The folder of a user's model cards, below the working directory."""


def probe_study(study: Path | None, passed: Sequence[str], *, write: bool) -> int:
    """Probe the endpoints of a study's judges and print what the cards need; return 1
    if a judge cannot run.

    `write`: put the missing lines into the cards. Raises UserError, before anything is
    sent, if a key would cross to a foreign host.
    """
    plan = plan_of_study(study, passed)
    judges = _by_model(plan)
    if not judges:
        print("endpoint probe: no judge of this study asks an endpoint")
        return 0
    admit(plan, agrees, judges)
    cards = {name: _settled(plan, name) for name in judges}
    for name, card in cards.items():
        number = MOST
        if not isinstance(card, OpenAIModel):
            number = len(get_args(QuestionType))
        about = _about(card, number)
        print(f"probe of models/{name}.yaml: at most {number} requests to {about}")
    errors: list[UserError] = []
    for name, card in cards.items():
        try:
            if isinstance(card, SystemOneModel):
                _probe_decisions(plan, card, judges[name])
            else:
                errors += _probed(plan, card, judges[name], write=write)
        except UserErrors as several:
            errors += several.errors
        except UserError as error:
            errors.append(error)
    if errors:
        raise UserErrors(errors)
    return 0


def _by_model(plan: Plan) -> dict[str, list[Judge]]:
    """Return model behind an endpoint -> the judges that ask it."""
    judges: dict[str, list[Judge]] = {}
    for judge in plan.judges.values():
        if isinstance(plan.models[judge.model], OpenAIModel | SystemOneModel):
            judges.setdefault(judge.model, []).append(judge)
    return judges


def _settled(plan: Plan, model: str) -> OpenAIModel | SystemOneModel:
    folder = Path(plan.folders["model", model])
    card = settled(plan.models[model], folder, Path(plan.study.data))  # type: ignore[arg-type]
    assert isinstance(card, OpenAIModel | SystemOneModel)
    return card


def _about(card: EndpointModel, number: int) -> str:
    """Return the address, and the most that so many test requests cost."""
    if card.price is None:
        return f"{card.base_url}, price unknown"
    usage = {"prompt": 2 * len(PROBE.endless), "completion": PROBE.long_tokens}
    dollars = number * nanodollars(usage, card.price) / 1e9
    return f"{card.base_url}, at most {dollars:.5f} US$"


def _probed(
    plan: Plan, card: OpenAIModel, judges: Sequence[Judge], *, write: bool
) -> Iterator[UserError]:
    """Probe one endpoint and print the findings; yield the reasons why judges cannot
    run.
    """
    ledger = plan.study.ledger
    caps = caps_of(plan.study)
    store = Store(Path(plan.study.store), card.served_name)
    with store, Spending(store, ledger, card.model, card.price, caps) as budget:
        engine = OpenAIEngine(card, budget=budget)
        tried = tried_out(store, engine, judges, MOST)
    where = f"models/{card.model}.yaml"
    for line in _listed(tried.findings, judges):
        print(f"  {line}")
    if tried.refused:
        line = field_line(tried.names)
        print(f"  {where} needs: {line}")
        if write:
            _write_names(plan, card.model, dict(tried.names))
        else:
            yield engine.error(
                "the endpoint refuses fields that the card sends: "
                f"{', '.join(tried.refused)}",
                f"write `{line}` into the card, or let the command write it: add "
                "--write",
            )
    for judge in judges:
        try:
            able(judge, tried.findings)
        except UserError as error:
            yield error


def _probe_decisions(plan: Plan, card: SystemOneModel, judges: Sequence[Judge]) -> None:
    """Ask a decision model a test question of each type that its judges ask.

    Raises UserError for a model that cannot answer one.
    """
    kinds = set[QuestionType]()
    for judge in judges:
        for dataset in plan.shown(judge.judge):
            for aspect in plan.rated_by(judge.judge, dataset):
                judges_scale = judge.scale_on(split(aspect)[0])
                scale = judges_scale or plan.scale_of(dataset, aspect)
                pairs = plan.compares(judge.judge)
                kinds.add(question_type(judge, scale, pairs=pairs))
    store = Store(Path(plan.study.store), card.served_name)
    caps = caps_of(plan.study)
    ledger = plan.study.ledger
    with store, Spending(store, ledger, card.model, card.price, caps) as budget:
        engine = SystemOneEngine(card, budget=budget)
        for kind, came in answered(engine, kinds).items():
            print(f"  {kind:12} {came}")


def _listed(findings: Findings, judges: Sequence[Judge]) -> Iterator[str]:
    for field in FIELDS:
        if field in findings:
            yield f"{field:12} {findings[field]}"
    for field in sorted(untested(findings, judges)):
        yield f"{field:12} not tested: the limit of {MOST} requests is used up"


def _write_names(plan: Plan, model: str, names: dict[str, str | None]) -> None:
    """Write `field_names` into the user's card, or into a copy of a shipped one, and
    print the difference.
    """
    source = Path(plan.folders["model", model], f"{model}.yaml")
    target = OWN_CARDS / source.name
    copied = source.resolve() != target.resolve()
    before = source.read_text(encoding="utf-8")
    if copied:
        _check_copyable(plan.models[model], source)
    after = with_names(before, "field_names", names, str(source))
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as part:
        part.write_text(after, encoding="utf-8", newline="\n")
    if copied:
        print(f"written: {target}, a copy of the shipped card {source.name}")
    else:
        print(f"written: {target}")
    for line in unified_diff(
        before.splitlines(), after.splitlines(), str(source), str(target), lineterm=""
    ):
        print(line)


def _check_copyable(card: object, source: Path) -> None:
    """Raise UserError if a copy of a card would name other files."""
    for key in FILES_NAMED:
        value = getattr(card, key)
        if value and not Path(value).is_absolute() and not value.startswith("{data}"):
            raise UserError(
                "this card cannot be copied: it names a file relative to its folder",
                where=f"{source}, key {key}",
                got=value,
                allowed="an absolute path",
                todo=f"copy the card to {OWN_CARDS} and adjust the path",
            )
