"""Names of flow runs, from their parameters."""

from __future__ import annotations

from collections.abc import Callable

from prefect.runtime import flow_run


def by_round(job: str) -> Callable[[], str]:
    """Names runs `job-round-3`, or `job-next-round` where the round is found out by the run itself."""

    def name() -> str:
        number = flow_run.parameters.get("round")
        return f"{job}-next-round" if number is None else f"{job}-round-{number}"

    return name
