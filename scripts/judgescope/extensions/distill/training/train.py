"""The training itself: transformers' Trainer with peft's LoRA, and our own log.

The same input on the same device gives the same bytes, even if the training was killed
and resumed.
"""

import json
import math
import os
import resource
import signal
import time
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import fsum
from pathlib import Path
from typing import Any

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.devices import VISIBLE, DeviceNeed, take
from judgescope.extensions.distill.specs import CheckStudentSpec, TrainSpec
from judgescope.extensions.distill.training.base import (
    GB,
    AdapterBase,
    Chat,
    TokenExample,
    adapted,
    card_of,
    examples,
    opened,
    surprise,
    tensors,
)
from judgescope.extensions.distill.training.checks import (
    RECIPE,
    check_device,
    check_dtype,
    checked,
)
from judgescope.extensions.distill.training.folder import (
    LOG,
    LOSSES,
    TrainingFolder,
    key_of,
)
from judgescope.schema.cards import Recipe
from judgescope.schema.cards.vllm import ADAPTER_FILES
from judgescope.schema.tables import read_table, table_of, write_table

HELD_OUT = "held_out_loss"
"""The key that the trainer's log has at checkpoints, in addition to those of every
step."""


def prepare(device: str) -> None:
    """Make torch use one device, deterministically; called before torch is loaded.

    A GPU is taken from other jobs until this process ends; waits until one is free.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # examples differ in length: otherwise, freed memory would not fit new examples
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    if device == "cuda":
        take(DeviceNeed(1, f"{RECIPE}.device", device))
        os.environ[VISIBLE] = os.environ.get(VISIBLE, "0").partition(",")[0]
    import torch

    # Flash attention heeds it only without warn_only.
    torch.use_deterministic_algorithms(True)
    # All memory is written to before it is read.
    torch.utils.deterministic.fill_uninitialized_memory = False


class TrainingRun:
    """The training of a base model on some examples, while others are held out."""

    def __init__(
        self,
        base: AdapterBase,
        recipe: Recipe,
        seed: int,
        train: Sequence[TokenExample],
        held_out: Sequence[TokenExample],
    ) -> None:
        self.base = base
        self.recipe = recipe
        self.held_out = held_out
        self.seed = stream_seed(seed, "training") % 2**32
        """numpy accepts 32 bits."""
        self.seen = [train[number] for number in order(seed, len(train), recipe.epochs)]
        self.last = math.ceil(len(self.seen) / recipe.batch)

    def run(self, folder: TrainingFolder) -> None:
        """Train from the last complete checkpoint to the end; write the result to its
        folder.
        """
        import torch

        checkpoint = folder.last_checkpoint()
        start = 0
        if checkpoint:
            start = int(checkpoint.name.rpartition("-")[2])
        begins = "resumes" if checkpoint else "starts"
        print(f"{begins} after step {start} of {self.last}", flush=True)
        try:
            trainer = self._trainer(folder)
            began = time.monotonic()
            trainer.train(
                resume_from_checkpoint=str(checkpoint) if checkpoint else None
            )
            self._print_speed(start, time.monotonic() - began)
            self._finish(trainer, folder)
        except torch.OutOfMemoryError as error:
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
        import transformers
        from torch import optim

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
        from transformers import TrainingArguments

        recipe = self.recipe
        return TrainingArguments(
            output_dir=str(folder.steps),
            num_train_epochs=1,
            train_sampling_strategy="sequential",
            per_device_train_batch_size=recipe.device_batch,
            gradient_accumulation_steps=recipe.batch // recipe.device_batch,
            gradient_checkpointing=True,
            gradient_checkpointing_kwargs={"use_reentrant": False},
            max_grad_norm=1.0,
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
        from transformers import TrainerCallback

        def on_step_end(
            _: Any, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            step = state.global_step
            writes_checkpoint = step % self.recipe.checkpoint_steps == 0
            if not writes_checkpoint or step >= self.last or not self.held_out:
                return
            loss = fsum(self._losses(event["model"]))
            self._check(loss, step)  # before the checkpoint is written
            state.log_history.append({"step": step, HELD_OUT: loss})
            mean = loss / sum(len(example.reply) for example in self.held_out)
            print(f"step {step} of {self.last}: held-out loss {mean:.4f}", flush=True)

        def on_log(_: Any, args: Any, state: Any, control: Any, **event: Any) -> None:
            self._check(event["logs"].get("loss", 0), state.global_step)

        def on_save(_: Any, args: Any, state: Any, control: Any, **event: Any) -> None:
            folder.mark_complete(state.global_step)

        events = {"on_step_end": on_step_end, "on_log": on_log, "on_save": on_save}
        return type("Watcher", (TrainerCallback,), events)()

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
        import torch

        training = model.training
        model.eval()
        losses = []
        with torch.no_grad():
            for example in self.held_out:
                inputs = tensors([example])
                for name, value in inputs.items():
                    if torch.is_tensor(value):
                        inputs[name] = value.to(model.device)
                labels = inputs.pop("labels")
                logits = model(**inputs, use_cache=False).logits
                losses.append(float(surprise(logits, labels)))
        model.train(training)
        return losses

    def _finish(self, trainer: Any, folder: TrainingFolder) -> None:
        """Write the adapter, and the tables of the log and of the held-out losses."""
        model = trainer.model
        after = self._losses(model)
        self._check(fsum(after), self.last)
        with model.disable_adapter():
            before = self._losses(model)
        steps = []
        sums = {}
        for note in trainer.state.log_history:
            if "loss" in note:
                steps.append(note)
            if HELD_OUT in note:
                sums[note["step"]] = note[HELD_OUT]
        rows = step_rows(self.seen, self.recipe.batch, steps)
        if self.held_out:
            sums[0] = fsum(before)
            sums[self.last] = fsum(after)
            for step, loss in sums.items():
                rows.append(held_out_row(step, loss, self.held_out))
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
        seen = self.seen[start * self.recipe.batch :]
        tokens = sum(example.length for example in seen)
        if self.recipe.device == "cuda":
            import torch

            peak = torch.cuda.max_memory_allocated()
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
    keys["base_model_name_or_path"] = name
    keys["target_modules"] = sorted(keys["target_modules"])
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
    numbers: list[int] = []
    for epoch in range(epochs):
        rng = stream(seed, "training", "order", epoch)
        numbers += rng.permutation(count).tolist()
    return numbers


def rate(step: int, last: int, warmup: float) -> float:
    """min((s + 1)/(w + 1), (S − s)/(S − w)) of the learning rate at step s = 0..S−1.

    It rises over the first w = warmup·S steps (rounded, at most S − 1), is 1 at step w,
    and falls linearly to 0 after the last step. No step has the rate 0.
    """
    risen = min(round(warmup * last), last - 1)
    return min((step + 1) / (risen + 1), (last - step) / (last - risen))


def step_rows(
    seen: Sequence[TokenExample], batch: int, notes: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return a row of table `training` for each step, from the trainer's log."""
    tokens = [0, *accumulate(len(example.reply) for example in seen)]
    rows = []
    for note in notes:
        until = min(note["step"] * batch, len(seen))
        row = {
            "step": note["step"],
            "loss": note["loss"],
            "learning_rate": note["learning_rate"],
            "split": "train",
            "examples": until,
            "tokens": tokens[until],
        }
        rows.append(row)
    return rows


