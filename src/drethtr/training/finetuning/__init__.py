"""Fine-tune a trained model on your own lines, from fifty to a few thousand of them.

material = gather(plan)
with open_trainer(material, output) as trainer:
    outcome = finetune(material, output, trainer)
"""

from drethtr.training.finetuning.effect import Outcome
from drethtr.training.finetuning.estimate import Estimate, estimate
from drethtr.training.finetuning.finetune import finetune, open_trainer
from drethtr.training.finetuning.material import Material, gather
from drethtr.training.finetuning.own_readings import Learned, gather_readings, learn_own_readings
from drethtr.training.finetuning.plan import Plan

__all__ = [
    "Estimate",
    "Learned",
    "Material",
    "Outcome",
    "Plan",
    "estimate",
    "finetune",
    "gather",
    "gather_readings",
    "learn_own_readings",
    "open_trainer",
]
