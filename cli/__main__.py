"""`python -m cli`: the `forge` command where no script of it is installed."""

from cli.main import main

if __name__ == "__main__":
    main()