def held_out_row(
    step: int, loss: float, examples: Sequence[TokenExample]
) -> dict[str, Any]:
    """Return a row of table `training`; `loss`: the sum over all held-out tokens."""
    tokens = sum(len(example.reply) for example in examples)
    return {
        "step": step,
        "split": "held_out",
        "loss": loss / tokens,
        "examples": len(examples),
        "tokens": tokens,
    }


def loss_rows(
    examples: Sequence[TokenExample], before: Sequence[float], after: Sequence[float]
) -> list[dict[str, Any]]:
    """Return rows of table `losses`, from each reply's total loss before and after
    training.
    """
    rows = []
    for example, sum_before, sum_after in zip(examples, before, after, strict=True):
        tokens = len(example.reply)
        row = {
            "dataset": example.row["dataset"],
            "item": example.row["item"],
            "target": example.row["target"],
            "aspect": example.row["aspect"],
            "tokens": tokens,
            "before": sum_before / tokens,
            "after": sum_after / tokens,
        }
        rows.append(row)
    return rows


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
    chat = Chat(base)
    train = examples(Path(spec.train), chat, spec.max_tokens)
    if not train:
        raise UserError(
            "there are no training examples",
            where=spec.train,
            todo="check how many of the teacher's replies could be read",
        )
    held_out = examples(Path(spec.held_out), chat, spec.max_tokens)
    TrainingRun(base, recipe, spec.seed, train, held_out).run(folder)
