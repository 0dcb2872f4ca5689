"""`transformers serve` on a tiny model with random weights: `python tiny_server.py FOLDER PORT`.

The server is theirs as it stands; only the device map is taken away from the loading of the model, for it would need the package
accelerate, which a model of a hundred kilobytes does not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def make_model(folder: Path) -> None:
    """Write a tokenizer of single bytes and a one-layer model."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    bytes_only = Tokenizer(models.BPE())
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<|start|>", "<|end|>"], initial_alphabet=alphabet)
    bytes_only.train_from_iterator(["hello"], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_only, eos_token="<|end|>", pad_token="<|end|>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=4096, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)


def main() -> None:
    """Make the model and serve it until killed."""
    from transformers import LlamaForCausalLM
    from transformers.cli.serve import Serve

    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    make_model(folder)
    load = LlamaForCausalLM.from_pretrained

    def without_device_map(*args: Any, **options: Any) -> Any:
        options.pop("device_map", None)
        return load(*args, **options)

    LlamaForCausalLM.from_pretrained = without_device_map  # type: ignore[method-assign]
    Serve(str(folder), device="cpu", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
