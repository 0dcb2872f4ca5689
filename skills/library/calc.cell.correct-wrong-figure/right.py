"""The right figure for a wrong one: a little more or less, two digits swapped, or a decimal place."""


def compute(wrong, type, slip, amount):
    places = 0 if type == "integer" or (float(wrong) == int(wrong) and type == "number") else 2
    if places == 2 and type == "number" and round(wrong, 1) == wrong:
        places = 1
    value = wrong
    if slip == "swapped":
        digits = list(str(int(abs(wrong))))
        for i in range(len(digits) - 1):
            if digits[i] != digits[i + 1] and (i > 0 or digits[i + 1] != "0"):
                digits[i], digits[i + 1] = digits[i + 1], digits[i]
                break
        value = int("".join(digits)) + abs(wrong) - int(abs(wrong))
    elif slip == "tenfold" and type == "currency":
        value = wrong * 10
    if slip in ("more", "less") or round(value, places) == round(wrong, places):
        step = max(round(abs(wrong) * amount / 100, places), 10**-places)
        value = wrong + step if slip != "less" or wrong - step <= 0 else wrong - step
    value = round(value, places)
    value = int(value) if places == 0 else value
    return {"value": value, "text": f"{value:.{places}f}", "wrong": f"{wrong:.{places}f}"}
