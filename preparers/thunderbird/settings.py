"""Write a profile's settings: preferences with the accounts, the window's state, and `profiles.ini`.

With them Thunderbird 153 opens maximized, in the wanted folder, without a dialog, bar, tab or network. Paths are those
inside the guest.
"""

from __future__ import annotations

import json

from forge.records import Guest
from forge.records.guest import USER
from preparers.thunderbird.layout import PROFILE, all_folders, stores, uri
from preparers.thunderbird.params import Account, ProfileParams

_INSTALL = "FDC34C9F024745EB"
"""How Thunderbird names the installation /usr/lib/thunderbird in `profiles.ini` (a hash of that path)."""

_LAYOUT = {"classic": 0, "wide": 1, "vertical": 2}

QUIET: dict[str, object] = {
    "accessibility.force_disabled": -1,  # on, whether or not the accessibility bus answers in time
    "app.donation.eoy.version.viewed": 999,
    "app.update.auto": False,
    "app.update.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "extensions.getAddons.cache.enabled": False,
    "extensions.update.enabled": False,
    "mail.biff.play_sound": False,
    "mail.biff.show_alert": False,
    "mail.chat.enabled": False,
    "mail.inappnotifications.enabled": False,
    "mail.inappnotifications.url": "",
    "mail.prompt_purge_threshhold": False,
    "mail.provider.suppress_dialog_on_startup": True,
    "mail.purge.ask": False,
    "mail.rights.version": 1,
    "mail.shell.checkDefaultClient": False,
    "mail.spam.version": 1,
    "mail.startup.enabledMailCheckOnce": True,
    "mail.tabs.drawInTitlebar": False,
    "mail.warn_on_send_accel_key": False,
    "mailnews.start_page.enabled": False,
    "mailnews.start_page_override.mstone": "ignore",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.offline-localhost": False,
    "offline.download.download_messages": 2,
    "offline.startup_state": 3,
    "offline.send.unsent_messages": 2,
    "services.settings.server": "",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "toolkit.telemetry.unified": False,
    "ui.caretBlinkTime": 0,
    "ui.prefersReducedMotion": 1,
    "widget.gtk.overlay-scrollbars.enabled": False,
}
"""Preferences that keep Thunderbird still: no network, no first-run matter, no blinking caret, no scroll bars that fade,
no animations; accessibility on.
"""


def prefs_js(params: ProfileParams) -> bytes:
    """`prefs.js`: accounts, identities, outgoing servers, tags, the look of the message list."""
    known = stores(params)
    keys = [f"account{n}" for n in range(1, len(known) + 1)]
    prefs: dict[str, object] = {
        "mail.accountmanager.accounts": ",".join(keys),
        "mail.accountmanager.defaultaccount": keys[0],
        "mail.accountmanager.localfoldersserver": f"server{len(known)}",
        "mail.account.lastKey": len(known),
        "mail.smtpservers": ",".join(f"smtp{n}" for n in range(1, len(known))),
        "mail.smtp.defaultserver": "smtp1",
        "mail.pane_config.dynamic": _LAYOUT[params.layout],
        "mail.threadpane.listview": 1 if params.view == "table" else 0,
    }
    for number, store in enumerate(known, 1):
        server = f"mail.server.server{number}"
        prefs |= {
            f"mail.account.account{number}.server": f"server{number}",
            f"{server}.directory": f"/home/{USER}/{PROFILE[2:]}/{store.directory}",
            f"{server}.directory-rel": f"[ProfD]{store.directory}",
            f"{server}.hostname": store.host,
            f"{server}.name": store.label,
            f"{server}.storeContractID": "@mozilla.org/msgstore/berkeleystore;1",
            f"{server}.type": "pop3" if number < len(known) else "none",
            f"{server}.userName": store.user,
            f"{server}.spamLevel": 0,
        }
    for number, account in enumerate(params.accounts, 1):
        prefs |= _identity(number, account, known[number - 1].uri)
    for tag in params.tags:
        prefs |= {f"mailnews.tags.{tag.key}.tag": tag.name, f"mailnews.tags.{tag.key}.color": tag.color}
    return _javascript(prefs)


def user_js() -> bytes:
    """`user.js`: what must hold at every start."""
    return _javascript(QUIET)


def window_state(params: ProfileParams, guest: Guest) -> dict[str, bytes]:
    """The files by which Thunderbird opens maximized, in the wanted folder, with all folders in sight."""
    known = stores(params)
    tab = {
        "mode": "mail3PaneTab",
        "state": {
            "firstTab": True,
            "folderPaneVisible": True,
            "folderURI": uri(params.open, known),
            "messagePaneVisible": True,
        },
        "ext": {},
    }
    tabs = {"rev": 0, "selectedIndex": 0, "tabs": [tab]}
    folders = all_folders(params)
    parents = [path for path in folders if any(other.startswith(path + "/") for other in folders)]
    opened = [store.uri for store in known] + [uri(path, known) for path in parents]
    size = {"width": str(guest.width), "height": str(guest.height)}
    document = {
        "messengerWindow": {"screenX": "0", "screenY": "0", **size, "sizemode": "maximized"},
        "messagepaneboxwrapper": {"height": str(guest.height * 2 // 5)},
        "folderTree": {"mode": "all"},
    }
    return {
        "session.json": _json({"rev": 0, "windows": [{"type": "3pane", "tabs": tabs}]}),
        "folderTree.json": _json({"open": {"all": opened}}),
        "xulstore.json": _json({"chrome://messenger/content/messenger.xhtml": document}),
    }


def profiles_ini() -> bytes:
    """`profiles.ini`, which makes the profile the one that a bare `thunderbird` opens."""
    name = PROFILE.rpartition("/")[2]
    return (
        f"[Install{_INSTALL}]\nDefault={name}\nLocked=1\n\n"
        f"[Profile0]\nName=default\nIsRelative=1\nPath={name}\nDefault=1\n\n"
        "[General]\nStartWithLastProfile=1\nVersion=2\n"
    ).encode()


def _identity(number: int, account: Account, base: str) -> dict[str, object]:
    identity, server, smtp = (
        f"mail.identity.id{number}",
        f"mail.server.server{number}",
        f"mail.smtpserver.smtp{number}",
    )
    return {
        f"mail.account.account{number}.identities": f"id{number}",
        f"{identity}.fullName": account.name,
        f"{identity}.useremail": account.address,
        f"{identity}.valid": True,
        f"{identity}.smtpServer": f"smtp{number}",
        f"{identity}.compose_html": account.compose_html,
        f"{identity}.htmlSigText": account.signature,
        f"{identity}.fcc_folder": f"{base}/Sent",
        f"{identity}.draft_folder": f"{base}/Drafts",
        f"{identity}.stationery_folder": f"{base}/Templates",
        f"{identity}.archive_folder": f"{base}/Archives",
        f"{identity}.fcc_folder_picker_mode": "0",
        f"{server}.check_new_mail": False,
        f"{server}.login_at_startup": False,
        f"{server}.download_on_biff": False,
        f"{smtp}.hostname": "smtp." + account.address.partition("@")[2].lower(),
        f"{smtp}.port": 587,
        f"{smtp}.username": account.address,
        f"{smtp}.authMethod": 3,
        f"{smtp}.try_ssl": 2,
    }


def _javascript(prefs: dict[str, object]) -> bytes:
    return "".join(f"user_pref({json.dumps(k)}, {_value(v)});\n" for k, v in sorted(prefs.items())).encode()


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
