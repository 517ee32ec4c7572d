"""The training itself: transformers' Trainer over peft's LoRA, with a log of our own.

On a CPU the same input gives the same bytes, also after a kill and a new start.
"""

import json
import math
import os
import resource
import time
from collections.abc import Sequence
from importlib import import_module
from math import fsum
from pathlib import Path
from typing import Any

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.rng import stream_seed
from judgescope.distill.training import course
from judgescope.distill.training.base import Base
from judgescope.distill.training.examples import Example, surprise, tensors
from judgescope.distill.training.memory import GB
from judgescope.distill.training.place import LOG, LOSSES, Place
from judgescope.schema.cards import Recipe
from judgescope.schema.cards.models import ADAPTER_FILES
from judgescope.schema.tables import table_of, write_table

CLIPPED = 1.0
"""The most that the norm of a step's gradient may be."""
HELD_OUT = "held_out_loss"
"""What the trainer notes at a checkpoint beside what it notes of every step."""


def prepare(device: str) -> None:
    """See to it that one device is used, in the same way every time, before torch is loaded."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # no two examples are of one length: else what is freed does not fit what comes
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    if device == "cuda":
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
        os.environ["CUDA_VISIBLE_DEVICES"] = first
    torch = import_module("torch")
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # all of it is written to


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
    """A base that learns some examples, while others are held out."""

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
        """As many bits as numpy takes."""
        self.seen = [train[number] for number in course.order(seed, len(train), recipe.epochs)]
        self.last = course.steps(len(self.seen), recipe.batch)

    def run(self, place: Place) -> None:
        """Go on from the last whole checkpoint to the end, and leave the result in its place."""
        began = place.last()
        start = int(began.name.rpartition("-")[2]) if began else 0
        print(f"{'goes on' if began else 'begins'} after step {start} of {self.last}", flush=True)
        try:
            trainer, since = self._trainer(place), time.monotonic()
            trainer.train(resume_from_checkpoint=str(began) if began else None)
            self._tell(start, time.monotonic() - since)
            self._finish(trainer, place)
        except import_module("torch").OutOfMemoryError as error:
            raise UserError(
                f"the device's memory is full: {str(error).partition('. ')[0]}",
                where="study, key distill.recipe.device_batch",
                got=self.recipe.device_batch,
                todo="make it smaller, name a smaller base, or end what else runs on the device",
            ) from None

    def _trainer(self, place: Place) -> Any:
        transformers = import_module("transformers")
        optim = import_module("torch.optim")
        recipe = self.recipe
        transformers.set_seed(self.seed)
        model = adapted(self.base.weights(recipe.device), recipe)
        learning = [one for one in model.parameters() if one.requires_grad]
        optimizer = optim.AdamW(learning, lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
        schedule = optim.lr_scheduler.LambdaLR(
            optimizer,
            lambda step: course.rate(min(step, self.last - 1), self.last, recipe.warmup),
        )
        trainer = transformers.Trainer(
            model=model,
            args=self._arguments(place),
            train_dataset=self.seen,
            data_collator=tensors,
            optimizers=(optimizer, schedule),
            compute_loss_func=_mean,
            callbacks=[self._watcher(place)],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        return trainer

    def _arguments(self, place: Place) -> Any:
        """Return the trainer's arguments; the examples come in the order that they are seen in."""
        recipe = self.recipe
        return import_module("transformers").TrainingArguments(
            output_dir=str(place.steps),
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
            save_total_limit=2,  # the one before stays until the last is whole
            logging_strategy="steps",
            logging_steps=1,
            logging_nan_inf_filter=False,
            disable_tqdm=True,
            report_to="none",
            remove_unused_columns=False,
        )

    def _watcher(self, place: Place) -> Any:
        """Return what the trainer calls after each step, note and checkpoint."""

        def on_step_end(_: Any, args: Any, state: Any, control: Any, **told: Any) -> None:
            step = state.global_step
            if step % self.recipe.checkpoint_steps == 0 and step < self.last and self.held_out:
                found = fsum(self._losses(told["model"]))
                self._check(found, step)  # before a checkpoint of it is written
                state.log_history.append({"step": step, HELD_OUT: found})
                mean = found / sum(len(one.reply) for one in self.held_out)
                print(f"step {step} of {self.last}: held-out loss {mean:.4f}", flush=True)

        def on_log(_: Any, args: Any, state: Any, control: Any, **told: Any) -> None:
            self._check(told["logs"].get("loss", 0), state.global_step)

        def on_save(_: Any, args: Any, state: Any, control: Any, **told: Any) -> None:
            place.whole(state.global_step)

        events = {"on_step_end": on_step_end, "on_log": on_log, "on_save": on_save}
        return type("Watcher", (import_module("transformers").TrainerCallback,), events)()

    def _check(self, loss: float, step: int) -> None:
        """Raise UserError if a loss is no number."""
        if not math.isfinite(loss):
            raise UserError(
                f"the loss is no number any more at step {step}",
                where="study, key distill.recipe.learning_rate",
                got=self.recipe.learning_rate,
                todo="make it smaller",
            )

    def _losses(self, model: Any) -> list[float]:
        """Return the loss of every reply that is held out, one at a time: nothing is padded."""
        torch = import_module("torch")
        learns = model.training
        model.eval()
        found = []
        with torch.no_grad():
            for one in self.held_out:
                made = {
                    name: value.to(model.device) if torch.is_tensor(value) else value
                    for name, value in tensors([one]).items()
                }
                labels = made.pop("labels")
                found.append(float(surprise(model(**made, use_cache=False).logits, labels)))
        model.train(learns)
        return found

    def _finish(self, trainer: Any, place: Place) -> None:
        """Write the adapter, and the tables of what was noted and of what is held out."""
        model = trainer.model
        after = self._losses(model)
        self._check(fsum(after), self.last)
        with model.disable_adapter():
            before = self._losses(model)
        noted = trainer.state.log_history
        rows = course.learnt(
            self.seen, self.recipe.batch, (note for note in noted if "loss" in note)
        )
        if self.held_out:
            told = {note["step"]: note[HELD_OUT] for note in noted if HELD_OUT in note}
            told |= {0: fsum(before), self.last: fsum(after)}
            rows += [course.held_out(step, loss, self.held_out) for step, loss in told.items()]
        rows.sort(key=lambda row: (row["step"], row["split"]))
        pairs = list(map(course.Loss, before, after))
        with place.finishing() as folder:
            write_table("training", table_of("training", rows), folder / LOG)
            table = table_of("losses", course.losses(self.held_out, pairs))
            write_table("losses", table, folder / LOSSES)
            save_adapter(model, folder, self.base.card.name)

    def _tell(self, start: int, seconds: float) -> None:
        """Print what differs between machines."""
        tokens = sum(one.length for one in self.seen[start * self.recipe.batch :])
        if self.recipe.device == "cuda":
            peak = import_module("torch").cuda.max_memory_allocated()
        else:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            f"{self.last - start} steps in {seconds:.1f} s, {tokens / seconds:.0f} tokens a "
            f"second, at most {peak / GB:.1f} GB",
            flush=True,
        )


def save_adapter(model: Any, folder: Path, name: str) -> None:
    """Write the two files of an adapter, without a word of this machine or this run."""
    whole = folder / "peft"
    model.save_pretrained(whole, save_embedding_layers=False)
    config, weights = ADAPTER_FILES
    (whole / weights).rename(folder / weights)
    told = json.loads((whole / config).read_text(encoding="utf-8"))
    told |= {"base_model_name_or_path": name, "target_modules": sorted(told["target_modules"])}
    (folder / config).write_text(canonical(told) + "\n", encoding="utf-8")
    for path in whole.iterdir():  # peft's own config and a page about the model
        path.unlink()
    whole.rmdir()


def _mean(outputs: Any, labels: Any, num_items_in_batch: Any) -> Any:
    """Return the loss of some of a step's examples, as their part of the mean over its tokens."""
    return surprise(outputs.logits, labels).sum() / num_items_in_batch
