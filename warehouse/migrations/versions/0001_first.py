"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from warehouse.views import create_views, drop_views

revision = "0001"
down_revision = None

KEY = sa.Integer().with_variant(sa.BigInteger(), "postgresql")

VIEWS = (
    "acceptance_findings_v1",
    "task_states_v1",
    "accepted_v1",
    "acceptance_reasons_v1",
    "tasks_by_app_v1",
    "tasks_by_skill_v1",
    "kill_rates_v1",
    "kills_by_check_v1",
    "trajectories_by_outcome_v1",
    "success_by_skill_harness_v1",
    "channel_share_v1",
    "cost_per_accepted_task_v1",
)


def upgrade() -> None:
    """Create all tables and views."""
    op.create_table(
        "claims",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False, comment="free, held, done or failed"),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False, comment="how often it was acquired"),
        sa.Column("token", sa.Integer(), nullable=False, comment="fencing token: grows with every change of hands"),
        sa.Column("reason", sa.Text(), nullable=False, comment="why it was released or failed, last"),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("pk_claims")),
    )
    op.create_table(
        "fingerprints",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_fingerprints")),
    )
    op.create_table(
        "harnesses",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_harnesses")),
    )
    op.create_index(op.f("ix_harnesses_name"), "harnesses", ["name"], unique=False)
    op.create_table(
        "model_calls",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("recurring", sa.Boolean(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_calls")),
    )
    op.create_index(op.f("ix_model_calls_subject"), "model_calls", ["subject"], unique=False)
    op.create_table(
        "rounds",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("plan_digest", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False, comment="open or done"),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_rounds")),
    )
    op.create_index(op.f("ix_rounds_plan_digest"), "rounds", ["plan_digest"], unique=False)
    op.create_table(
        "skills",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("apps", sa.Text(), nullable=False, comment="sorted, joined by +"),
        sa.Column("affinity", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_skills")),
    )
    op.create_table(
        "workflows",
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("source", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["skill"], ["skills.id"], name=op.f("fk_workflows_skill_skills")),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_workflows")),
    )
    op.create_index(op.f("ix_workflows_skill"), "workflows", ["skill"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("apps", sa.Text(), nullable=False, comment="sorted, joined by +"),
        sa.Column("n_apps", sa.Integer(), nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("n_artifacts", sa.Integer(), nullable=False),
        sa.Column("has_must_not", sa.Boolean(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["skill"], ["skills.id"], name=op.f("fk_tasks_skill_skills")),
        sa.ForeignKeyConstraint(["workflow"], ["workflows.version"], name=op.f("fk_tasks_workflow_workflows")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_index(op.f("ix_tasks_skill"), "tasks", ["skill"], unique=False)
    op.create_index(op.f("ix_tasks_workflow"), "tasks", ["workflow"], unique=False)
    op.create_table(
        "artifacts",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("suffix", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("folder", sa.Boolean(), nullable=False),
        sa.Column("preparer", sa.Text(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_artifacts_task_tasks")),
        sa.PrimaryKeyConstraint("task", "position", name=op.f("pk_artifacts")),
    )
    op.create_index(op.f("ix_artifacts_sha256"), "artifacts", ["sha256"], unique=False)
    op.create_table(
        "criteria",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("criterion", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("check_name", sa.Text(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("says", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_criteria_task_tasks")),
        sa.PrimaryKeyConstraint("task", "criterion", name=op.f("pk_criteria")),
    )
    op.create_index(op.f("ix_criteria_check_name"), "criteria", ["check_name"], unique=False)
    op.create_table(
        "probes",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=True, comment="of a solution"),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("dropped", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("grading", sa.Text(), nullable=True),
        sa.Column(
            "criterion", sa.Text(), nullable=True, comment="the one that a near-miss breaks, where it is exactly one"
        ),
        sa.Column(
            "only_breaks", sa.Boolean(), nullable=False, comment="it breaks that criterion and must keep every other"
        ),
        sa.Column("n_breaks", sa.Integer(), nullable=False),
        sa.Column("check_name", sa.Text(), nullable=True, comment="the check of that criterion"),
        sa.Column("mutant", sa.Text(), nullable=True, comment="how it was spoiled, without the criterion's name"),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_probes_task_tasks")),
        sa.PrimaryKeyConstraint("task", "kind", "name", "fingerprint", name=op.f("pk_probes")),
    )
    predicate = ("task", "kind", "current", "stage", "passed", "dropped", "score", "grading")
    op.create_index("ix_probes_predicate", "probes", [*predicate, "channel", "criterion", "only_breaks", "name"])
    op.create_index(op.f("ix_probes_workflow_kind_channel"), "probes", ["workflow", "kind", "channel"], unique=False)
    op.create_table(
        "round_tasks",
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["round"], ["rounds.number"], name=op.f("fk_round_tasks_round_rounds")),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_round_tasks_task_tasks")),
        sa.ForeignKeyConstraint(["workflow"], ["workflows.version"], name=op.f("fk_round_tasks_workflow_workflows")),
        sa.PrimaryKeyConstraint("round", "workflow", "ordinal", name=op.f("pk_round_tasks")),
    )
    op.create_index(op.f("ix_round_tasks_task"), "round_tasks", ["task"], unique=False)
    op.create_table(
        "solutions",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("n_steps", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_solutions_task_tasks")),
        sa.PrimaryKeyConstraint("task", "channel", name=op.f("pk_solutions")),
    )
    op.create_table(
        "task_apps",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_task_apps_task_tasks")),
        sa.PrimaryKeyConstraint("task", "app", name=op.f("pk_task_apps")),
    )
    op.create_index(op.f("ix_task_apps_app"), "task_apps", ["app"], unique=False)
    op.create_table(
        "trajectories",
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("harness", sa.Text(), nullable=False),
        sa.Column("teacher", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=False),
        sa.Column("done_status", sa.Text(), nullable=True),
        sa.Column("grading", sa.Text(), nullable=False),
        sa.Column("reward", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("final_state", sa.Text(), nullable=True),
        sa.Column("n_turns", sa.Integer(), nullable=False),
        sa.Column("n_actions", sa.Integer(), nullable=False),
        sa.Column("n_gui", sa.Integer(), nullable=False),
        sa.Column("n_terminal", sa.Integer(), nullable=False),
        sa.Column("n_errors", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["harness"], ["harnesses.digest"], name=op.f("fk_trajectories_harness_harnesses")),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_trajectories_task_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trajectories")),
        sa.UniqueConstraint("key", name=op.f("uq_trajectories_key")),
        sa.UniqueConstraint(
            "task", "harness", "teacher", "attempt", name=op.f("uq_trajectories_task_harness_teacher_attempt")
        ),
        sqlite_autoincrement=False,
    )
    op.create_index(op.f("ix_trajectories_harness"), "trajectories", ["harness"], unique=False)
    op.create_table(
        "actions",
        sa.Column("trajectory", KEY, nullable=False),
        sa.Column("idx", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False, comment="gui, terminal or control"),
        sa.Column("error", sa.Boolean(), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("settle_ms", sa.Double(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["trajectory"], ["trajectories.id"], name=op.f("fk_actions_trajectory_trajectories")),
        sa.PrimaryKeyConstraint("trajectory", "idx", name=op.f("pk_actions")),
    )
    op.create_table(
        "turns",
        sa.Column("trajectory", KEY, nullable=False),
        sa.Column("idx", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["trajectory"], ["trajectories.id"], name=op.f("fk_turns_trajectory_trajectories")),
        sa.PrimaryKeyConstraint("trajectory", "idx", name=op.f("pk_turns")),
    )
    op.create_table(
        "verdicts",
        sa.Column("trajectory", KEY, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False, comment="of grading, reward and scores"),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="0 is the verdict it was stored with"),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("grading", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("reward", sa.Double(), nullable=True),
        sa.Column("record", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["trajectory"], ["trajectories.id"], name=op.f("fk_verdicts_trajectory_trajectories")),
        sa.PrimaryKeyConstraint("trajectory", "fingerprint", "digest", name=op.f("pk_verdicts")),
    )
    create_views(op.get_bind(), VIEWS)


def downgrade() -> None:
    """Drop everything."""
    drop_views(op.get_bind(), VIEWS)
    op.drop_table("verdicts")
    op.drop_table("turns")
    op.drop_table("actions")
    op.drop_table("trajectories")
    op.drop_table("task_apps")
    op.drop_table("solutions")
    op.drop_table("round_tasks")
    op.drop_table("probes")
    op.drop_table("criteria")
    op.drop_table("artifacts")
    op.drop_table("tasks")
    op.drop_table("workflows")
    op.drop_table("skills")
    op.drop_table("rounds")
    op.drop_table("model_calls")
    op.drop_table("harnesses")
    op.drop_table("fingerprints")
    op.drop_table("claims")
