"""The plan of an asking job: its keys, its order, its counts, and how little it
holds.
"""

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from asking import AskedStudy, rate
from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject
from judgescope.engines.requests import Failure, Reply, Request, Work
from judgescope.engines.subject_files import subject_files
from judgescope.jobs import ask as ask_job
from judgescope.plan.asking_jobs import used_keys
from judgescope.plan.specs import judging
from judgescope.prompts import load, material, rated, unnamed
from judgescope.prompts.filling import PreparedForm, messages
from judgescope.replies import budget
from judgescope.replies.asking import complete
from judgescope.replies.judging import Questions
from judgescope.replies.ledger import FOLDER, Ledger
from judgescope.replies.lookup import KeyTable, StoredReplies
from judgescope.replies.probing import FIELDS, findings_path
from judgescope.replies.questions import QuestionPlan
from judgescope.replies.store import Store
from judgescope.schema.cards import Aspect, Judge, OpenAIModel, RatedAspect
from prompts_setup import SUMMARY, asked_about
from running import HOME
from scripted import Body, Endpoint, Said, prompt_of, refusal, serve
from waiting import patience

URL = "http://127.0.0.1:1/v1"
MODEL = OpenAIModel.model_validate({"model": "it", "engine": "openai", "base_url": URL})
SCALE = RatedAspect(min=1, max=5, step=1, labels=[])
FORMS = ("score-only", "rate-explain", "analyze-rate", "compare")


def aspect(name: str = "fluency") -> Aspect:
    return Aspect(aspect=name, name=name.capitalize(), definition="How well it reads.")


def subject(
    item: str, name: str, text: str, source: str | None = "A source."
) -> Subject:
    return Subject(f"{item}:{name}", item, name, "systems", text, source)


def cell(
    subjects: Sequence[Subject],
    about: str = "fluency",
    folder: Path | None = None,
    **keys: Any,
) -> Questions:
    judge = Judge.model_validate(
        {"judge": "j", "model": "it", "form": "score-only"} | keys
    )
    templates = load(judge.form, [folder or HOME / "config", HOME / "config"], where="")
    texts = asked_about(judge, subjects)
    return Questions(MODEL, judge, aspect(about), SCALE, texts, templates, 0, SUMMARY)


def plan(*cells: Questions) -> QuestionPlan:
    return QuestionPlan(
        {("systems", cell.judge.judge, cell.aspect.aspect): cell for cell in cells}
    )


def nothing(job: QuestionPlan, folder: Path) -> StoredReplies:
    return Store(folder, "it").find(job.key_table)


# --- keys ---

KNOWN = {
    "score-only": "25f3c9d2 5fc42147 2bea82f0",
    "rate-explain": "87182bdf 9bc1761b dd3ab403",
    "analyze-rate": "c77e6c23 82022df1 477bd861",
    "compare": "da152622 7bb73eb5 8c48a6aa 46cd17b4",
}
"""Keys, by their beginnings, under which replies lie in stores already."""


@pytest.mark.parametrize("form", FORMS)
def test_keys_are_those_of_every_store_there_is(form: str) -> None:
    extra = {"variant": "awq", "extra_body": {"b": 1, "a": {"é": 0.5}}}
    scale = SCALE.model_copy(update={"labels": ["bad", "poor", "fair", "good", "ü"]})
    texts = [
        subject("a", "x", "A text.\n"),
        subject("a", "y", ' Ünï\t"quoted" \u2028 {{ text }} ', None),
        subject("a", "z", "", "Another source.  "),
    ]
    asked = cell(texts, form=form, temperature=0.7, draws=3)
    asked = Questions(
        MODEL.model_copy(update=extra),
        *(asked.judge, asked.aspect, scale, asked.shown, asked.templates, 0, SUMMARY),
    )
    keys = plan(asked).keys
    assert " ".join(key.hex()[:8] for key in keys.tolist()) == KNOWN[form]
    assert [reply.key for reply in asked] == [key.hex() for key in keys.tolist()]


