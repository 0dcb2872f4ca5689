"""Supervised steps on shards: real gradients on the tiny model, with a control that tells whether pictures matter.

The control: the same run, but each picture is replaced by one drawn anew from all pictures of the shards. What the
model can then learn is the wording of the turns; what it learns beyond that in the undisturbed run, it reads off the
screen. Does NOT cover: real checkpoints, mixtures, schedules, several devices; those are stages.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import Qwen3VLForConditionalGeneration

from forge.records import InputError
from training.batch import IGNORED, collate, encode
from training.example import Example, parts
from training.gallery import Gallery
from training.shards import read_shards
from training.tiny import tiny_model, tiny_processor

PIXELS = 320 * 200
"""A picture is scaled down to at most so many pixels: 60 tokens."""
MAX_TOKENS = 4096
"""Longer examples are left out and counted; none is ever cut."""
EVALUATED = 32
"""At most so many examples, drawn by seed, are evaluated before and after."""
TAUGHT = 256
"""The tokenizer is trained on the texts of about so many examples."""
WARM_UP = 3
"""Steps until the learning rate is whole."""


@dataclass(frozen=True)
class TrainReport:
    """What a run of gradient steps did.

    Args:
        losses: loss of each step's batch before its update; nats per completion token.
        before: loss over the evaluated examples with their own pictures, before the first step.
        after: the same, after the last step.
        after_shuffled: after the last step, with pictures of other examples; above `after` when pictures are used.
        shuffled: whether the run was trained on shuffled pictures.
        examples: examples trained on; `skipped` more were longer than the token limit.
        tokens: tokens of the longest example.
        seconds: of the steps alone, without building, encoding and evaluating.
    """

    losses: tuple[float, ...]
    before: float
    after: float
    after_shuffled: float
    shuffled: bool
    examples: int
    skipped: int
    tokens: int
    parameters: int
    seed: int
    seconds: float

    @property
    def fall(self) -> float:
        """How far the evaluation loss fell, in nats per completion token."""
        return self.before - self.after

    @property
    def steps_per_second(self) -> float:
        """Optimizer steps a second."""
        return len(self.losses) / self.seconds if self.seconds else 0.0


def train(
    shards: Path,
    *,
    steps: int = 20,
    seed: int = 0,
    shuffle_images: bool = False,
    batch: int = 8,
    rate: float = 1e-2,
    split: str = "train",
    pixels: int = PIXELS,
) -> TrainReport:
    """Take `steps` AdamW steps on the completions of a split, from fresh weights.

    Equal arguments give equal batches, weights and losses, for all runs on one thread, however many cores there are;
    `shuffle_images` changes nothing but which pictures are shown. (Threads would also spin against each other on a busy
    machine: two were 2.5 times slower than one there.)

    Args:
        shards: a folder that `write_shards` wrote.
        batch: examples a step.
        rate: learning rate, constant after a short warm-up.
        split: the split to train on; examples of it are evaluated too, so this is no measure of generalisation.
        pixels: pictures are scaled down to at most this many pixels.

    Raises:
        InputError: the shards are corrupt, or the split is empty.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _train(read_shards(shards, split), steps, seed, shuffle_images, batch, rate, pixels)
    finally:
        torch.set_num_threads(threads)


def compare(shards: Path, *, steps: int = 20, seed: int = 0, **options: Any) -> tuple[TrainReport, TrainReport]:
    """The run and its control: the same weights, batches and steps with right and with shuffled pictures."""
    return (
        train(shards, steps=steps, seed=seed, **options),
        train(shards, steps=steps, seed=seed, shuffle_images=True, **options),
    )


class Feed:
    """Examples on their way into the model, encoded when they are needed: patches of many pictures fill a memory."""

    def __init__(self, examples: list[Example], pixels: int):
        taught = examples[:: max(1, len(examples) // TAUGHT)]
        self.processor = tiny_processor((text for example in taught for text in _texts(example)), pixels=pixels)
        self.gallery = Gallery(examples, pixels)
        lengths = [len(encode(self.processor, example, self.gallery.own(example)).ids) for example in examples]
        self.examples = [example for example, length in zip(examples, lengths, strict=True) if length <= MAX_TOKENS]
        self.skipped = len(examples) - len(self.examples)
        if not self.examples:
            raise InputError(f"every example is longer than {MAX_TOKENS} tokens", mend="fold with fewer responses kept")
        self.longest = max(length for length in lengths if length <= MAX_TOKENS)

    def __len__(self) -> int:
        return len(self.examples)

    def batch(self, indices: Sequence[int], shuffle: random.Random | None = None) -> dict[str, Any]:
        """The model's inputs for some examples; with a generator their pictures are drawn from all there are."""
        rows = []
        for index in indices:
            example = self.examples[index]
            pictures = self.gallery.others(example, shuffle) if shuffle else self.gallery.own(example)
            rows.append(encode(self.processor, example, pictures))
        return collate(rows, self.processor.tokenizer.pad_token_id)


@torch.no_grad()
def evaluate(
    model: Qwen3VLForConditionalGeneration, feed: Feed, indices: Sequence[int], shuffle: random.Random | None = None
) -> float:
    """Mean loss per completion token over examples, in nats; every token counts the same."""
    model.train(False)
    total, tokens = 0.0, 0
    for start in range(0, len(indices), 16):
        inputs = feed.batch(indices[start : start + 16], shuffle)
        count = int((inputs["labels"] != IGNORED).sum())
        total += model(**inputs).loss.item() * count
        tokens += count
    return total / tokens


def _train(
    examples: list[Example], steps: int, seed: int, shuffle: bool, batch: int, rate: float, pixels: int
) -> TrainReport:
    feed = Feed(examples, pixels)
    model = tiny_model(feed.processor, seed=seed)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01, betas=(0.9, 0.95))
    order, pictures = random.Random(f"order {seed}"), random.Random(f"pictures {seed}")
    judged = random.Random(f"judged {seed}").sample(range(len(feed)), min(EVALUATED, len(feed)))

    before = evaluate(model, feed, judged)
    losses: list[float] = []
    deck: list[int] = []
    seconds = 0.0
    for step in range(steps):
        while len(deck) < batch:
            deck += order.sample(range(len(feed)), len(feed))
        chosen, deck = deck[:batch], deck[batch:]
        inputs = feed.batch(chosen, pictures if shuffle else None)
        started = time.perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / WARM_UP)
        model.train()
        loss = model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        seconds += time.perf_counter() - started
        losses.append(loss.item())
    return TrainReport(
        losses=tuple(losses),
        before=before,
        after=evaluate(model, feed, judged),
        after_shuffled=evaluate(model, feed, judged, random.Random(f"control {seed}")),
        shuffled=shuffle,
        examples=len(feed),
        skipped=feed.skipped,
        tokens=feed.longest,
        parameters=sum(parameter.numel() for parameter in parameters),
        seed=seed,
        seconds=seconds,
    )


def _texts(example: Example) -> Iterable[str]:
    """What the tokenizer learns to write in few tokens."""
    yield from (json.dumps(tool, ensure_ascii=False) for tool in example.tools)
    yield from (part["text"] for part in parts(example.messages) if part["type"] == "text")
    yield from (call["function"]["arguments"] for m in example.messages for call in m.get("tool_calls", ()))
