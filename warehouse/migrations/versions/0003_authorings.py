"""How authoring runs ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "authorings",
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False, comment="workflow or task"),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("apps", sa.Text(), nullable=False, comment="sorted, joined by +"),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=True, comment="of the promoted workflow"),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("acceptance", sa.Double(), nullable=True, comment="share of the last smoke batch"),
        sa.Column("readers_agreed", sa.Boolean(), nullable=True, comment="of the last reading"),
        sa.Column("conversation", sa.Text(), nullable=True, comment="blob: messages and draft"),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("round", "skill", "mode", name=op.f("pk_authorings")),
    )
    op.create_index(op.f("ix_authorings_subject"), "authorings", ["subject"])
    op.create_index(op.f("ix_authorings_outcome"), "authorings", ["outcome"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("authorings")
