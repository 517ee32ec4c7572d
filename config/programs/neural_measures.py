"""Scorers of engine `command`: BERTScore, MoverScore, BARTScore, by weights on this machine.

Arguments: the measure, a file of the folder of weights, and for the first two the number of the
layer. A JSON object a line in (`id`, `text`, and `source` or `references`), one a line out. It
needs torch and transformers: where the interpreter has none, the program starts again with that of
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
STEPS = 1_000_000
"""Distances are whole numbers of 1 / STEPS: the network simplex is exact on whole numbers."""
Scorer = Callable[[dict[str, Any]], float]


def encoder(folder: Path, layer: int) -> Callable[[str], tuple[Any, Any]]:
    """Return what gives the unit vectors of a text's tokens at a layer, and how it was encoded."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    layers = model.config.num_hidden_layers
    if not 1 <= layer <= layers:
        sys.exit(f"layer {layer}: the model has layers 1 to {layers}")
    most = min(tokenizer.model_max_length, model.config.max_position_embeddings - 2)

    def states(text: str) -> tuple[Any, Any]:
        encoded = tokenizer(text.strip(), return_tensors="pt", truncation=True, max_length=most)
        with torch.inference_mode():
            hidden = model(**encoded, output_hidden_states=True).hidden_states[layer][0]
        return torch.nn.functional.normalize(hidden, dim=-1), encoded

    return states


def bertscore(folder: Path, layer: int) -> Scorer:
    """Return the F1 of words in context, the best over references (Zhang et al. 2020), no idf.

    P = mean over a text's tokens of the largest cosine with a token of the reference, R alike the
    other way round; of the hidden states of a layer. Special tokens are matched and not counted.
    """
    states = encoder(folder, layer)

    def counted(encoded: Any) -> list[bool]:
        return [word is not None for word in encoded.word_ids()]

    def score(target: dict[str, Any]) -> float:
        x, encoded = states(target["text"])
        x_counted = counted(encoded)
        return max(_f1(x, x_counted, *states(text)) for text in target["references"])

    def _f1(x: Any, x_counted: list[bool], y: Any, encoded: Any) -> float:
        cosine = x @ y.T
        precision = cosine.max(dim=1).values[x_counted].mean()
        recall = cosine.max(dim=0).values[counted(encoded)].mean()
        return float(2 * precision * recall / (precision + recall))

    return score


def moverscore(folder: Path, layer: int) -> Scorer:
    """Return 1 - the earth mover's distance of words, the mean over references (Zhao et al. 2019).

    The distance is the least mean Euclidean distance over which the words of the text, of equal
    weight, become those of the reference; a word is its first token, and punctuation is left out.
    """
    import torch
    from networkx import DiGraph, network_simplex

    states = encoder(folder, layer)

    def words(text: str) -> Any:
        vectors, encoded = states(text)
        ids = encoded.word_ids()
        firsts = [
            at
            for at, (before, word) in enumerate(zip([None, *ids], ids, strict=False))
            if word not in (None, before)
            and any(map(str.isalnum, text.strip()[slice(*encoded.word_to_chars(word))]))
        ]
        if not firsts:
            raise ValueError("a text has no words")
        return vectors[firsts]

    def distance(x: Any, y: Any) -> float:
        graph = DiGraph()
        graph.add_nodes_from(((0, at) for at in range(len(x))), demand=-len(y))
        graph.add_nodes_from(((1, at) for at in range(len(y))), demand=len(x))
        costs = (torch.cdist(x, y) * STEPS).round().int().tolist()
        graph.add_weighted_edges_from(
            ((0, one), (1, other), cost)
            for one, row in enumerate(costs)
            for other, cost in enumerate(row)
        )
        return float(network_simplex(graph)[0]) / STEPS / len(x) / len(y)

    def score(target: dict[str, Any]) -> float:
        text = words(target["text"])
        distances = [distance(text, words(other)) for other in target["references"]]
        return 1 - sum(distances) / len(distances)

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


MEASURES: dict[str, tuple[Callable[..., Scorer], str]] = {
    "bertscore": (bertscore, "references"),
    "moverscore": (moverscore, "references"),
    "bartscore": (bartscore, "source"),
}
"""Measure -> what makes its scorer, and the field that a target must have."""


def answer(scorer: Scorer, lines: Iterable[str], needs: str) -> None:
    """Write the answer to every line; `needs` is the field that a target must have."""
    for line in lines:
        target = json.loads(line)
        told: dict[str, object] = {"error": f"there is no {needs.removesuffix('s')}"}
        if not target["text"].strip():
            told = {"error": "the text is empty"}
        elif target.get(needs):
            try:
                told = {"score": scorer(target)}
            except ValueError as error:
                told = {"error": str(error)}
        print(json.dumps({"id": target["id"], **told}), flush=True)


def main(measure: str, weights: str, *layer: str) -> None:
    """Answer standard input, by the interpreter that has torch."""
    os.environ.update(OFFLINE)
    if find_spec("torch") is None:
        other = os.environ.pop("JUDGESCOPE_PYTHON_TRAIN", "")
        if not other:
            sys.exit("torch is not installed here: make env-train, and set JUDGESCOPE_PYTHON_TRAIN")
        os.execv(other, [other, *sys.argv])
    make, needs = MEASURES[measure]
    answer(make(Path(weights).parent, *map(int, layer)), sys.stdin, needs)


if __name__ == "__main__":
    main(*sys.argv[1:])
