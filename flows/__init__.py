"""Prefect flows and deployments: adapters without logic. No module here is named like a top-level package."""
