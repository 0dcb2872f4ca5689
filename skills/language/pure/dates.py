"""Functions on dates, ISO 8601 texts such as 2026-03-16 or 2026-03-16T09:30:00; names of days and months in English."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from skills.language.functions import function
from skills.language.pure.numbers import ordinal
from skills.language.shapes import NUMBER, TEXT

_GROUP = "Dates"
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

_PARTS: dict[str, Callable[[datetime], str]] = {
    "d": lambda t: f"{t.day:02}",
    "-d": lambda t: str(t.day),
    "o": lambda t: ordinal(t.day),
    "m": lambda t: f"{t.month:02}",
    "-m": lambda t: str(t.month),
    "B": lambda t: _MONTHS[t.month - 1],
    "b": lambda t: _MONTHS[t.month - 1][:3],
    "A": lambda t: _DAYS[t.weekday()],
    "a": lambda t: _DAYS[t.weekday()][:3],
    "Y": lambda t: f"{t.year:04}",
    "y": lambda t: f"{t.year % 100:02}",
    "H": lambda t: f"{t.hour:02}",
    "-H": lambda t: str(t.hour),
    "I": lambda t: f"{t.hour % 12 or 12:02}",
    "-I": lambda t: str(t.hour % 12 or 12),
    "M": lambda t: f"{t.minute:02}",
    "S": lambda t: f"{t.second:02}",
    "p": lambda t: "AM" if t.hour < 12 else "PM",
    "%": lambda t: "%",
}


def _moment(text: str) -> datetime:
    if not re.match(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)", text):
        raise ValueError(f"{text!r} is no date; write 2026-03-16 or 2026-03-16T09:30")
    return datetime.fromisoformat(text)


@function(_GROUP, TEXT, example="date_format('2026-03-16', '%A, %o %B')")
def date_format(moment: str, form: str = "%-d %B %Y") -> str:
    """A date in words: %d %-d %o (1st) %m %-m %B %b %A %a %Y %y %H %-H %I %-I %M %S %p."""
    time = _moment(moment)

    def part(match: re.Match[str]) -> str:
        if match[1] not in _PARTS:
            raise ValueError(f"{match[0]!r} is no part of a date; known are {' '.join('%' + key for key in _PARTS)}")
        return _PARTS[match[1]](time)

    return re.sub(r"%(-?.|$)", part, form)


@function(_GROUP, TEXT, example="add_days('2026-02-27', 3)")
def add_days(moment: str, days: int) -> str:
    """The date (and time) that many days later."""
    later = _moment(moment) + timedelta(days=days)
    return later.isoformat() if len(moment) > 10 else later.date().isoformat()


@function(_GROUP, NUMBER, example="days_between('2026-03-01', '2026-03-16')")
def days_between(start: str, end: str) -> int:
    """Days from `start` to `end`; negative when `end` is earlier."""
    return (_moment(end).date() - _moment(start).date()).days


@function(_GROUP, TEXT, example="day_of('2026-03-16T09:30')")
def day_of(moment: str) -> str:
    """The date without the time."""
    return _moment(moment).date().isoformat()


@function(_GROUP, TEXT, example="weekday('2026-03-16')")
def weekday(moment: str) -> str:
    """`Monday`."""
    return _DAYS[_moment(moment).weekday()]


@function(_GROUP, NUMBER, example="year('2026-03-16')")
def year(moment: str) -> int:
    """The year."""
    return _moment(moment).year


@function(_GROUP, NUMBER, example="month('2026-03-16')")
def month(moment: str) -> int:
    """The month, 1 to 12."""
    return _moment(moment).month


@function(_GROUP, NUMBER, example="day('2026-03-16')")
def day(moment: str) -> int:
    """The day of the month."""
    return _moment(moment).day


@function(_GROUP, TEXT, example="month_name(3)")
def month_name(number: int) -> str:
    """`3` is March."""
    if not 1 <= number <= 12:
        raise ValueError(f"there is no month {number}")
    return _MONTHS[number - 1]


@function(_GROUP, TEXT, example="month_end('2026-02-10')")
def month_end(moment: str) -> str:
    """The last day of the date's month."""
    time = _moment(moment)
    following = date(time.year + time.month // 12, time.month % 12 + 1, 1)
    return (following - timedelta(days=1)).isoformat()
