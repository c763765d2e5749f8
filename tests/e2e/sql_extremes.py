#!/usr/bin/env python3
"""sql_extremes.py DATABASE all|quick: functions and operators of SQL with extreme arguments: each
ends, or is cancelled, within a second of processor time.

Every function that a statement may call is here: the list is that of tools/sqlite/heapsql.c."""

import json
import os
import random
import re
import resource
import sqlite3
import subprocess
import sys
import time

SECONDS_MAX = 1.0  # of processor time in one call, and after a signal
if re.search("san|cov", os.environ["BUILD"]):
    SECONDS_MAX = 10.0

# 8 and 4 million characters, which is the limit and half of it, and an array of 4 million.
A = "replace(hex(zeroblob(4000000)), '0', 'a')"
H = "replace(hex(zeroblob(2000000)), '0', 'a')"
J = f"('[' || replace({H}, 'a', '1,') || '1]')"
PATHS = ", '$[#-1]'" * 30
ROWS = "(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 3000000) SELECT %s FROM r)"

one_text = ("length lower upper soundex quote unicode unhex typeof unistr unistr_quote json json_valid jsonb "
            "json_type json_array_length json_error_position json_pretty json_quote octet_length subtype abs "
            "acos acosh asin asinh atan atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 radians sign "
            "sin sinh sqrt tan tanh trunc date time datetime julianday unixepoch likely unlikely "
            "zeroblob randomblob hex char round ltrim rtrim trim text class_of")
cases = {name: f"length({name}({A}))" for name in one_text.split()}
cases |= {name + " of digits": f"length({name}(replace({A}, 'a', '9')))" for name in "abs date unixepoch round".split()}
two_texts = "atan2 ifnull nullif max min mod pow power timediff likelihood instr"
cases |= {name: f"length({name}({A}, {A}))" for name in two_texts.split()}
cases |= {name: ROWS % f"{name}(i)" for name in "avg count sum total median".split()}
cases |= {name: ROWS % f"length({name}(i, ',' || i))" for name in "group_concat string_agg".split()}
cases |= {name: ROWS % f"{name}(i, 0.5)" for name in "percentile percentile_cont percentile_disc".split()}
cases |= {name: ROWS % f"length({name}(i))" for name in "json_group_array jsonb_group_array".split()}
cases |= {name: ROWS % f"length({name}('k' || i, i))" for name in "json_group_object jsonb_group_object".split()}
windows = "cume_dist dense_rank percent_rank rank row_number"
cases |= {name: f"(SELECT max(x) FROM {ROWS % f'{name}() OVER (ORDER BY -i) x'})" for name in windows.split()}
cases |= {name: f"(SELECT max(x) FROM {ROWS % f'{name}(i) OVER (ORDER BY -i) x'})"
          for name in "first_value lag last_value lead".split()}
cases |= {name: f"(SELECT max(x) FROM {ROWS % f'{name}(i, 1000) OVER (ORDER BY -i) x'})" for name in ["nth_value"]}
cases |= {"ntile": f"(SELECT max(x) FROM {ROWS % 'ntile(1000) OVER (ORDER BY -i) x'})"}
cases |= {name: f"length({name}({J}{PATHS}))" for name in "json_extract json_remove jsonb_extract jsonb_remove".split()}
cases |= {name: f"length({name}({J}" + ", '$[#]', 1" * 15 + "))"
          for name in "json_insert json_set json_replace jsonb_insert jsonb_set jsonb_replace".split()}
