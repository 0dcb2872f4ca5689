"""Indexes that hold what figures ask for, so that these do not read the records."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

INDEXES = {
    "ix_tasks_figures": ("tasks", ["id", "workflow", "skill", "n_apps", "has_must_not"]),
    "ix_criteria_must": ("criteria", ["task", "kind", "criterion"]),
    "ix_trajectories_figures": (
        "trajectories",
        ["provenance", "ended_by", "grading", "reward", "task", "n_gui", "n_terminal"],
    ),
}


def upgrade() -> None:
    """Create the indexes."""
    for name, (table, columns) in INDEXES.items():
        op.create_index(name, table, columns)


def downgrade() -> None:
    """Drop the indexes."""
    for name, (table, _) in INDEXES.items():
        op.drop_index(name, table_name=table)
