"""The text with one line in place of another."""


def compute(text, line, new):
    lines = text.split("\n")
    lines[int(line) - 1] = new
    return {"text": "\n".join(lines)}
