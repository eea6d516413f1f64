"""Results of probes and of measured costs, small and made by hand."""

import numpy as np

from analysis.latency import Latency
from analysis.probing import Baseline, LayerResult, Settings, StructuralLayer, StructuralResult, TaskMap, TaskResult
from analysis.probing.structural_results import Estimate, ParsedSentence, Scores

LAYER = LayerResult(
    task="t", layer=0, accuracy=0.75, low=0.7, high=0.8, development_accuracy=0.7, untrained_accuracy=0.5,
    control_accuracy=0.5, selectivity=0.25, bits=None, compression=None, wrong=(),
)  # fmt: skip
TASK = TaskResult(
    task="t", level="token", labels=("a", "b"), n_train=60, n_development=10, n_test=30,
    baselines=(Baseline("majority", 0.5, 0.4, 0.6, 0.1), Baseline("word only", 0.6, 0.5, 0.7, 0.2)),
    c=1.0, random_weights=None, expected_layer=None, centre_of_gravity=None,
    layers=(LAYER,), p=((1.0,),), accuracies=((0.75,), (0.7,)), skipped=0, longest=9, notes=(),
    settings=Settings(),
)  # fmt: skip
MAP = TaskMap(
    task="t", points=np.array([[[1, 2], [3, 4]]], dtype=np.float32), explained=np.ones((1, 2), dtype=np.float32),
    cka=np.array([[0.75, 0.25], [0.5, 0.5]], dtype=np.float32), texts=("x", "y"), words=None, labels=("p", "q"),
)  # fmt: skip
SCORES = Scores(
    uuas=Estimate(0.8, 0.75, 0.85), distance_spearman=Estimate(0.7, 0.6, 0.75), root_accuracy=Estimate(0.5, 0.4, 0.6),
    depth_spearman=None,
)  # fmt: skip
PARSED = ParsedSentence(
    text="The cat saw dogs.", words=("The", "cat", "saw", "dogs", "."), punctuation=(False,) * 4 + (True,),
    edges=((0, 1), (1, 2), (2, 3)), root=2, recovered=(((0, 1), (1, 2), (1, 3)),), roots=(1,),
)  # fmt: skip
TREES = StructuralResult(
    task="t", rank=8, n_train=60, n_development=10, n_test=30, chain=SCORES,
    layers=(
        StructuralLayer(
            task="t", layer=0, scores=SCORES, development_uuas=0.8, epochs=9, untrained=SCORES, p_chain=1.0,
            p_untrained=1.0,
        ),
    ),
    p=((1.0,),), uuas_of_seeds=((0.8,),), sentences=(PARSED,), skipped=0, longest=9, notes=(), settings=Settings(),
)  # fmt: skip
LATENCY = Latency(model="m", n_tokens=16, n_words=8, n=7, median=0.002, low=0.001, high=0.003, peak_bytes=None)
