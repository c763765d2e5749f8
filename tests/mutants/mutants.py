# tests/mutants/mutants.py - makes small errors in the sources, one at a time, and checks that a test fails: `make
# mutants`, or `make mutants AREA=sql`, or `make mutants N=7`. With --check, only checks that each mutant applies.
#
# tests/mutants/mutants.txt lists the mutants and, by area, the tests that run first. A mutant that survives these is
# tested with all quick tests (unless QUICK=0). Everything happens in a copy of the tree below BUILD, whose object files
# are kept. Exits with 1 if a mutant no longer applies or does not compile, or if more than SURVIVORS_MAX survive.
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time

SURVIVORS_MAX = 2  # of 40; tests/README.md names them
LIST = "tests/mutants/mutants.txt"
SECONDS_MAX = 600  # of one test; a mutant may turn for ever


def read_list():
    """The tests of each area, and the mutants as [area, file, old, new]."""
    tests, mutants, area = {}, [], None
    with open(LIST) as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            word, _, rest = line.partition(" ")
            if word == "area":
                area, *tests[rest.split()[0]] = rest.split()
                tests[area] = rest.split()[1:]
            elif word == "file":
                mutants.append([area, rest, None, None])
            elif word == "-":
                mutants[-1][2] = rest.strip()
            elif word == "+":
                mutants[-1][3] = rest.strip()
            elif line and not line.startswith("#"):
                sys.exit(f"{LIST}:{number}: no line of a mutant: {line}")
    return tests, mutants


def check(mutants):
    """Prints the mutants whose line is not, or not once, in its file; returns their number."""
    bad = 0
    for n, (area, file, old, _) in enumerate(mutants, 1):
        times = 0
        if os.path.exists(file):
            with open(file) as f:
                times = f.read().count(old)
        if times != 1:
            print(f"{LIST}: mutant {n} of {area} no longer applies: {file} has {times} times: {old}")
            bad += 1
    return bad


