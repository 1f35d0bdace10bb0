"""A trained model goes on to learn a person's own lines, from fifty to some thousand of them.

material = gather(plan)
outcome = finetune(material, Path("mine.safetensors"))
"""

from drethtr.training.finetuning.finetune import Outcome, finetune, forget
from drethtr.training.finetuning.material import Material, gather
from drethtr.training.finetuning.plan import Plan

__all__ = ["Material", "Outcome", "Plan", "finetune", "forget", "gather"]