cases |= {name: f"length({name}({H}, {H}))" for name in "json_array json_object jsonb_array jsonb_object".split()}
cases |= {name: f"length({name}({H}, '1', '2', '3'))" for name in "concat concat_ws".split()}
cases |= {name: f"{name}()" for name in "current_date current_time current_timestamp pi random sqlite_version".split()}
cases |= {
    "printf": "length(printf('%.*c', 2000000000, 'x'))",
    "printf: width": "length(printf('%2000000000d', 1))",
    "printf: negative width": "length(printf('%*d', -2147483648, 1))",
    "printf: digits": "length(printf('%.100000f', 1e308))",
    "printf: characters": "length(printf(replace(substr(" + H + ", 1, 2500000), 'a', '%c'), 'x'))",
    "printf: many": f"length(printf(replace({H}, 'a', '%d'), 1))",
    "printf: large numbers": "length(printf(replace(substr(" + H + ", 1, 2500000), 'a', '%.0f'), 1e300))",
    "format": "length(format('%.*c', 2000000000, 'x'))",
    "instr: half": f"instr({A}, {H} || 'b')",
    "replace": f"length(replace({A}, {H} || 'b', ''))",
    "replace: grows": f"length(replace({A}, 'a', 'aaaaaaaa'))",
    "trim: set": f"length(trim({H}, replace(substr({H}, 1, 3500000), 'a', 'b') || 'a'))",
    "ltrim: set": f"length(ltrim({H}, replace(substr({H}, 1, 3500000), 'a', 'b') || 'a'))",
    "rtrim: set": f"length(rtrim({H}, replace(substr({H}, 1, 3500000), 'a', 'b') || 'a'))",
    "unhex: set": f"length(unhex({A}, replace({H}, 'a', '-') || '_'))",
    "like": f"{A} LIKE '%' || substr({H}, 1, 49990) || 'b%'",
    "like: many": f"{A} LIKE replace(substr({H}, 1, 24000), 'a', '%a') || 'b'",
    "like: escape": f"{A} LIKE '%a%' ESCAPE 'a'",
    "glob": f"{A} GLOB '*' || substr({H}, 1, 49990) || 'b*'",
    "glob: set": f"{A} GLOB '*[' || substr({H}, 1, 49990) || ']b*'",
    "regexp": f"{H} REGEXP 'a.*b'",
    "regexp: nested": f"({H} || '!') REGEXP '(a+)+b'",
    "regexp: bounded": f"({H} || '!') REGEXP '(a{{1,9}}){{1,5}}b'",
    "regexp: pattern": f"'x' REGEXP {H}",
    "regexp: depth": f"'x' REGEXP replace(substr({H}, 1, 2000000), 'a', '(a|')",
    "regexp: repeats": "'x' REGEXP '(?:(?:(?:a{1,1000}){1,60}){1,10})'",
    "strftime": f"length(strftime(replace({H}, 'a', '%s'), 'now'))",
    "strftime: days": f"length(strftime(replace({H}, 'a', '%J'), 'now'))",
    "strftime: modifiers": "strftime('%s', 'now'" + ", '+1 month'" * 29 + ")",
    "substr": f"substr({A}, -1, 1)",
    "substring": f"substring({A}, -1, 1)",
    "coalesce": f"length(coalesce(NULL, {A}))",
    "if": f"length(if(1, {A}, 2))",
    "iif": f"length(iif(1, {A}, 2))",
    "->": f"length({J} -> '$[#-1]')",
    "->>": f"length({J} ->> '$[#-1]')",
    "->: path": f"'[1]' -> ('$' || replace(substr({H}, 1, 2500000), 'a', '[0]'))",
    "json: depth": f"json_valid(replace({A}, 'a', '['))",
    "json_quote: escapes": "length(json_quote(CAST(zeroblob(1250000) AS TEXT)))",
    "randomblob: large": "length(randomblob(8000000)) + length(randomblob(9000000000))",
    "zeroblob: large": "length(zeroblob(9000000000))",
    "char: many": "length(char(" + "1114111, " * 30 + "1))",
    "operator ||": f"length({H} || {H})",
    "operator =": f"{A} = {A}",
    "operator = nocase": f"{A} = upper({A}) COLLATE nocase",
    "operator in": f"{A} IN ({A}, 'b')",
    "operator +": f"replace({A}, 'a', '9') + 1",
    "operator cast": f"CAST(replace({A}, 'a', '9') AS REAL) + CAST(replace({A}, 'a', '9') AS INTEGER)",
    "order by": f"(SELECT max(i) FROM (SELECT i FROM {ROWS % 'i'} ORDER BY random() LIMIT 1 OFFSET 2900000))",
    "distinct": f"(SELECT count(DISTINCT i % 1000003) FROM {ROWS % 'i'})",
}
# Calls that kept plain SQLite busy for ten seconds and more.
quick = ["printf", "format", "instr: half", "replace", "rtrim: set", "like", "glob: set", "regexp: bounded"]


