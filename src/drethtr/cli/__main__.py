"""Run `drethtr` as `python -m drethtr.cli`, which torchrun needs."""

from drethtr.cli.main import main

if __name__ == "__main__":
    main()
