"""Typed results of the engine: what a text became, what each head attends to, which models there are.

Imports numpy and the standard library only, so that ``analysis``, ``viz`` and their tests never load torch; pandas and
xarray are imported where somebody asks for their tables.
All results are frozen and their arrays read-only, since the engine hands one result to everybody who asks: ``copy()``
gives an array to write into. They can be pickled, and are read-only again where they are unpickled. Shapes use n for
the number of tokens, d for the width of one head.
"""

from model_zoo.types.anatomy import Anatomy, HeadWeights, Stage
from model_zoo.types.arrays import OF_THE_MODEL, BoolArray, DoubleArray, FloatArray, IntArray, ReadOnly, read_only
from model_zoo.types.attention import LayerAttention, MapsLayer, QueryKeyLayer, rolled_out, softmax
from model_zoo.types.cause import (
    MEASURES,
    METHODS,
    READS,
    VALUES,
    Attribution,
    Change,
    Contribution,
    Decomposition,
    Edge,
    Effects,
    Measure,
    Method,
    Reading,
    Reads,
    TargetAnswer,
    Value,
)
from model_zoo.types.contributions import CONTRIBUTION_MEASURES, MOST_ZEROED, ContributionMeasure, LayerContributions
from model_zoo.types.cost import COST_LENGTHS, CostEvent, CostFailure, CostSample, CostSubject
from model_zoo.types.encoding import Encoding
from model_zoo.types.fitted_lens import FittedLens, LensDistances, MaskVectors
from model_zoo.types.lessons import Neighbour, PositionKind, Positions, RecurrentPass, TrainingStep, Without
from model_zoo.types.models import (
    DEVICES,
    DTYPES,
    Device,
    DType,
    HeldModel,
    ModelInfo,
    ModelSpec,
    ModelStatus,
    NamedPooling,
    Pickles,
    PoolingMode,
    TunedFor,
)
from model_zoo.types.predictions import MaskLens, MaskPrediction, Prediction, Shift, Target, Vocabulary
from model_zoo.types.quality import Quality
from model_zoo.types.recording import Recording as Recording
from model_zoo.types.run import STACKS, AttentionRun, Stack
from model_zoo.types.scores import EQUAL_NATS, SCHEMES, Preference, Scheme, TokenScores
from model_zoo.types.sentences import SentenceScore
from model_zoo.types.shows import Shows, set_html_formatter
from model_zoo.types.sinks import Sinks
from model_zoo.types.state import EngineState
from model_zoo.types.states import HiddenStates
from model_zoo.types.wording import MB, check_range, counted, duration, format_interval, megabytes, signed
