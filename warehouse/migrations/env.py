"""Alembic's environment: it runs on the connection, and inside the transaction, of `warehouse.migrations.migrate`."""

from __future__ import annotations

from alembic import context

from warehouse.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
