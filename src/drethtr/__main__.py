"""Run `drethtr` as `python -m drethtr`, as torchrun does."""

from drethtr.cli.main import main

if __name__ == "__main__":
    main()
