"""Real gradient steps on the tiny model: the loss falls, and falls less when the pictures are others'."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from forge.records import InputError
from training import TrainReport, compare, train, write_shards
from training.batch import IGNORED, collate, encode, render
from training.example import Example
from training.sft import Feed
from training.tiny import ImageProcessor, tiny_model, tiny_processor

pytestmark = pytest.mark.xdist_group("sft")  # the twenty steps are taken once


@pytest.fixture(scope="module")
def reports(shards: Path) -> tuple[TrainReport, TrainReport]:
    """Twenty steps with right and with shuffled pictures."""
    return compare(shards, steps=20, seed=0)


@pytest.fixture(scope="module")
def feed(examples: list[Example]) -> Feed:
    return Feed(examples, 320 * 200)


def test_the_loss_falls_in_twenty_steps(reports: tuple[TrainReport, TrainReport]) -> None:
    paired, _ = reports
    assert len(paired.losses) == 20
    assert paired.losses[0] > 5
    assert paired.after < paired.before / 20
    assert 400_000 < paired.parameters < 500_000
    assert (paired.examples, paired.skipped, paired.shuffled) == (48, 0, False)


def test_with_shuffled_pictures_it_falls_less(reports: tuple[TrainReport, TrainReport]) -> None:
    paired, shuffled = reports
    assert shuffled.before == paired.before
    assert shuffled.fall < paired.fall
    assert shuffled.after > 1.2 * paired.after


def test_the_same_weights_need_the_right_pictures(reports: tuple[TrainReport, TrainReport]) -> None:
    paired, shuffled = reports
    assert paired.after_shuffled > 1.4 * paired.after
    # whoever never saw a right picture does not care which one it is shown
    assert shuffled.after_shuffled == pytest.approx(shuffled.after, rel=0.1)


@pytest.fixture(scope="module")
def few(examples: list[Example], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "shards"
    write_shards(examples[:6], folder)
    return folder


def test_a_seed_fixes_the_run(few: Path) -> None:
    first, again, other = (train(few, steps=2, seed=seed, batch=2) for seed in (3, 3, 4))
    assert first.losses == again.losses
    assert first.after == again.after
    assert first.losses != other.losses


def test_training_leaves_torchs_state_alone(few: Path) -> None:
    torch.manual_seed(11)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    train(few, steps=1, batch=2)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_only_the_completion_is_trained(feed: Feed) -> None:
    example = feed.examples[1]
    row = encode(feed.processor, example, feed.gallery.own(example))
    trained = row.ids[row.labels != IGNORED]
    written = feed.processor.tokenizer.decode(trained)
    assert written == render(feed.processor, example)[1]
    assert written.startswith("The light is ")
    assert written.endswith('<tool_call>{"name": "done", "arguments": {"status": "success"}}</tool_call><|im_end|>\n')
    shown = feed.processor.tokenizer.decode(row.ids[row.labels == IGNORED])
    assert shown.endswith("<|im_end|>\n<|im_start|>assistant\n")


def test_a_picture_of_320_by_200_is_60_tokens(feed: Feed) -> None:
    example = feed.examples[1]
    row = encode(feed.processor, example, feed.gallery.own(example))
    assert row.grids is not None
    assert row.grids.tolist() == [[1, 12, 20], [1, 12, 20]]
    assert int((row.ids == feed.processor.image_token_id).sum()) == 120
    assert int(row.kinds.sum()) == 120


def test_padding_does_not_change_the_loss(feed: Feed) -> None:
    model = tiny_model(feed.processor).eval()
    rows = [encode(feed.processor, e, feed.gallery.own(e)) for e in feed.examples[:2]]
    assert len(rows[0].ids) != len(rows[1].ids)
    with torch.no_grad():
        alone = [model(**collate([row], 0)).loss.item() for row in rows]
        together = model(**collate(rows, 0)).loss.item()
    counts = [int((row.labels != IGNORED).sum()) for row in rows]
    mean = sum(loss * count for loss, count in zip(alone, counts, strict=True)) / sum(counts)
    assert together == pytest.approx(mean, rel=1e-4)


def test_every_part_of_the_model_gets_a_gradient(feed: Feed) -> None:
    model = tiny_model(feed.processor)
    model(**feed.batch([0, 1])).loss.backward()
    without = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert without == []


def test_the_tokenizer_writes_any_text(feed: Feed) -> None:
    text = "Größe: 5 €\n\t<tool_call>{}</tool_call> 表 \x00"
    assert feed.processor.tokenizer.decode(feed.processor.tokenizer(text)["input_ids"]) == text


def test_examples_without_pictures_train_beside_others(feed: Feed) -> None:
    blind = Example(
        [{"role": "user", "content": [{"type": "text", "text": "hi"}]},
         {"role": "assistant", "content": [{"type": "text", "text": "ho"}]}], (), [], feed.examples[0].metadata,
    )  # fmt: skip
    rows = [
        encode(feed.processor, blind, []),
        encode(feed.processor, feed.examples[0], feed.gallery.own(feed.examples[0])),
    ]
    model = tiny_model(feed.processor)
    assert torch.isfinite(model(**collate(rows, 0)).loss)
    assert torch.isfinite(model(**collate(rows[:1], 0)).loss)


def test_too_long_examples_are_left_out_and_counted(examples: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    both = Feed(examples[:2], 320 * 200)
    first, second = (len(encode(both.processor, e, both.gallery.own(e)).ids) for e in examples[:2])
    assert first < second
    monkeypatch.setattr("training.sft.MAX_TOKENS", first)
    feed = Feed(examples[:2], 320 * 200)
    assert (feed.examples, feed.skipped, feed.longest) == (examples[:1], 1, first)
    monkeypatch.setattr("training.sft.MAX_TOKENS", 10)
    with pytest.raises(InputError, match="every example is longer than 10 tokens"):
        Feed(examples[:2], 320 * 200)


def test_a_picture_that_is_none_is_named(examples: list[Example], tmp_path: Path) -> None:
    broken = Example(examples[0].messages, (b"not a picture",), examples[0].tools, examples[0].metadata)
    write_shards([broken], tmp_path / "shards")
    with pytest.raises(InputError, match=r"picture [0-9a-f]{12} is no picture"):
        train(tmp_path / "shards", steps=1)


def test_the_model_can_be_saved_loaded_and_asked(feed: Feed, tmp_path: Path) -> None:
    model = tiny_model(feed.processor).eval()
    model.save_pretrained(tmp_path)
    again = type(model).from_pretrained(tmp_path).eval()
    inputs = feed.batch([0])
    del inputs["labels"]
    with torch.no_grad():
        assert torch.equal(model(**inputs).logits, again(**inputs).logits)
        said = again.generate(**inputs, max_new_tokens=3, do_sample=False)
    assert said.shape == (1, inputs["input_ids"].shape[1] + 3)


def test_a_processor_needs_no_corpus_beyond_bytes() -> None:
    processor = tiny_processor(["abc"])
    assert isinstance(processor, ImageProcessor)
    assert len(processor.tokenizer) >= 256
