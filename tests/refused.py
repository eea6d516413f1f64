"""What a model that cannot be had is refused with."""

import pytest

from model_zoo import sources
from model_zoo.errors import ModelZooError


def message(model: str) -> str:
    with pytest.raises(ModelZooError) as caught:
        sources.find(model)
    return str(caught.value)
