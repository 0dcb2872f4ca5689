"""Standings of skills by round."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "skill_shares",
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("passes", sa.Integer(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False, comment="lower bound of the pass rate, 95 %"),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False, comment="active, mastered or hopeless"),
        sa.Column("share", sa.Double(), nullable=False, comment="of the round's tasks"),
        sa.PrimaryKeyConstraint("round", "skill", name=op.f("pk_skill_shares")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("skill_shares")
