"""Workbooks for Calc: prepared from parameters, drawn with plausible tables, read back for what they mean."""

from preparers.calc import workbook

__all__ = ["workbook"]
