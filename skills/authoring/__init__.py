"""Authoring: an agent turns a skill into a workflow; a rubric's writer and blind readers see only what they may.

    report, draft = await author(Brief(skill), model, bench, keeper, subject="author/calc.format.mark-negatives")

`rounds.author` gives it a real bench, keeps its state and promotes what it made.
"""
