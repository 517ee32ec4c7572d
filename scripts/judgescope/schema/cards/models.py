"""Cards of models: whatever answers for a judge."""

import re
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from judgescope.schema.cards.base import (
    Access,
    Asking,
    Card,
    FilePaths,
    Hashes,
    JsonFields,
    Price,
    Slug,
    same,
)


class ModelCard(Card):
    """A model: whatever answers for a judge."""

    model: Asking[Slug]
    """The id, equal to the file's name."""
    engine: Asking[str]
    """The engine that answers."""

    @property
    def unsent(self) -> set[str]:
        """Return the decoding fields that are not sent to the model."""
        return set()


class LexicalModel(ModelCard):
    """A scorer that computes: no request, no price."""

    engine: Literal["lexical"]


class ControlModel(ModelCard):
    """A control: a judge that ignores the text's quality."""

    engine: Literal["control"]


PlantedDefectName = Literal[
    "none",
    "copy",
    "noisy",
    "first-position",
    "longer",
    "shorter",
    "middling",
    "longer-only",
    "shorter-only",
    "middling-only",
    "own-family",
    "halo",
    "random",
    "source-only",
    "author-only",
    "broken-system",
    "dead",
    "always-pass",
    "always-fail",
    "over-confident",
    "under-confident",
]
SURE_DEFECTS: Final = ("over-confident", "under-confident")
"""The defects of a planted judge that says how sure it is."""


class PlantedModel(ModelCard):
    """A planted judge: simulated, with one known defect. For tests of what a study
    finds.
    """

    engine: Literal["planted"]
    defect: PlantedDefectName
    """The defect; docs/guide/planted.md describes each. none: it rates as one more
    rater does."""
    strength: float | None = Field(None, ge=0)
    """The strength of the defect, in the unit of the defect (docs/guide/planted.md);
    default: the strength at which the defect must be found."""
    systems: list[str] = Field([])
    """The systems that the defect concerns: the judge's own family, or the broken
    system."""
    family: Slug | None = None
    """The model's family, for the statistic self_preference."""
    files: FilePaths = Field({})
    """A CSV file with the quality of the texts, in points above or below the middle of
    a scale of five: columns item, system and one of each aspect. {dataset} in its name
    stands for the dataset's id. Default: people's mean ratings; needed for judges that
    compare."""
    sha256: Hashes = Field({})
    """The sha256 of the file."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.is_sure and not self.files:
            raise ValueError(
                f"the defect {self.defect} needs to know the quality of texts: name "
                "a CSV file under `files`"
            )
        needed = self.defect in ("own-family", "broken-system")
        if needed != bool(self.systems):
            verb = "needs" if needed else "does not use"
            raise ValueError(f"the defect {self.defect} {verb} `systems`")
        return self

    @property
    def is_sure(self) -> bool:
        """Return whether the judge says how sure it is of its verdicts."""
        return self.defect in SURE_DEFECTS


MOST_CONCURRENT = 4096
"""The most concurrent requests that a card may allow."""


class Limits(Card):
    """How requests are sent to an endpoint; none of these keys changes a reply."""

    concurrency: int = Field(16, ge=1, le=MOST_CONCURRENT)
    """Maximum number of concurrent requests at the endpoint, for all jobs on one
    machine together; halved when the endpoint refuses some (429), then raised
    slowly."""
    requests_per_minute: float | None = Field(None, gt=0)
    """Maximum number of requests per minute, for each job."""
    tokens_per_minute: float | None = Field(None, gt=0)
    """Maximum number of tokens per minute, in prompts and replies, for each job."""
    draws_per_request: int | None = Field(None, ge=1)
    """Maximum number of draws in one request (`n`); default: as many as the endpoint
    returns."""
    attempts: int = Field(6, ge=1)
    """Maximum number of attempts, if a request fails for a transient reason other than
    429."""
    timeout: float = Field(300, gt=0)
    """Seconds until an unanswered attempt fails."""
    backoff: float = Field(1, gt=0)
    """Maximum wait before the second attempt, in seconds; doubled each time, up to 60.
    The wait is drawn from 0 to this value, after 429 from half of it."""
    patience: float = Field(1800, gt=0)
    """Maximum seconds for one request, including its waits and attempts."""
    max_consecutive_failures: int = Field(50, ge=1)
    """Number of consecutive failures with the same status and type of error after which
    the job ends."""
    give_up_after: int | None = Field(3, ge=1)
    """Number of runs without an answer to a request, while the endpoint answers others,
    after which the request counts as an error; null: never."""


FOLDER = r"^(\{data\}/)?[^{}]+$"
WEIGHTS = "data"
"""The role of a card's single file."""
PACKAGE = "package:"
"""The prefix of the path of a file in an installed package: `package:<name>/<file>`."""


