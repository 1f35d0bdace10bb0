"""Run `drethtr` as `python -m drethtr`."""

from drethtr.cli.main import main

if __name__ == "__main__":
    main()
