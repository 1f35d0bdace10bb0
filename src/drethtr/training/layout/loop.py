"""train_layout(run): the training of the line detector, top to bottom.

It shares with `drethtr.training.loop` all that does not depend on what is learned: streams, optimizer, average,
snapshots, log.
"""

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from drethtr.base.errors import CheckpointError
from drethtr.base.locks import claimed
from drethtr.evaluation.layout import figures_of
from drethtr.evaluation.whole_pages import find_and_compare
from drethtr.layout.network import SHIPPED, TEXT, LineModel, load_lines, save_lines
from drethtr.network.detector import Detector
from drethtr.network.weights import fit
from drethtr.pages.segmentation import DetectedLines
from drethtr.training.devices import Devices
from drethtr.training.feed.mixture import Mixture
from drethtr.training.feed.stream import as_it_is, beginnings, stream
from drethtr.training.layout.crops import END, ON, UNKNOWN, CropBatches, Crops
from drethtr.training.layout.run import LayoutLoss, LayoutRun, PagesValidation
from drethtr.training.layout.sources import check_apart, pages_by_collection, pages_digest
from drethtr.training.loop import BEST, LATEST, SNAPSHOT, change_weights, is_finished, refuse_old_run
from drethtr.training.metrics_log import MetricsLog
from drethtr.training.optimize import MovingAverage, learning_rate, make_optimizer, set_learning_rate
from drethtr.training.snapshot import Learner, Progress, RunIdentity, load_snapshot, save_snapshot
from drethtr.training.validation import card_of

NEAR = 15
"""Window in which pixels around a core count more: seven to each side, where neighboring lines may merge."""

SMOOTH = 50.0
"""Added to both sides of the Dice coefficient, in pixels, so that crops without text count.

Neither was varied. With a much larger value, the term would mean little for crops with few lines."""


class LayoutLosses(NamedTuple):
    """The parts of the loss, weighted."""

    cores: Tensor
    text: Tensor
    roles: Tensor


def train_layout(
    run: LayoutRun,
    output: Path,
    *,
    resume: bool = False,
    device: torch.device | str = "cpu",
    workers: int = 1,
    minutes: float | None = None,
) -> Path:
    """Train a model into the folder `output` and return the path of the best one.

    Args:
        resume: Continue from the folder's snapshot; the result equals that of an uninterrupted run.
        workers: Processes that draw crops; they do not change the result.
        minutes: Stop after this time, ready to resume.

    Raises:
        ConfigError: if the folder already contains a run or its models and `resume` is false, or a setting is wrong.
        CheckpointError: if the start or the folder's snapshot cannot be used, or the pages have changed.
        DataError: if a page cannot be used, or is for training and validation, or another program is training into the
            folder.
    """
    with claimed(output / SNAPSHOT):
        refuse_old_run(output, resume=resume)
        devices = Devices.open(device)
        torch.manual_seed(run.seed)
        mixture = Mixture.open(run.train, run.seed)
        batches = CropBatches(mixture, run.crops)
        learner = make_learner(run, devices)
        validator = PagesValidator(run.validation, output)
        check_apart(mixture.supplies, validator.pages)
        identity = RunIdentity(run, (*mixture.digests(), validator.digest()))
        snapshot = output / SNAPSHOT
        progress = Progress(beginnings(1), devices.uses_bfloat16(run.bfloat16))
        if snapshot.exists():
            progress = load_snapshot(snapshot, learner, identity)
        deadline = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
        log = MetricsLog(output, run.samples, progress.samples, unit="crops", measure="error")
        with closing(log):
            log.note(f"{mixture.summary()}\n{validator.digest()}")
            if run.validation.at_start and not progress.step:
                progress = validator(learner, progress, run, log)
            stopping = is_finished(progress, run.samples, run.patience)
            for position, crops in stream(batches, pack=as_it_is, start=progress.positions[0], workers=workers):
                if stopping:
                    break
                begun = time.monotonic()
                losses = train_step(learner, crops, devices, run, progress)
                progress = replace(
                    progress,
                    positions=(position,),
                    step=progress.step + 1,
                    samples=progress.samples + len(crops.grays),
                    seconds=progress.seconds + time.monotonic() - begun,
                )
                values = {name: round(float(value), 4) for name, value in losses._asdict().items()}
                log.advance(len(crops.grays), **values)
                if progress.step % 20 == 0:
                    log.record("train", progress.samples, values)
                if progress.samples >= run.samples or progress.samples - progress.validated >= run.validation.every:
                    progress = validator(learner, replace(progress, validated=progress.samples), run, log)
                stopping = is_finished(progress, run.samples, run.patience) or time.monotonic() > deadline
                if stopping or progress.samples - progress.saved >= run.save_every:
                    progress = replace(progress, saved=progress.samples)
                    save_lines(model_of(learner, progress, run), output / LATEST)
                    save_snapshot(snapshot, learner, progress, identity)
    return output / BEST


