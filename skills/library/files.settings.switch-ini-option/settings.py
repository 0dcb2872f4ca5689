"""INI files of one program: the one in use, and others with the same sections and other values."""

from hashlib import sha256

# section: option, and what it can be; None stands for on and off
SECTIONS = {
    "general": {"language": ["en", "de", "fr"], "verbose": None, "autosave": None, "show_tips": None},
    "network": {"enabled": None, "ipv6": None, "use_proxy": None, "timeout": ["30", "60", "90"]},
    "notify": {"enabled": None, "sound": None, "channel": ["mail", "popup", "both"], "summary": None},
    "backup": {"enabled": None, "compress": None, "target": ["server", "disk"], "keep_old": None},
    "display": {"dark_mode": None, "fullscreen": None, "toolbar": ["top", "left", "hidden"], "show_tips": None},
    "log": {"enabled": None, "level": ["info", "warning", "debug"], "rotate": None, "verbose": None},
    "update": {"automatic": None, "channel": ["stable", "preview"], "ask_first": None, "enabled": None},
    "print": {"duplex": None, "colour": None, "paper": ["A4", "A5", "Letter"], "header": None},
    "sync": {"enabled": None, "automatic": None, "wifi_only": None, "interval": ["15", "30", "60"]},
    "security": {"lock_screen": None, "ask_password": None, "remember": None, "timeout": ["5", "10", "15"]},
    "export": {"format": ["csv", "json", "xml"], "compress": None, "header": None, "quote_all": None},
    "import": {"automatic": None, "format": ["csv", "json", "xml"], "skip_errors": None, "keep_old": None},
}
OFF = {"yes": "no", "true": "false", "on": "off", "1": "0"}
NAMES = [
    ["settings.ini", "settings-test.ini", "settings-old.ini"],
    ["main.ini", "users.ini", "defaults.ini"],
    ["{p}.ini", "{p}-local.ini"],
    ["{p}.cfg", "{p}.sample.cfg", "office.cfg"],
    ["server.ini", "client.ini", "display.ini", "shared.ini"],
    ["app.conf", "app.backup.conf", "site.conf"],
    ["{p}.conf", "{p}-local.conf", "old.conf"],
    ["reception.conf", "workshop.conf", "warehouse.conf", "common.ini"],
    ["{p}-live.conf", "{p}-test.conf", "{p}-training.conf"],
    ["ground-floor.ini", "first-floor.ini", "second-floor.ini"],
]
REMARKS = [
    "changed on the phone with support, do not ask",
    "see the handbook, chapter {a}",
    "takes effect after the next start",
    "was different until version {a}.{b}",
    "only for the office network",
    "do not touch without asking IT",
]


def compute(product, number, spacing, on):
    def pick(*what):
        return int.from_bytes(sha256(repr((product, number, *what)).encode()).digest()[:4], "big")

    names = [name.format(p=product) for name in NAMES[pick("names") % len(NAMES)]]
    chosen = sorted(SECTIONS, key=lambda section: pick("section", section))[: 4 + pick("many") % 4]
    remark = "#;"[pick("remark") % 2]
    files = []
    for name in names:
        plain = not name.endswith(".conf")  # the preparer writes .ini and .cfg itself: no remarks
        spaced = " = " if plain else spacing
        lines = [] if plain else [f"{remark} {product}, {name}", ""]
        options = []
        for section in chosen:
            lines.append(f"[{section}]")
            for key, values in SECTIONS[section].items():
                values = values or [on, OFF[on]]
                value = values[pick(name, section, key) % len(values)]
                others = [other for other in values if other != value]
                other = others[pick(name, section, key, "other") % len(others)]
                if plain:
                    pass
                elif pick(name, section, key, "remark") % 4 == 0:
                    text = REMARKS[pick(name, section, key, "text") % len(REMARKS)]
                    lines.append(f"{remark} {text.format(a=pick(key, 'a') % 8 + 2, b=pick(key, 'b') % 9)}")
                elif pick(name, section, key, "remark") % 4 == 1:
                    lines.append(f"{remark} {key}{spaced}{other}")
                lines.append(f"{key}{spaced}{value}")
                options.append(
                    {
                        "section": section,
                        "key": key,
                        "value": value,
                        "other": other,
                        "spacing": spaced,
                        "line": len(lines),
                    }
                )
            lines.append("")
        text = "\n".join(lines[:-1]) + "\n"
        files.append(
            {
                "name": name,
                "text": text,
                "sections": {s: {o["key"]: o["value"] for o in options if o["section"] == s} for s in chosen},
                "options": options,
            }
        )
    listed = "".join(f"  {name}\n" for name in names)
    readme = f"Settings of {product}, one file for each place where it runs:\n\n{listed}\nOptions belong to the section above them.\n"
    return {"files": files, "readme": readme}
