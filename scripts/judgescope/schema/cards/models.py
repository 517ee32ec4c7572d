"""Cards of models: whatever answers for a judge."""

import re
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from judgescope.core.api_keys import KeySource
from judgescope.schema.cards.base import (
    Access,
    Asking,
    Card,
    Files,
    Hashes,
    JsonFields,
    Price,
    Sha256,
    Slug,
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
]


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
    files: Files = Field({})
    """A CSV file with the quality of the texts, in points above or below the middle of
    a scale of five: columns item, system and one of each aspect. {dataset} in its name
    stands for the dataset's id. Default: people's mean ratings; needed for judges that
    compare."""
    sha256: Hashes = Field({})
    """The sha256 of the file."""

    @model_validator(mode="after")
    def _concerns_systems(self) -> Self:
        needed = self.defect in ("own-family", "broken-system")
        if needed != bool(self.systems):
            verb = "needs" if needed else "does not use"
            raise ValueError(f"the defect {self.defect} {verb} `systems`")
        return self


class Limits(Card):
    """How requests are sent to an endpoint; none of these keys changes a reply."""

    renamed: ClassVar[dict[str, str]] = {"breaker": "max_consecutive_failures"}
    concurrency: int = Field(16, ge=1, le=4096)
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


RESERVED = {
    *(
        "model",
        "messages",
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
    ),
    *(
        "seed",
        "n",
        "stream",
        "logprobs",
        "top_logprobs",
        "structured_outputs",
        "response_format",
    ),
}
"""Fields of a request that cards set, or that would change the kind of reply."""
SPELLED = ("max_tokens", "temperature", "top_p", "seed", "n")
FRAMING = {
    *(
        "host",
        "content-length",
        "transfer-encoding",
        "content-encoding",
        "connection",
        "expect",
    )
}
"""Headers on which reading the message depends: the HTTP client sets them."""
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_|~-]+")
SECRET_HEADERS = {
    "authorization",
    "api-key",
    "x-api-key",
    "cookie",
    "proxy-authorization",
}
ADDRESS = r"^https?://[^/@\s?#]+(/[^\s?#]*)?$"
"""An endpoint's address, without a name, a password or a query, which may be
secrets."""
CHAT_ROUTE = "/chat/completions"
"""The route of chat requests below an endpoint's address."""
PROXY = r"^https?://[^/@\s?#]+/?$"
FOLDER = r"^(\{data\}/)?[^{}]+$"
WEIGHTS = "data"
"""The role of a card's single file."""
PACKAGE = "package:"
"""The prefix of the path of a file in an installed package: `package:<name>/<file>`."""


class BaseAskedModel(ModelCard):
    """The keys of all models that are asked: their replies are kept in the reply
    store.
    """

    family: Slug | None = None
    """The model's family; models of one family may favour each other."""
    parts: Access[int] = Field(1, ge=1, le=1000)
    """Number of jobs that share the requests to this model for a dataset, each with its
    own journal: for several GPUs or nodes. No reply depends on it."""


