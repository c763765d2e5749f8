"""Packs the Python package and the library into a wheel: make_wheel.py LIBRARY STUBS FOLDER.

The wheel needs no Python version nor any package: py3-none-manylinux_2_N_ARCH, N from the newest
symbol of glibc that the library asks for. Standard library only; times are fixed, so that the same
sources give the same bytes.
"""
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PACKAGE = os.path.join(ROOT, "tools", "python", "heapdb")


def version():
    with open(os.path.join(ROOT, "include", "heapdb.h"), encoding="utf-8") as header:
        return re.search(r'#define HDB_VERSION "(.*)"', header.read()).group(1)


def platform_tag(library):
    """The oldest glibc that the library runs with."""
    symbols = subprocess.run(["objdump", "-T", library], stdout=subprocess.PIPE, check=True,
                             text=True).stdout
    minor = max([17] + [int(m) for m in re.findall(r"GLIBC_2\.(\d+)", symbols)])
    return f"manylinux_2_{minor}_{platform.machine()}"


def needed(library):
    """Shared libraries that it asks for: only those of glibc may be missing in a wheel."""
    out = subprocess.run(["objdump", "-p", library], stdout=subprocess.PIPE, check=True,
                         text=True).stdout
    return re.findall(r"NEEDED\s+(\S+)", out)


def main(library, stubs, folder):
    others = [n for n in needed(library)
              if not re.match(r"lib(c|m|pthread|dl|rt)\.so|ld-linux", n)]
    if others:
        sys.exit(f"make_wheel: {library} needs {', '.join(others)}, which a wheel cannot expect")
    name, tag = f"heapdb-{version()}", f"py3-none-{platform_tag(library)}"
    info = f"{name}.dist-info"
    files = {}
    for place, folders, names in os.walk(PACKAGE):
        folders.sort()
        for file in sorted(names):
            if file.endswith((".py", ".sql")):
                path = os.path.join(place, file)
                with open(path, "rb") as f:
                    files[f"heapdb/{os.path.relpath(path, PACKAGE)}"] = f.read()
    for path, place in ((library, "heapdb/libheapdb.so"), (stubs, "heapdb/__init__.pyi"),
                        (os.path.join(ROOT, "LICENSE"), f"{info}/LICENSE")):
        with open(path, "rb") as f:
            files[place] = f.read()
    files["heapdb/py.typed"] = b""
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: heapdb\nVersion: {version()}\n"
        "Summary: indexed database for Java and Android heap dumps\n"
        "Requires-Python: >=3.9\nProvides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
        "Requires-Dist: pyarrow; extra == 'pandas'\nProvides-Extra: polars\n"
        "Requires-Dist: polars; extra == 'polars'\nProvides-Extra: fleet\n"
        "Requires-Dist: duckdb; extra == 'fleet'\nRequires-Dist: pyarrow; extra == 'fleet'\n"
        "Provides-Extra: spark\nRequires-Dist: pyspark>=4; extra == 'spark'\n"
        "Requires-Dist: pyarrow; extra == 'spark'\n").encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: make_wheel\n"
                              f"Root-Is-Purelib: false\nTag: {tag}\n").encode()
    record = ""
    for place, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{place},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = os.path.join(folder, f"{name}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, data in files.items():
            entry = zipfile.ZipInfo(place, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if place.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


main(*sys.argv[1:])
