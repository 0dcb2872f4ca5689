"""The `forge` command: adapters without logic. Heavy imports stay inside the commands, so that `--help` is quick."""
