MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def written(mails, style):
    subjects = [mail["subject"] for mail in mails]
    if style == "plain":
        return "".join(f"{subject}\n" for subject in subjects)
    if style == "bullets":
        return "Subjects:\n\n" + "".join(f"- {subject}\n" for subject in subjects)
    if style == "numbered":
        return "".join(f"{number}. {subject}\n" for number, subject in enumerate(subjects, 1))
    if style == "checklist":
        return "# These mails\n\n" + "".join(f"* [ ] {subject}\n" for subject in subjects)
    return "".join(f"{mail['from_name']}: {mail['subject']}\n" for mail in mails)


def compute(mails, before, style, called, month):
    suffix = ".md" if style == "checklist" else ".txt"
    return {
        "name": f"{called}-{MONTHS[month - 1]}{suffix}",
        "text": written(mails, style),
        "old_name": f"{called}-{MONTHS[month - 2]}{suffix}",
        "old_text": written(before, style),
    }
