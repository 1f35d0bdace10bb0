"""Build the source archive and the wheels of the last commit twice, and keep them if both are identical.

    python packaging/build.py [FOLDER]          by default dist

There are two wheels: one with the compiled module, for this system, and a pure-Python one for all others. Timestamps in
archives are that of the commit, or SOURCE_DATE_EPOCH.
"""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


def build(folder: Path, epoch: int) -> list[Path]:
    """Build everything into a folder; the wheels are built from the source archive."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "CFLAGS": "-g0"}  # debug information contains paths
    run = [sys.executable, "-m", "build", "--outdir", str(folder)]
    with TemporaryDirectory() as place:
        committed = subprocess.check_output(["git", "archive", "HEAD"], cwd=ROOT)
        unpack(io.BytesIO(committed), place)
        subprocess.run([*run, "--sdist", place], env=environment, check=True)
    [archive] = folder.glob("*.tar.gz")
    normalize(archive, epoch)
    for pure in ("", "1"):
        with TemporaryDirectory() as place:
            unpack(io.BytesIO(archive.read_bytes()), place)
            [source] = Path(place).iterdir()
            subprocess.run([*run, "--wheel", str(source)], env={**environment, "DRETHTR_PURE": pure}, check=True)
    return sorted(folder.iterdir())


def unpack(archive: io.BytesIO, folder: str) -> None:
    """Unpack a trusted archive."""
    with tarfile.open(fileobj=archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # unknown before Python 3.11.4
        packed.extractall(folder)


def normalize(archive: Path, epoch: int) -> None:
    """Rewrite a source archive sorted and without owners and times, which setuptools takes from the build."""
    content = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member))
    archive.write_bytes(gzip.compress(content.getvalue(), mtime=epoch))


def epoch_of_commit() -> int:
    """SOURCE_DATE_EPOCH, or else the time of the last commit, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def main(folder: Path) -> None:
    """Build twice and compare."""
    epoch = epoch_of_commit()
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        first, second = build(Path(one), epoch), build(Path(other), epoch)
        differing = [a.name for a, b in zip(first, second, strict=True) if a.read_bytes() != b.read_bytes()]
        if differing:
            sys.exit(f"two builds differ: {', '.join(differing)}")
        folder.mkdir(parents=True, exist_ok=True)
        for path in first:
            shutil.copy(path, folder)
            print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "dist")
