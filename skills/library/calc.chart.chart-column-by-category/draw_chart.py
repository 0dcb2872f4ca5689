# ruff: noqa: F821
import os

import openpyxl
from openpyxl.chart import BarChart, Reference, Series
from openpyxl.chart.data_source import StrRef
from openpyxl.chart.series import SeriesLabel
from openpyxl.utils.cell import range_boundaries

path = os.path.expanduser(facts["path"])
book = openpyxl.load_workbook(path)
sheet = book[facts["sheet"]]


def reference(cells):
    left, top, right, bottom = range_boundaries(cells)
    return Reference(sheet, min_col=left, min_row=top, max_col=right, max_row=bottom)


chart = BarChart()
chart.type = "col"
chart.title = facts["title"]
for cells in facts["values"]:
    series = Series(reference(cells))
    head = Reference(sheet, min_col=range_boundaries(cells)[0], min_row=int(facts["header"]))
    series.tx = SeriesLabel(strRef=StrRef(str(head)))
    chart.series.append(series)
chart.set_categories(reference(facts["categories"]))
sheet._charts = []  # run again, it draws it anew
sheet.add_chart(chart, facts["at"])
book.save(path)