def make_learner(run: LayoutRun, devices: Devices) -> Learner[Detector]:
    """The network with the weights of its start, their average and their optimizer.

    Raises:
        CheckpointError: if the start cannot be used.
        ConfigError: if `tuning` names weights that the network does not have.
    """
    path = SHIPPED if run.start is None else Path(run.start)
    network = Detector()
    first = network.state_dict()
    known = {name: torch.from_numpy(np.array(weight)) for name, weight in load_lines(path).weights.items()}
    # The published detector has no second head, which then starts from scratch.
    missing = {name: weight for name, weight in first.items() if name.startswith("maps.") and name not in known}
    try:
        network.load_state_dict(fit({**missing, **known}, first))
    except CheckpointError as error:
        raise error.of(path) from error
    network.to(devices.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    run.tuning.begin(network)
    average = MovingAverage(network, run.optimizer.average)
    return Learner(network, network, average, make_optimizer(network, run.optimizer))


def model_of(learner: Learner[Detector], progress: Progress, run: LayoutRun) -> LineModel:
    """The model with the averaged weights."""
    weights = {name: tensor.cpu().numpy().copy() for name, tensor in learner.average.network.state_dict().items()}
    return LineModel(weights, card_of(progress, run))


def train_step(
    learner: Learner[Detector], crops: Crops, devices: Devices, run: LayoutRun, progress: Progress
) -> LayoutLosses:
    """One step: losses, gradients, weights, average.

    Raises:
        ConfigError: if the gradient is not finite; the weights are then unchanged.
    """
    set_learning_rate(learner.optimizer, learning_rate(run.optimizer, progress.samples, run.samples))
    learner.network.train()
    learner.optimizer.zero_grad(set_to_none=True)
    grays = torch.from_numpy(crops.grays).to(devices.device)[:, None].float() / 255
    with devices.precision(progress.bfloat16):
        cores, maps = learner.network(grays)
    losses = losses_of(
        cores.float(),
        maps.float(),
        torch.from_numpy(crops.cores).to(devices.device)[:, None],
        torch.from_numpy(crops.maps).to(devices.device),
        run.loss,
    )
    torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
    change_weights(learner, devices, run.optimizer.clip, progress)
    learner.average.update(learner.network, progress.step + 1)
    return LayoutLosses(*(loss.detach() for loss in losses))


def losses_of(cores: Tensor, maps: Tensor, core_target: Tensor, targets: Tensor, weights: LayoutLoss) -> LayoutLosses:
    """The parts of the loss.

    Args:
        cores, maps: Logits, float (B, 1, S, S) and (B, maps, S/4, S/4).
        core_target, targets: uint8, of the same shapes; see `Crops`.
    """
    text, roles = slice(TEXT, TEXT + 1), slice(TEXT + 1, None)
    # Skipped where possible, as its window is large: half the time of a step if only the second head learns.
    learned = cores.requires_grad
    of_cores = line_loss(cores, core_target == ON, core_target == END, weights) if learned else cores.new_zeros(())
    of_text = line_loss(maps[:, text], targets[:, text] == ON, targets[:, text] == END, weights)
    of_roles = known_loss(maps[:, roles], targets[:, roles])
    return LayoutLosses(weights.cores * of_cores, weights.text * of_text, weights.roles * of_roles)


def line_loss(logits: Tensor, target: Tensor, past: Tensor, weights: LayoutLoss) -> Tensor:
    """Cross-entropy and Dice of a map of lines, (B, 1, H, W)."""
    wanted = target.float()
    near = F.max_pool2d(wanted, NEAR, 1, NEAR // 2)
    emphasis = 1 + weights.near * near + weights.past * past.float()
    entropy = (F.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * emphasis).mean()
    found, axes = logits.sigmoid(), (1, 2, 3)
    shared = (2 * (found * wanted).sum(axes) + SMOOTH) / ((found + wanted).sum(axes) + SMOOTH)
    return entropy + weights.dice * (1 - shared).mean()


def known_loss(logits: Tensor, target: Tensor) -> Tensor:
    """The mean cross-entropy of the places that are known; 0 if there are none."""
    known = (target != UNKNOWN).float()
    entropy = F.binary_cross_entropy_with_logits(logits, (target == 1).float(), reduction="none")
    return (entropy * known).sum() / known.sum().clamp(min=1)


def error_of(figures: Mapping[str, Any]) -> float:
    """One number to choose by: one minus the mean of the F of baselines and the share of lines found as lines."""
    return 1 - (float(figures["f"] or 0) + float(figures["found"] or 0)) / 2


class PagesValidator:
    """Finds the lines of the validation pages with the averaged weights, and keeps the best."""

    def __init__(self, wanted: PagesValidation, output: Path) -> None:
        collections = pages_by_collection(wanted.paths, wanted.images).values()
        self.pages = [page for pages in collections for page in pages[: wanted.pages]]
        self.output = output

    def digest(self) -> str:
        """A description of the pages, with a digest."""
        return f"validation: {len(self.pages)} pages [{pages_digest(self.pages)}]"

    def __call__(self, learner: Learner[Detector], progress: Progress, run: LayoutRun, log: MetricsLog) -> Progress:
        """Find the lines of all pages, and save the model as the best one if it is the best so far.

        Raises:
            DataError: naming the page, if an image cannot be used.
        """
        model, candidate = model_of(learner, progress, run), self.output / LATEST
        save_lines(model, candidate)
        pages = find_and_compare(self.pages, DetectedLines(str(candidate)), torch.get_num_threads())
        overall = figures_of(list(pages.values()))
        rates = {name: round(float(overall[name] or 0), 4) for name in ("f", "found", "false_per_line")}
        error = error_of(rates)
        log.record_validation(progress.samples, {**rates, "all": round(error, 4)})
        if progress.best is not None and error >= progress.best:
            return replace(progress, stale=progress.stale + 1)
        save_lines(replace(model, card={**model.card, "validation": rates}), self.output / BEST)
        return replace(progress, best=error, stale=0)