AWKWARD = [
    "",
    " ",
    "A text.",
    "\n ends \n",
    "{{ text }}",
    "{% if %}",
    "\0text\0",
    "é\u2028\U0001f600",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_filled_in_pieces_is_the_form_filled_at_once(form: str) -> None:
    templates = load(form, [HOME / "config"], where="")
    values = SUMMARY.names | rated(aspect(), SCALE)
    filled = PreparedForm(form, templates, values)
    for number, source in enumerate([None, *AWKWARD]):
        names = ("Article", "Fact")[: 1 + number % 2]
        parts = [SourcePart(name, source) for name in names] if source else []
        for text in AWKWARD:
            texts = {"source_plain": unnamed(parts), "text": text, "text_b": text[::-1]}
            shown = values | material(parts) | texts
            [message] = messages(form, templates, **shown)
            assert filled.fill(texts, parts).prompt == message["content"]
    assert filled.prints


LOOPS = [
    "{% for part in parts %}{{ part.name }}: {{ part.text }} {% endfor %}",
    "{% for it in parts %}{% if it.text %}{{ loop.index }} {{ it.text }}{% endif %}"
    "{% endfor %}{{ given }}",
    '{% set verb = "judge" %}{{ verb }} {% for part in parts %}{{ part.text }}'
    "{% endfor %}{{ text }}",
    "{% if parts %}{{ source }}{% else %}nothing{% endif %}{{ noun | upper }}",
]
"""Templates that only print the parts, or test them."""
CHANGING = [
    "{% for part in parts %}{{ part.text | upper }}{% endfor %}",
    "{% for part in parts %}{{ part }}{% endfor %}",
    "{% for part in parts if part.text %}{{ part.text }}{% endfor %}",
    "{% for name, text in parts %}{{ text }}{% endfor %}",
    "{% set one = parts %}{{ one }}",
    "{{ source ~ given }}",
]
"""Templates that change the texts of the parts."""


@pytest.mark.parametrize("template", [*LOOPS, *CHANGING])
def test_a_loop_that_only_prints_the_parts_is_unrolled(
    tmp_path: Path, template: str
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.jinja").write_text(template, encoding="utf-8")
    templates = load("mine", [tmp_path], where="")
    values = SUMMARY.names | rated(aspect(), SCALE)
    filled = PreparedForm("mine", templates, values)
    for given in (AWKWARD[2:3], AWKWARD[3:5], AWKWARD[5:], []):
        parts = [
            SourcePart(f"Part {number}", text) for number, text in enumerate(given)
        ]
        texts = {"source_plain": unnamed(parts), "text": "A text."}
        [message] = messages("mine", templates, **values | material(parts) | texts)
        assert filled.fill(texts, parts).prompt == message["content"]
    assert filled.prints == (template in LOOPS)


DOES_MORE = [
    "{{ text | upper }} {{ source_plain }}",
    "{{ text }}{% if text | length > 5 %} It is long.{% endif %} {{ source_plain }}",
    "{% set mine = text %}{{ mine }}",
    "{% for word in text.split() %}{{ loop.index }} {{ word }} {% endfor %}",
    "{% filter upper %}{{ text }}{% endfilter %}",
    "{% macro shout(it) %}{{ it }}!{% endmacro %}{{ shout(text) }}",
    '{% filter upper %}{% include "task.jinja" %}{% endfilter %}',
    "{{ text ~ source_plain }}",
    "{{ text[:3] }}",
    "{% if text == 'A text.' %}yes{% endif %}",
    "{{ self._TemplateReference__context.get('text') }}",
]


@pytest.mark.parametrize("template", DOES_MORE)
def test_a_form_that_changes_its_texts_is_filled_anew_for_each(
    tmp_path: Path, template: str
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.jinja").write_text(template, encoding="utf-8")
    templates = load("mine", [tmp_path, HOME / "config"], where="")
    values = SUMMARY.names | rated(aspect(), SCALE)
    filled = PreparedForm("mine", templates, values)
    for text in ("A text.", "short", "another text, and a longer one"):
        texts = {"source_plain": "A source.", "text": text}
        try:
            shown = values | material([]) | texts
            [expected] = messages("mine", templates, **shown)
        except UserError as error:
            with pytest.raises(UserError, match=re.escape(str(error))):
                filled.fill(texts)
            continue
        assert filled.fill(texts).prompt == expected["content"]
        assert filled.prints is False


def test_negation_and_choice_between_texts_are_printing(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    form = (
        "{% if not source and text %}none{% endif %}{{ source or text }} {{ text "
        "}}{{ text }}"
    )
    (tmp_path / "prompts" / "mine.jinja").write_text(form, encoding="utf-8")
    templates = load("mine", [tmp_path], where="")
    filled = PreparedForm("mine", templates, {})
    for source in (None, "", "A source."):
        texts = {"source": source, "text": "A text."}
        [message] = messages("mine", templates, **texts)
        assert filled.fill(texts).prompt == message["content"]
    assert filled.prints


# --- order ---

WORDS = ["alpha", "beta", "gamma", "delta"]


def subjects(seed: int = 7) -> list[Subject]:
    """Return 4 texts on each of 5 sources, in no order."""
    rng = random.Random(seed)
    sources = [" ".join(rng.choices(WORDS, k=30)) for _ in range(5)]
    made = [
        subject(f"i{item}", f"s{system}", " ".join(rng.choices(WORDS, k=9)), source)
        for item, source in enumerate(sources)
        for system in range(4)
    ]
    rng.shuffle(made)
    return made


def cells() -> list[Questions]:
    texts = subjects()
    return [
        cell(texts, about, form=form, judge=f"{form}-{about}")
        for form in FORMS
        for about in ("fluency", "coherence")
    ]


def order(job: QuestionPlan, folder: Path) -> list[Request]:
    return [each.request for each in job.work(nothing(job, folder))]


def shared(prompts: Sequence[str]) -> int:
    """Return the characters that prompts have in common with the one before."""

    def same(text: str, other: str) -> int:
        return sum(
            1
            for _ in takewhile(
                lambda two: two[0] == two[1], zip(text, other, strict=False)
            )
        )

    return sum(same(each, other) for each, other in pairwise(prompts))


def test_requests_with_a_common_beginning_lie_together(tmp_path: Path) -> None:
    """Sorting by the whole text shares as much as can be; so does this, without the
    texts.
    """
    prompts = [request.prompt for request in order(plan(*cells()), tmp_path)]
    assert shared(prompts) == shared(sorted(prompts))
    assert shared(prompts) > 1.3 * shared(
        [request.prompt for each in cells() for request in each]
    )


def test_the_order_does_not_depend_on_the_order_of_cells_or_texts(
    tmp_path: Path,
) -> None:
    keys = [reply.key for reply in order(plan(*cells()), tmp_path)]
    turned = [
        Questions(
            cell.model,
            cell.judge,
            cell.aspect,
            cell.scale,
            cell.shown[::-1],
            cell.templates,
            cell.seed,
            SUMMARY,
        )
        for cell in cells()[::-1]
    ]
    assert [reply.key for reply in order(plan(*turned), tmp_path)] == keys
    assert len(set(keys)) == len(keys) == 6 * 20 + 2 * 2 * 3 * 5


def test_a_prompt_is_written_out_when_its_turn_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = plan(*cells())
    result = nothing(job, tmp_path)
    written = []
    real = Questions.__getitem__

    def counted(self: Questions, number: int) -> Any:
        written.append(number)
        return real(self, number)

    monkeypatch.setattr(Questions, "__getitem__", counted)
    work = job.work(result)
    for count in (1, 2, 3):
        next(work)
        assert len(written) == count


def test_parts_are_neighbours_in_the_order_and_together_all_of_it(
    tmp_path: Path,
) -> None:
    job = plan(*cells(), cell(subjects()[:7], judge="several", draws=3))
    collected = [
        (request.request.key, request.draws)
        for request in job.work(nothing(job, tmp_path))
    ]
    for count in (1, 3, len(collected) + 2):
        parts = [job.part(number, count) for number in range(1, count + 1)]
        each = [list(job.work(Store(tmp_path, "it").find(part))) for part in parts]
        assert [
            (request.request.key, request.draws) for part in each for request in part
        ] == collected
        shares = [sum(map(work_of, part)) for part in each]
        dearest = max(work_of(entry) for part in each for entry in part)
        assert max(shares) - min(shares) <= 2 * dearest


def work_of(request: Work) -> int:
    """Return the characters read and, four tokens of a prompt each, tokens written."""
    tokens: int = request.request.asked["max_tokens"]
    return len(request.request.prompt) + len(request.draws) * tokens * 4 * 4


def test_short_prompts_and_long_ones_make_parts_of_the_same_work(
    tmp_path: Path,
) -> None:
    brief = cell(subjects(), judge="brief", max_tokens=1)
    texts = [subject(f"i{n}", "x", "A text.", f"{n} " * 2000) for n in range(20)]
    job = plan(brief, cell(texts, judge="long", form="rate-explain", max_tokens=100))
    parts = [job.part(number, 2) for number in (1, 2)]
    each = [list(job.work(Store(tmp_path, "it").find(part))) for part in parts]
    shares = [sum(map(work_of, part)) for part in each]
    assert min(shares) > 0.9 * max(shares)
    assert abs(len(each[0]) - len(each[1])) >= 10


# --- what is wanted, there, and missing ---


class Model:
    """Answers with the length of the prompt; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[int, ...]]] = []

    def __call__(
        self, missing: Iterable[Work], proven: bool, keep: Callable[[Reply], None]
    ) -> list[Failure]:
        for reply, draws in missing:
            self.asked.append((reply.key, draws))
            for draw in draws:
                keep(Reply(reply.key, draw, f"{len(reply.prompt)}.{draw}"))
        return []


def ask(job: QuestionPlan, folder: Path) -> tuple[Model, StoredReplies]:
    model = Model()
    with Store(folder, "it") as store:
        match = store.find(job.key_table)
        complete(match, job.work(match), store, model)
    return model, match


def test_only_what_is_missing_is_asked_and_all_rows_come(tmp_path: Path) -> None:
    texts = subjects()
    few = plan(cell(texts[:8], judge="few"))
    model, _ = ask(few, tmp_path)
    assert len(model.asked) == 8
    more = plan(cell(texts, judge="more", draws=2))
    model, result = ask(more, tmp_path)
    assert sorted(len(draws) for _, draws in model.asked) == [1] * 8 + [2] * 12
    [name] = more.cells
    rows = more.rows(name, result)
    assert [(row["target"], row["draw"]) for row in rows] == [
        (text.target, draw) for text in texts for draw in (0, 1)
    ]
    prompts = [cell.prompt for cell in more.cells[name]]
    assert [row["text"] for row in rows] == [
        f"{len(p)}.{d}" for p in prompts for d in (0, 1)
    ]


def test_equal_questions_are_asked_once_with_the_most_draws(tmp_path: Path) -> None:
    texts = subjects()
    job = plan(cell(texts, judge="one"), cell(texts, judge="three", draws=3))
    [first, *_] = job.work(nothing(job, tmp_path))
    assert (first.draws, first.request.draws) == ((0, 1, 2), 3)
    model, result = ask(job, tmp_path)
    assert len(model.asked) == 20 and job.key_table.slots == result.count == 60
    assert [len(job.rows(name, result)) for name in job.cells] == [20, 60]


def test_counts_tell_each_judge_and_shared_draws_once(tmp_path: Path) -> None:
    texts = subjects()
    ask(plan(cell(texts[:5])), tmp_path)
    job = plan(
        cell(texts, judge="one"),
        cell(texts, judge="same"),
        cell(texts, judge="wordy", form="rate-explain", draws=2),
    )
    each, same, wordy = job.counts(nothing(job, tmp_path))
    prompts = [cell.prompt for cell in job.cells["systems", "one", "fluency"]]
    assert each == ("one", 20, 15, 15, sum(map(len, prompts[5:])), 0)
    assert same == ("same", 0, 0, 0, 0, 20)
    assert wordy[:4] == ("wordy", 40, 40, 20)


def test_a_study_without_a_text_asks_nothing(tmp_path: Path) -> None:
    model, result = ask(plan(cell([])), tmp_path)
    assert model.asked == [] and result.count == 0
    assert plan().key_table.slots == 0


def test_places_among_wanted_keys_are_detected_whatever_bytes_a_key_has() -> None:
    """A key may end in zeros, and NumPy does not show those."""
    keys = ["00" * 32, "00" * 31 + "01", "ab" * 31 + "00", "ab" * 32, "ff" * 32]
    wanted = KeyTable.from_counts(dict.fromkeys(keys[1:], 2))
    looked = np.array([bytes.fromhex(key) for key in keys], "S32")
    assert wanted.indices(looked).tolist() == [-1, 0, 1, 2, 3]
    assert [wanted.index(key) for key in keys[1:]] == [0, 1, 2, 3]


def with_texts(study: AskedStudy, dataset: str, *systems: str) -> None:
    """Write a dataset of one item, with a text of each system."""
    item = {"dataset": dataset, "item": "i"}
    rows = [item | {"source": "s", "references": [], "meta": "{}"}]
    study.table("items", f"items/{dataset}", rows)
    fields = {
        "perturbation": "none",
        "degree": "",
        "step": 0,
        "status": "ok",
        "edits": [],
    }
    texts = [
        item
        | fields
        | {"target": f"i:{system}", "system": system, "text": f"A text of {system}."}
        for system in systems
    ]
    study.table("targets", f"targets/{dataset}/systems", texts)
    study.table("ratings", f"ratings/{dataset}", [])


def test_replies_of_a_fallback_are_used_until_a_finding_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that changed has no findings yet, and the replies are still those of
    the judge.
    """
    monkeypatch.chdir(tmp_path)
    study = AskedStudy(tmp_path, Endpoint(URL, rate))
    fields = {"model": "loop", "form": "score-only", "estimator": "logprob_mean"}
    study.card("judges", "terse", **fields, fallback={"draws": 3, "temperature": 1})
    study.card("judges", "strict", **fields, max_tokens=7)
    study.keys["judges"] = ["terse", "strict"]
    with_texts(study, "demo-dialogue", "a")

    def used() -> int:
        return sum(map(len, used_keys(study.plan(), require_texts=True).values()))

    assert used() == 2 + 1
    plan = study.plan()
    store, model = Store(Path(plan.study.store), "loop"), plan.models["loop"]
    assert isinstance(model, OpenAIModel)
    path = findings_path(store, model)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(dict.fromkeys(FIELDS, "honoured")), encoding="utf-8")
    assert used() == 2


@pytest.mark.heavy
@pytest.mark.parametrize("fails", [False, True])
def test_two_jobs_at_once_request_each_common_reply_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """If the one that asks fails, the other asks for what is still missing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(budget, "WAIT_SECONDS", 0.01)
    open_jobs = Ledger(tmp_path / "store" / FOLDER / "s")
    refused = list[str]()

    def slowly(body: Body) -> Said:
        while not ended and len(open_jobs.state().open) < 2:
            time.sleep(0.01)
        prompt = prompt_of(body)
        if fails and "of b." in prompt and not refused:
            refused.append(prompt)
            return refusal(401, "no such key")
        return rate(body)

    ended = list[BaseException | None]()

    def job(dataset: str) -> None:
        of_dataset = replace(
            spec,
            dataset=dataset,
            subjects=files[dataset],
            replies=str(tmp_path / dataset / "{}.parquet"),
            hashes="",
        )
        try:
            ask_job.run(
                of_dataset,
                **{"card": "config/models/loop.yaml", "store": str(tmp_path / "store")},
                budget=json.dumps({"study": "s", "caps": []}),
            )
            ended.append(None)
        except UserError as error:
            ended.append(error)

    with serve(slowly) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        with_texts(study, "demo-dialogue", "a", "b", "c")
        with_texts(study, "again", "b", "c", "d")
        spec = judging.ask(study.plan(), "demo-dialogue", "loop")
        paths = study.plan().paths
        files = {
            name: subject_files(paths, name, ["systems"])
            for name in ("demo-dialogue", "again")
        }
        threads = [
            threading.Thread(target=job, args=(name,))
            for name in ("demo-dialogue", "again")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(patience(30))
        asked = Counter(endpoint.prompts)
    assert len(ended) == 2 and sum(error is not None for error in ended) == fails
    assert {
        prompt: count - refused.count(prompt) for prompt, count in asked.items()
    } == (dict.fromkeys(asked, 1))
    assert len(asked) >= 3 if fails else len(asked) == 4
