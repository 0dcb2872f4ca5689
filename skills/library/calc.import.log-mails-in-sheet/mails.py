"""The mails of one sender in one folder, in the order asked for, and whether they can be logged without doubt."""

LEFT_OUT = {"Sent", "Drafts", "Trash", "Junk", "Templates", "Outbox", "Unsent Messages"}


def compute(mails, pick, order):
    groups = {}
    for mail in mails:
        if mail["folder"].split("/")[0] not in LEFT_OUT:
            groups.setdefault((mail["folder"], mail["from_name"]), []).append(mail)
    fitting = [key for key in sorted(groups) if 2 <= len(groups[key]) <= 6 and key[1]]
    if not fitting:
        return {"sender": "", "folder": "", "days": ["2026-01-01"], "subjects": ["x"], "ok": False}
    folder, sender = fitting[pick % len(fitting)]
    chosen = sorted(groups[folder, sender], key=lambda mail: mail["date"], reverse=order == "newest")
    days = [mail["date"][:10] for mail in chosen]
    subjects = [mail["subject"] for mail in chosen]
    people = {mail["from_address"] for mail in mails if mail["from_name"] == sender}
    late = any(mail["date"][11:16] < "02:10" or mail["date"][11:16] > "21:50" for mail in chosen)
    # what Calc might change while one types: quotes, dashes, things that look like numbers or formulas
    odd = any(
        not subject.strip() or subject != subject.strip() or not subject[0].isalpha() or any(c in subject for c in "\"'*_") or " - " in subject
        for subject in subjects
    )  # fmt: skip
    begun = any(a != b and b.lower().startswith(a.lower()) for a in subjects for b in subjects)
    ok = (
        len(set(days)) == len(days)
        and len(set(subjects)) == len(subjects)
        and len(people) == 1
        and all(mail["read"] for mail in chosen)
    )
    leaf = folder.split("/")[-1]
    others = {mail["folder"] for mail in mails if mail["folder"].split("/")[-1] == leaf}
    return {"sender": sender, "folder": folder, "days": days, "subjects": subjects,
            "ok": ok and not late and not odd and not begun and len(others) == 1}  # fmt: skip
