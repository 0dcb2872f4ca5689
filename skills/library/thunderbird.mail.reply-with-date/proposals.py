"""Four mails into the inbox, each of which proposes three dates for something; one sender writes two of them."""

from datetime import date, datetime, timedelta

OPENINGS = [
    "we still have to find a date for the {what}. I can offer:",
    "about the {what}: these are the days that would work on our side.",
    "it is time to arrange the {what}. You can choose from these dates:",
    "the {what} has to be fixed soon. Which of these days do you prefer?",
]
CLOSINGS = [
    "Please tell me which one you take.",
    "A short reply is enough.",
    "Just let me know, then I reserve it.",
    "If none of them works, give me a call.",
]
SUBJECTS = ["Dates for the {what}", "{What}: which day?", "When shall we do the {what}?", "Appointment: {what}"]


def compute(folders, me, people, occasions, first, hour, form):
    start, proposals, mails = date.fromisoformat(first), [], []
    for number, what in enumerate(occasions):
        person = people[number % len(people)]
        days, day = [], start + timedelta(days=3 * number)
        while len(days) < 3:
            day += timedelta(days=2 + (number + len(days)) % 4)
            if day.weekday() < 5:
                days.append(day.strftime(form))
        lines = [
            f"{index + 1}. {day}, at {hour + index}:{'00' if number % 2 else '30'}" for index, day in enumerate(days)
        ]
        subject = SUBJECTS[number].format(what=what, What=what[0].upper() + what[1:])
        text = "\n".join(
            [
                "Hello " + me["name"].split()[0] + ",",
                "",
                OPENINGS[number].format(what=what),
                "",
                *lines,
                "",
                CLOSINGS[number],
                "",
                "Best regards",
                person["name"],
                "",
            ]
        )
        key = f"proposal-{number + 1}@{person['domain'] or 'mailhaus.example'}"
        sent = datetime(2026, 3, 16, 8, 5) - timedelta(hours=9 * number, minutes=7 * number + hour)
        mails.append(
            {
                "id": key,
                "from": person["mailbox"],
                "to": [f"{me['name']} <{me['address']}>"],
                "subject": subject,
                "date": sent.isoformat(),
                "text": text,
                "read": number % 2 == 1,
            }
        )
        proposals.append({"id": key, "subject": subject, "dates": days, "text": text})
    new = []
    for folder in folders:
        if folder["path"] == "Inbox":
            folder = {**folder, "messages": sorted(folder["messages"] + mails, key=lambda m: m["date"])}
        new.append(folder)
    return {"folders": new, "proposals": proposals}
