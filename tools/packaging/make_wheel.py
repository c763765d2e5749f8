"""Packs the Python package and the library into a wheel: make_wheel.py LIBRARY STUBS DIR.

The wheel depends on no Python version and no package. Its tag is py3-none-manylinux_2_N_ARCH, with N from the newest
glibc symbol that the library uses, py3-none-musllinux_1_2_ARCH, or py3-none-macosx_N_0_ARCH. Times are fixed, so the
same sources give the same bytes. Uses only the standard library.
"""
import base64
import hashlib
import importlib.util
import os
import re
import struct
import subprocess
import sys
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODULE = "heapdb_jvm"
PACKAGE = os.path.join(ROOT, "tools", "python", MODULE)
PYTHONS = range(9, 14)
# Fields of METADATA that come from no other file in the repository.
FIELDS = """\
Summary: Indexed database for Java and Android heap dumps (HPROF): leaks, retained sizes, SQL, data frames
License-Expression: MIT AND OLDAP-2.8 AND BSD-2-Clause AND BSD-3-Clause AND Zlib AND blessing
License-File: LICENSE
License-File: NOTICES
Keywords: java,android,jvm,heap,heap-dump,hprof,memory-leak,profiling
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: Operating System :: MacOS
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Java
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Topic :: Software Development :: Debuggers
Classifier: Topic :: Software Development :: Quality Assurance
Classifier: Typing :: Typed
"""


def version():
    with open(os.path.join(ROOT, "include", "heapdb.h"), encoding="utf-8") as header:
        return re.search(r'#define HDB_VERSION "(.*)"', header.read()).group(1)


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], stdout=subprocess.PIPE, check=True,
                          text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def load_commands(library):
    """Yields the kind and bytes of each load command of a Mach-O file. Yields nothing for other files."""
    with open(library, "rb") as f:
        data = f.read(1 << 16)
    magic, _, _, _, count = struct.unpack_from("<5I", data)
    at = 32
    for _ in range(count if magic == 0xFEEDFACF else 0):
        kind, size = struct.unpack_from("<2I", data, at)
        yield kind, data[at:at + size]
        at += size


def platform_tag(library):
    """Returns the platform tag: the oldest C library or macOS on which the library runs, and the machine."""
    for kind, command in load_commands(library):
        if kind == 0x32:  # LC_BUILD_VERSION
            version = struct.unpack_from("<I", command, 12)[0]
            with open(library, "rb") as f:
                machine = "arm64" if struct.unpack("<2I", f.read(8))[1] & 0xFF == 12 else "x86_64"
            # Since macOS 11, tags have no minor version, so round up: 11.7 becomes 12.
            return f"macosx_{(version >> 16) + (version & 0xFFFF > 0)}_0_{machine}"
    machine = "aarch64" if "AArch64" in readelf("-h", library) else "x86_64"
    if "libc.so" in needed(library):
        return f"musllinux_1_2_{machine}"
    symbols = readelf("--version-info", library)
    minor = max([17] + [int(m) for m in re.findall(r"GLIBC_2\.(\d+)", symbols)])
    return f"manylinux_2_{minor}_{machine}"


def needed(library):
    """Returns the shared libraries that the library needs. A wheel may depend only on the C library."""
    commands = list(load_commands(library))
    if commands:
        return [command[24:].split(b"\0")[0].decode() for kind, command in commands if kind == 0xC]  # LC_LOAD_DYLIB
    return re.findall(r"\(NEEDED\).*\[(\S+)\]", readelf("-d", library))


def read(*path):
    with open(os.path.join(ROOT, *path), "rb") as f:
        return f.read()


def extras():
    """Loads the module of the package that lists its optional dependencies."""
    spec = importlib.util.spec_from_file_location("_extras", os.path.join(PACKAGE, "_extras.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def metadata():
    """Returns the distribution's name, fields and description. The description is README.md, with links into the
    repository replaced by their text.
    """
    module = extras()
    lines = [f"Metadata-Version: 2.4\nName: {module.DISTRIBUTION}\nVersion: {version()}\n", FIELDS,
             f"Requires-Python: >=3.{PYTHONS[0]}\n"]
    lines += [f"Classifier: Programming Language :: Python :: 3.{minor}\n" for minor in PYTHONS]
    if os.environ.get("HOMEPAGE"):
        lines.append(f"Project-URL: Homepage, {os.environ['HOMEPAGE']}\n")
    for extra, packages in module.EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}\n")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'\n" for package in packages]
    text = re.sub(r"!?\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", read("README.md").decode())
    return "".join(lines) + "Description-Content-Type: text/markdown\n\n" + text


def contents(library, stubs, tag):
    """Returns all files of the wheel except RECORD, as a dict from name to bytes."""
    info = f"{MODULE}-{version()}.dist-info"
    files = {}
    for place, folders, names in os.walk(PACKAGE):
        folders.sort()
        for file in sorted(names):
            if file.endswith((".py", ".sql")):
                path = os.path.join(place, file)
                files[f"{MODULE}/{os.path.relpath(path, PACKAGE)}"] = read(path)
    files[f"{MODULE}/libheapdb.so"] = read(os.path.abspath(library))
    files[f"{MODULE}/__init__.pyi"] = read(os.path.abspath(stubs))
    files[f"{MODULE}/py.typed"] = b""
    for name in re.findall("License-File: (.*)", FIELDS):
        files[f"{info}/licenses/{name}"] = read(name)
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: make_wheel\n"
                              f"Root-Is-Purelib: false\nTag: {tag}\n").encode()
    return files


def write(folder, tag, files):
    """Packs the files and the list of their checksums into a wheel. Returns its path."""
    info = f"{MODULE}-{version()}.dist-info"
    record = ""
    for place, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{place},sha256={digest},{len(data)}\n"
    record = (record + f"{info}/RECORD,,\n").encode()
    path = os.path.join(folder, f"{MODULE}-{version()}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, data in {**files, f"{info}/RECORD": record}.items():
            entry = zipfile.ZipInfo(place, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if place.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return path


def main(library, stubs, folder):
    others = [n for n in needed(library)
              if not re.match(r"lib(c|m|pthread|dl|rt)\.so|ld-linux|/usr/lib/libSystem\.B\.dylib$", n)]
    if others:
        sys.exit(f"make_wheel: {library} needs {', '.join(others)}, which a wheel must not depend on")
    tag = f"py3-none-{platform_tag(library)}"
    print(write(folder, tag, contents(library, stubs, tag)))


if __name__ == "__main__":
    main(*sys.argv[1:])
