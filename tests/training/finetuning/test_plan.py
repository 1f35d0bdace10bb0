import pytest

from drethtr.base.errors import ConfigError
from drethtr.training.finetuning.plan import Plan


@pytest.mark.parametrize(
    "wishes", [{"seed": -1}, {"adapter": True, "drop_unused": True}, {"own_readings": True, "cross_fit": True}]
)
def test_senseless_wishes_are_refused(wishes):
    with pytest.raises(ConfigError):
        Plan(data=("mine",), **wishes)
