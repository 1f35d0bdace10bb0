.PHONY: check format

check:
	ruff format --check src tests recipes
	ruff check src tests recipes
	mypy
	pytest

format:
	ruff format src tests recipes
	ruff check --fix src tests recipes
