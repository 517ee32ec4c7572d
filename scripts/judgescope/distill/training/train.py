"""The training itself: transformers' Trainer with peft's LoRA, and our own log.

The same input on the same device gives the same bytes, even if the training was killed
and resumed.
"""

import hashlib
import json
import math
import os
import resource
import signal
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import accumulate
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.core.process_limits import available_memory
from judgescope.core.rng import stream, stream_seed
from judgescope.distill.specs import CheckStudentSpec, TrainSpec
from judgescope.distill.training.base import (
    GB,
    Base,
    Chat,
    Example,
    Size,
    card_of,
    examples,
    opened,
    surprise,
    tensors,
)
from judgescope.distill.training.folder import LOG, LOSSES, TrainingFolder, key_of
from judgescope.schema.cards import Recipe
from judgescope.schema.cards.models import ADAPTER_FILES
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]


CLIPPED = 1.0
"""The largest norm of a step's gradient."""
HELD_OUT = "held_out_loss"
"""The key that the trainer's log has at checkpoints, in addition to those of every
step."""


def prepare(device: str) -> None:
    """Make torch use one device, deterministically; called before torch is loaded."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # examples differ in length: otherwise, freed memory would not fit new examples
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    if device == "cuda":
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
        os.environ["CUDA_VISIBLE_DEVICES"] = first
    torch = import_module("torch")
    torch.use_deterministic_algorithms(
        True
    )  # flash attention heeds it only without warn_only
    torch.utils.deterministic.fill_uninitialized_memory = (
        False  # all of it is written to
    )


def adapted(model: Any, recipe: Recipe) -> Any:
    """Return a model with a fresh adapter on all its linear layers but the last."""
    peft = import_module("peft")
    config = peft.LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        bias="none",
    )
    return peft.get_peft_model(model, config)


class Training:
    """The training of a base model on some examples, while others are held out."""

    def __init__(
        self,
        base: Base,
        recipe: Recipe,
        seed: int,
        train: Sequence[Example],
        held_out: Sequence[Example],
    ) -> None:
        self.base, self.recipe, self.held_out = base, recipe, held_out
        self.seed = stream_seed(seed, "training") % 2**32
        """numpy accepts 32 bits."""
        self.seen = [train[number] for number in order(seed, len(train), recipe.epochs)]
        self.last = math.ceil(len(self.seen) / recipe.batch)

    def run(self, folder: TrainingFolder) -> None:
        """Train from the last complete checkpoint to the end; write the result to its
        folder.
        """
        began = folder.last_checkpoint()
        start = int(began.name.rpartition("-")[2]) if began else 0
        print(
            f"{'resumes' if began else 'starts'} after step {start} of {self.last}",
            flush=True,
        )
        try:
            trainer, since = self._trainer(folder), time.monotonic()
            trainer.train(resume_from_checkpoint=str(began) if began else None)
            self._print_speed(start, time.monotonic() - since)
            self._finish(trainer, folder)
        except import_module("torch").OutOfMemoryError as error:
            raise UserError(
                f"the device is out of memory: {str(error).partition('. ')[0]}",
                where="study, key distill.recipe.device_batch",
                got=self.recipe.device_batch,
                todo="reduce it, name a smaller base model, or stop other programs on "
                "the device",
            ) from None
        except RuntimeError as error:
            if "deterministic implementation" not in str(error):
                raise
            raise UserError(
                "the base model needs an operation that torch computes differently "
                "each time",
                where=f"{self.base.where}, key name",
                got=str(error).partition(". ")[0],
                todo="name another base model: the same training must give the same "
                "weights",
            ) from None

    def _trainer(self, folder: TrainingFolder) -> Any:
        transformers = import_module("transformers")
        optim = import_module("torch.optim")
        recipe = self.recipe
        transformers.set_seed(self.seed)
        model = adapted(self.base.weights(recipe.device), recipe)
        weights = [weight for weight in model.parameters() if weight.requires_grad]
        optimizer = optim.AdamW(
            weights, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        schedule = optim.lr_scheduler.LambdaLR(
            optimizer,
            lambda step: rate(min(step, self.last - 1), self.last, recipe.warmup),
        )
        trainer = transformers.Trainer(
            model=model,
            args=self._arguments(folder),
            train_dataset=self.seen,
            data_collator=tensors,
            optimizers=(optimizer, schedule),
            compute_loss_func=_mean,
            callbacks=[self._watcher(folder)],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        return trainer

    def _arguments(self, folder: TrainingFolder) -> Any:
        """Return the trainer's arguments; the examples are already in their order."""
        recipe = self.recipe
        return import_module("transformers").TrainingArguments(
            output_dir=str(folder.steps),
            num_train_epochs=1,
            train_sampling_strategy="sequential",
            per_device_train_batch_size=recipe.device_batch,
            gradient_accumulation_steps=recipe.batch // recipe.device_batch,
            gradient_checkpointing=True,
            gradient_checkpointing_kwargs={"use_reentrant": False},
            max_grad_norm=CLIPPED,
            seed=self.seed,
            bf16=self.base.dtype == "bfloat16",
            fp16=self.base.dtype == "float16",
            use_cpu=recipe.device == "cpu",
            save_strategy="steps",
            save_steps=recipe.checkpoint_steps,
            # keep the previous checkpoint until the new one is complete
            save_total_limit=2,
            logging_strategy="steps",
            logging_steps=1,
            logging_nan_inf_filter=False,
            disable_tqdm=True,
            report_to="none",
            remove_unused_columns=False,
        )

    def _watcher(self, folder: TrainingFolder) -> Any:
        """Return the callback for the end of each step, each log entry and each
        checkpoint.
        """

        def on_step_end(
            _: Any, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            step = state.global_step
            if (
                step % self.recipe.checkpoint_steps == 0
                and step < self.last
                and self.held_out
            ):
                loss = fsum(self._losses(event["model"]))
                self._check(loss, step)  # before the checkpoint is written
                state.log_history.append({"step": step, HELD_OUT: loss})
                mean = loss / sum(len(example.reply) for example in self.held_out)
                print(
                    f"step {step} of {self.last}: held-out loss {mean:.4f}", flush=True
                )

        def on_log(_: Any, args: Any, state: Any, control: Any, **event: Any) -> None:
            self._check(event["logs"].get("loss", 0), state.global_step)

        def on_save(_: Any, args: Any, state: Any, control: Any, **event: Any) -> None:
            folder.mark_whole(state.global_step)

        events = {"on_step_end": on_step_end, "on_log": on_log, "on_save": on_save}
        return type(
            "Watcher", (import_module("transformers").TrainerCallback,), events
        )()

    def _check(self, loss: float, step: int) -> None:
        """Raise UserError if a loss is not finite."""
        if not math.isfinite(loss):
            raise UserError(
                f"the loss is not finite at step {step}",
                where="study, key distill.recipe.learning_rate",
                got=self.recipe.learning_rate,
                todo="reduce it",
            )

    def _losses(self, model: Any) -> list[float]:
        """Return the loss of every held-out reply, computed one at a time without
        padding.
        """
        torch = import_module("torch")
        training = model.training
        model.eval()
        losses = []
        with torch.no_grad():
            for example in self.held_out:
                inputs = {
                    name: value.to(model.device) if torch.is_tensor(value) else value
                    for name, value in tensors([example]).items()
                }
                labels = inputs.pop("labels")
                losses.append(
                    float(surprise(model(**inputs, use_cache=False).logits, labels))
                )
        model.train(training)
        return losses

    def _finish(self, trainer: Any, folder: TrainingFolder) -> None:
        """Write the adapter, and the tables of the log and of the held-out losses."""
        model = trainer.model
        after = self._losses(model)
        self._check(fsum(after), self.last)
        with model.disable_adapter():
            before = self._losses(model)
        notes = trainer.state.log_history
        rows = step_rows(
            self.seen, self.recipe.batch, (note for note in notes if "loss" in note)
        )
        if self.held_out:
            sums = {note["step"]: note[HELD_OUT] for note in notes if HELD_OUT in note}
            sums |= {0: fsum(before), self.last: fsum(after)}
            rows += [
                held_out_row(step, loss, self.held_out) for step, loss in sums.items()
            ]
        rows.sort(key=lambda row: (row["step"], row["split"]))
        with folder.finishing() as result:
            write_table("training", table_of("training", rows), result / LOG)
            losses = table_of("losses", loss_rows(self.held_out, before, after))
            write_table("losses", losses, result / LOSSES)
            save_adapter(model, result, self.base.card.name)

    def _print_speed(self, start: int, seconds: float) -> None:
        """Print time and memory, which no file contains: they differ between
        machines.
        """
        tokens = sum(
            example.length for example in self.seen[start * self.recipe.batch :]
        )
        if self.recipe.device == "cuda":
            peak = import_module("torch").cuda.max_memory_allocated()
        else:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            f"{self.last - start} steps in {seconds:.1f} s, {tokens / seconds:.0f} "
            f"tokens per second, at most {peak / GB:.1f} GB",
            flush=True,
        )


