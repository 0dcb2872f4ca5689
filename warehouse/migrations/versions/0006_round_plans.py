"""A round's plan by skill: how many tasks each is to get."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns; rows of older rounds have no plan."""
    with op.batch_alter_table("skill_shares") as table:
        table.add_column(
            sa.Column(
                "tasks", sa.Integer(), nullable=False, server_default="0",
                comment="accepted tasks that the round is to make",
            )
        )  # fmt: skip
        table.add_column(
            sa.Column(
                "plan", sa.Text(), nullable=False, server_default=sa.text("''"),
                comment="digest of the plan that this is of",
            )
        )  # fmt: skip


def downgrade() -> None:
    """Drop the columns."""
    with op.batch_alter_table("skill_shares") as table:
        table.drop_column("plan")
        table.drop_column("tasks")