def copy_tree(to):
    """Copies what git knows; files that have not changed keep their time, so that objects do."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True).stdout.split(b"\0")
    names = {n.decode() for n in listed if n}
    for top in ("include", "src", "tests", "tools"):
        for folder, _, files in os.walk(os.path.join(to, top)):
            for path in (os.path.join(folder, f) for f in files):
                if os.path.relpath(path, to) not in names:
                    os.remove(path)
    # Dumps next to the project, with answers of other tools.
    beside = os.path.join(os.path.dirname(to), "shared")
    if os.path.isdir("../shared") and not os.path.exists(beside):
        os.symlink(os.path.abspath("../shared"), beside)
    for name in names:
        new = os.path.join(to, name)
        os.makedirs(os.path.dirname(new), exist_ok=True)
        if os.path.islink(name) or not os.path.exists(name):
            continue
        with open(name, "rb") as f:
            text = f.read()
        if os.path.exists(new):
            with open(new, "rb") as f:
                if f.read() == text:
                    continue
        shutil.copyfile(name, new)
        shutil.copymode(name, new)


class Tree:
    def __init__(self, path):
        self.path = path
        self.out = os.path.join(path, "build/tests/out")
        self.env = dict(os.environ, BUILD="build", LIMIT=str(SECONDS_MAX), IS_MUTANT="1")
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "T"):
            self.env.pop(name, None)

    def run(self, *words):
        return subprocess.run(words, cwd=self.path, env=self.env, capture_output=True, text=True, check=False)

    def source(self, name):
        """Where a test comes from: its program's or script's path."""
        for folder, kind in (("", "_test.c"), ("e2e/", "_test.c")):
            room, _, rest = name.removesuffix("_test").partition("_")
            path = f"tests/{folder or room + '/'}{name.removesuffix('_test') if folder else rest}{kind}"
            if os.path.exists(path):
                return path
        if name.startswith("cli_") and os.path.exists(f"tests/cli/{name[4:]}.sh"):
            return f"tests/cli/{name[4:]}.sh"
        for folder in ("e2e", "oracle", "lint"):
            if os.path.exists(f"tests/{folder}/{name}.sh"):
                return f"tests/{folder}/{name}.sh"
        sys.exit(f"{LIST}: there is no test {name}")

    def command(self, name):
        """The words that run it, and what make builds for it."""
        path = self.source(name)
        if path.endswith(".c"):
            program = "build/" + path.removesuffix(".c")
            return [program], [program]
        return (["sh", "tests/run_cli.sh", path] if path.startswith("tests/cli/") else ["sh", path]), []

    def build(self, tests):
        """What these tests need: a program is linked with the static library, scripts want all."""
        made = ["build/sample.hprof", "build/hprofgen"]
        for test in tests:
            made += self.command(test)[1] or ["all", "build/examples/top10"]
        r = self.run("make", "-j2", *made)
        return None if r.returncode == 0 else r.stdout[-2000:] + r.stderr[-2000:]

    def first_failed(self, tests):
        """Builds and runs the programs, then the scripts. What does not build, and what fails."""
        for kind in (True, False):
            part = [t for t in tests if bool(self.command(t)[1]) == kind]
            why = part and self.build(part)
            test = None if why else self.failed(part)
            if why or test:
                return why, test
        return None, None

    def failed(self, tests):
        """The first test that fails, or None."""
        for test in tests:
            os.makedirs(self.out, exist_ok=True)
            self.run("sh", "tests/run.sh", "--one", test, *self.command(test)[0])
            with open(f"{self.out}/{test}.verdict") as f:
                if f.read().startswith("FAIL"):
                    return test
        return None


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the source is mended on the way out
    tests, mutants = read_list()
    if sys.argv[1:] == ["--check"]:
        return 1 if check(mutants) else 0
    area, number = os.environ.get("AREA", ""), os.environ.get("N", "")
    tree = Tree(os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "mutants")))
    chosen = [
        (n, *m) for n, m in enumerate(mutants, 1) if (not area or m[0] == area) and (not number or str(n) == number)
    ]
    killed, survived, bad = {}, [], 0
    sound = {}  # by test: whether it passes without a mutant; only of those that failed with one
    os.makedirs(tree.path, exist_ok=True)
    lock = os.open(os.path.join(tree.path, "mutants.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"another process breaks {tree.path}: one at a time, for each would see the other's mutants")
    copy_tree(tree.path)
    for n, a, file, old, new in chosen:
        begin = time.time()
        path = os.path.join(tree.path, file)
        with open(path) as f:
            source = f.read()
        if source.count(old) != 1:
            print(f"{n:3} {a:10} NO LONGER APPLIES: {file}: {source.count(old)} times: {old}", flush=True)
            bad += 1
            continue
        test = None
        while not test:
            left = [t for t in tests[a] if sound.get(t, True)]
            with open(path, "w") as f:
                f.write(source.replace(old, new))
            try:
                why, test = tree.first_failed(left)
                if why:
                    break
                if not test:
                    if os.environ.get("QUICK", "1") != "0":
                        test = "all quick tests" if tree.run("make", "test").returncode != 0 else None
                    break
            finally:
                with open(path, "w") as f:
                    f.write(source)
            if test not in sound:
                why = tree.build([test])
                if why:
                    sys.exit(f"the tree does not build:\n{why}")
                sound[test] = not tree.failed([test])
                if not sound[test]:
                    print(f"{test} fails without a mutant: left out", flush=True)
            test = test if sound[test] else None
        if why:
            print(f"{n:3} {a:10} DOES NOT COMPILE: {file}: {new}\n{why}", flush=True)
            bad += 1
            continue
        if test:
            killed[a] = killed.get(a, 0) + 1
        else:
            survived.append(n)
        verdict = f"killed by {test}" if test else "SURVIVED"
        print(f"{n:3} {a:10} {time.time() - begin:5.0f} s  {verdict}: {file}: {new}", flush=True)
    for a in tests:
        planted = sum(m[1] == a for m in chosen)
        if planted:
            print(f"{a:10} {killed.get(a, 0)} of {planted} killed")
    print(f"{sum(killed.values())} of {len(chosen)} killed, {len(survived)} survived, {bad} bad")
    return 1 if bad or len(survived) > SURVIVORS_MAX else 0


sys.exit(main())
