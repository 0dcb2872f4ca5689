"""Figures: each module prints what it measures, `--json` for a script. `python -m bench` runs them all."""
