"""Model calls know their run, stage, workflow and prompt; stored answers, written bank values, forecasts of rounds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TEXTS = ("run", "stage", "workflow", "prompt")


def upgrade() -> None:
    """Add columns and tables; calls that are there keep the empty run."""
    for name in _TEXTS:
        op.add_column("model_calls", sa.Column(name, sa.Text(), nullable=False, server_default=sa.text("''")))
    op.add_column("model_calls", sa.Column("reserved_tokens", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("model_calls", sa.Column("reserved_usd", sa.Double(), nullable=False, server_default="0"))
    op.create_index(op.f("ix_model_calls_run"), "model_calls", ["run"])
    op.create_table(
        "model_answers",
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("call", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["call"], ["model_calls.id"], name=op.f("fk_model_answers_call_model_calls")),
        sa.PrimaryKeyConstraint("request", name=op.f("pk_model_answers")),
    )
    op.create_table(
        "bank_values",
        sa.Column("bank", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False, comment="the group that it was written for"),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("bank", "about", "ordinal", name=op.f("pk_bank_values")),
        sa.UniqueConstraint("bank", "about", "digest", name=op.f("uq_bank_values_bank_about_digest")),
    )
    op.create_table(
        "forecasts",
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("forecast", sa.JSON(), nullable=False),
        sa.Column("took", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["round"], ["rounds.number"], name=op.f("fk_forecasts_round_rounds")),
        sa.PrimaryKeyConstraint("round", name=op.f("pk_forecasts")),
    )


def downgrade() -> None:
    """Drop them; what was spent stays."""
    op.drop_table("forecasts")
    op.drop_table("bank_values")
    op.drop_table("model_answers")
    op.drop_index(op.f("ix_model_calls_run"), "model_calls")
    for name in (*_TEXTS, "reserved_tokens", "reserved_usd"):
        op.drop_column("model_calls", name)
