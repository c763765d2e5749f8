"""Build backend (PEP 517) with which `pip install` builds the Python package from an sdist, using `make wheel`.

Requires the build dependencies of heapdb (tools/install-deps.sh). build_sdist packs the committed files with the
metadata that PyPI requires: python3 tools/packaging/python_backend.py DIR.
"""
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile

from make_image import ROOT
from make_wheel import MODULE, metadata, version


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    subprocess.run(["make", f"-j{os.cpu_count()}", "wheel"], cwd=ROOT, check=True,
                   stdout=sys.stderr)
    folder = os.path.join(ROOT, "build", "wheel")
    name = next(n for n in os.listdir(folder) if n.endswith(".whl"))
    shutil.copy(os.path.join(folder, name), wheel_directory)
    return name


def build_sdist(sdist_directory, config_settings=None):
    prefix = f"{MODULE}-{version()}"
    out = subprocess.run(["git", "archive", "--format=tar", f"--prefix={prefix}/", "HEAD"], cwd=ROOT,
                         check=True, stdout=subprocess.PIPE).stdout
    seconds = int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True,
                                 stdout=subprocess.PIPE).stdout)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        with tarfile.open(fileobj=io.BytesIO(out)) as committed:
            for member in committed:
                archive.addfile(member, committed.extractfile(member) if member.isreg() else None)
        fields = metadata().encode()
        entry = tarfile.TarInfo(f"{prefix}/PKG-INFO")
        entry.size, entry.mtime = len(fields), seconds
        archive.addfile(entry, io.BytesIO(fields))
    name = f"{prefix}.tar.gz"
    with open(os.path.join(sdist_directory, name), "wb") as file:
        file.write(gzip.compress(packed.getvalue(), 9, mtime=0))
    return name


if __name__ == "__main__":
    print(os.path.join(sys.argv[1], build_sdist(sys.argv[1])))
