"""Screens, targets and pairs of the grounding harvest."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "grounding_screens",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("window", sa.Text(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("screenshot", sa.Text(), nullable=False, comment="PNG blob"),
        sa.Column("sight", sa.Text(), nullable=False, comment="blob: elements, surfaces, details"),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_grounding_screens")),
    )
    op.create_index(op.f("ix_grounding_screens_app"), "grounding_screens", ["app"])
    op.create_table(
        "grounding_targets",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False, comment="window, menu, dialog or page"),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grounding_targets")),
    )
    op.create_index(op.f("ix_grounding_targets_app"), "grounding_targets", ["app"])
    op.create_table(
        "grounding_pairs",
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("style", sa.Text(), nullable=False, comment="name, function, position or refusal"),
        sa.Column("screen", sa.Text(), nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("x", sa.Integer(), nullable=True),
        sa.Column("y", sa.Integer(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["target"], ["grounding_targets.id"], name=op.f("fk_grounding_pairs_target_grounding_targets")
        ),
        sa.ForeignKeyConstraint(
            ["screen"], ["grounding_screens.key"], name=op.f("fk_grounding_pairs_screen_grounding_screens")
        ),
        sa.PrimaryKeyConstraint("target", "style", "screen", name=op.f("pk_grounding_pairs")),
    )
    op.create_index(op.f("ix_grounding_pairs_screen"), "grounding_pairs", ["screen"])


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("grounding_pairs")
    op.drop_table("grounding_targets")
    op.drop_table("grounding_screens")
