"""SQL views: the acceptance predicate (Law 1), and the statistics that people ask for.

A view is created under a versioned name, `accepted_v1`, and under its plain name, which always means the newest version.
The text of a released version never changes; a change is a new entry with the next version and a new migration, so that
a figure can be traced to the words that made it. All of it is SQL that SQLite and PostgreSQL both speak.

**The predicate.** `acceptance_findings_v1` has one row for everything that stands between a task and its acceptance;
`accepted_v1` holds the tasks without one. Only the `current` probes count (those of the fingerprint written last); a
near-miss that was dropped never counts, and audit mutants never do. A finding is `final`
when no more evidence is to come that could lift it: such a task is rejected, one with other findings only is pending.

    gate_failed               a gate did not pass
    gate_missing              a required gate (REQUIRED_GATES) was not run
    not_probed                no file-level evidence yet; what would follow from that is not listed as well
    noop_missing, noop_scored the untouched state was not graded, or scores more than 0
    solution_failed           some run of a declared solution did not score 1, on files or on a desktop
    solution_missing          the terminal solution scored 1 in fewer than 3 fresh states
    desktop_solution_missing  see below
    near_miss_missing         no near-miss that counts
    near_miss_survived        a near-miss kept what it had to lose, or lost more than it may
    criterion_uncovered       a `must` has no killed near-miss that breaks it and nothing else
    over_edit_missing, over_edit_survived   only where the rubric has a `must_not`
    grader_error              a grader crashed, so that this evidence says nothing; mend the check and probe again

**Windows are evidence per workflow version, files per task.** A terminal solution costs a fraction of a second, so every
task shows its own, three times. A `gui` or `hybrid` solution costs a desktop and half a minute, and what can break in it
(a menu that is not where the move looks for it, a dialog, a key) belongs to the workflow's text and the applications,
not to the drawn values. One passed run of the channel under any task of the same workflow version is therefore enough
for all of them; a run that failed counts against its own task alone. What this leaves open: a drawn value that only the
window chokes on (a sheet name with a quote, a row below the fold). Such tasks surface when the oracle plays them, as
`solution_failed`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.engine import Connection

REQUIRED_GATES = ("determinism", "facts", "leakage", "near-duplicate", "rubric", "spans")
"""Gates that version 1 of the predicate asks for by name (see `verifiers.gates`); another gate counts when it was run."""

SOLUTION_RUNS = 3
"""Fresh states from which version 1 wants the terminal solution to score 1."""

_GATES = " UNION ALL ".join(f"SELECT '{name}' AS name" for name in REQUIRED_GATES)

_PROBED = "EXISTS (SELECT 1 FROM probes f WHERE f.task = t.id AND f.stage = 'file' AND f.current)"
_FAILED_SOLUTION = (
    "EXISTS (SELECT 1 FROM probes s WHERE s.task = t.id AND s.kind = 'solution' AND s.current AND NOT s.passed)"
)
_SOLVED = "EXISTS (SELECT 1 FROM probes s WHERE s.task = t.id AND s.kind = 'solution' AND s.current AND s.passed)"
_COUNTS = "p.current AND NOT p.dropped"
_GRADED = "COALESCE(p.grading, 'graded') = 'graded'"
_BAD_NEAR_MISS = "(NOT p.passed OR p.score IS NULL OR p.score >= 1)"
_BAD_OVER_EDIT = "(NOT p.passed OR p.score IS NULL OR p.score <> 0)"


def _none(kind: str, condition: str = _COUNTS) -> str:
    return f"NOT EXISTS (SELECT 1 FROM probes p WHERE p.task = t.id AND p.kind = '{kind}' AND {condition})"


FINDINGS = f"""
SELECT p.task AS task, 'gate_failed' AS reason, p.name AS detail, TRUE AS final
FROM probes p WHERE p.kind = 'gate' AND p.current AND NOT p.passed
UNION ALL
SELECT t.id, 'gate_missing', g.name, FALSE
FROM tasks t CROSS JOIN ({_GATES}) g WHERE {_none("gate", "p.name = g.name AND p.current")}
UNION ALL
SELECT t.id, 'not_probed', '', FALSE FROM tasks t WHERE NOT {_PROBED}
UNION ALL
SELECT t.id, 'noop_missing', '', TRUE FROM tasks t WHERE {_PROBED} AND {_none("noop", "p.current")}
UNION ALL
SELECT p.task, 'noop_scored', p.name, TRUE
FROM probes p WHERE p.kind = 'noop' AND p.current AND {_GRADED} AND (NOT p.passed OR p.score IS NULL OR p.score <> 0)
UNION ALL
SELECT p.task, 'solution_failed', p.name, TRUE
FROM probes p WHERE p.kind = 'solution' AND p.current AND {_GRADED} AND (NOT p.passed OR p.score IS NULL OR p.score <> 1)
UNION ALL
SELECT t.id, 'solution_missing', s.channel, TRUE
FROM tasks t JOIN solutions s ON s.task = t.id
WHERE s.channel = 'terminal' AND {_PROBED} AND NOT {_FAILED_SOLUTION}
  AND (SELECT COUNT(*) FROM probes p WHERE p.task = t.id AND p.kind = 'solution' AND p.channel = 'terminal'
       AND p.stage = 'file' AND p.current AND p.passed AND p.score = 1) < {SOLUTION_RUNS}
