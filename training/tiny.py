"""A tiny Qwen3-VL with random weights and a processor, both made here: no hub, no download, no torchvision.

It has every part of the real architecture (vision tower with deepstack, interleaved M-RoPE, tied embeddings) at about
0.4 million parameters, so that the path from shards to a gradient is the real one and takes well under a second a step
on a CPU. It can learn what colour a screen has. It does NOT understand screens; nothing it learns is of use elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3VLConfig, Qwen3VLForConditionalGeneration, Qwen3VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.processing_utils import ProcessorMixin

PATCH = 16
"""Pixels a patch side; four patches (2 x 2) make one token."""

SPREAD = 0.2
"""Standard deviation of fresh weights. At this width the usual 0.02 leaves pictures unheard for dozens of steps."""

VISION_START, VISION_END, IMAGE, VIDEO = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
END = "<|im_end|>"
SPECIAL = ("<|endoftext|>", "<|im_start|>", END, VISION_START, VISION_END, IMAGE, VIDEO)


class ImageProcessor(Qwen3VLProcessor):
    """Qwen3VLProcessor without its video half, which needs torchvision.

    The stock class refuses `video_processor=None`, and AutoProcessor then silently loads a bare tokenizer; so build and
    load this one by its own name. Text and images are encoded by the stock code.
    """

    def __init__(self, image_processor: Any, tokenizer: Any, chat_template: str | None = None, **_: Any):
        self.image_token, self.video_token = IMAGE, VIDEO
        self.vision_start_token, self.vision_end_token = VISION_START, VISION_END
        number = tokenizer.convert_tokens_to_ids
        self.image_token_id, self.video_token_id = number(IMAGE), number(VIDEO)
        self.vision_start_token_id, self.vision_end_token_id = number(VISION_START), number(VISION_END)
        above: Any = ProcessorMixin.__init__  # not the stock class's, which wants a video processor
        above(self, image_processor, tokenizer, chat_template=chat_template)

    @classmethod
    def get_attributes(cls) -> list[str]:
        return ["image_processor", "tokenizer"]


def tiny_processor(texts: Iterable[str], *, vocabulary: int = 768, pixels: int = 320 * 200) -> ImageProcessor:
    """A processor whose byte-level BPE is trained on `texts`: any text can be encoded, these in few tokens.

    Args:
        texts: what the tokenizer is trained on; the same texts in the same order give the same tokenizer.
        vocabulary: tokens at most; at least 256 bytes and the special tokens.
        pixels: a picture is scaled down to at most this many pixels.
    """
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=list(SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    template = resources.files("training").joinpath("chat.jinja").read_text()
    make: Any = PreTrainedTokenizerFast
    tokenizer = make(
        tokenizer_object=bpe,
        pad_token=SPECIAL[0],
        eos_token=END,
        additional_special_tokens=list(SPECIAL[1:]),
        clean_up_tokenization_spaces=False,
        chat_template=template,
    )
    images = Qwen2VLImageProcessorPil(
        patch_size=PATCH,
        temporal_patch_size=2,
        merge_size=2,
        size={"shortest_edge": (2 * PATCH) ** 2, "longest_edge": max(pixels, (2 * PATCH) ** 2)},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )
    return ImageProcessor(images, tokenizer, chat_template=template)


def tiny_model(processor: ImageProcessor, *, seed: int = 0, hidden: int = 64) -> Qwen3VLForConditionalGeneration:
    """The model that fits the processor, on the CPU in float32; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3VLForConditionalGeneration(_config(processor, hidden))
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    return model


def _config(processor: ImageProcessor, hidden: int) -> Qwen3VLConfig:
    text = {
        "vocab_size": len(processor.tokenizer),
        "hidden_size": hidden,
        "initializer_range": SPREAD,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 2**15,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 1e4,
            "mrope_section": [4, 2, 2],
            "mrope_interleaved": True,
        },
        "pad_token_id": processor.tokenizer.pad_token_id,
    }
    vision = {
        "depth": 2,
        "hidden_size": hidden,
        "initializer_range": SPREAD,
        "intermediate_size": 2 * hidden,
        "num_heads": 4,
        "patch_size": PATCH,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": hidden,
        "num_position_embeddings": 256,
        "deepstack_visual_indexes": [0],
    }
    return Qwen3VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=processor.image_token_id,
        video_token_id=processor.video_token_id,
        vision_start_token_id=processor.vision_start_token_id,
        vision_end_token_id=processor.vision_end_token_id,
        tie_word_embeddings=True,
    )
