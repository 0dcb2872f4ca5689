"""The jobs: register, materialize, probe, play, grade, regrade, and the round that chains them.

Importing this package is cheap; the jobs are imported from their modules (`rounds.round`, `rounds.play`, ...).
"""
