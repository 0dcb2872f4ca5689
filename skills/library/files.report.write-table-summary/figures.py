"""The lines of the report, how a person asks for them, and reports of the same form that are there already."""

from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha256

WHAT = ["the total", "the number of rows", "the largest value"]
OLD = ["january.txt", "february.txt", "first-quarter.txt", "last-year.txt", "branch-north.txt", "branch-south.txt"]


def compute(values, labels, mark, order, kept, number):
    def pick(*what):
        return int.from_bytes(sha256(repr((number, *what)).encode()).digest()[:4], "big")

    numbers = [Decimal(str(value)) for value in values if value is not None]
    plain = len(numbers) == len(values) and all(value == value.quantize(Decimal("0.01")) for value in numbers)
    decimals = 0 if all(value == value.to_integral_value() for value in numbers) else 2

    def written(total, count, largest):
        form = Decimal(1) if decimals == 0 else Decimal("0.01")
        shown = [
            f"{Decimal(total).quantize(form, ROUND_HALF_UP):f}",
            str(count),
            f"{Decimal(largest).quantize(form, ROUND_HALF_UP):f}",
        ]
        return [labels[place] + mark + shown[place] for place in order]

    lines = written(sum(numbers), len(numbers), max(numbers))
    spoken = [f'"{labels[place]}{mark}" and {WHAT[place]}' for place in order]
    names = sorted(OLD, key=lambda name: pick(name))[: int(kept)]
    others = []
    for name in names:
        factor = Decimal(60 + pick("factor", name) % 70) / 100
        count = max(3, len(numbers) - 4 + pick("count", name) % 9)
        others.append(
            {"name": name, "text": "\n".join(written(sum(numbers) * factor, count, max(numbers) * factor)) + "\n"}
        )
    return {
        "text": "\n".join(lines) + "\n",
        "lines": lines,
        "spoken": f"first {spoken[0]}, then {spoken[1]}, then {spoken[2]}",
        "decimals": decimals,
        "plain": plain,
        "others": others,
        "total": float(sum(numbers)),
        "largest": float(max(numbers)),
    }