def allowed():
    source = open(os.path.join(os.environ["HDB_ROOT"], "tools/sqlite/heapsql.c")).read()
    text = re.search(r"char functions\[\] =(.*?);", source, re.S).group(1)
    return set("".join(re.findall(r'"(.*?)"', text)).split())


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(database, expression):
    """Seconds of processor time after it was cancelled, or 0, and what it said."""
    p = subprocess.Popen(["heapdb", "sql", database, "SELECT " + expression + " AS x", "--csv"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    end = time.time() + 120
    used = 0.0
    try:
        out = p.communicate(timeout=0.7)[0]
    except subprocess.TimeoutExpired:
        used = cpu_seconds(p.pid)
        p.terminate()
        try:
            out = p.communicate(timeout=max(1, end - time.time()))[0]
        except subprocess.TimeoutExpired:
            p.kill()
            return 120, b"does not end"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return max(0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - used), out
    return 0, out


def small_cases():
    """Calls of what has bounds of its own, for SQLite as it is to answer the same."""
    dice = random.Random(1)
    texts = ["", "a", "aab", "äaä", "xäöx", "%", "_a%", "a*b?", "[a-c]*", "ABC", "  b ", "日本", "NULL", "0", "12x"]

    def value():
        kind = dice.randrange(10)
        return ("NULL" if kind == 0 else str(dice.choice([0, -1, 7, 2**31, -2**63, 255])) if kind == 1 else
                str(dice.choice([0.5, -1e300, 3.25, 1e-7])) if kind == 2 else
                f"x'{dice.choice(texts).encode().hex()}'" if kind == 3 else
                "'" + "".join(dice.choice(texts) for _ in range(dice.randrange(4))) + "'")

    for _ in range(300):
        yield f"instr({value()}, {value()})"
        yield f"replace({value()}, {value()}, {value()})"
        yield f"length({value()})"
        place = [dice.choice(["0", "1", "2", "-1", "-3", "7", "'2x'", "NULL", "2000000000"]) for _ in range(4)]
        yield f"substr({value()}, {place[0]})"
        yield f"{dice.choice(['substr', 'substring'])}({value()}, {place[1]}, {place[2]})"
        yield f"substr(CAST({value()} AS TEXT), {place[3]}, -1)"
        for name in ("trim", "ltrim", "rtrim"):
            yield f"{name}({value()}, {value()})"
            yield f"{name}({value()})"
        yield f"{value()} LIKE {value()}"
        yield f"{value()} LIKE {value()} ESCAPE '{dice.choice('ab*')}'"
        yield f"{value()} GLOB {value()}"
        spec = "".join(dice.choice("abä%") if dice.random() < .2 else
                       "%" + "".join(dice.choice("-+ 0#!,") for _ in range(dice.randrange(3))) +
                       dice.choice(["", "5", "12", "*"]) + dice.choice(["", "", ".0", ".3", ".*", ".12", "."]) +
                       dice.choice(["", "l", "ll"]) + dice.choice("dixXoufeEgGsszqQwcpn%y")
                       for _ in range(dice.randrange(1, 4)))
        # A width may be no larger than it is worth.
        small = ["-7", "0", "3", "'12x'", "2.5", "NULL"]
        yield f"printf('{spec}'{''.join(', ' + (dice.choice(small) if '*' in spec else value()) for _ in range(dice.randrange(5)))})"


def as_plain(call):
    """The call for Python's SQLite. Before 3.45, replace() with nothing to look for returned numbers and
    blobs as they were; ours returns a text whatever the version."""
    return f"CAST({call} AS TEXT)" if call.startswith("replace(") else call


def compare_small(database):
    """Whether Python's SQLite gives the same."""
    plain = sqlite3.connect(":memory:")
    plain.text_factory = bytes
    calls, failed = list(small_cases()), 0
    for at in range(0, len(calls), 400):
        part = calls[at:at + 400]
        select, wanted = (" UNION ALL ".join(
            f"SELECT {i} AS i, hex(CAST({c} AS BLOB)) || typeof({c}) AS v" for i, c in enumerate(calls))
            for calls in (part, [as_plain(c) for c in part]))
        want = dict(plain.execute(wanted))
        out = subprocess.run(["heapdb", "sql", database, select, "--json", "--limit", "1000"], capture_output=True)
        assert out.returncode == 0, (out.returncode, out.stdout[-300:])
        rows = json.loads(out.stdout)["rows"]
        assert len(rows) == len(part), (len(rows), len(part), out.stdout[:400])
        for row in rows:
            if row["v"].encode() != want[row["i"]]:
                print("FAILED:", part[row["i"]], row["v"], "instead of", want[row["i"]])
                failed = 1
    return failed


def main():
    database, form = sys.argv[1:]
    missing = allowed() - {name.split(":")[0].split()[0] for name in cases}
    assert not missing, f"no case for {sorted(missing)}"
    failed = compare_small(database)
    worst = (0, "")
    for name, expression in cases.items():
        if form == "quick" and name not in quick:
            continue
        seconds, out = run(database, expression)
        worst = max(worst, (seconds, name))
        text = out.decode(errors="replace")[:100].strip().replace("\n", " ")
        if seconds > SECONDS_MAX or "not authorized" in text:
            print(f"FAILED: {name}: {seconds:.2f} s after it was cancelled: {text}")
            failed = 1
        elif form == "all":
            print(f"{name:24} {seconds:5.2f} s  {text[:60]}")
    print(f"{form}: the slowest was {worst[1] or 'none'}: {worst[0]:.2f} s")
    return failed


sys.exit(main())
