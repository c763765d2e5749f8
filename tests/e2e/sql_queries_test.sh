#!/bin/sh
# sql_queries_test.sh - every query is a table-valued function: its example returns the same rows with `heapdb query`
# and `heapdb sql`.
set -eu
# shellcheck source=tests/support/sql_database.sh
. "$HDB_ROOT/tests/support/sql_database.sh"
heapdb query leaks >/dev/null
heapdb help --names | awk -F '\t' '$1 == "example" { print $2 "\t" $3 " " $4 }' >examples
python3 - <<'END'
import csv, io, shlex, subprocess, sys

def run(*command):
    done = subprocess.run(["heapdb", *command], capture_output=True, text=True)
    return done.returncode, list(csv.reader(io.StringIO(done.stdout))), done.stderr

failed = seen = 0
for line in open("examples"):
    owner, example = line.rstrip("\n").split("\t")
    words = shlex.split(example)
    if words[0] in ("info", "check", "diff"):
        continue
    verbs = words[0] == "export"
    name = words[verbs]
    if words[0] == "export" and name == "objects":
        continue  # --columns is the rows' own
    where, targets, i = [], [], 1 + verbs
    while i < len(words):
        if words[i].startswith("--"):
            option = words[i][2:].replace("-", "_")
            value = None
            if "=" in option:
                option, value = option.split("=", 1)
            elif i + 1 < len(words) and not words[i + 1].startswith("--") and option not in ("brief", "objects"):
                i += 1
                value = words[i]
            where.append((option, value))
        else:
            targets.append(words[i])
        i += 1
    if any(option in ("limit", "sort", "columns", "lower_bound") for option, value in where):
        continue
    code, want, err = run(*words, "--csv", "--quiet")
    if code > 1:
        continue
    table = "query_" + name.replace("-", "_")
    code, columns, err = run("sql", "--csv",
                             "SELECT name, hidden FROM pragma_table_xinfo('%s') /* %s */" % (table, table))
    hidden = [c[0] for c in columns[1:] if c[1] != "0"]
    conditions = []
    if targets:
        conditions.append('"%s" = \'%s\'' % ("target" if "target" in hidden else "target_arg", ",".join(targets)))
    for option, value in where:
        have = option if option in hidden else option + "_option"
        conditions.append('"%s" = \'%s\'' % (have, "1" if value is None else value.replace("'", "''")))
    have, chosen, renamed = [c[0] for c in columns[1:]], [], 0
    for c in want[0] if want else []:
        renamed += c not in have  # options have named it
        chosen.append('"%s"' % c if c in have else '"field%d" AS "%s"' % (renamed, c))
    statement = "SELECT %s FROM %s" % (", ".join(chosen) if want else "*", table)
    if conditions:
        statement += " WHERE " + " AND ".join(conditions)
    code, got, err = run("sql", "--csv", statement)
    seen += 1
    if got != want:
        failed = 1
        print("FAILED:", " ".join(words), "|", statement, err.strip())
        for a, b in zip(want, got):
            if a != b:
                print("  query:", a)
                print("  sql:  ", b)
                break
        else:
            print("  %d rows and %d rows" % (len(want), len(got)))
if seen < 30:
    print("only %d queries were compared" % seen)
    failed = 1
sys.exit(failed)
END
