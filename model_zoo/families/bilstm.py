"""A bidirectional LSTM language model that fills masks: what such models were before attention.

A transformers model like the others: ``AutoModelForMaskedLM.from_pretrained`` loads it once this module is imported,
and it answers with ``logits`` and ``hidden_states``. It has no attention to show; in all else it follows the rule. The
classes with a head for a task are tuned on the page "Train".
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import (
    BaseModelOutput,
    MaskedLMOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

from model_zoo.families.rule import Family


class BiLSTMConfig(PreTrainedConfig):
    """``hidden_size`` is the width of every layer; each direction of an LSTM has half of it."""

    model_type = "bilstm"

    vocab_size: int = 8000
    hidden_size: int = 320
    num_hidden_layers: int = 2
    layer_norm_eps: float = 1e-5
    initializer_range: float = 0.02
    pad_token_id: int | None = 0
    tie_word_embeddings: bool = True

    @property
    def num_attention_heads(self) -> int:
        """It is 0: none of its layers has attention."""
        return 0


class BiLSTMLayer(nn.Module):
    """One LSTM forwards and one backwards over the text, added to the layer's input and normalized."""

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(config.hidden_size, config.hidden_size // 2, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        output, _ = nn.utils.rnn.pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=states.shape[1]
        )
        return self.norm(states + output)  # (batch, n, width)


class BiLSTMPreTrainedModel(PreTrainedModel):
    config_class = BiLSTMConfig
    base_model_prefix = "bilstm"

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding | nn.Linear):
            module.weight.data.normal_(std=self.config.initializer_range)
        elif isinstance(module, nn.LSTM):
            for name, weights in module.named_parameters():
                if "weight" in name:
                    nn.init.xavier_uniform_(weights.data)
                else:
                    weights.data.zero_()
        elif isinstance(module, nn.LayerNorm):
            module.weight.data.fill_(1.0)
        if isinstance(module, nn.Linear | nn.LayerNorm) and module.bias is not None:
            module.bias.data.zero_()


class BiLSTMModel(BiLSTMPreTrainedModel):
    """Embeddings and a stack of bidirectional LSTM layers."""

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(BiLSTMLayer(config) for _ in range(config.num_hidden_layers))
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        return self.embeddings

    def set_input_embeddings(self, value: nn.Embedding) -> None:
        self.embeddings = value

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        output_hidden_states: bool | None = None,
        **_unused: Any,
    ) -> BaseModelOutput:
        """``input_ids`` (batch, n), padded at the right; ``hidden_states``: layers + 1 of (batch, n, width).

        Raises ValueError for padding elsewhere, which an LSTM would read as text.
        """
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask.long()
        lengths = mask.sum(dim=1)
        if bool((mask[:, 1:] > mask[:, :-1]).any()) or bool((lengths == 0).any()):
            raise ValueError("The LSTM reads texts that are padded at the right and hold at least one token.")
        if output_hidden_states is None:
            output_hidden_states = self.config.output_hidden_states
        states = self.norm(self.embeddings(input_ids))
        all_states = [states]
        for layer in self.layers:
            states = layer(states, lengths.cpu())
            all_states.append(states)
        return BaseModelOutput(
            last_hidden_state=states, hidden_states=tuple(all_states) if output_hidden_states else None
        )


class BiLSTMForMaskedLM(BiLSTMPreTrainedModel):
    """The LSTM stack with a masked-word head whose decoder shares the embeddings' weights."""

    _tied_weights_keys = {"lm_head.decoder.weight": "bilstm.embeddings.weight"}  # noqa: RUF012 (transformers' name)

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__(config)
        self.bilstm = BiLSTMModel(config)
        self.lm_head = BiLSTMHead(config)
        self.post_init()

    def get_output_embeddings(self) -> nn.Linear:
        return self.lm_head.decoder

    def set_output_embeddings(self, new_embeddings: nn.Linear) -> None:
        self.lm_head.decoder = new_embeddings

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        output_hidden_states: bool | None = None,
        **_unused: Any,
    ) -> MaskedLMOutput:
        """``logits`` (batch, n, vocabulary); ``loss`` is the mean over ``labels`` that are not -100."""
        output = self.bilstm(input_ids, attention_mask, output_hidden_states)
        logits = self.lm_head(output.last_hidden_state)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
        return MaskedLMOutput(loss=loss, logits=logits, hidden_states=output.hidden_states)


class BiLSTMHead(nn.Module):
    """Dense layer, GELU, normalization, and the decoder onto the vocabulary, as in BERT."""

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.norm(nn.functional.gelu(self.dense(states))))


class _BiLSTMWithScores(BiLSTMPreTrainedModel):
    """The LSTM stack and a linear layer for a task of ``config.num_labels``."""

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__(config)
        self.bilstm = BiLSTMModel(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def _states(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
        states: torch.Tensor = self.bilstm(input_ids, attention_mask).last_hidden_state
        return states  # (batch, n, width)


class BiLSTMForSequenceClassification(_BiLSTMWithScores):
    """From the largest value of each unit over the text (Conneau et al. 2017): an LSTM has no [CLS] that has read it
    all in both directions.
    """

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_unused: Any
    ) -> SequenceClassifierOutput:
        states = self._states(input_ids, attention_mask)
        if attention_mask is not None:
            states = states.masked_fill(attention_mask[:, :, None] == 0, -torch.inf)
        return SequenceClassifierOutput(logits=self.classifier(states.amax(dim=1)))


class BiLSTMForTokenClassification(_BiLSTMWithScores):
    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_unused: Any
    ) -> TokenClassifierOutput:
        return TokenClassifierOutput(logits=self.classifier(self._states(input_ids, attention_mask)))


class BiLSTMForQuestionAnswering(_BiLSTMWithScores):
    """Its two outputs are the scores of a token as start and as end."""

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_unused: Any
    ) -> QuestionAnsweringModelOutput:
        scores = self.classifier(self._states(input_ids, attention_mask))
        return QuestionAnsweringModelOutput(start_logits=scores[..., 0], end_logits=scores[..., 1])


AutoConfig.register("bilstm", BiLSTMConfig)
AutoModelForMaskedLM.register(BiLSTMConfig, BiLSTMForMaskedLM)
AutoModelForSequenceClassification.register(BiLSTMConfig, BiLSTMForSequenceClassification)
AutoModelForTokenClassification.register(BiLSTMConfig, BiLSTMForTokenClassification)
AutoModelForQuestionAnswering.register(BiLSTMConfig, BiLSTMForQuestionAnswering)


class BiLSTM(Family):
    model_types = ("bilstm",)
