"""The sum of one column of a drawn table, written out."""

from decimal import ROUND_HALF_UP, Decimal


def compute(table, column, thousands):
    place = next(k for k, c in enumerate(table["columns"]) if c["name"] == column)
    kind = table["columns"][place]["type"]
    values = [row[place] for row in table["rows"] if row[place] is not None]
    places = 0 if kind == "integer" and all(float(value).is_integer() for value in values) else 2
    total = sum((Decimal(str(value)) for value in values), Decimal(0))
    total = total.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    figure = f"{total:,.{places}f}" if thousands else f"{total:.{places}f}"
    return {"figure": figure, "places": places, "total": float(total)}