def save_adapter(model: Any, folder: Path, name: str) -> None:
    """Write the two files of an adapter, without details of this machine or this
    run.
    """
    saved = folder / "peft"
    model.save_pretrained(saved, save_embedding_layers=False)
    config, weights = ADAPTER_FILES
    (saved / weights).rename(folder / weights)
    keys = json.loads((saved / config).read_text(encoding="utf-8"))
    keys |= {
        "base_model_name_or_path": name,
        "target_modules": sorted(keys["target_modules"]),
    }
    (folder / config).write_text(canonical(keys) + "\n", encoding="utf-8")
    for path in saved.iterdir():  # peft's own config and a page about the model
        path.unlink()
    saved.rmdir()


def _mean(outputs: Any, labels: Any, num_items_in_batch: Any) -> Any:
    """Return the share of a step's mean loss per token that comes from these
    examples.
    """
    return surprise(outputs.logits, labels).sum() / num_items_in_batch


def order(seed: int, count: int, epochs: int) -> list[int]:
    """Return the numbers of the examples in training order: each epoch has its own
    order.
    """
    return [
        int(number)
        for epoch in range(epochs)
        for number in stream(seed, "training", "order", epoch).permutation(count)
    ]


def rate(step: int, last: int, warmup: float) -> float:
    """min((s + 1)/(w + 1), (S − s)/(S − w)) of the learning rate at step s = 0..S−1.

    It rises over the first w = warmup·S steps (rounded, at most S − 1), is 1 at step w,
    and falls linearly to 0 after the last step. No step has the rate 0.
    """
    risen = min(round(warmup * last), last - 1)
    return min((step + 1) / (risen + 1), (last - step) / (last - risen))


