"""Scorers of engine `command`: BERTScore and BARTScore, by weights in a folder on this machine.

Arguments: the measure, a file of the folder of weights, and for BERTScore the number of the layer.
A JSON object a line in (`id`, `text`, and `source` or `references`), one a line out. It needs torch
and transformers: where the interpreter has none, the program starts again with that of
JUDGESCOPE_PYTHON_TRAIN (`make env-train`). Nothing is downloaded.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
Scorer = Callable[[dict[str, Any]], float]


def bertscore(folder: Path, layer: int) -> Scorer:
    """Return the F1 of words in context, the best over references (Zhang et al. 2020), no idf.

    P = mean over a text's tokens of the largest cosine with a token of the reference, R alike the
    other way round; of the hidden states of a layer. Special tokens are matched and not counted.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    layers = model.config.num_hidden_layers
    if not 1 <= layer <= layers:
        sys.exit(f"layer {layer}: the model has layers 1 to {layers}")

    def states(text: str) -> tuple[Any, Any]:
        """Return the unit vectors of a text's tokens, and which of them count."""
        most = min(tokenizer.model_max_length, model.config.max_position_embeddings - 2)
        options = {"truncation": True, "max_length": most, "return_special_tokens_mask": True}
        encoded = tokenizer(text.strip(), return_tensors="pt", **options)
        counted = encoded.pop("special_tokens_mask")[0] == 0
        with torch.inference_mode():
            hidden = model(**encoded, output_hidden_states=True).hidden_states[layer][0]
        return torch.nn.functional.normalize(hidden, dim=-1), counted

    def score(target: dict[str, Any]) -> float:
        x, x_counted = states(target["text"])
        return max(_f1(x, x_counted, *states(text)) for text in target["references"])

    def _f1(x: Any, x_counted: Any, y: Any, y_counted: Any) -> float:
        cosine = x @ y.T
        precision = cosine.max(dim=1).values[x_counted].mean()
        recall = cosine.max(dim=0).values[y_counted].mean()
        return float(2 * precision * recall / (precision + recall))

    return score


def bartscore(folder: Path) -> Scorer:
    """Return the mean log probability of a text's tokens given the source (Yuan et al. 2021)."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True).eval()
    most = min(tokenizer.model_max_length, model.config.max_position_embeddings)

    def score(target: dict[str, Any]) -> float:
        options = {"truncation": True, "max_length": most, "return_tensors": "pt"}
        source = tokenizer(target["source"], **options)
        labels = tokenizer(text_target=target["text"], **options)["input_ids"]
        with torch.inference_mode():
            return -float(model(**source, labels=labels).loss)

    return score


def answer(scorer: Scorer, lines: Iterable[str], needs: str) -> None:
    """Write the answer to every line; `needs` is the field that a target must have."""
    for line in lines:
        target = json.loads(line)
        told: dict[str, object] = {"error": f"there is no {needs.removesuffix('s')}"}
        if not target["text"].strip():
            told = {"error": "the text is empty"}
        elif target.get(needs):
            told = {"score": scorer(target)}
        print(json.dumps({"id": target["id"], **told}), flush=True)


def main(measure: str, weights: str, layer: str = "0") -> None:
    """Answer standard input, by the interpreter that has torch."""
    os.environ.update(OFFLINE)
    if find_spec("torch") is None:
        other = os.environ.pop("JUDGESCOPE_PYTHON_TRAIN", "")
        if not other:
            sys.exit("torch is not installed here: make env-train, and set JUDGESCOPE_PYTHON_TRAIN")
        os.execv(other, [other, *sys.argv])
    folder = Path(weights).parent
    if measure == "bertscore":
        answer(bertscore(folder, int(layer)), sys.stdin, "references")
    else:
        answer(bartscore(folder), sys.stdin, "source")


if __name__ == "__main__":
    main(*sys.argv[1:])
