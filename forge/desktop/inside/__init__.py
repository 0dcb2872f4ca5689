"""Programs that run inside a box by the system's /usr/bin/python3: single files, standard library and system bindings only."""
