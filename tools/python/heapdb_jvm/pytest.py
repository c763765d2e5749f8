"""A pytest plugin that runs each check of a heap budget as a test.

    pytest -p heapdb_jvm.pytest --heap-dump after.hprof heap-budget.yaml

It runs the command `heapdb gate`; $HEAPDB_COMMAND can contain another path of heapdb. The fixture `heap_gate(dump,
budget, baseline=None)` returns the failed checks as strings.
"""
import os
import subprocess
import xml.etree.ElementTree as tree

import pytest


def run_gate(dump, budget, baseline=None):
    """Returns the checks as pairs of name and failure; the failure is None if the check passes."""
    command = [os.environ.get("HEAPDB_COMMAND", "heapdb"), "gate", str(dump), "--budget", str(budget),
               "--format", "junit", "--quiet"]
    if baseline:
        command += ["--baseline", str(baseline)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr.strip() or f"heapdb gate: exit code {done.returncode}")
    checks = []
    for case in tree.fromstring(done.stdout.encode()).iter("testcase"):
        failure = case.find("failure")
        checks.append((case.get("name"), None if failure is None else failure.text))
    return checks


class Broken(Exception):
    """A failed check."""


class Check(pytest.Item):
    def __init__(self, *, failure, **others):
        super().__init__(**others)
        self.failure = failure

    def runtest(self):
        if self.failure:
            raise Broken(self.failure)

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value)

    def reportinfo(self):
        return self.path, None, self.name


class Budget(pytest.File):
    def collect(self):
        dump = self.config.getoption("heap_dump")
        for name, failure in run_gate(dump, self.path, self.config.getoption("heap_baseline")):
            yield Check.from_parent(self, name=name, failure=failure)


def pytest_addoption(parser):
    group = parser.getgroup("heapdb")
    group.addoption("--heap-dump", help="heap dump for the checks of a heap-budget.yaml")
    group.addoption("--heap-baseline", help="earlier dump or database")


def pytest_collect_file(file_path, parent):
    if parent.config.getoption("heap_dump") and file_path.name.endswith("heap-budget.yaml"):
        return Budget.from_parent(parent, path=file_path)
    return None


@pytest.fixture
def heap_gate():
    def gate(dump, budget, baseline=None):
        return [failure for _, failure in run_gate(dump, budget, baseline) if failure]

    return gate