def step_rows(seen: Sequence[Example], batch: int, notes: Iterable[Row]) -> list[Row]:
    """Return a row of table `training` for each step, from the trainer's log."""
    tokens = [0, *accumulate(len(example.reply) for example in seen)]
    rows = []
    for note in notes:
        until = min(note["step"] * batch, len(seen))
        row = {name: note[name] for name in ("step", "loss", "learning_rate")}
        rows.append(
            {**row, "split": "train", "examples": until, "tokens": tokens[until]}
        )
    return rows


def held_out_row(step: int, loss: float, examples: Sequence[Example]) -> Row:
    """Return a row of table `training`; `loss`: the sum over all held-out tokens."""
    tokens = sum(len(example.reply) for example in examples)
    counts = {"examples": len(examples), "tokens": tokens}
    return {"step": step, "split": "held_out", "loss": loss / tokens, **counts}


def loss_rows(
    examples: Sequence[Example], before: Sequence[float], after: Sequence[float]
) -> list[Row]:
    """Return rows of table `losses`, from each reply's total loss before and after
    training.
    """
    return [
        {
            **{
                name: example.row[name]
                for name in ("dataset", "item", "target", "aspect")
            },
            "tokens": len(example.reply),
            "before": sum_before / len(example.reply),
            "after": sum_after / len(example.reply),
        }
        for example, sum_before, sum_after in zip(examples, before, after, strict=True)
    ]