class OpenAIModel(BaseAskedModel):
    """A model behind an endpoint that speaks OpenAI's chat protocol."""

    renamed: ClassVar[dict[str, str]] = {"spelling": "field_names"}
    engine: Asking[Literal["openai"]]
    base_url: Access[str] = Field(pattern=ADDRESS)
    """The URL of the endpoint, with its version: `.../v1`; without a password."""
    name: Asking[str | None] = None
    """The name by which the endpoint knows the model; default: the id."""
    api_key_env: Access[str | None] = Field(None, pattern=r"^[A-Za-z_]\w*$")
    """The environment variable that holds the key; never the key itself."""
    api_key_file: Access[str | None] = Field(None, min_length=1)
    """A file that holds the key, in place of `api_key_env`: relative to the card's
    folder or absolute, readable only by you (`chmod 600`), outside `config` and
    `results`."""
    token_command: Access[list[str] | None] = Field(None, min_length=1)
    """A program and its arguments, one list entry each, that prints the key, in place
    of `api_key_env`: for keys that expire. It runs when a job starts, and again when
    the endpoint answers 401; no shell interprets it."""
    key_header: Access[str] = Field("Authorization", pattern=r"^[A-Za-z][A-Za-z-]*$")
    """The header that carries the key: `Authorization` (as a bearer token), or the
    endpoint's own, such as Azure's `api-key`."""
    headers: Access[dict[str, str]] = Field({})
    """Further headers of every request."""
    query: Access[dict[str, str]] = Field({})
    """Query parameters of the URL, such as Azure's `api-version`."""
    proxy: Access[str | None] = Field(None, pattern=PROXY)
    """The URL of the HTTP proxy through which the endpoint is reached; default: none.
    Variables such as HTTPS_PROXY have no effect."""
    proxy_auth_env: Access[str | None] = Field(None, pattern=r"^[A-Za-z_]\w*$")
    """The environment variable that holds `user:password` for the proxy."""
    proxy_auth_file: Access[str | None] = Field(None, min_length=1)
    """A file that holds `user:password`, in place of `proxy_auth_env`; the rules of
    `api_key_file` apply."""
    ca_file: Access[str | None] = Field(None, min_length=1)
    """A file of certificates (PEM) that are trusted in place of the system's, for the
    endpoint and an https proxy: relative to the card's folder or absolute."""
    field_names: Asking[dict[str, str | None]] = Field({})
    """The endpoint's names of fields, such as max_tokens: max_completion_tokens; null:
    the field is not sent, and the endpoint uses its default."""
    revision: Asking[str | None] = None
    """The revision of the weights, if known."""
    variant: Asking[str | None] = None
    """What the name does not show: quantisation, server, build. Replies are stored by
    name, revision and variant, not by URL: give different weights a different
    variant."""
    extra_body: Asking[JsonFields] = Field({})
    """Further fields of every request, such as chat_template_kwargs or
    reasoning_effort."""
    probe: Access[bool] = True
    """Whether to test with a few small requests, before the first request of a study,
    which fields the endpoint honours."""
    price: Access[Price | None] = None
    """The price of its tokens; default: that of `name` at this host in
    config/prices.yaml, else unknown."""
    tokenizer: Access[str | None] = None
    """The model's tokenizer.json, relative to the card's folder, with which `check`
    counts tokens (needs the package tokenizers); default: an estimate from stored
    replies."""
    limits: Access[Limits] = Limits()
    """Limits on requests."""

    @field_validator("base_url")
    @classmethod
    def _without_route(cls, url: str) -> str:
        begin = url.rstrip("/").removesuffix(CHAT_ROUTE)
        if begin != url.rstrip("/"):
            raise ValueError(f"{CHAT_ROUTE} is added to it: write {begin}")
        return url

    @field_validator("base_url", "proxy")
    @classmethod
    def _reachable(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            address = urlsplit(url)
            host, port = address.hostname or "", address.port
            host.encode("idna")
        except ValueError as error:
            raise ValueError(f"this is not a URL: {error}") from None
        labels = host.removesuffix(".").split(".")
        if (
            port == 0
            or not host.isprintable()
            or not all(1 <= len(label) <= 63 for label in labels)
        ):
            raise ValueError("this is not a URL: the host or the port is invalid")
        return url

    @model_validator(mode="after")
    def _unreserved(self) -> Self:
        if (
            sum(map(bool, (self.api_key_env, self.api_key_file, self.token_command)))
            > 1
        ):
            raise ValueError(
                "give only one of `api_key_env`, `api_key_file` and `token_command`"
            )
        named = [
            name
            for name in ("proxy_auth_env", "proxy_auth_file")
            if getattr(self, name)
        ]
        if len(named) > 1 or (named and self.proxy is None):
            raise ValueError(
                "give only one of `proxy_auth_env` and `proxy_auth_file`, and only "
                "together with `proxy`"
            )
        if unknown := sorted(self.field_names.keys() - set(SPELLED)):
            raise ValueError(
                f"field_names may name {', '.join(SPELLED)}, not {', '.join(unknown)}"
            )
        headers, body = {name.lower() for name in self.headers}, set(self.extra_body)
        for key, taken, reason in (
            ("extra_body", body & RESERVED, "other keys set it"),
            (
                "extra_body",
                body & set(self.field_names.values()),
                "field_names sets it",
            ),
            ("headers", headers & SECRET_HEADERS, "use the settings of the key"),
            ("headers", headers & FRAMING, "the HTTP client sets it"),
        ):
            if taken:
                raise ValueError(
                    f"{key} may not contain {', '.join(sorted(taken))}: {reason}"
                )
        for name, value in self.headers.items():
            if not HEADER.fullmatch(name) or not value.isprintable():
                raise ValueError(f"headers: {name!r} is not a valid HTTP header")
        return self

    @property
    def served_name(self) -> str:
        """Return the name by which the endpoint knows the model."""
        return self.name or self.model

    @property
    def key_source(self) -> KeySource:
        """Return the source of the endpoint's key, for a card with absolute paths."""
        return KeySource(
            model=self.model,
            variable=self.api_key_env,
            file=self.api_key_file,
            command=self.token_command,
        )

    @property
    def proxy_auth(self) -> KeySource:
        """Return the source of the proxy's user and password, for a card with absolute
        paths.
        """
        return KeySource(
            model=self.model,
            variable=self.proxy_auth_env,
            file=self.proxy_auth_file,
            what="the proxy's user and password",
            key="proxy_auth",
        )

    @property
    def unsent(self) -> set[str]:
        """Return the decoding fields that are not sent to the endpoint."""
        return {name for name, spelled in self.field_names.items() if spelled is None}

    def identity(self) -> dict[str, Any]:
        """Return what changes a reply: the card's part of every request's key."""
        keys = {"engine", "revision", "variant", "extra_body"}
        return {"model": self.served_name, **self.model_dump(include=keys)}

    def probed(self) -> dict[str, Any]:
        """Return the keys on which the results of the endpoint's tests depend."""
        keys = {"model", "name", "revision", "variant", "extra_body", "field_names"}
        return {"address": [self.base_url, self.query], **self.model_dump(include=keys)}


BINDING = "2026.10.11549"
"""The version of xllamacpp, whose interface changes from one to the next
(envs/llama.txt)."""


class LlamaModel(BaseAskedModel):
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
        if taken := sorted(set(self.extra_body) & (RESERVED | {"cache_prompt"})):
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

    def probed(self) -> dict[str, Any]:
        """Return the keys on which the results of the server's tests depend (of a
        settled card).
        """
        return self.identity()


ROLE = re.compile(r"\{([A-Za-z_]\w*)\}")
"""`{role}` in a word of a command: the path of that role's file."""
PYTHON = "python"
"""The role that stands for the interpreter."""


class CommandModel(BaseAskedModel):
    """Your own program: it reads targets and writes scores, one JSON object per
    line.
    """

    renamed: ClassVar[dict[str, str]] = {"sees": "inputs"}
    engine: Asking[Literal["command"]]
    argv: Asking[list[str]] = Field(min_length=1)
    """The program and its arguments, one list entry each; no shell interprets them.
    `{role}` stands for the path of that role's file, `{python}` for the interpreter of
    the workflow."""
    files: Files = Field({})
    """Role -> path of the program's files, such as code and weights. Their contents are
    part of every reply's key: a changed program runs again."""
    sha256: Asking[Hashes] = Field({})
    """Role -> sha256 of the file, or of all files of a role."""
    variant: Asking[str | None] = None
    """What arguments and files do not show: the version of a library, weights that the
    program downloads. It is part of every reply's key."""
    inputs: Asking[list[Literal["aspect", "source", "references"]]] = Field(
        ["aspect", "source"]
    )
    """What the program receives in addition to the text: the aspect with its scale, the
    source if raters saw it, the references. What it does not receive is not part of the
    request."""
    batch: Access[int] = Field(1000, ge=1)
    """Number of targets per start of the program."""
    timeout: Access[float] = Field(3600, gt=0)
    """Seconds after which a start of the program is taken for hung and fails."""
    workers: Access[int] = Field(1, ge=1)
    """Maximum number of copies of the program that run at once."""
    env: Access[list[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]]] = Field([])
    """Names of environment variables that the program needs; it also sees PATH, HOME
    and those of language, temporary folder and GPU, and no others."""
    price: Access[Price | None] = None
    """The price of tokens, if the program reports usage; default: free."""

    @model_validator(mode="after")
    def _known_roles(self) -> Self:
        if taken := {"data", PYTHON} & set(self.files):
            raise ValueError(
                f"the role {', '.join(taken)} is reserved: use another one"
            )
        used = {role for word in self.argv for role in ROLE.findall(word)} - {PYTHON}
        if unknown := sorted(used - set(self.files)):
            raise ValueError(
                f"argv names a role that `files` does not have: {', '.join(unknown)}"
            )
        return self

    @property
    def served_name(self) -> str:
        """Return the name of the folder of its replies."""
        return self.model

    def identity(self) -> dict[str, Any]:
        """Return what of a settled card changes a reply: the part of it in every
        request's key.
        """
        keys = {"engine", "model", "argv", "sha256", "variant"}
        return self.model_dump(mode="json", include=keys)


