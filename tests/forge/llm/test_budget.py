"""Budgets: nothing passes them, however many ask at once; parts count for the whole; what is left is used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forge.llm import Budget, Client, Prices
from forge.records import BudgetError, InputError, Usage

from .conftest import completion

QUESTION = [{"role": "user", "content": "How many?"}]
PRICES = Prices(prompt=1.0, completion=10.0)


async def test_a_call_reserves_what_it_may_use_and_settles_what_it_used():
    budget = Budget(tokens=1000)
    first = await budget.reserve(100, 500, PRICES)
    assert (first.completion, first.capped_by) == (500, None)
    waiting = asyncio.create_task(budget.reserve(100, 500, PRICES))
    await asyncio.sleep(0.1)
    assert not waiting.done()  # 600 are spoken for; another 600 may not fit
    budget.settle(first, Usage(prompt_tokens=90, completion_tokens=10), 0.0)
    second = await waiting
    assert second.capped_by is None
    budget.settle(second, Usage(prompt_tokens=90, completion_tokens=500), 0.0)
    last = await budget.reserve(100, 500, PRICES)
    assert (last.completion, last.capped_by) == (210, budget)
    budget.settle(last, Usage(prompt_tokens=100, completion_tokens=210), 0.0)
    assert budget.spent_tokens == 1000
    with pytest.raises(BudgetError, match="1000 tokens"):
        await budget.reserve(1, 16, PRICES)


async def test_money_holds_the_answer_too():
    budget = Budget(usd=0.01)  # a hundredth pays for 1,000 new tokens
    found = await budget.reserve(1000, 5000, PRICES)
    assert (found.completion, found.capped_by) == (900, budget)
    budget.settle(found, Usage(prompt_tokens=1000, completion_tokens=900), 0.01)
    with pytest.raises(BudgetError, match=r"\$0.01"):
        budget.check()


async def test_a_part_counts_for_the_whole_and_each_is_a_limit():
    run = Budget(tokens=1000, name="run")
    author, judge = run.part("stage author", tokens=300), run.part("stage judge")
    found = await author.reserve(100, 100, PRICES)
    author.settle(found, Usage(prompt_tokens=100, completion_tokens=200), 0.0)
    with pytest.raises(BudgetError, match="stage author"):
        author.check()
    found = await judge.reserve(100, 500, PRICES)
    judge.settle(found, Usage(prompt_tokens=200, completion_tokens=500), 0.0)
    assert (run.spent_tokens, author.spent_tokens, judge.spent_tokens) == (1000, 300, 700)
    with pytest.raises(BudgetError, match=r"of run \(1000 tokens\) is used up"):
        judge.check()


async def test_the_share_that_is_left_is_the_smallest_of_all_around():
    assert Budget().share_left() == 1.0
    run = Budget(tokens=10_000, usd=1.0)
    stage = run.part("stage", tokens=1_000)
    stage.settle(await stage.reserve(100, 100, Prices()), Usage(prompt_tokens=250), 0.9)
    assert (stage.share_left(), run.share_left()) == (pytest.approx(0.1), pytest.approx(0.1))
    run.settle(await run.reserve(10, 10, Prices()), Usage(prompt_tokens=20_000), 0.0)
    assert stage.share_left() == 0.0


async def test_what_a_killed_process_spent_counts():
    budget = Budget(tokens=1000, source=lambda: (980, 0.0))
    found = await budget.reserve(2, 500, PRICES)
    assert (found.completion, found.capped_by) == (18, budget)
    assert str(budget.project(1, 2)) == "~1,960 tokens, $0.00 at the end, MORE THAN THE BUDGET"


async def test_the_projection_follows_the_mean_of_what_is_done():
    budget = Budget(tokens=10_000)
    budget.settle(await budget.reserve(100, 500, PRICES), Usage(prompt_tokens=100, completion_tokens=300), 0.5)
    assert budget.project(2, 20).tokens == 4000
    assert budget.project(2, 20).usd == pytest.approx(5.0)
    assert budget.project(2, 20).fits
    assert not budget.project(2, 60).fits


async def test_no_limit_is_passed_by_many_at_once_and_finished_work_is_kept(server, ledger, ask):
    def obedient(body: Any) -> dict[str, Any]:  # a server that writes as much as it may, up to 50 tokens
        reply = completion("fine" * body["max_completion_tokens"])
        written = min(50, body["max_completion_tokens"])
        cut = body["max_completion_tokens"] < 50
        reply["usage"] = {"prompt_tokens": 12, "completion_tokens": written}
        reply["choices"][0]["finish_reason"] = "length" if cut else "stop"
        return reply

    server.script = [obedient]
    budget = Budget(tokens=1000, name="run")
    client = Client(ask(max_output_tokens=100).endpoint, ledger, budget)
    results = await asyncio.gather(*(client.chat(QUESTION, sample=n) for n in range(40)), return_exceptions=True)
    kept = [r for r in results if not isinstance(r, BaseException)]
    assert all(isinstance(r, BudgetError) for r in results if isinstance(r, BaseException))
    assert len(kept) >= 12
    assert sum(call.usage.total for call in ledger.calls) == budget.spent_tokens <= 1000
    assert len(ledger.answers) == len(kept)
    assert not [call for call in ledger.calls if call.status == "open"]


async def test_an_answer_cut_off_by_the_budget_is_a_budget_error(server, ledger, ask):
    server.script = [completion("half a", finish_reason="length")]
    client = Client(ask().endpoint, ledger, Budget(tokens=150))
    with pytest.raises(BudgetError, match="too little for the last answer"):
        await client.chat(QUESTION)
    assert [call.status for call in ledger.calls] == ["truncated"]


async def test_without_a_limit_nothing_is_added_to_the_request(server, ledger, ask):
    server.script = [completion()]
    client = Client(ask().endpoint, ledger, Budget())
    await client.chat(QUESTION)
    assert "max_completion_tokens" not in server.requests[0]
    assert client.budget.spent_tokens == 120


async def test_a_budget_in_dollars_needs_prices(ledger, ask):
    endpoint = ask(base_url="http://models.invalid/v1", model="nobody-knows", prices=None).endpoint
    with pytest.raises(InputError, match="nobody knows what nobody-knows costs"):
        await Client(endpoint, ledger, Budget(usd=1.0)).chat(QUESTION)
    assert ledger.calls == []
