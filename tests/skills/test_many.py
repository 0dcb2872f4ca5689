"""Many draws: in the order of their seeds, bounded, without exact or near repeats."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace

import pytest

import skills
from forge.records import InputError
from verifiers.gates import NearDuplicates


def test_draws_come_in_the_order_of_their_seeds(write, kitchen):
    workflow = skills.load(write())
    batch = skills.draw_many(workflow, range(30), kitchen, workers=3)
    assert batch.draws == tuple(
        draw for draw in (skills.draw(workflow, seed, kitchen) for seed in range(30))
        if draw.task.seed in {d.task.seed for d in batch.draws}
    )  # fmt: skip
    assert sorted([d.task.seed for d in batch.draws] + [d.seed for d in batch.dropped]) == list(range(30))


def test_the_same_task_is_kept_once(write, kitchen):
    workflow = skills.load(write())
    batch = skills.draw_many(workflow, [4, 5, 4, 4], kitchen)
    assert [d.task.seed for d in batch.draws] == [4, 5]
    assert [(d.seed, d.twin) for d in batch.dropped] == [(4, batch.draws[0].task.id)] * 2
    seen = NearDuplicates()
    skills.draw_many(workflow, [4], kitchen, seen=seen)
    assert skills.draw_many(workflow, [4], kitchen, seen=seen).draws == ()


def test_tasks_that_differ_in_data_only_are_near_duplicates(write, kitchen):
    path = write(
        ("params:\n", "params:\n  unsaid: {int: [1, 100000]}\n"),
        ("[3, 9]", "[5, 5]"),
        ("[travel, stock, donations]", "[stock]"),
        ("[list, numbers, counts]", "[list]"),
        ("[Ada, Ben, Cleo]", "[Ada]"),
        ("2026-02-27", "2026-01-01"),
        wording="skeletons: {terse: ['Of all that you find there, tell me {total}, which is in {file}.']}\n",
    )
    batch = skills.draw_many(skills.load(path), range(12), kitchen)
    assert len({d.task.resolved["unsaid"] for d in batch.draws}) == len(batch.draws)
    assert len(batch.dropped) == 12 - len(batch.draws)
    assert len(batch.draws) < 12


def test_a_limit_ends_an_endless_run(write, kitchen):
    batch = skills.draw_many(skills.load(write()), itertools.count(), kitchen, limit=7, files=False)
    assert len(batch.draws) == 7
    assert all(d.files == () for d in batch.draws)


def test_at_most_so_many_are_drawn_at_once(write, kitchen):
    running, most, lock = 0, 0, threading.Lock()

    def counted(argv, stdin, timeout):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            return kitchen.boxed(argv, stdin, timeout)
        finally:
            with lock:
                running -= 1

    skills.draw_many(skills.load(write()), range(12), replace(kitchen, boxed=counted).without_cache(), workers=3)
    assert 1 <= most <= 3


def test_a_fault_ends_the_run_and_is_named(write, kitchen):
    path = write(("[travel, stock, donations]", "\"${[t for t in ['a'] if rows > 4]}\""))
    with pytest.raises(InputError, match=r"workflow\.yaml:5: topic: choice: .* the domain is empty"):
        skills.draw_many(skills.load(path), range(30), kitchen)
