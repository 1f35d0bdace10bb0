.PHONY: audit bench check dist docs lint load lock format fuzz golden image mutants pictures quick sbom soak walks web

check: lint
	pytest -n auto

# Laws and the golden record: two minutes on two cores.
QUICK = test_floors.py golden mutants text language images layout documents network/test_retention.py \
	network/test_network.py network/test_mixer.py recognition/decoding recognition/confidence proofreading \
	search/test_automaton.py search/test_forward.py
SLOW = shipped hostile running_text page_bombs speculative
quick:
	pytest -n auto $(SLOW:%=--ignore-glob '*/test_%.py') $(addprefix tests/,$(QUICK))

lint:
	ruff format --check .
	ruff check .
	mypy
	mypy --platform darwin --cache-dir .mypy_cache/darwin
	mypy --platform win32 --cache-dir .mypy_cache/win32

format:
	ruff format .
	ruff check --fix .

web:
	cd web && npm ci && npm run check

docs:
	python docs/make_site.py

dist:
	python packaging/build.py dist

lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --constraint constraints.txt \
		--no-annotate --custom-compile-command "make lock" --upgrade --output-file packaging/requirements.lock

image:
	packaging/try_image

sbom:
	mkdir -p dist
	python -m venv --clear build/sbom && build/sbom/bin/pip install --quiet --constraint constraints.txt .
	cyclonedx-py environment --pyproject pyproject.toml --output-file dist/drethtr.cdx.json build/sbom

pictures:
	python docs/make_pictures.py
	python docs/make_layout.py
	python docs/make_edit_pictures.py

golden:
	PYTHONPATH=tests python -m golden.record

mutants:
	python tests/mutants/run.py

walks:
	python docs/measure_walks.py

DATA = samples
bench:
	drethtr bench all $(DATA) --output docs/speed --force

MINUTES = 10
fuzz:
	python tests/fuzzing/run.py --minutes $(MINUTES)

KILLS = 100
soak:
	python tests/soak/kills.py --kills $(KILLS)
	python tests/soak/power.py

load:
	python tests/soak/load.py --minutes $(MINUTES) --decoder ctc --threads 1

audit:
	bandit --quiet --recursive src --severity-level high
	pip-audit --strict --vulnerability-service pypi --requirement constraints.txt --no-deps --disable-pip