UNION ALL
SELECT t.id, 'desktop_solution_missing', s.channel, FALSE
FROM tasks t JOIN solutions s ON s.task = t.id
WHERE s.channel <> 'terminal'
  AND NOT EXISTS (SELECT 1 FROM probes p WHERE p.workflow = t.workflow AND p.kind = 'solution'
                  AND p.channel = s.channel AND p.stage = 'desktop' AND p.current AND p.passed AND p.score = 1)
UNION ALL
SELECT t.id, 'near_miss_missing', '', {_SOLVED}
FROM tasks t WHERE {_PROBED} AND NOT {_FAILED_SOLUTION} AND {_none("near_miss")}
UNION ALL
SELECT p.task, 'near_miss_survived', p.name, TRUE
FROM probes p WHERE p.kind = 'near_miss' AND {_COUNTS} AND {_GRADED} AND {_BAD_NEAR_MISS}
UNION ALL
SELECT t.id, 'criterion_uncovered', c.criterion, {_SOLVED}
FROM tasks t JOIN criteria c ON c.task = t.id
WHERE c.kind = 'must' AND {_PROBED} AND NOT {_FAILED_SOLUTION}
  AND {_none("near_miss", f"p.criterion = c.criterion AND p.only_breaks AND {_COUNTS} AND NOT {_BAD_NEAR_MISS}")}
UNION ALL
SELECT t.id, 'over_edit_missing', '', {_SOLVED}
FROM tasks t WHERE t.has_must_not AND {_PROBED} AND NOT {_FAILED_SOLUTION} AND {_none("over_edit")}
UNION ALL
SELECT p.task, 'over_edit_survived', p.name, TRUE
FROM probes p WHERE p.kind = 'over_edit' AND {_COUNTS} AND {_GRADED} AND {_BAD_OVER_EDIT}
UNION ALL
SELECT p.task, 'grader_error', p.name, TRUE
FROM probes p WHERE p.kind <> 'audit' AND {_COUNTS} AND NOT {_GRADED}
"""

STATES = """
SELECT t.id AS task, t.skill, t.workflow, t.n_apps,
       CASE WHEN f.final IS NULL THEN 'accepted' WHEN f.final = 1 THEN 'rejected' ELSE 'pending' END AS state
FROM tasks t
LEFT JOIN (SELECT task, MAX(CASE WHEN final THEN 1 ELSE 0 END) AS final FROM acceptance_findings_v1 GROUP BY task) f
  ON f.task = t.id
"""

ACCEPTED = "SELECT task, skill, workflow FROM task_states_v1 WHERE state = 'accepted'"

REASONS = """
SELECT f.reason, f.detail, COUNT(DISTINCT f.task) AS tasks, MAX(CASE WHEN f.final THEN 1 ELSE 0 END) AS final
FROM (SELECT task, reason, final,
             CASE WHEN reason IN ('gate_failed', 'gate_missing', 'solution_missing', 'desktop_solution_missing')
                  THEN detail ELSE '' END AS detail
      FROM acceptance_findings_v1) f
