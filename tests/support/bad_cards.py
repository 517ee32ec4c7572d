"""Cards that cannot be used: what is planted, and what the one error has to say."""

from typing import Any

from bad_study import BASE, FOLDER, Case

STUDY = "study.yaml"
DATASET, ASPECT = "config/datasets/mine.yaml", "config/aspects/clarity.yaml"
MODEL, RECORDED = "config/models/loop.yaml", "config/models/recall.yaml"
JUDGE, RECALLED = "config/judges/asked.yaml", "config/judges/recalled.yaml"
ENSEMBLE, FORM = "config/judges/both.yaml", "config/prompts/plain.jinja"
PERTURBATION = "config/perturbations/torn.yaml"


def scale(**keys: Any) -> dict[str, Any]:
    """Plant another scale of the data's only aspect."""
    return {DATASET: {"aspects": {"clarity": {"min": 1, "max": 5, "step": 1} | keys}}}


def columns(**keys: Any) -> dict[str, Any]:
    """Plant other columns of the data."""
    return {DATASET: {"columns": BASE[DATASET]["columns"] | keys}}


def rows(**keys: Any) -> dict[str, Any]:
    """Plant other columns of the recorded scores."""
    return {RECORDED: {"rows": BASE[RECORDED]["rows"] | keys}}


BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
NOT_YAML: list[Case] = [
    (
        "a number to base 60",
        {JUDGE: "judge: asked\nmodel: loop\nform: plain\nmax_tokens: 1:30\n"},
        ["asked.yaml:4, key max_tokens", "90", "1:30", "quotes"],
    ),
    (
        "a number to base 8",
        {MODEL: "model: loop\nengine: openai\nlimits:\n  concurrency: 010\n"},
        ["loop.yaml:4, key limits.concurrency", "8", "'010'", "quotes"],
    ),
    (
        "a number to base 60 in a list",
        {DATASET: "dataset: mine\nmissing:\n- x\n- 1:00\n"},
        ["mine.yaml:4, key missing.1", "base 60"],
    ),
    (
        "a number to base 60 as a key",
        {DATASET: "dataset: mine\nratings:\n  1:30: clock\n"},
        ["mine.yaml:3, key ratings.1:30", "90", "base 60", "quotes"],
    ),
    ("no study", {STUDY: None}, ["file not found", STUDY]),
    ("a folder for a study", {STUDY: FOLDER}, [STUDY, "folder"]),
    ("an empty study", {STUDY: ""}, ["a mapping", STUDY]),
    ("an empty card", {JUDGE: ""}, ["a mapping", "asked.yaml"]),
    ("a list for a card", {JUDGE: "- judge\n- asked\n"}, ["a mapping", "asked.yaml"]),
    ("a word for a card", {JUDGE: "asked\n"}, ["a mapping", "asked.yaml", "'asked'"]),
    (
        "a bracket that stays open",
        {JUDGE: "judge: [asked\n"},
        ["not YAML", "asked.yaml", "line 2"],
    ),
    (
        "a tab for blanks",
        {JUDGE: "judge: asked\nshots:\n\tn: 5\n"},
        ["not YAML", "'\\t'", "line 3"],
    ),
    (
        "a colon in a text",
        {ASPECT: "aspect: clarity\nname: Clarity: how clear\n"},
        ["line 2"],
    ),
    (
        "two documents",
        {JUDGE: "judge: asked\n---\nmodel: loop\n"},
        ["not YAML", "asked.yaml", "line 2"],
    ),
    (
        "a duplicate key",
        {JUDGE: "judge: asked\nmodel: a\nform: b\nmodel: loop\n"},
        ["duplicate key", "asked.yaml:4, key model", "lines 2 and 4"],
    ),
    (
        "a duplicate key within",
        {MODEL: "model: loop\nengine: openai\nlimits:\n  timeout: 1\n  timeout: 2\n"},
        ["duplicate key", "loop.yaml:5, key limits.timeout"],
    ),
    (
        "a duplicate key in the study",
        {STUDY: "study: bad\nseed: 1\nseed: 2\n"},
        ["duplicate key", "study.yaml:3, key seed"],
    ),
    (
        "latin-1",
        {ASPECT: "aspect: clarity\nname: Clarté\ndefinition: d\n".encode("latin-1")},
        ["UTF-8", "clarity.yaml:2", "xe9"],
    ),
    (
        "UTF-16",
        {ASPECT: "aspect: clarity\nname: C\ndefinition: d\n".encode("utf-16")},
        ["UTF-8", "clarity.yaml"],
    ),
    (
        "a NUL",
        {ASPECT: "aspect: clarity\nname: C\0\ndefinition: d\n"},
        ["not YAML", "clarity.yaml", "#x0000"],
    ),
    (
        "a Python object",
        {JUDGE: "judge: !!python/object/apply:os.getcwd []\n"},
        ["not YAML", "asked.yaml", "python/object"],
    ),
    (
        "a Python name",
        {JUDGE: "judge: !!python/name:os.system\n"},
        ["not YAML", "asked.yaml", "python/name"],
    ),
    (
        "a tag of nobody's",
        {JUDGE: "judge: !mine asked\n"},
        ["not YAML", "asked.yaml", "!mine"],
    ),
    (
        "an alias to nothing",
        {JUDGE: "judge: *nobody\n"},
        ["not YAML", "asked.yaml", "nobody"],
    ),
    ("a list for a key", {JUDGE: "? [judge, model]\n: asked\n"}, ["asked.yaml"]),
    ("a mapping for a key", {JUDGE: "{{judge: asked}: 1}\n"}, ["asked.yaml"]),
    (
        "a card within itself",
        {JUDGE: "&a\njudge: asked\nshots: *a\n"},
        ["asked.yaml", "contains itself"],
    ),
    ("a bomb of anchors", {JUDGE: BOMB}, ["asked.yaml", "expands to too many"]),
    ("a nest", {JUDGE: "judge: " + "[" * 5000}, ["asked.yaml", "nested too deeply"]),
    (
        "a card of 3 MB",
        {JUDGE: "judge: asked #" + "x" * 3_000_000},
        ["asked.yaml", "too large"],
    ),
    (
        "an impossible date",
        {ASPECT: "aspect: clarity\nname: 2020-13-45\ndefinition: d\n"},
        ["clarity.yaml"],
    ),
    ("a number for a key", {JUDGE: {1: 2}}, ["asked.yaml", "key 1"]),
    (
        "nothing for a key",
        {JUDGE: "judge: asked\nmodel: loop\nform: plain\n~: x\n"},
        ["asked.yaml"],
    ),
    (
        "no digits",
        {JUDGE: "judge: asked\nmodel: loop\nform: plain\ndraws: 0x\n"},
        ["asked.yaml:4, key draws", "'0x'"],
    ),
    (
        "an integer of 5000 digits",
        {JUDGE: "judge: asked\nmodel: loop\nform: plain\ndraws: " + "9" * 5000 + "\n"},
        ["asked.yaml"],
    ),
]
WORDS: list[Case] = [
    (
        "an unknown key",
        {JUDGE: {"modle": "loop"}},
        ["unknown key", "asked.yaml:4, key modle", "nearest: model"],
    ),
    (
        "an unknown key within",
        {MODEL: {"limits": {"concurency": 2}}},
        ["unknown key", "loop.yaml:5, key limits.concurency", "nearest: concurrency"],
    ),
    (
        "an unknown key of the study",
        {STUDY: {"jugdes": ["asked"]}},
        ["unknown key", "study.yaml", "nearest: judges"],
    ),
    (
        "an unknown key of columns",
        columns(txt="summary"),
        ["mine.yaml", "key columns.txt", "nearest: text"],
    ),
    (
        "an unknown key of a scale",
        scale(stepp=1),
        ["key aspects.clarity.stepp", "nearest: step"],
    ),
    (
        "an unknown key of rows",
        rows(scroes={"clarity": "score"}),
        ["recall.yaml", "key rows.scroes", "nearest: scores"],
    ),
    (
        "a parser for scores that are numbers",
        {RECALLED: {"parser": "score"}},
        ["judges/recalled.yaml, key parser", "got:     'score'", "leave `parser` out"],
    ),
    (
        "a model with the id that judges made from others have in paths",
        {
            "config/models/derived.yaml": BASE[RECORDED] | {"model": "derived"},
            RECALLED: {"model": "derived"},
        },
        ["models/derived.yaml, key model", "another id"],
    ),
    (
        "an unknown key of an ensemble",
        {ENSEMBLE: {"member": ["asked"]}},
        ["both.yaml", "key member", "nearest: members"],
    ),
    (
        "an unknown key of a degree",
        {PERTURBATION: {"degrees": {"minor": {"K": 1}}}},
        ["torn.yaml", "key degrees.minor.K", "unknown key"],
    ),
    (
        "a name of an attack as a degree",
        {PERTURBATION: {"degrees": {"attack": {"k": 1}}}},
        ["torn.yaml:6, key degrees", "that of attacks"],
    ),
    (
        "a required key",
        {JUDGE: {"model": None}},
        ["a judge needs either `model`", "asked.yaml"],
    ),
    (
        "a required key of a scale",
        scale(max=None) | {DATASET: {"aspects": {"clarity": {"min": 1}}}},
        ["max missing", "key aspects.clarity"],
    ),
    (
        "a required key of the study",
        {STUDY: {"methods": None}},
        ["a required key is missing", "study.yaml", "'methods'"],
    ),
    (
        "an unknown engine",
        {MODEL: {"engine": "openia"}},
        ["loop.yaml", "key engine", "'openia'", "nearest: openai"],
    ),
    ("no engine", {MODEL: {"engine": None}}, ["loop.yaml", "engine"]),
    (
        "a number for an engine",
        {MODEL: {"engine": 3}},
        ["loop.yaml", "key engine", "3", "openai"],
    ),
    (
        "an unknown format",
        {DATASET: {"format": "tables"}},
        ["mine.yaml:4, key format", "nearest: table"],
    ),
    (
        "an unknown method",
        {STUDY: {"methods": ["agreemnt"]}},
        ["study.yaml:", "key methods.0", "nearest: agreement"],
    ),
    (
        "an unknown estimator",
        {JUDGE: {"estimator": "median"}},
        [
            "asked.yaml:4, key estimator",
            "allowed: first, likelihood, logprob_mean, mean, mode, pmi",
        ],
    ),
    (
        "an unknown parser",
        {JUDGE: {"parser": "scor"}},
        ["asked.yaml:4, key parser", "nearest: score"],
    ),
    (
        "an unknown level",
        {PERTURBATION: {"level": "words"}},
        ["torn.yaml:3, key level", "nearest: word"],
    ),
    (
        "an unknown rule",
        {PERTURBATION: {"rule": "delete_word"}},
        ["torn.yaml:5, key rule", "nearest: delete_words"],
    ),
    (
        "`no` for a word",
        {JUDGE: "judge: asked\nmodel: loop\nform: no\n"},
        ["asked.yaml:3, key form", "must be text", "False"],
    ),
    (
        "`on` for a name",
        {ASPECT: "aspect: clarity\nname: on\ndefinition: d\n"},
        ["clarity.yaml:2, key name", "must be text", "True"],
    ),
    (
        "`yes` for an id",
        {JUDGE: "judge: yes\nmodel: loop\n"},
        ["asked.yaml:1, key judge", "must be text", "True"],
    ),
    (
        "a date for a name",
        {ASPECT: "aspect: clarity\nname: 2020-01-02\ndefinition: d\n"},
        ["clarity.yaml:2, key name", "must be text", "date"],
    ),
    (
        "a time for a variant",
        {MODEL: "model: loop\nengine: openai\nbase_url: http://h/v1\nvariant: 10:30\n"},
        ["loop.yaml:4, key variant", "'10:30'", "630", "base 60", "quotes"],
    ),
    (
        "a number for a revision",
        {MODEL: {"revision": 123}},
        ["loop.yaml:4, key revision", "must be text", "123"],
    ),
    (
        "a word for a number",
        {JUDGE: {"temperature": "warm"}},
        ["asked.yaml:4, key temperature", "number", "'warm'"],
    ),
    (
        "nothing for a name",
        {DATASET: {"name": {}}},
        ["mine.yaml:2, key name", "must be text"],
    ),
    (
        "`yes` for a share",
        {JUDGE: "judge: asked\nmodel: loop\nform: plain\nshare: yes\n"},
        ["asked.yaml:4, key share", "True"],
    ),
    (
        "`yes` for a number of edits",
        {PERTURBATION: {"degrees": {"minor": {"k": True}}}},
        ["torn.yaml", "key degrees.minor.k", "whole number"],
    ),
    (
        "`yes` for a number",
        {JUDGE: "judge: asked\nmodel: loop\nform: plain\ndraws: yes\n"},
        ["asked.yaml:4, key draws", "True"],
    ),
    ("a part for a count", {JUDGE: {"draws": 2.5}}, ["asked.yaml:4, key draws", "2.5"]),
    (
        "no draws",
        {JUDGE: {"draws": 0}},
        ["asked.yaml:4, key draws", "must be 1 or more"],
    ),
    ("a negative seed", {STUDY: {"seed": -1}}, ["study.yaml", "key seed", "-1"]),
    ("huge draws", {JUDGE: {"draws": 10**30}}, ["asked.yaml:4, key draws"]),
    (
        "more than all items",
        {JUDGE: {"share": 1.5}},
        ["asked.yaml:4, key share", "1.5"],
    ),
    (
        "NaN for a temperature",
        {JUDGE: {"temperature": float("nan")}},
        ["asked.yaml:4, key temperature", "nan"],
    ),
    (
        "infinite heat",
        {JUDGE: {"temperature": float("inf")}},
        ["asked.yaml:4, key temperature", "inf"],
    ),
    (
        "NaN for a limit",
        {STUDY: {"max_usd": float("nan")}},
        ["study.yaml", "key max_usd", "nan"],
    ),
    (
        "NaN for a price",
        {MODEL: {"price": {"input": float("nan"), "output": 1}}},
        ["loop.yaml", "key price.input", "nan"],
    ),
    (
        "infinite patience",
        {MODEL: {"limits": {"timeout": float("inf")}}},
        ["loop.yaml", "key limits.timeout", "inf"],
    ),
    (
        "a mapping for a list",
        {STUDY: {"judges": {"asked": 1}}},
        ["study.yaml", "key judges", "list"],
    ),
    (
        "a word for a list",
        {STUDY: {"datasets": "mine"}},
        ["study.yaml", "key datasets", "list", "'mine'"],
    ),
    (
        "a list for a mapping",
        {DATASET: {"aspects": ["clarity"]}},
        ["mine.yaml", "key aspects", "must be keys with values"],
    ),
    (
        "a list for a word",
        {JUDGE: {"form": ["plain"]}},
        ["asked.yaml", "key form", "must be text"],
    ),
    (
        "an empty list",
        {STUDY: {"judges": []}},
        ["study.yaml", "key judges", "length 1 or more"],
    ),
    (
        "a number in a list",
        {STUDY: {"aspects": [7]}},
        ["study.yaml", "key aspects.0", "must be text", "7"],
    ),
    (
        "a name twice",
        {STUDY: {"judges": ["asked", "asked"]}},
        ["study.yaml", "judges names asked twice"],
    ),
]
FORMS: list[Case] = [
    *(
        (f"a prompt {result}", {FORM: content}, ["prompts/plain.jinja", *words])
        for result, content, words in [
            (
                "that stays open",
                "Rate:\n{{ text",
                ["plain.jinja:2", "not a valid template"],
            ),
            (
                "with a block that stays open",
                "{% if text %}{{ text }}",
                ["not a valid template", "endif"],
            ),
            (
                "with an unknown tag",
                "{% rate %}{{ text }}",
                ["not a valid template", "rate"],
            ),
            (
                "with an unknown filter",
                "{{ text|loud }}",
                ["plain.jinja:1", "not a valid template", "loud"],
            ),
            (
                "with an unknown name",
                "{{ text }}{{ txt }}",
                ["cannot be rendered", "txt"],
            ),
            (
                "that does not show the text",
                "Rate it.",
                ["variable `text`", "{{ text }}"],
            ),
            ("that is empty", "", ["variable `text`"]),
            (
                "that divides by zero",
                "{{ text }}{{ 1 // 0 }}",
                ["cannot be rendered", "zero"],
            ),
            (
                "that calls what is none",
                "{{ text() }}",
                ["cannot be rendered", "callable"],
            ),
            (
                "that reaches for Python",
                "{{ text }}{{ text.__class__.__mro__ }}",
                ["cannot be rendered", "unsafe"],
            ),
            (
                "that includes itself",
                "{{ text }}{% include 'plain.jinja' %}",
                ["cannot be rendered", "recursion"],
            ),
            (
                "that extends itself",
                "{% extends 'plain.jinja' %}{{ text }}",
                ["cannot be rendered"],
            ),
            (
                "that counts without end",
                "{{ text }}{% for i in range(10**9) %}x{% endfor %}",
                ["cannot be rendered", "range"],
            ),
        ]
    ),
    (
        "a prompt that includes nothing",
        {FORM: "{{ text }}{% include 'plane.jinja' %}"},
        ["unknown prompt", "prompts/plain.jinja", "'plane'", "nearest: plain"],
    ),
    (
        "prompts that include each other",
        {
            FORM: "{{ text }}{% include 'other.jinja' %}",
            "config/prompts/other.jinja": "{% include 'plain.jinja' %}",
        },
        ["prompts/plain.jinja", "cannot be rendered", "recursion"],
    ),
    (
        "a prompt in latin-1",
        {FORM: "Clarté: {{ text }}".encode("latin-1")},
        ["prompts/plain.jinja, byte 5", "UTF-8"],
    ),
    (
        "a prompt of 5000 letters",
        {JUDGE: {"form": "x" * 5000}},
        ["unknown prompt", "judges/asked.yaml, key form"],
    ),
    (
        "a folder for a prompt",
        {FORM: FOLDER},
        ["unknown prompt", "judges/asked.yaml, key form", "'plain'"],
    ),
]
