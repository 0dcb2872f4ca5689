"""More unread mails in a drawn mailbox, and the senders who have two or more of them in one folder."""

from email.utils import parseaddr
from hashlib import sha256

OWN = ("Sent", "Drafts", "Trash", "Junk", "Templates", "Unsent Messages", "Outbox")


def number(mail):
    text = repr((mail["from"], mail.get("subject", ""), mail["date"]))
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


def usual(path):
    return path.split("/")[0] not in OWN and not path.startswith("Local Folders")


def groups(folders, me):
    """The mails of each sender in each usual folder; senders whose name or subjects are not their own are left out."""
    names, found = {}, {}
    for folder in folders:
        for mail in folder.get("messages", []):
            name, address = parseaddr(mail["from"])
            names.setdefault(address, set()).add(name)
            if usual(folder["path"]) and address.lower() not in me:
                found.setdefault((folder["path"], address), []).append(mail)
    good = {}
    for (path, address), mails in sorted(found.items()):
        known = names[address]
        alike = any(other != address and known & theirs for other, theirs in names.items())
        subjects = {mail.get("subject", "") for mail in mails}
        if len(known) == 1 and min(known) and not alike and len(subjects) == len(mails):
            good[path, address] = mails
    return good, {address: min(known) for address, known in names.items()}


def compute(box, fresh):
    me = {account["address"].lower() for account in box["accounts"]}
    folders = [{**folder, "messages": [dict(mail) for mail in folder.get("messages", [])]} for folder in box["folders"]]
    for folder in folders:
        for mail in folder["messages"]:
            if usual(folder["path"]) and parseaddr(mail["from"])[1].lower() not in me:
                mail["read"] = number(mail) % 5 >= fresh
    good, names = groups(folders, me)
    # at least two senders of the inbox have two unread mails: where they lack, a mail is followed by a reminder
    inbox = next(folder for folder in folders if folder["path"] == "Inbox")
    enough = [key for key, mails in good.items() if sum(not mail["read"] for mail in mails) > 1]
    spare = [key for key in good if key[0] == "Inbox" and key not in enough]
    for key in spare[: max(0, 3 - len(enough))]:
        for mail in good[key]:
            mail["read"] = False
        if len(good[key]) < 2:
            mail = good[key][0]
            again = {**mail, "subject": "Reminder: " + mail.get("subject", ""), "id": "", "tags": [], "answers": ""}
            inbox["messages"].append({**again, "replied": False, "forwarded": False, "date": mail["date"][:17] + "41"})
    good, names = groups(folders, me)
    targets = {}
    for (path, address), mails in good.items():
        if sum(not mail["read"] for mail in mails) > 1:
            targets.setdefault(address, {"address": address, "name": names[address], "folders": []})["folders"].append(
                path
            )
    return {
        "box": {**box, "folders": folders},
        "senders": sorted(targets),
        "targets": [targets[address] for address in sorted(targets)],
    }
