import json

LEVELS = ["debug", "info", "warning", "error"]
ONOFF = [True, False]
# settings of each application: (section, key, values that it may have)
APPS = {
    "shop": [
        ("", "name", ["Corner Shop", "Harbour Store", "Old Mill Shop"]),
        ("server", "port", [8080, 8081, 8443, 9000]),
        ("server", "workers", [2, 4, 6, 8]),
        ("server", "tls", ONOFF),
        ("checkout", "guest_orders", ONOFF),
        ("checkout", "currency", ["EUR", "CHF", "GBP", "PLN"]),
        ("checkout", "free_shipping_from", [40, 60, 75, 100]),
        ("stock", "warn_below", [3, 5, 10, 20]),
        ("logging", "level", LEVELS),
        ("logging", "keep_days", [7, 14, 30, 90]),
    ],
    "kiosk": [
        ("", "language", ["en", "de", "fr", "it", "nl"]),
        ("display", "brightness", [40, 55, 70, 85, 100]),
        ("display", "rotation", ["none", "left", "right"]),
        ("display", "dim_after_minutes", [5, 10, 15, 30]),
        (
            "browser",
            "home",
            ["https://kiosk.example/start", "https://kiosk.example/map", "https://kiosk.example/events"],
        ),
        ("browser", "allow_downloads", ONOFF),
        ("browser", "reset_after_seconds", [60, 90, 120, 300]),
        ("sound", "enabled", ONOFF),
        ("sound", "volume", [10, 30, 50, 80]),
    ],
    "mail-relay": [
        ("", "hostname", ["relay.example.org", "mail.example.org", "mx2.example.org"]),
        ("incoming", "port", [25, 465, 587, 2525]),
        ("incoming", "max_size_mb", [10, 20, 25, 50]),
        ("incoming", "require_tls", ONOFF),
        ("queue", "retry_minutes", [5, 15, 30, 60]),
        ("queue", "give_up_after_days", [1, 3, 5, 7]),
        ("spam", "threshold", [4.5, 5.0, 6.5, 8.0]),
        ("spam", "action", ["tag", "quarantine", "reject"]),
        ("logging", "level", LEVELS),
    ],
    "weather-station": [
        ("", "station", ["North Field", "Roof East", "Harbour"]),
        ("sensors.wind", "interval_seconds", [5, 10, 30, 60]),
        ("sensors.wind", "enabled", ONOFF),
        ("sensors.rain", "interval_seconds", [30, 60, 120, 300]),
        ("sensors.rain", "millimetres_per_tip", [0.1, 0.2, 0.25, 0.5]),
        ("sensors.rain", "enabled", ONOFF),
        ("upload", "every_minutes", [5, 10, 15, 60]),
        ("upload", "target", ["https://wx.example/a", "https://wx.example/b", "https://wx.example/test"]),
        ("units", "temperature", ["celsius", "fahrenheit", "kelvin"]),
    ],
    "library": [
        ("", "branch", ["Main Street", "Riverside", "School Hill"]),
        ("loans", "days", [14, 21, 28, 35]),
        ("loans", "renewals", [0, 1, 2, 3]),
        ("loans", "max_items", [5, 10, 20, 30]),
        ("fines", "per_day", [0.1, 0.2, 0.5, 1.5]),
        ("fines", "active", ONOFF),
        ("reminders", "send_before_days", [1, 2, 3, 5]),
        ("reminders", "channel", ["mail", "letter", "sms"]),
        ("catalogue", "show_covers", ONOFF),
    ],
    "booking": [
        ("", "timezone", ["Europe/Berlin", "Europe/Paris", "Europe/Lisbon"]),
        ("calendar", "first_day", ["monday", "sunday", "saturday"]),
        ("calendar", "slot_minutes", [15, 20, 30, 45, 60]),
        ("calendar", "weeks_ahead", [4, 8, 12, 26]),
        ("rooms.hall", "seats", [40, 60, 80, 120]),
        ("rooms.hall", "bookable", ONOFF),
        ("rooms.studio", "seats", [8, 10, 12, 16]),
        ("rooms.studio", "bookable", ONOFF),
        ("mail", "confirm", ONOFF),
    ],
    "signage": [
        ("", "site", ["Lobby", "Canteen", "Gate 2"]),
        ("playlist", "seconds_per_slide", [8, 10, 15, 20]),
        ("playlist", "shuffle", ONOFF),
        ("playlist", "transition", ["fade", "cut", "slide", "wipe"]),
        ("schedule", "on", ["06:30", "07:00", "08:00"]),
        ("schedule", "off", ["18:00", "20:00", "22:30"]),
        ("ticker", "enabled", ONOFF),
        ("ticker", "speed", [1, 2, 3, 5]),
        ("network", "proxy", ["none", "proxy.example:3128", "proxy.example:8080"]),
    ],
    "backup": [
        ("", "target", ["/mnt/backup", "/mnt/nas", "/media/usb-disk"]),
        ("schedule", "hour", [1, 2, 3, 23]),
        ("schedule", "every_days", [1, 2, 7, 14]),
        ("keep", "daily", [7, 10, 14, 31]),
        ("keep", "weekly", [4, 6, 8, 12]),
        ("keep", "monthly", [3, 6, 12, 24]),
        ("compression", "method", ["zstd", "gzip", "none"]),
        ("compression", "level", [1, 3, 6, 9]),
        ("notify", "on_success", ONOFF),
        ("notify", "on_failure", ONOFF),
    ],
    "game-server": [
        ("", "motd", ["Welcome back", "Friday night games", "Be kind"]),
        ("world", "difficulty", ["peaceful", "easy", "normal", "hard"]),
        ("world", "max_players", [8, 12, 20, 40]),
        ("world", "pvp", ONOFF),
        ("network", "port", [25565, 25570, 26000, 27015]),
        ("network", "timeout_seconds", [15, 30, 60, 120]),
        ("autosave", "every_minutes", [3, 5, 10, 20]),
        ("autosave", "announce", ONOFF),
        ("logging", "level", LEVELS),
    ],
    "heating": [
        ("", "mode", ["auto", "eco", "holiday", "manual"]),
        ("zones.office", "day", [19.5, 20.0, 20.5, 21.5]),
        ("zones.office", "night", [15.5, 16.0, 17.5]),
        ("zones.hall", "day", [17.5, 18.0, 18.5, 19.5]),
        ("zones.hall", "night", [12.5, 14.0, 15.5]),
        ("pump", "speed", [1, 2, 3]),
        ("pump", "overrun_minutes", [2, 5, 10]),
        ("alarm", "frost_below", [3, 4, 5, 7]),
        ("alarm", "send_mail", ONOFF),
    ],
}


