"""Logs of one service, one a day, with levels that are named in messages too, so that counting takes a look."""

from datetime import date, timedelta
from hashlib import sha256

LEVELS = ["INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARNING", "ERROR"]
MESSAGES = [
    "connection from 10.4.{a}.{b} accepted",
    "job {a}-{b} finished in {b} ms",
    "retry {a} of 5 after time-out",
    "queue length is {b}",
    "no ERRORs since midnight, {b} requests served",
    "cache cleaned, {a} entries dropped",
    "user {b} logged in",
    "disk usage at {a} %",
    "INFO-desk request {b} forwarded",
    "certificate expires in {a} days",
]


def compute(service, days, first, busy):
    logs = []
    for number in range(days):
        day = date.fromisoformat(first) + timedelta(days=number)
        lines, counts = [], dict.fromkeys(LEVELS, 0)
        total = busy + pick(service, day, 0, "lines") % busy
        for line in range(total):
            level = LEVELS[pick(service, day, line, "level") % len(LEVELS)]
            counts[level] += 1
            message = MESSAGES[pick(service, day, line, "message") % len(MESSAGES)]
            text = message.format(a=pick(service, day, line, "a") % 90 + 1, b=pick(service, day, line, "b") % 900 + 10)
            second = line * 86399 // total
            lines.append(
                f"{day} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} {level} {service}: {text}\n"
            )
        logs.append({"name": f"{service}-{day:%Y%m%d}.log", "text": "".join(lines), "counts": counts})
    return {"logs": logs}


def pick(*what):
    return int.from_bytes(sha256(repr(what).encode()).digest()[:4], "big")