class SystemRole(Card):
    """How a model that reads prompts gets a system message."""

    system_role: Asking[Literal["system", "developer", "user"]] = Field(
        "system", exclude_if=same("system")
    )
    """The role of a judge's system message (key `system`): `user` puts it at the head
    of the prompt, for models and chat templates that refuse a system message."""


class BaseAskedModel(ModelCard):
    """The keys of all models that are asked: their replies are kept in the reply
    store.
    """

    family: Slug | None = None
    """The model's family; models of one family may favour each other."""
    parts: Access[int] = Field(1, ge=1, le=1000)
    """Number of jobs that share the requests to this model for a dataset, each with its
    own journal: for several GPUs or nodes. No reply depends on it."""


class AddOnModel(BaseAskedModel, SystemRole):
    """The keys of a model that an engine of another package asks.

    The engine's card is a class of its own, which adds keys to these.
    """

    name: Asking[str]
    """The name by which the engine knows the model."""
    price: Access[Price | None] = None
    """The price of its tokens; default: unknown."""
    limits: Access[Limits] = Limits()
    """Limits on requests."""
    files: ClassVar[dict[str, str]] = {}
    sha256: ClassVar[dict[str, str]] = {}

    @property
    def served_name(self) -> str:
        """Return the name under which replies are stored."""
        return self.name

    def identity(self) -> dict[str, Any]:
        """Return what of the card changes a reply: the part of it in every request's
        key.
        """
        keys = self.keys_for("asking") - {"model", "name"}
        return {"model": self.name, **self.model_dump(mode="json", include=keys)}


@dataclass(frozen=True)
class RequestNames:
    """Names of fields and headers that a card of an endpoint may not set freely."""

    reserved: frozenset[str] = frozenset(
        (
            "model",
            "messages",
            "temperature",
            "top_p",
            "max_tokens",
            "max_completion_tokens",
            "seed",
            "n",
            "stream",
            "logprobs",
            "top_logprobs",
            "structured_outputs",
            "response_format",
        )
    )
    """Fields of a request that cards set, or that would change the kind of reply."""
    spelled: tuple[str, ...] = ("max_tokens", "temperature", "top_p", "seed", "n")
    """Fields that an endpoint may name otherwise."""
    framing: frozenset[str] = frozenset(
        (
            "host",
            "content-length",
            "transfer-encoding",
            "content-encoding",
            "connection",
            "expect",
        )
    )
    """Headers on which reading the message depends: the HTTP client sets them."""
    secret_headers: frozenset[str] = frozenset(
        ("authorization", "api-key", "x-api-key", "cookie", "proxy-authorization")
    )
    """Headers that carry keys, which no card holds."""


REQUEST_NAMES = RequestNames()


BINDING = "2026.10.11549"
"""The version of xllamacpp, whose interface changes from one to the next
(envs/llama.txt)."""


