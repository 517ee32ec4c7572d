"""Cards that do not go together, by their ids or their words: as in `bad_cards`."""

from bad_cards import (
    ASPECT,
    DATASET,
    ENSEMBLE,
    JUDGE,
    MODEL,
    PERTURBATION,
    RECALLED,
    STUDY,
    columns,
    rows,
    scale,
)
from bad_study import BASE, Case

IDS: list[Case] = [
    *(
        (
            f"an id {result}",
            {STUDY: {"judges": [ident]}},
            [
                "the wrong format",
                "study.yaml",
                "key judges.0",
                shown,
                "^[a-z0-9][a-z0-9_-]*$",
            ],
        )
        for result, ident, shown in [
            ("with a slash", "a/b", "'a/b'"),
            ("that climbs", "../../asked", "'../../asked'"),
            ("with a dot", "asked.v2", "'asked.v2'"),
            ("with a blank", "my judge", "'my judge'"),
            ("in capitals", "Asked", "'Asked'"),
            ("in Greek", "κριτής", "'κριτής'"),
            ("with a sign that is not seen", "as\u200bked", "200b"),
            ("with a new line", "asked\n", "asked"),
            ("with a NUL", "as\0ked", "x00"),
            ("that is empty", "", "''"),
            ("that begins like an option", "--asked", "'--asked'"),
        ]
    ),
    (
        "an id of 300 letters",
        {STUDY: {"judges": ["a" * 300]}},
        ["study.yaml", "key judges.0", "at most 80"],
    ),
    (
        "a study's id that climbs",
        {STUDY: {"study": "../up"}},
        ["study.yaml:1, key study", "'../up'"],
    ),
    (
        "an aspect's id of two words",
        {DATASET: {"aspects": {"Clear Text": {"min": 1, "max": 5}}}},
        ["mine.yaml", "key aspects.Clear Text", "the wrong format"],
    ),
    (
        "a card of another name",
        {JUDGE: {"judge": "axed"}},
        ["asked.yaml:1, key judge", "'axed'", "file name"],
    ),
    (
        "a judge that is called human",
        {
            STUDY: {"judges": ["human"]},
            "config/judges/human.yaml": "judge: human\nmodel: loop\nform: plain\n",
        },
        ["study.yaml", "key judges", "'human'"],
    ),
    (
        "a judge without a card",
        {STUDY: {"judges": ["akser"]}},
        ["unknown judge card", "study.yaml, key judges", "'akser'", "nearest: asked"],
    ),
    (
        "a dataset without a card",
        {STUDY: {"datasets": ["mina"]}},
        ["unknown dataset card", "study.yaml, key datasets", "nearest: mine"],
    ),
    (
        "a model without a card",
        {JUDGE: {"model": "lop"}},
        ["unknown model card", "judges/asked.yaml, key model", "nearest: loop"],
    ),
    (
        "an aspect without a card",
        scale()
        | {
            DATASET: {
                "aspects": {"clariti": {"min": 1, "max": 5}},
                "columns": BASE[DATASET]["columns"] | {"ratings": {"clariti": "ann"}},
            }
        },
        ["unknown aspect card", "datasets/mine.yaml, key aspects", "nearest: clarity"],
    ),
    (
        "a perturbation without a card",
        {STUDY: {"perturbations": ["thorn"]}},
        ["unknown perturbation card", "study.yaml, key perturbations", "nearest: torn"],
    ),
    (
        "a prompt without a file",
        {JUDGE: {"form": "plane"}},
        ["unknown prompt", "judges/asked.yaml, key form", "nearest: plain"],
    ),
    (
        "a prompt that climbs",
        {JUDGE: {"form": "../judges/asked"}},
        ["a file in prompts/", "../judges/asked", "judges/asked.yaml, key form"],
    ),
    (
        "weights without a card",
        {STUDY: {"weights": "mine"}},
        ["unknown weights card", "study.yaml, key weights"],
    ),
    (
        "a drafter without a card",
        {STUDY: {"drafter": "lop"}},
        ["unknown model card", "study.yaml, key drafter", "nearest: loop"],
    ),
    (
        "an aspect that nothing rates",
        {STUDY: {"aspects": ["clarty"]}},
        ["has this aspect", "study.yaml, key aspects", "nearest: clarity"],
    ),
    (
        "a wording that nobody has",
        {STUDY: {"criteria": ["terse"]}},
        ["study.yaml, key criteria", "'terse'"],
    ),
    (
        "expectations without a card",
        {STUDY: {"methods": ["confusion"], "confusion": {"expectations": "table-12"}}},
        [
            "unknown expectations card",
            "key confusion.expectations",
            "nearest: table-21",
        ],
    ),
    (
        "caps of a model without a card",
        {STUDY: {"caps": {"lop": {"max_usd": 1}}}},
        ["study.yaml, key caps", "nearest: loop"],
    ),
    (
        "judges to compare that are none",
        {STUDY: {"comparison": {"judges": ["axed"]}}},
        ["study.yaml, key comparison.judges", "nearest: asked"],
    ),
]
ACROSS: list[Case] = [
    (
        "a judge among its own members",
        {ENSEMBLE: {"members": ["both", "asked"]}},
        ["both.yaml, key members", "'both'", "allowed: asked"],
    ),
    (
        "two ensembles of each other",
        {
            ENSEMBLE: {"members": ["asked", "twice"]},
            STUDY: {"judges": ["asked", "both", "twice"]},
            "config/judges/twice.yaml": {
                "judge": "twice",
                "members": ["asked", "both"],
            },
        },
        ["both.yaml, key members", "'twice'"],
    ),
    (
        "an ensemble of one",
        {ENSEMBLE: {"members": ["asked"]}},
        ["both.yaml", "key members", "length 2 or more"],
    ),
    (
        "a member twice",
        {ENSEMBLE: {"members": ["asked", "asked"]}},
        ["both.yaml", "a member is named twice"],
    ),
    (
        "a member that is not in the study",
        {STUDY: {"judges": ["asked", "both"]}},
        ["both.yaml, key members", "'recalled'"],
    ),
    (
        "more annotators than members",
        {ENSEMBLE: {"min_annotators": 3}},
        ["both.yaml", "min_annotators"],
    ),
    (
        "a supervisor of nobody",
        {ENSEMBLE: {"combine": "supervisor"}},
        ["both.yaml", "supervisor"],
    ),
    (
        "a hint of its own",
        {JUDGE: {"hint": {"baseline": "asked"}}},
        ["asked.yaml, key hint.baseline", "'asked'"],
    ),
    (
        "an aspect above itself",
        {ASPECT: {"parent": "clarity"}},
        ["clarity.yaml, key parent", "clarity"],
    ),
    (
        "aspects above each other",
        {
            ASPECT: {"parent": "upper"},
            "config/aspects/upper.yaml": {
                "aspect": "upper",
                "name": "U",
                "definition": "d",
                "parent": "clarity",
            },
        },
        ["its own ancestor", "upper.yaml, key parent", "'clarity'"],
    ),
    (
        "a parent without a card",
        {ASPECT: {"parent": "readabilty"}},
        ["unknown aspect card", "clarity.yaml, key parent", "nearest: readability"],
    ),
    (
        "a generator that cannot write",
        {
            PERTURBATION: {
                "method": "llm",
                "rule": None,
                "form": "adjust",
                "model": "recall",
            }
        },
        ["torn.yaml, key model", "recall", "engine llama or openai or vllm"],
    ),
    (
        "a teacher that is taught",
        {
            STUDY: {
                "distill": {
                    "teacher": "asked",
                    "judge": "asked",
                    "datasets": ["demo-news"],
                }
            }
        },
        ["study.yaml", "key distill", "its own teacher"],
    ),
    (
        "learning from what it is judged by",
        {
            STUDY: {
                "distill": {"teacher": "both", "judge": "asked", "datasets": ["mine"]}
            }
        },
        ["study.yaml", "mine"],
    ),
    (
        "a scale upside down",
        scale(min=5, max=1),
        ["mine.yaml", "key aspects.clarity", "max (1.0) must be above min (5.0)"],
    ),
    (
        "a scale of one value",
        scale(min=1, max=1),
        ["key aspects.clarity", "must be above"],
    ),
    (
        "a scale that no step ends on",
        scale(step=3),
        ["key aspects.clarity", "a whole number of steps"],
    ),
    ("a scale of no steps", scale(step=0), ["key aspects.clarity.step", "more than 0"]),
    (
        "a scale without end",
        scale(max=float("inf")),
        ["key aspects.clarity.max", "finite", "inf"],
    ),
    (
        "a scale from NaN",
        scale(min=float("nan")),
        ["key aspects.clarity.min", "finite", "nan"],
    ),
    (
        "a scale of a thousand million values",
        scale(max=10**9 + 1),
        ["key aspects.clarity", "too many"],
    ),
    (
        "two labels that no reply tells apart",
        scale(labels=["bad", "so so", "fair", "So  so", "good"]),
        ["key aspects.clarity", "two values have the label 'So  so'"],
    ),
    (
        "labels that are too few",
        scale(labels=["bad", "good"]),
        ["key aspects.clarity", "2 labels for 5 values"],
    ),
    (
        "a judge on another scale",
        {JUDGE: {"scale": {"min": 0, "max": 7}}},
        ["asked.yaml, key scale", "0 to 7", "1 to 5"],
    ),
    (
        "a form that its engine lacks",
        {
            RECALLED: {"judge": "recalled"},
            STUDY: {"judges": ["asked", "lex"]},
            "config/judges/lex.yaml": {
                "judge": "lex",
                "model": "lexical",
                "form": "rogue1",
            },
            ENSEMBLE: {"members": ["asked", "lex"]},
        },
        ["lex.yaml, key form", "nearest: rouge1"],
    ),
    (
        "a method without perturbations",
        {STUDY: {"perturbations": None}},
        ["study.yaml", "discernment needs `perturbations`"],
    ),
    (
        "a perturbation without a method",
        {STUDY: {"methods": ["agreement"]}},
        ["study.yaml, key perturbations", "'torn'"],
    ),
    (
        "ensembles without one",
        {STUDY: {"judges": ["asked"]}},
        ["study.yaml, key judges", "method ensemble"],
    ),
    (
        "no edits",
        {PERTURBATION: {"degrees": {"minor": {"k": 0}}}},
        ["torn.yaml, key degrees.minor", "0"],
    ),
    (
        "all edits of a rule that counts",
        {PERTURBATION: {"degrees": {"minor": {"k": "all"}}}},
        ["torn.yaml, key degrees.minor", "'all'", "whole number"],
    ),
    (
        "a rule without its number",
        {PERTURBATION: {"degrees": {"minor": {}}}},
        ["torn.yaml, key degrees.minor", "value of k"],
    ),
    (
        "degrees of a dataset that there is not",
        {PERTURBATION: {"datasets": {"mina": {"minor": {"k": 1}}}}},
        ["torn.yaml, key datasets", "nearest: mine"],
    ),
    (
        "a rule of another level",
        {PERTURBATION: {"level": "sentence"}},
        ["torn.yaml, key level", "allowed: word"],
    ),
    (
        "a key in place of its name",
        {MODEL: {"api_key_env": "sk-not/a/name"}},
        ["loop.yaml:4, key api_key_env", "the wrong format"],
    ),
    (
        "a password in an address",
        {MODEL: {"base_url": "http://me:secret@host/v1"}},
        ["loop.yaml:3, key base_url", "may be a key or a password"],
    ),
    (
        "a key named twice",
        {MODEL: {"api_key_env": "HOME", "api_key_file": "../../keys/it"}},
        ["loop.yaml", "`api_key_env`, `api_key_file` and `token_command`"],
    ),
    (
        "a field that the cards fill",
        {MODEL: {"extra_body": {"temperature": 1}}},
        ["loop.yaml", "extra_body may not contain temperature"],
    ),
    (
        "a secret header",
        {MODEL: {"headers": {"Authorization": "x"}}},
        ["may be a key or a password", "loop.yaml:5, key headers.Authorization"],
    ),
    (
        "a hub's branch",
        {DATASET: {"files": {"hub": "a/b", "revision": "main", "file": "x.csv"}}},
        ["mine.yaml", "files.data.revision", "'main'", "commit"],
    ),
    (
        "a file on a hub without its hash",
        {DATASET: {"files": {"hub": "a/b", "revision": "0" * 40, "file": "x.csv"}}},
        ["mine.yaml", "add the sha256"],
    ),
    (
        "scores and replies",
        rows(reply="said"),
        ["recall.yaml", "key rows", "either a `reply` or `scores`"],
    ),
    (
        "rows that join in two ways",
        rows(text="summary"),
        ["recall.yaml", "key rows", "give one"],
    ),
    (
        "a table without columns",
        {DATASET: {"columns": None}},
        ["mine.yaml", "`columns` is required for the format table"],
    ),
    (
        "ratings of no aspect",
        columns(ratings={"clarrity": "ann"}),
        ["mine.yaml", "`ratings` names clarrity"],
    ),
    (
        "texts in no column",
        columns(text=None),
        ["mine.yaml", "key columns.text", "map `columns.text`"],
    ),
]
