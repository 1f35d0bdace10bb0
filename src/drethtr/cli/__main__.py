"""`python -m drethtr.cli`, as torchrun starts it: the same as `drethtr`."""

from drethtr.cli.main import main

if __name__ == "__main__":
    main()