class LlamaModel(BaseAskedModel, SystemRole):
    """A GGUF file that the job itself serves with llama.cpp on this machine."""

    engine: Asking[Literal["llama"]]
    package: str | None = Field(None, pattern=r"^[A-Za-z0-9][\w.-]*$")
    """The installed Python package that contains the weights; it is not imported."""
    file: str | None = Field(None, pattern=r"^[^{}/]+$")
    """The name of the GGUF file in the package."""
    path: str | None = Field(None, pattern=FOLDER)
    """The GGUF file, in place of `package` and `file`: relative to the card's folder,
    absolute, or from `{data}/`."""
    sha256: Asking[Hashes] = Field({})
    """The sha256 of the file; default: computed and not compared."""
    context: int = Field(2048, ge=256)
    """Maximum number of tokens of prompt and reply together; a longer prompt is
    refused. Memory grows with it."""
    threads: Asking[int] = Field(1, ge=1)
    """Number of threads; log probabilities differ slightly between numbers."""
    cache: Asking[bool] = False
    """Whether the server caches the previous prompt: about twice as fast if prompts
    begin alike, but log probabilities then depend slightly on the order of requests."""
    extra_body: Asking[JsonFields] = Field({})
    """Further fields of every request, such as `grammar` (llama.cpp's notation), which
    restricts what the model may reply."""
    probe: Access[bool] = True
    """Whether to test with a few small requests, before the first request of a study,
    which fields the server honours."""
    timeout: Access[float] = Field(3600, gt=0)
    """Seconds until an unanswered request fails."""

    @model_validator(mode="after")
    def _one_file(self) -> Self:
        if (self.package is None) != (self.file is None) or (self.path is None) == (
            self.package is None
        ):
            raise ValueError(
                "name the GGUF file: either by `path`, or by `package` and `file`"
            )
        if set(self.sha256) - {WEIGHTS}:
            raise ValueError("sha256 is one hash: that of the GGUF file")
        set_elsewhere = REQUEST_NAMES.reserved | {"cache_prompt"}
        if taken := sorted(set(self.extra_body) & set_elsewhere):
            raise ValueError(
                f"extra_body may not contain {', '.join(taken)}: other keys set it"
            )
        return self

    @property
    def files(self) -> dict[str, str]:
        """Return the role and the path of the weights."""
        return {WEIGHTS: self.path or f"{PACKAGE}{self.package}/{self.file}"}

    @property
    def served_name(self) -> str:
        """Return the name of the weights: the file's, without its suffix."""
        return (self.file or str(self.path)).rpartition("/")[2].removesuffix(".gguf")

    @property
    def variant(self) -> str:
        """Return what, besides name and request, changes a reply (of a settled
        card).
        """
        cache = "with" if self.cache else "without"
        return (
            f"xllamacpp {BINDING}, sha256 {self.sha256[WEIGHTS]}, threads "
            f"{self.threads}, {cache} prompt cache"
        )

    @property
    def price(self) -> Price:
        """Return the price of its tokens: nothing."""
        return Price(input=0, output=0)

    @property
    def limits(self) -> Limits:
        """Return the limits: one request at a time, because more would not be
        faster.
        """
        return Limits(
            concurrency=1,
            draws_per_request=1,
            attempts=2,
            backoff=0.1,
            timeout=self.timeout,
            max_consecutive_failures=3,
        )

    def identity(self) -> dict[str, Any]:
        """Return what of a settled card changes a reply: the part of it in every
        request's key.
        """
        settings = self.model_dump(include={"engine", "extra_body"})
        return {"model": self.served_name, "variant": self.variant, **settings}

    def scoring_identity(self) -> dict[str, Any]:
        """Return what of a settled card changes the probabilities of a given text.

        The same token at the end of a prompt has another value, as quantised weights
        are multiplied in another way there.
        """
        return {**self.identity(), "variant": f"{self.variant}, scored by decoding"}

    def probed(self) -> dict[str, Any]:
        """Return the keys on which the results of the server's tests depend (of a
        settled card).
        """
        return {**self.identity(), **self.model_dump(include={"system_role"})}


ROLE = re.compile(r"\{([A-Za-z_]\w*)\}")
"""`{role}` in a word of a command: the path of that role's file."""
PYTHON = "python"
"""The role that stands for the interpreter."""


class ProgramModel(BaseAskedModel):
    """The keys of your own code, which runs in processes of its own."""

    files: FilePaths = Field({})
    """Role -> path of the program's files, such as code and weights. Their contents are
    part of every reply's key: a changed program runs again."""
    sha256: Asking[Hashes] = Field({})
    """Role -> sha256 of the file, or of all files of a role."""
    variant: Asking[str | None] = None
    """What arguments and files do not show: the version of a library, weights that the
    program downloads. It is part of every reply's key."""
    timeout: Access[float] = Field(3600, gt=0)
    """Seconds after which a start of the program is taken for hung and fails."""
    workers: Access[int] = Field(1, ge=1)
    """Maximum number of copies of the program that run at once."""
    gpus: Access[int] = Field(0, ge=0)
    """Number of GPUs that the job takes for itself (`CUDA_VISIBLE_DEVICES`); copies of
    the program that run at once share them."""
    env: Access[list[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]]] = Field([])
    """Names of environment variables that the program needs; it also sees PATH, HOME
    and those of language, temporary folder and GPU, and no others."""
    reads: Access[Literal["any", "spaced", "english"]] = "any"
    """Texts that the program can judge: in any language, in scripts with blanks between
    words, or in English. `check` warns of other texts; their scores stay."""

    @property
    def served_name(self) -> str:
        """Return the name of the folder of its replies."""
        return self.model

    @property
    def sees(self) -> set[str]:
        """Return what of a question it receives besides the text and the form."""
        raise NotImplementedError

    @property
    def words(self) -> list[str]:
        """Return its command line, in which `{role}` stands for a file."""
        raise NotImplementedError

    @property
    def per_start(self) -> int:
        """Return the number of targets of a start."""
        raise NotImplementedError

    def identity(self) -> dict[str, Any]:
        """Return what of a settled card changes a reply: the part of it in every
        request's key.
        """
        raise NotImplementedError


