"""Batches: examples as padded tensors, in which only the completion is trained.

The prompt is encoded exactly as a server encodes it, the completion is encoded alone and appended: a token can never
reach across the border, so training predicts the very tokens that sampling would produce.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image

from forge.records import InputError
from training.example import Example
from training.tiny import ImageProcessor

IGNORED = -100
"""The label of a token that is not trained, as torch's cross entropy knows it."""


@dataclass(frozen=True)
class Row:
    """One example as tensors: ids and kinds (1 = picture) of all tokens, labels, and the pictures' patches."""

    ids: torch.Tensor
    kinds: torch.Tensor
    labels: torch.Tensor
    patches: torch.Tensor | None
    grids: torch.Tensor | None


def decode(picture: bytes, name: str = "picture") -> Image.Image:
    """A PNG as an RGB picture. Raises InputError when it is none."""
    try:
        return Image.open(io.BytesIO(picture)).convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(
            f"{name} is no picture: {error}", mend="write the shards again from whole trajectories"
        ) from None


def render(processor: ImageProcessor, example: Example) -> tuple[str, str]:
    """The example as text: what the model is shown (up to where it begins to write), and what it should write."""
    template = processor.tokenizer.apply_chat_template
    tools = example.tools or None
    prompt = template(example.prompt, tools=tools, tokenize=False, add_generation_prompt=True)
    whole = template(example.messages, tools=tools, tokenize=False)
    if not whole.startswith(prompt):
        raise InputError("the chat template does not extend the prompt by the completion; the turn cannot be trained")
    return prompt, whole[len(prompt) :]


def encode(processor: ImageProcessor, example: Example, pictures: Sequence[Image.Image]) -> Row:
    """Encode one example with these pictures (its own, or, for a control, others')."""
    prompt, completion = render(processor, example)
    shown = processor(text=[prompt], images=[list(pictures)] if pictures else None, return_tensors="pt")
    written = torch.tensor(processor.tokenizer(completion, add_special_tokens=False)["input_ids"])
    ids = shown["input_ids"][0]
    return Row(
        ids=torch.cat([ids, written]),
        kinds=torch.cat([(ids == processor.image_token_id).long(), torch.zeros_like(written)]),
        labels=torch.cat([torch.full_like(ids, IGNORED), written]),
        patches=shown.get("pixel_values"),
        grids=shown.get("image_grid_thw"),
    )


def collate(rows: Sequence[Row], padding: int) -> dict[str, Any]:
    """Pad rows on the right to one length; the result is what the model takes, `labels` included."""
    length = max(len(row.ids) for row in rows)

    def pad(name: str, filler: int) -> torch.Tensor:
        return torch.stack(
            [torch.nn.functional.pad(getattr(row, name), (0, length - len(row.ids)), value=filler) for row in rows]
        )

    batch: dict[str, Any] = {
        "input_ids": pad("ids", padding),
        "attention_mask": torch.stack([torch.arange(length) < len(row.ids) for row in rows]).long(),
        "mm_token_type_ids": pad("kinds", 0),
        "labels": pad("labels", IGNORED),
    }
    patches = [row.patches for row in rows if row.patches is not None]
    if patches:
        batch["pixel_values"] = torch.cat(patches)
        batch["image_grid_thw"] = torch.cat([row.grids for row in rows if row.grids is not None])
    return batch