RECIPE = "study, key distill.recipe"
FLOAT32 = 4


class Longest(NamedTuple):
    """The longest prompt, including room for a text that is not written yet."""

    tokens: int
    about: str


def check_device(device: str) -> None:
    """Raise UserError if the training's device is not on this machine."""
    if device == "cuda" and not import_module("torch").cuda.is_available():
        raise UserError(
            "torch finds no usable GPU",
            where=f"{RECIPE}.device",
            got=device,
            todo="run on a machine with a GPU, or set `cpu`, which suits only small "
            "trials",
        )


def check_dtype(base: Base, device: str) -> None:
    """Raise UserError if the device does not support the number format of the
    weights.
    """
    able = ["float32"]
    # a GPU without bfloat16 would emulate it, and vLLM refuses
    if device == "cpu" or import_module("torch").cuda.is_bf16_supported(False):
        able.append("bfloat16")
    if device == "cuda":
        able.append("float16")
    if base.dtype not in able:
        raise UserError(
            f"training on this {'GPU' if device == 'cuda' else 'CPU'} does not support "
            "this number format",
            where=f"{base.where}, key dtype",
            got=base.dtype,
            allowed=able,
            todo="set an allowed format there, or train on another machine",
        )


def longest(rows: Iterable[Row], base: Base) -> Longest:
    """Return the longest prompt of a sample."""
    chat = Chat(base)
    chat.ending  # noqa: B018  raises if the template does not define the end of a reply
    return max(
        Longest(
            len(chat.prompt([{"role": "user", "content": row["prompt"]}]))
            + row["room"],
            f"{row['dataset']}: {row['target']}, {row['aspect']}",
        )
        for row in rows
    )


def check_context(base: Base, prompt: Longest, replies: int) -> None:
    """Raise UserError if the longest prompt leaves no room for the longest reply."""
    if prompt.tokens + replies > base.context:
        raise UserError(
            "the longest prompt and reply exceed the base model's context",
            where=f"{base.where}, key max_model_len"
            if base.context == base.card.max_model_len
            else f"{base.where}, key name",
            got=f"{prompt.tokens} + {replies} tokens ({prompt.about})",
            allowed=f"{base.context} tokens",
            todo=(
                "name a base model with a longer context, lower the judge's "
                "max_tokens, or remove the dataset"
            ),
        )


def checked(base: Base, recipe: Recipe, rows: Iterable[Row], replies: int) -> Row:
    """Return the known facts about a training, the same on every machine.

    `replies`: the most tokens that a reply may have. Raises UserError if it would fail.
    """
    check_dtype(base, recipe.device)
    prompt = longest(rows, base)
    check_context(base, prompt, replies)
    size = base.size(lambda model: adapted(model, recipe))
    estimate = needed(
        size,
        rank=recipe.rank,
        batch=recipe.device_batch,
        tokens=prompt.tokens + replies,
        replies=replies,
    )
    check_memory(base, recipe, estimate, free(recipe.device))
    return {
        "parameters": size.parameters,
        "trainable": size.trainable,
        "bytes": estimate,
        "longest_prompt": prompt.tokens,
        "context": base.context,
        "commit": base.commit,
        "chat_template": hashlib.sha256(base.template.encode()).hexdigest(),
    }


