.PHONY: bench check docs lint format fuzz pictures soak web

check: lint
	pytest -n auto

lint:
	ruff format --check docs recipes src tests
	ruff check docs recipes src tests
	mypy

format:
	ruff format docs recipes src tests
	ruff check --fix docs recipes src tests

web:
	cd web && npm ci && npm run check

docs:
	python docs/make_site.py

pictures:
	python docs/make_pictures.py
	python docs/make_edit_picture.py

DATA = samples
bench:
	drethtr bench all $(DATA) --output docs/speed --force

MINUTES = 10
fuzz:
	python tests/fuzzing/run.py --minutes $(MINUTES)

KILLS = 100
soak:
	python tests/soak/kills.py --kills $(KILLS)