SAMPLING = {
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "min_p", "top_k"),
    *("bad_words", "ignore_eos", "logit_bias", "min_tokens", "stop", "stop_token_ids"),
    *(
        "include_stop_str_in_output",
        "skip_special_tokens",
        "spaces_between_special_tokens",
    ),
}
"""Sampling parameters of vLLM that its server takes under the same name."""
VLLM_BODY = SAMPLING | {"chat_template_kwargs"}
SPOKEN_FOR = {
    *(
        "model",
        "revision",
        "dtype",
        "quantization",
        "tensor_parallel_size",
        "data_parallel_size",
    ),
    *(
        "max_model_len",
        "gpu_memory_utilization",
        "enable_lora",
        "max_lora_rank",
        "lora_modules",
    ),
    *("host", "port", "api_key", "served_model_name", "override_generation_config"),
}
"""Arguments of vLLM's engine and server that other keys of a card or the workflow
set."""
HARMLESS = {
    *("async_scheduling", "block_size", "cpu_offload_gb", "disable_custom_all_reduce"),
    *(
        "distributed_executor_backend",
        "download_dir",
        "enable_chunked_prefill",
        "enforce_eager",
    ),
    *(
        "enable_expert_parallel",
        "enable_prefix_caching",
        "kv_cache_memory_bytes",
        "load_format",
    ),
    *(
        "max_logprobs",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
    ),
    *("disable_log_stats", "safetensors_load_strategy"),
}
"""Arguments of vLLM's engine that change how it works, not what it answers."""
ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
"""The files of an adapter, as peft writes them."""
TRAINED = "trained"
"""Stands for the adapter that the study trains."""


