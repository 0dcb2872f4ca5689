# ruff: noqa: F821
import mailkit

profile = mailkit.Profile()
mail = profile.one("Inbox", id=facts["id"])
subject = mail.subject if mail.subject.lower().startswith("re:") else "Re: " + mail.subject
if not any(d.subject == subject and facts["text"] in d.text for d in profile.messages("Drafts")):
    profile.draft(to=facts["to"], subject=subject, text=facts["text"] + "\n", answers=mail)