def line_of(text, indent, path):
    """The number of the line on which the value at a path stands."""
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        if depth < len(path) and line.startswith(" " * indent * (depth + 1) + json.dumps(path[depth]) + ":"):
            depth += 1
            if depth == len(path):
                return number, line
    raise ValueError(path)


def compute(app, value, pick, turn, indent):
    section, key, values = APPS[app][pick % len(APPS[app])]
    path = (section.split(".") if section else []) + [key]
    place = after = json.loads(json.dumps(value))
    for part in path[:-1]:
        place = place[part]
    old = place[key]
    others = [other for other in values if other != old]
    new = others[turn % len(others)]
    place[key] = new
    number, line = line_of(json.dumps(value, indent=indent), indent, path)
    comma = "," if line.endswith(",") else ""
    head = line[: line.index(":") + 1]
    shown = {True: "true", False: "false"}[new] if isinstance(new, bool) else str(new)
    was = {True: "true", False: "false"}[old] if isinstance(old, bool) else str(old)
    return {
        "section": section,
        "key": key,
        "dotted": ".".join(path),
        "pointer": "/" + "/".join(path),
        "old": old,
        "new": new,
        "shown": shown,
        "was": was,
        "line": number,
        "typed": f"{head} {json.dumps(new)}{comma}",
        "after": after,
    }
