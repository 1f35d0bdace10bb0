.PHONY: check format pictures

check:
	ruff format --check docs recipes src tests
	ruff check docs recipes src tests
	mypy
	pytest

format:
	ruff format docs recipes src tests
	ruff check --fix docs recipes src tests

pictures:
	python docs/make_pictures.py