GROUP BY f.reason, f.detail
"""

_STATE_COUNTS = """
       COUNT(*) AS tasks,
       COUNT(*) FILTER (WHERE s.state = 'accepted') AS accepted,
       COUNT(*) FILTER (WHERE s.state = 'rejected') AS rejected,
       COUNT(*) FILTER (WHERE s.state = 'pending') AS pending"""

BY_APP = f"""
SELECT a.app, {_STATE_COUNTS},
       COUNT(*) FILTER (WHERE s.state = 'accepted' AND s.n_apps > 1) AS accepted_with_others
FROM task_apps a JOIN task_states_v1 s ON s.task = a.task
GROUP BY a.app
"""

BY_SKILL = f"""
SELECT k.id AS skill, k.apps, {_STATE_COUNTS.replace("COUNT(*) AS tasks", "COUNT(s.task) AS tasks")}
FROM skills k LEFT JOIN task_states_v1 s ON s.skill = k.id
GROUP BY k.id, k.apps
"""


def _rate(part: str, whole: str) -> str:
    return f"CAST({part} AS DOUBLE PRECISION) / NULLIF({whole}, 0)"


_CAUGHT = """p.passed AND p.score IS NOT NULL AND CASE p.kind
           WHEN 'noop' THEN p.score = 0 WHEN 'solution' THEN p.score = 1
           WHEN 'over_edit' THEN p.score = 0 WHEN 'gate' THEN p.passed ELSE p.score < 1 END"""

KILL_RATES = f"""
SELECT p.kind, COUNT(*) FILTER (WHERE NOT p.dropped) AS probes,
       COUNT(*) FILTER (WHERE NOT p.dropped AND {_CAUGHT}) AS right_ones,
       COUNT(*) FILTER (WHERE NOT p.dropped AND {_GRADED} AND NOT ({_CAUGHT})) AS wrong_ones,
       COUNT(*) FILTER (WHERE NOT p.dropped AND NOT {_GRADED}) AS grader_errors,
       {_rate(f"COUNT(*) FILTER (WHERE NOT p.dropped AND {_CAUGHT})", "COUNT(*) FILTER (WHERE NOT p.dropped)")} AS rate,
       COUNT(*) FILTER (WHERE p.dropped) AS dropped
FROM probes p WHERE p.current AND p.kind <> 'gate' GROUP BY p.kind
"""

KILLS_BY_CHECK = f"""
SELECT COALESCE(p.check_name, '(any)') AS check_name, p.kind, COALESCE(p.mutant, '') AS mutant,
       COUNT(*) FILTER (WHERE NOT p.dropped) AS probes,
       COUNT(*) FILTER (WHERE NOT p.dropped AND {_CAUGHT}) AS killed,
       {_rate(f"COUNT(*) FILTER (WHERE NOT p.dropped AND {_CAUGHT})", "COUNT(*) FILTER (WHERE NOT p.dropped)")} AS rate,
       COUNT(*) FILTER (WHERE p.dropped) AS dropped
FROM probes p WHERE p.current AND p.kind IN ('near_miss', 'audit', 'over_edit')
GROUP BY COALESCE(p.check_name, '(any)'), p.kind, COALESCE(p.mutant, '')
"""

_OUTCOME = """CASE WHEN r.grading <> 'graded' OR r.reward IS NULL THEN
                CASE WHEN r.grading = 'graded' THEN 'not_trusted' ELSE r.grading END
            WHEN r.reward = 1 THEN 'success' WHEN r.reward = 0 THEN 'failure' ELSE 'partial' END"""

BY_OUTCOME = f"""
SELECT {_OUTCOME} AS outcome, r.ended_by, r.provenance, COUNT(*) AS trajectories, SUM(r.n_turns) AS turns,
       SUM(r.n_actions) AS actions, SUM(r.seconds) AS seconds
