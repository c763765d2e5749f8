"""Lists the ABI that programs were compiled against: abi_list.py HEADER LIBRARY [--against LIST]; or HEADER --sizes.

Prints the soname, functions with their version and types, structures with sizes and members with offsets, and
constants. With --against, the list of a release, it prints what programs of that release would no longer find, and
ends with 1 if there is any: see "Structures" in heapdb.h. With --sizes it prints src/api/first_sizes.h.
"""
import os
import re
import subprocess
import sys
import tempfile

# Structures without struct_size that callers make: they never change.
CLOSED = ("hdb_error", "hdb_progress", "hdb_basic", "hdb_value", "hdb_option", "hdb_class_count", "hdb_set",
          "ArrowSchema", "ArrowArray", "ArrowArrayStream")


def without_comments(text):
    return re.sub(r"^\s*#.*?$", "", re.sub(r"/\*.*?\*/", " ", text, flags=re.S), flags=re.M)


def types_of(parameters):
    """Parameters without their names, which callers do not see."""
    return ", ".join(re.sub(r"(?<=[\w*] )\w+$|(?<=\*)\w+$", "", p.strip()).strip() for p in parameters.split(","))


def functions(text):
    for declared in re.findall(r"HDB_API\s+([^;{]*?\));", text):
        words = " ".join(declared.split())
        result, name, parameters = re.match(r"(.*?)(hdb_\w+)\((.*)\)$", words).groups()
        yield name, f"{result.strip()} ({types_of(parameters)})"


def members(text):
    """Structures in the order of the header, each with the names of its members."""
    for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\n\};", text, flags=re.S):
        names = []
        for line in body.split(";"):
            line = " ".join(line.split())
            pointer = re.match(r".*?\(\*(\w+)\)\(", line)
            if pointer:
                names.append(pointer.group(1))
            elif line:
                names += [re.search(r"(\w+)(\[\w+\])?$", part.strip()).group(1) for part in line.split(",")]
        yield name, names


def measured(header, structs, constants):
    """Sizes, offsets and values, as in the compiler's output."""
    source = ["#include <stddef.h>", "#include <stdio.h>", '#include "heapdb.h"', "int main(void)", "{"]
    for name, names in structs:
        source.append(f'\tprintf("struct {name} %zu\\n", sizeof(struct {name}));')
        source += [f'\tprintf("member {name}.{m} %zu %zu\\n", offsetof(struct {name}, {m}), '
                   f"sizeof(((struct {name} *)0)->{m}));" for m in names]
    source += [f'\tprintf("constant {name} %lld\\n", (long long){name});' for name in constants]
    source += ["\treturn 0;", "}"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi")
        with open(path + ".c", "w") as out:
            out.write("\n".join(source) + "\n")
        subprocess.run([os.environ.get("CC", "cc").split()[-1], "-I", os.path.dirname(header), "-o", path, path + ".c"],
                       check=True)
        return subprocess.run([path], check=True, capture_output=True, text=True).stdout.splitlines()


def abi(header, library):
    with open(header) as file:
        raw = file.read()
    text = without_comments(raw)
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    versions = dict(re.findall(r" T (hdb_\w+)@@?(\S+)", symbols))
    enums = re.findall(r"\benum \w+ \{(.*?)\};", text, flags=re.S)
    constants = [name for body in enums for name in re.findall(r"\b(HDB_\w+)\b(?=\s*(?:=|,|$))", body)]
    constants += [name for name in re.findall(r"^#define (HDB_\w+) ", raw, flags=re.M)
                  if name in ("HDB_NONE", "HDB_ERROR_SIZE")]
    lines = ["soname " + re.search(r"SONAME.*\[(.*)\]", dynamic).group(1)]
    lines += [f"function {name} {versions.get(name, '-')} {signature}" for name, signature in sorted(functions(text))]
    return lines + measured(header, list(members(text)), constants)


def parsed(lines):
    """What may be compared line by line, and sizes of structures, which may grow."""
    whole = [line for line in lines if line and not line.startswith(("struct ", "soname ", "#"))]
    sizes = {name: int(size) for name, size in (line.split()[1:] for line in lines if line.startswith("struct "))}
    return whole, sizes


def changes(before, now):
    old, old_sizes = parsed(before)
    new, new_sizes = parsed(now)
    have = set(new)
    for line in old:
        if line not in have:
            yield "is gone or different: " + line
    for name, size in old_sizes.items():
        grown = new_sizes.get(name, 0) - size
        if grown < 0:
            yield f"is smaller than {size} bytes: struct {name}"
        elif grown and name in CLOSED:
            yield f"never changes, and has {size + grown} bytes, not {size}: struct {name}"
    for line in new:
        kind, name = line.split()[:2]
        if kind == "member" and line not in old and name.split(".")[0] in old_sizes and \
                int(line.split()[2]) < old_sizes[name.split(".")[0]]:
            yield "is not behind the members of the release: " + line


def first_sizes(header):
    """Sizes of structures that begin with struct_size, as src/api/first_sizes.h has them."""
    with open(header) as file:
        sized = [(name, names) for name, names in members(without_comments(file.read())) if names[0] == "struct_size"]
    sizes = parsed(measured(header, sized, []))[1]
    return [
        "/*",
        " * api/first_sizes.h - sizes of structures that callers make, in the first version of this soname.",
        " * Written by `make abi-baseline`.",
        " */",
        "#ifndef API_FIRST_SIZES_H",
        "#define API_FIRST_SIZES_H",
        "",
        "/* clang-format off */",
        "#define API_FIRST(theirs) \\",
        "\t(size_t)_Generic(*(theirs), \\",
        ", \\\n".join(f"\t\tstruct {name}: {size}" for name, size in sizes.items()) + ")",
        "/* clang-format on */",
        "",
        "#endif"]


def main():
    header, library = sys.argv[1:3]
    if library == "--sizes":
        print("\n".join(first_sizes(header)))
        return 0
    now = abi(header, library)
    if len(sys.argv) < 5:
        print("\n".join(now))
        return 0
    with open(sys.argv[4]) as file:
        before = file.read().splitlines()
    if before[0] != now[0]:
        print(f"{sys.argv[4]} is of {before[0]}, the library of {now[0]}: a new soname needs `make abi-baseline`")
        return 1
    bad = list(changes(before, now))
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
