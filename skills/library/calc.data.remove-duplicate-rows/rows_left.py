"""The rows that are left, the numbers of the rows of the sheet that go, and what stands from the first of them on afterwards:
the first column, whose values are unique, and the others."""


def compute(rows, keep, first):
    seen, gone = [], []
    turn = range(len(rows)) if keep == "upper" else range(len(rows) - 1, -1, -1)
    for place in turn:
        if rows[place] in seen:
            gone.append(place)
        else:
            seen.append(rows[place])
    gone.sort()
    left = [row for place, row in enumerate(rows) if place not in gone]
    start = gone[0] if gone else 0
    after = left[start:] + [[None] * len(rows[0])] * len(gone)
    clean = all(new[0] != old[0] for new, old in zip(after, rows[start:], strict=False))
    return {
        "rows": left,
        "gone": [place + int(first) for place in gone],
        "left": len(left),
        "start": start + int(first),
        "keys": [row[:1] for row in after],
        "body": [row[1:] for row in after],
        "clean": clean,
    }
