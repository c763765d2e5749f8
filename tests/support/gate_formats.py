"""Checks what `heapdb gate` writes for programs: gate_formats.py DIR

JUnit: the elements and attributes that the schemas of Ant and Jenkins have in common. SARIF: what section 3 of
the OASIS standard 2.1.0 requires of the objects that are used.
"""
import json
import os
import sys
import xml.etree.ElementTree as tree

failures = []


def check(what, holds):
    if not holds:
        failures.append(what)


def junit(path, failed, skipped):
    root = tree.parse(path).getroot()
    check("testsuites", root.tag == "testsuites" and [s.tag for s in root] == ["testsuite"])
    for suite in root:
        check("attributes of testsuite", {"name", "tests", "failures", "errors"} <= set(suite.keys()))
        cases = list(suite)
        check("only testcases", all(c.tag == "testcase" for c in cases))
        check("number of tests", int(suite.get("tests")) == len(cases) == int(root.get("tests")))
        broken = [c for c in cases if len(c) and c[0].tag == "failure"]
        left = [c for c in cases if len(c) and c[0].tag == "skipped"]
        check("number of skipped tests", int(suite.get("skipped")) == len(left) == skipped)
        check("number of failures", int(suite.get("failures")) == len(broken) == failed)
        for case in cases:
            check("name of testcase", case.get("name") and case.get("classname"))
            check("attributes of testcase", set(case.keys()) <= {"name", "classname", "time"})
        for case in broken:
            check("one failure", [f.tag for f in case] == ["failure"])
            check("message and type", case[0].get("message") and case[0].get("type"))
            check("object: " + case.get("name"), "\nobject " in case[0].text)
    names = [c.get("name") for c in root.iter("testcase")]
    check("names: " + str(names), not failed or "leaks & more" in names)


def sarif(path, failed, skipped):
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    check("3.13 sarifLog", log["version"] == "2.1.0" and set(log) == {"$schema", "version", "runs"})
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        check("3.19 toolComponent", driver["name"] == "heapdb" and driver["version"])
        ids = [rule["id"] for rule in driver["rules"]]
        check("3.49.3 ids are strings, once each", len(set(ids)) == len(ids))
        check("3.11 message", all(rule["shortDescription"]["text"] for rule in driver["rules"]))
        check("3.14.17 columnKind", run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints"))
        errors = [result for result in run["results"] if result["level"] == "error"]
        check("results", len(errors) == failed and len(run["results"]) == failed + skipped)
        for result in run["results"]:
            check("3.27.6 ruleIndex", ids[result["ruleIndex"]] == result["ruleId"])
            check("3.27.10 level", result["level"] in ("none", "note", "warning", "error"))
            check("3.27.11 message", ("\nobject " in result["message"]["text"]) == (result in errors))
            for location in result["locations"]:
                place = location["physicalLocation"]
                check("3.4.3 uri", place["artifactLocation"]["uri"] == os.path.basename(path).split(".")[0] + ".yaml")
                region = place["region"]
                check("3.30.5 startLine", region["startLine"] >= 1 and region["startColumn"] >= 1)
                for logical in location.get("logicalLocations", []):
                    check("3.33 logicalLocation", logical["fullyQualifiedName"] and logical["kind"] == "member")


for name, count, unknown in (("good", 0, 1), ("bad", 5, 0)):
    junit(os.path.join(sys.argv[1], name + ".junit"), count, unknown)
    sarif(os.path.join(sys.argv[1], name + ".sarif"), count, unknown)
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