class Adapter(Card):
    """A LoRA adapter over a model's weights."""

    path: str = Field(pattern=FOLDER)
    """The adapter's folder (adapter_config.json, adapter_model.*): relative to the
    card's folder, absolute, or from `{data}/`."""
    sha256: Sha256
    """The hash of its files `adapter_*`: the sha256 of all their `name sha256`
    lines."""


class VllmModel(BaseAskedModel):
    """A model that a job itself loads with vLLM, in its own process or behind its own
    server.
    """

    engine: Asking[Literal["vllm"]]
    mode: Access[Literal["offline", "served"]] = "offline"
    """How the model runs, which changes no reply: `offline`, inside the job; `served`,
    in a server that the job starts and stops: for data_parallel, and models that need
    it."""
    name: Asking[str]
    """The name of the weights on the hub."""
    path: str | None = Field(None, pattern=FOLDER)
    """The folder of the weights: relative to the card's folder, absolute, or from
    `{data}/`. Default: the hub, or its cache on this machine."""
    revision: Asking[str | None] = None
    """The commit of the weights; default: the hub's newest."""
    variant: Asking[str | None] = None
    """What else distinguishes these weights."""
    dtype: Asking[str | None] = None
    """The number format of the weights; default: their own."""
    quantization: Asking[str | None] = None
    """The quantisation of the weights; default: none."""
    adapter: Adapter | Literal["trained"] | None = None
    """A LoRA adapter that every request uses; `trained`: the one that the study trains
    (its key `distill`)."""
    extra_body: Asking[JsonFields] = Field({})
    """Further fields of every request: chat_template_kwargs (`enable_thinking: false`),
    sampling parameters of vLLM such as top_k."""
    model_args: Asking[JsonFields] = Field({})
    """Further arguments of vLLM's engine that may change replies."""
    engine_args: Access[JsonFields] = Field({})
    """Further arguments that change no reply, such as max_num_seqs."""
    tensor_parallel: Access[int] = Field(1, ge=1)
    """Number of GPUs that share the weights."""
    data_parallel: Access[int] = Field(1, ge=1)
    """Mode served: number of copies of the weights."""
    max_model_len: int | None = Field(None, ge=1)
    """Maximum number of tokens of prompt and reply together; a longer prompt is
    refused. Default: the model's."""
    gpu_memory_utilization: Access[float | None] = Field(None, gt=0, le=1)
    """The share of a GPU's memory that it uses; default: vLLM's."""
    gpu_model: Access[str | None] = Field(None, pattern=r"^[A-Za-z0-9_.]+$")
    """On a cluster: the type of its GPUs, as the cluster calls it; default: the
    profile's."""
    mem_mb: Access[int | None] = Field(None, ge=1)
    """On a cluster: megabytes of the job's main memory, increased by the same amount
    with each further attempt; default: the profile's."""
    runtime: Access[int | None] = Field(None, ge=1)
    """On a cluster: the job's time limit in minutes; default: the profile's."""
    start_timeout: Access[float] = Field(1800, gt=0)
    """Mode served: seconds until the server must be ready."""
    price: Access[Price | None] = None
    """The price of its tokens; default: unknown."""
    limits: Access[Limits] = Limits(concurrency=256)
    """Mode served: limits on requests."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if unknown := sorted(set(self.extra_body) - VLLM_BODY):
            allowed = ", ".join(sorted(VLLM_BODY))
            raise ValueError(
                f"extra_body may not contain {', '.join(unknown)}; allowed: {allowed}"
            )
        if unknown := sorted(set(self.engine_args) - HARMLESS):
            raise ValueError(
                f"engine_args may contain {', '.join(sorted(HARMLESS))}; "
                f"{', '.join(unknown)} may change replies and belongs in model_args"
            )
        if taken := sorted(set(self.model_args) & (SPOKEN_FOR | HARMLESS)):
            raise ValueError(
                f"model_args may not contain {', '.join(taken)}: other keys set it"
            )
        if self.data_parallel > 1 and self.mode == "offline":
            raise ValueError("data_parallel needs `mode: served`")
        return self

    @property
    def tuned(self) -> Adapter | None:
        """Return the adapter, or None if there is none or it is still to be trained."""
        return self.adapter if isinstance(self.adapter, Adapter) else None

    @property
    def served_name(self) -> str:
        """Return the name of the weights."""
        return self.name

    @property
    def machine(self) -> dict[str, int | str]:
        """Return the resources that a job needs, as far as the card gives them, without
        memory.
        """
        gpus = self.tensor_parallel * self.data_parallel
        needs = {"gpu": gpus, "gpu_model": self.gpu_model, "runtime": self.runtime}
        return {name: value for name, value in needs.items() if value is not None}

    @property
    def files(self) -> dict[str, str]:
        """Return role -> pattern of the files that the card names: the adapter's."""
        return {"adapter": f"{self.tuned.path}/adapter_{{part}}"} if self.tuned else {}

    @property
    def sha256(self) -> dict[str, str]:
        """Return role -> the hash that its files must have."""
        return {"adapter": self.tuned.sha256} if self.tuned else {}

    def identity(self) -> dict[str, Any]:
        """Return what of the card changes a reply: the part of it in every request's
        key.
        """
        keys = {"engine", "revision", "variant", "dtype", "quantization"}
        settings = self.model_dump(include=keys | {"model_args", "extra_body"})
        adapter = self.tuned.sha256 if self.tuned else self.adapter
        return {"model": self.name, "adapter": adapter, **settings}