def check_memory(base: Base, recipe: Recipe, estimate: int, room: int | None) -> None:
    """Raise UserError if a training needs more memory than its device has free."""
    if room is not None and estimate > room:
        raise UserError(
            f"the training needs about {estimate / GB:.1f} GB, and the device has "
            f"{room / GB:.1f} GB free",
            where=f"{RECIPE}.device_batch; {base.where}, key name",
            got=f"device_batch {recipe.device_batch}, {base.card.name}",
            todo=(
                "reduce device_batch, name a smaller base model, or stop other "
                "programs on the device; quantized weights cannot be trained"
            ),
        )


def needed(size: Size, *, rank: int, batch: int, tokens: int, replies: int) -> int:
    """P·b + (20 + 2b)·T + n·L·h·b + n·T/(r·L)·(2b + 4) + m·v·(2b + 12) bytes, about.

    P and T: parameters of the base and of the adapter; b: bytes of a number of the
    base; L, h, v: its layers, their width and its vocabulary; r: the adapter's rank; n
    and m: tokens at once on the device, of `batch` examples that have at most `tokens`,
    `replies` of them in the reply.

    The terms are (1) the base; (2) the adapter, its gradient, two moments and a step's
    update in float32, and the adapter and its gradient in the base's numbers; (3) what
    goes into each layer, all that is kept under gradient checkpointing; (4) the one
    layer that is computed again: what goes into and comes out of its linear layers, the
    gradient, and a float32 copy for the adapter. A linear layer from i to o numbers has
    r·(i + o) parameters in the adapter, so that T/(r·L) numbers go in and out in each
    layer; (5) the predictions of the replies' tokens and their gradient, and three
    times that in float32.
    """
    length, predicted = batch * tokens, batch * replies
    return (
        size.parameters * size.width
        + size.trainable * (5 * FLOAT32 + 2 * size.width)
        + length * size.layers * size.hidden * size.width
        + length * size.trainable // (rank * size.layers) * (2 * size.width + FLOAT32)
        + predicted * size.vocabulary * (2 * size.width + 3 * FLOAT32)
    )


def free(device: str) -> int | None:
    """Return the bytes that are free on the device now, a GPU or the machine, if it is
    known.
    """
    if device == "cuda":
        return int(import_module("torch").cuda.mem_get_info()[0])
    return available_memory()


def check_student(spec: CheckStudentSpec, *, card: str) -> None:
    """Read the base model's configuration, not its weights; write the training's
    needs.
    """
    recipe = Recipe.model_construct(**spec.recipe)
    prepare(recipe.device)
    check_device(recipe.device)  # before any download from the hub
    base = opened(card_of(card, spec.model))
    rows = read_table("samples", spec.sample).to_pylist()
    needs = checked(base, recipe, rows, spec.max_tokens)
    write_text(Path(spec.output), canonical(needs) + "\n")


def train_judge(spec: TrainSpec, *, card: str, checkpoints: str) -> None:
    """Train a judge, or resume from the last checkpoint; write adapter and tables."""
    # Training can be killed at any time, and resumes here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    folder = TrainingFolder(Path(checkpoints), key_of(spec))
    with folder.held():
        if folder.finished:
            print(f"already trained: {folder.result}", flush=True)
        else:
            _trained(spec, card, folder)
        folder.copy_result(Path(spec.adapter), Path(spec.log), Path(spec.losses))


def _trained(spec: TrainSpec, card: str, folder: TrainingFolder) -> None:
    recipe = Recipe.model_construct(**spec.recipe)
    prepare(recipe.device)
    check_device(recipe.device)
    base = opened(card_of(card, spec.model))
    check_dtype(base, recipe.device)
    chat, longest = Chat(base), spec.max_tokens
    train = examples(Path(spec.train), chat, longest)
    if not train:
        raise UserError(
            "there are no training examples",
            where=spec.train,
            todo="check how many of the teacher's replies could be read",
        )
    held_out = examples(Path(spec.held_out), chat, longest)
    Training(base, recipe, spec.seed, train, held_out).run(folder)