class CommandModel(ProgramModel):
    """Your own program: it reads targets and writes scores, one JSON object per
    line.
    """

    engine: Asking[Literal["command"]]
    argv: Asking[list[str]] = Field(min_length=1)
    """The program and its arguments, one list entry each; no shell interprets them.
    `{role}` stands for the path of that role's file, `{python}` for the interpreter of
    the workflow."""
    inputs: Asking[list[Literal["aspect", "source", "parts", "references"]]] = Field(
        ["aspect", "source"]
    )
    """What the program receives in addition to the text: the aspect with its scale, the
    source if raters saw it, the source's parts with their names, the references. What
    it does not receive is not part of the request."""
    batch: Access[int] = Field(1000, ge=1)
    """Number of targets per start of the program."""
    price: Access[Price | None] = None
    """The price of tokens, if the program reports usage; default: free."""

    @model_validator(mode="after")
    def _known_roles(self) -> Self:
        if taken := {"data", PYTHON} & set(self.files):
            raise ValueError(
                f"the role {', '.join(taken)} is reserved: use another one"
            )
        used = set(chain.from_iterable(map(ROLE.findall, self.argv))) - {PYTHON}
        if unknown := sorted(used - set(self.files)):
            raise ValueError(
                f"argv names a role that `files` does not have: {', '.join(unknown)}"
            )
        return self

    @property
    def sees(self) -> set[str]:
        """Return what of a question it receives besides the text and the form."""
        return {*self.inputs, *(["scale"] if "aspect" in self.inputs else [])}

    @property
    def words(self) -> list[str]:
        """Return its command line, in which `{role}` stands for a file."""
        return self.argv

    @property
    def per_start(self) -> int:
        """Return the number of targets of a start."""
        return self.batch

    def identity(self) -> dict[str, Any]:
        """Return what of a settled card changes a reply: the part of it in every
        request's key.
        """
        keys = {"engine", "model", "argv", "sha256", "variant"}
        return self.model_dump(mode="json", include=keys)


FUNCTION = "function"
"""The role of the file that has a function."""
FunctionInput = Literal[
    "text", "source", "references", "aspect", "scale", "text_b", "meta"
]
"""The arguments that a function may name."""


class PythonModel(ProgramModel):
    """Your own Python function: it receives a text and returns a score."""

    engine: Asking[Literal["python"]]
    function: Asking[str] = Field(pattern=r"^[^:]+\.py:[A-Za-z_]\w*$")
    """The file and the function in it: `my_metric.py:score`; the path as in `files`.
    Modules beside the file that it imports must be in `files`."""
    inputs: Asking[list[FunctionInput] | None] = None
    """What the function receives: the arguments that its signature names, which is the
    default and the only allowed value."""
    batch: Access[int | None] = Field(None, ge=1)
    """Number of texts of a call, whose arguments are then lists of as many values, and
    which returns a list; default: a call for each text, without lists."""
    price: ClassVar[Price | None] = None
    _folder: str = PrivateAttr("")

    @model_validator(mode="before")
    @classmethod
    def _with_its_file(cls, content: Any) -> Any:
        """Add the function's file to the files, under a role of its own."""
        if not isinstance(content, dict):
            return content
        function = content.get("function")
        files = content.get("files", {})
        if not isinstance(function, str) or not isinstance(files, dict):
            return content  # an error of these keys
        path = function.rpartition(":")[0]
        if files.get(FUNCTION, path) != path:
            raise ValueError(
                f"the role {FUNCTION} of `files` is that of the key `function`: use "
                "another role"
            )
        return {**content, "files": {FUNCTION: path, **files}}

    @model_validator(mode="after")
    def _no_reserved_role(self) -> Self:
        if taken := {"data", PYTHON} & set(self.files):
            raise ValueError(
                f"the role {', '.join(taken)} is reserved: use another one"
            )
        return self

    @property
    def sees(self) -> set[str]:
        """Return what of a question it receives besides the text and the form."""
        return set(self.inputs or ())

    @property
    def folder(self) -> str:
        """Return the absolute path of a located card's folder, "" of another card."""
        return self._folder

    def in_folder(self, folder: str) -> Self:
        """Return the card with its folder."""
        card = self.model_copy()
        card._folder = folder
        return card

    @property
    def words(self) -> list[str]:
        """Return what is run, as a reader understands it."""
        return [f"{{{PYTHON}}}", self.function]

    @property
    def per_start(self) -> int:
        """Return the number of targets of a start: whole calls, about 1,000 targets."""
        batch = self.batch or 1
        return max(1000 // batch, 1) * batch

    def identity(self) -> dict[str, Any]:
        """Return what of a settled card changes a reply: the part of it in every
        request's key.

        The name of the file is not in it, its content is.
        """
        keys = {"engine", "model", "sha256", "variant"}
        identity = self.model_dump(mode="json", include=keys)
        return {**identity, "function": self.function.rpartition(":")[2]}