FROM trajectories r GROUP BY {_OUTCOME}, r.ended_by, r.provenance
"""

SUCCESS = f"""
SELECT t.skill, h.name AS harness, r.teacher, r.provenance, COUNT(*) AS trajectories, COUNT(r.reward) AS graded,
       COUNT(*) FILTER (WHERE r.reward = 1) AS successes,
       {_rate("COUNT(*) FILTER (WHERE r.reward = 1)", "COUNT(r.reward)")} AS success_rate, AVG(r.reward) AS mean_reward,
       CAST(AVG(r.n_actions) AS DOUBLE PRECISION) AS mean_actions, AVG(r.seconds) AS mean_seconds
FROM trajectories r JOIN tasks t ON t.id = r.task JOIN harnesses h ON h.digest = r.harness
GROUP BY t.skill, h.name, r.teacher, r.provenance
"""

SHARES = f"""
SELECT h.name AS harness, r.provenance, SUM(r.n_gui) AS gui, SUM(r.n_terminal) AS terminal,
       {_rate("SUM(r.n_gui)", "SUM(r.n_gui + r.n_terminal)")} AS gui_share,
       {_rate("SUM(r.n_terminal)", "SUM(r.n_gui + r.n_terminal)")} AS terminal_share
FROM trajectories r JOIN harnesses h ON h.digest = r.harness
GROUP BY h.name, r.provenance
"""

COSTS = f"""
SELECT m.purpose, CASE WHEN m.recurring THEN 'recurring' ELSE 'one-off' END AS work, COUNT(*) AS calls,
       COUNT(*) FILTER (WHERE m.status <> 'ok') AS failed_calls,
       SUM(m.prompt_tokens + m.completion_tokens) AS tokens, SUM(m.cost_usd) AS cost_usd,
       {_rate("SUM(m.prompt_tokens + m.completion_tokens)", "MAX(a.n)")} AS tokens_per_accepted_task,
       {_rate("SUM(m.cost_usd)", "MAX(a.n)")} AS cost_per_accepted_task
FROM model_calls m CROSS JOIN (SELECT COUNT(*) AS n FROM accepted_v1) a
GROUP BY m.purpose, m.recurring
"""

VIEWS: dict[str, str] = {
    "acceptance_findings_v1": FINDINGS,
    "task_states_v1": STATES,
    "accepted_v1": ACCEPTED,
    "acceptance_reasons_v1": REASONS,
    "tasks_by_app_v1": BY_APP,
    "tasks_by_skill_v1": BY_SKILL,
    "kill_rates_v1": KILL_RATES,
    "kills_by_check_v1": KILLS_BY_CHECK,
    "trajectories_by_outcome_v1": BY_OUTCOME,
    "success_by_skill_harness_v1": SUCCESS,
    "channel_share_v1": SHARES,
    "cost_per_accepted_task_v1": COSTS,
}
"""Every view by its versioned name, in an order in which each refers to earlier ones only."""


ORDERS = {
    "acceptance_findings": "task, reason, detail",
    "task_states": "skill, task",
    "accepted": "skill, task",
    "acceptance_reasons": "tasks DESC, reason, detail",
    "tasks_by_app": "app",
    "tasks_by_skill": "skill",
    "kill_rates": "kind",
    "kills_by_check": "check_name, kind, mutant",
    "trajectories_by_outcome": "outcome, ended_by, provenance",
    "success_by_skill_harness": "skill, harness, teacher, provenance",
    "channel_share": "harness, provenance",
    "cost_per_accepted_task": "purpose, work",
}
"""In which order people read a view's rows; an engine may forget an ORDER BY inside a view."""


def create_views(connection: Connection, names: Iterable[str]) -> None:
    """Create these views, and point their plain names at them. For migrations."""
    for name in names:
        plain = name.rsplit("_v", 1)[0]
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {VIEWS[name].strip()}".replace("%", "%%"))
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {plain}")
        connection.exec_driver_sql(f"CREATE VIEW {plain} AS SELECT * FROM {name}")


def drop_views(connection: Connection, names: Iterable[str]) -> None:
    """Drop these views and their plain names, last first."""
    for name in reversed(list(names)):
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name.rsplit('_v', 1)[0]}")
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name}")
