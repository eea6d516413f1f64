"""A network made by hand, of which it is known what it does."""

from pathlib import Path

import torch
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM


def copies_one_token(folder: Path, origin: Path) -> Path:
    """A BERT of 2 layers and 2 heads by hand, in which head 2 of layer 1 copies the token before the mask to the mask's
    place, and nothing else does anything: the answer is that token.

    Tokens' vectors are one-hot in a first part of the width, positions in a second, both scaled up; the head looks from
    place p to p - 1 by positions alone, and writes what stands there into a third part, which the output layer reads.
    """
    tokenizer = AutoTokenizer.from_pretrained(origin)
    n_tokens, n_places = len(tokenizer), 16
    d = 2 * n_tokens + 2 * n_places  # of which each head has half
    config = BertConfig(
        vocab_size=n_tokens,
        hidden_size=d,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=4,
        max_position_embeddings=n_places,
        type_vocab_size=1,
        tie_word_embeddings=False,
        hidden_act="relu",
        pad_token_id=tokenizer.pad_token_id,
    )
    model = BertForMaskedLM(config).eval()
    half = d // 2
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.zero_()
            if "LayerNorm.weight" in name:
                weight.fill_(1.0)
        tokens, places = slice(0, n_tokens), slice(n_tokens, n_tokens + n_places)
        bert = model.bert
        bert.embeddings.word_embeddings.weight[:, tokens] = torch.eye(n_tokens)
        bert.embeddings.position_embeddings.weight[:, places] = torch.eye(n_places)
        first = bert.encoder.layer[0].attention
        # Of head 2: the query at p asks for place p - 1, keys tell their places, values tell their tokens.
        query, key, value = first.self.query.weight, first.self.key.weight, first.self.value.weight
        for place in range(1, n_places):
            query[half + place - 1, n_tokens + place] = 5.0
        key[half : half + n_places, places] = 5.0 * torch.eye(n_places)
        value[half : half + n_tokens, tokens] = torch.eye(n_tokens)
        first.output.dense.weight[d - n_tokens :, half : half + n_tokens] = 3.0 * torch.eye(n_tokens)
        head = model.cls.predictions
        head.transform.dense.weight.copy_(torch.eye(d))
        head.decoder.weight[:, d - n_tokens :] = torch.eye(n_tokens)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
