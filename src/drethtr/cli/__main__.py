"""`python -m drethtr.cli` is `drethtr`, for torchrun."""

from drethtr.cli.main import main

if __name__ == "__main__":
    main()
