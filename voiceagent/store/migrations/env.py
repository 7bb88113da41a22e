"""Run by alembic: applies the versions on the connection that ``schema.migrate`` hands over."""

from alembic import context

from voiceagent.store.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite cannot alter a column in place
)
with context.begin_transaction():
    context.run_migrations()
