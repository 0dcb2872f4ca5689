"""Checks of workbooks: `calc.formula`, `calc.cell_value`, `calc.changed_elsewhere` and so on."""

from verifiers.calc import cell as cell
from verifiers.calc import cells as cells
from verifiers.calc import chart as chart
from verifiers.calc import elsewhere as elsewhere
from verifiers.calc import filtering as filtering
from verifiers.calc import formula as formula
from verifiers.calc import number_format as number_format
from verifiers.calc import sheets as sheets
from verifiers.calc import sorting as sorting
from verifiers.calc import style as style
from verifiers.calc import table as table
from verifiers.calc import text_file as text_file
