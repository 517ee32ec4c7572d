"""Write tiny random models, and what the neural measures of two texts are, word by
word.
"""

import json
import math
import sys
from itertools import permutations
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

WORDS = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "a",
    "##s",
    ".",
]
NO_WORD = {0, 2, WORDS.index("##s"), WORDS.index(".")}
SMALL = {
    "vocab_size": len(WORDS),
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}


def main(folder: Path, text: str, other: str) -> None:
    """Write both models to a folder and print their scores of a text beside another."""
    words = Tokenizer(
        models.WordPiece({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("<s>", 0), ("</s>", 2)]
    words.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=ends
    )
    named = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
    }
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=32,
        **named,
    )
    torch.manual_seed(1)
    roberta = RobertaModel(
        RobertaConfig(
            **SMALL,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=34,
        )
    ).eval()
    bart = BartForConditionalGeneration(
        BartConfig(
            **SMALL,
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            max_position_embeddings=32,
            decoder_start_token_id=2,
        )
    ).eval()
    for name, model in (("roberta", roberta), ("bart", bart)):
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    x, y = (
        tokenizer(entry, return_tensors="pt")["input_ids"] for entry in (text, other)
    )
    with torch.no_grad():
        a, b = (
            roberta(entry, output_hidden_states=True).hidden_states[1][0]
            for entry in (x, y)
        )
        start = torch.cat([torch.tensor([[2]]), x[:, :-1]], dim=1)
        logits = bart(input_ids=y, decoder_input_ids=start).logits[0].log_softmax(-1)
    cosine = torch.nn.functional.cosine_similarity
    each = [[float(cosine(entry, two, dim=0)) for two in b] for entry in a]
    precision = sum(max(row) for row in each[1:-1]) / (len(a) - 2)
    columns = list(zip(*each, strict=True))
    recall = sum(max(column) for column in columns[1:-1]) / (len(b) - 2)
    collected = [float(logits[at, token]) for at, token in enumerate(x[0])]
    f1 = 2 * precision * recall / (precision + recall)
    print(
        json.dumps(
            {
                "bertscore": f1,
                "bartscore": sum(collected) / len(collected),
                "moverscore": 1 - _moved(x[0].tolist(), y[0].tolist(), each),
            }
        )
    )


def _moved(x: list[int], y: list[int], cosines: list[list[float]]) -> float:
    """Return the least mean distance of all ways to pair words: y has twice as many as
    x.
    """
    rows = [at for at, token in enumerate(x) if token not in NO_WORD]
    columns = [at for at, token in enumerate(y) if token not in NO_WORD]
    assert len(columns) == 2 * len(rows)
    ways = permutations(columns)
    pairs = ([(rows[at // 2], column) for at, column in enumerate(way)] for way in ways)
    distances: list[float] = [
        sum(math.sqrt(2 - 2 * cosines[row][column]) for row, column in way) / len(way)
        for way in pairs
    ]
    return min(distances)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
