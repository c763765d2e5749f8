"""Creates the dumps of a fleet: fleet.py OUT [PROGRAMS [BUILDS]]. Needs a JDK.

Writes one dump of 4 MB per build, OUT/APP/BUILD/DAY/heap.hprof, for PROGRAMS services (default 20) with BUILDS daily
builds each (default 10). OUT/planted.json describes their problems:

  begins    orders: a map of sessions grows from build 6 on; its classes, methods and fields are renamed in build 8
  mapped    mobile: obfuscated; a leak whose names differ in each build (mapping: OUT/mapping/mobile/BUILD.txt)
  gone      basket: a leak that ends with build 4
  steady    catalog: a cache of the same size in every build
  waste     search: duplicate strings; mail: empty lists with a large capacity
  outlier   ledger: many more objects in one build than in all others
  damaged   two dumps: one is truncated to half its size, the other begins with zeros
  duplicate one dump that occurs in two builds
"""
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["orders", "mobile", "basket", "catalog", "search", "mail", "ledger", "billing", "stock",
         "users", "auth", "routes", "prices", "quotes", "audit", "reports", "images", "ratings",
         "tax", "gateway"]
FIRST_DAY = datetime.date(2026, 3, 2)

# Template of all programs, with the names of a build.
MAIN = """package com.acme.{app};
import java.util.*;
public final class Main {{
    static final List<Item> ITEMS = new ArrayList<>();
    static final Map<String, Item> BY_NAME = new HashMap<>();
    public static void start(int build) {{
        for (int i = 0; i < {items} + {more}; i++) {{
            Item item = new Item(i, "{app} " + i);
            ITEMS.add(item);
            BY_NAME.put(item.name, item);
        }}
        {plant}
    }}
}}
final class Item {{
    final long id; final String name; double price;
    Item(long id, String name) {{ this.id = id; this.name = name; }}
}}
"""

LEAK = """package com.acme.{app};
import java.util.*;
import java.util.concurrent.*;
final class {cache} {{
    static final Map<String, {entry}> {map} = new ConcurrentHashMap<>();
    static int {count};
    final Object {lock} = new Object();
    static void {grow}(int n) {{
        for (int i = 0; i < n; i++) {map}.put("session " + i, new {entry}(i));
        {count} = n;
    }}
}}
final class {entry} {{
    final byte[] {state}; final long {time}; {entry} {next};
    {entry}(long i) {{ {time} = i; {state} = new byte[120]; {state}[0] = (byte) i; }}
}}
"""

KEYS = ("cache", "entry", "map", "count", "lock", "grow", "state", "time", "next")
OLD = dict(zip(KEYS, ("SessionCache", "Session", "SESSIONS", "size", "lock", "fill", "state", "time",
                      "next")))
NEW = dict(zip(KEYS, ("LiveStore", "Visit", "ALIVE", "visits", "monitor", "load", "payload",
                      "started", "following")))


def obfuscated(build):
    """Returns obfuscated names like R8's, which differ in each build."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {key: letters[(build * 3 + i) % 26] + letters[build % 26]
            for i, key in enumerate(KEYS)}


def names_of(app, build):
    """Returns the names of the leak's classes and fields in a build, or None if the build has no leak."""
    if app == "orders":
        return None if build < 6 else OLD if build < 8 else NEW
    if app == "mobile":
        return obfuscated(build)
    if app in ("basket", "catalog"):
        return OLD if app == "catalog" or build <= 4 else None
    return None


# Number of sessions that a leak retains.
LEAKS = {"orders": "2500 * (build - 4)", "mobile": "4000", "basket": "5000", "catalog": "4000"}


def planted(app, build):
    names = names_of(app, build)
    if names:
        return f"{names['cache']}.{names['grow']}({LEAKS[app]});"
    if app == "search":
        return ('List<String> words = new ArrayList<>(); for (int i = 0; i < 4000; i++) '
                'words.add(new String("the same words of a query, once more")); '
                'Waste.kept = words;')
    if app == "mail":
        return ('List<Object> lists = new ArrayList<>(); for (int i = 0; i < 2000; i++) '
                'lists.add(new ArrayList<String>(40)); Waste.kept = lists;')
    return ""


def write_sources(folder, app, build):
    """Writes the sources of a build and returns their paths."""
    more = "(build == 7 ? 20000 : 0)" if app == "ledger" else "20 * build"
    files = {"Main": MAIN.format(app=app, items=600 + 40 * NAMES.index(app), more=more,
                                 plant=planted(app, build)),
             "Waste": f"package com.acme.{app};\nfinal class Waste {{ static Object kept; }}\n"}
    names = names_of(app, build)
    if names:
        files["Leak"] = LEAK.format(app=app, **names)
    os.makedirs(folder)
    for name, text in files.items():
        with open(os.path.join(folder, name + ".java"), "w", encoding="utf-8") as out:
            out.write(text)
    return [os.path.join(folder, name + ".java") for name in files]


def write_mapping(out, build):
    """Writes a mapping file like R8's, with original and obfuscated names."""
    new = obfuscated(build)
    folder = os.path.join(out, "mapping", "mobile")
    os.makedirs(folder, exist_ok=True)
    fields = {"cache": (("java.util.Map", "map"), ("int", "count"), ("java.lang.Object", "lock")),
              "entry": (("byte[]", "state"), ("long", "time"), ("com.acme.mobile.Session", "next"))}
    with open(os.path.join(folder, f"2.{build}.txt"), "w", encoding="utf-8") as text:
        text.write("# compiler: R8\n")
        for kind, of in fields.items():
            text.write(f"com.acme.mobile.{OLD[kind]} -> com.acme.mobile.{new[kind]}:\n")
            for java, key in of:
                text.write(f"    {java} {OLD[key]} -> {new[key]}\n")
            if kind == "cache":
                text.write(f"    1:3:void {OLD['grow']}(int):7:9 -> {new['grow']}\n")


def damage(out, files):
    """Truncates one dump to half its size, damages the beginning of another, and duplicates a third."""
    apps = ("users", "stock", "billing") if ("billing", 8) in files else ("basket",) * 3
    cut, spoilt = files[(apps[0], 6)], files[(apps[1], 7)]
    os.truncate(cut, os.path.getsize(cut) // 2)
    with open(spoilt, "r+b") as f:
        f.write(bytes(4096))
    first, last = files[(apps[2], 5)], files[(apps[2], 8)]
    shutil.copyfile(first, last)
    return {"damaged": [os.path.relpath(f, out) for f in (cut, spoilt)],
            "duplicate": os.path.relpath(last, out), "duplicate_of": os.path.relpath(first, out)}


def run(java, tool, mode, lines):
    """Runs the Java program that compiles or dumps the builds listed in the lines."""
    listing = os.path.join(tool, mode)
    with open(listing, "w", encoding="utf-8") as f:
        f.writelines("\t".join(map(str, line)) + "\n" for line in lines)
    subprocess.run([java + "java", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData", "-cp", tool,
                    "FleetDump", mode, listing], check=True, stdout=subprocess.DEVNULL)


def main(out, programs=20, builds=10):
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "") if "JAVA_HOME" in os.environ else ""
    out, sources, dumps, files = os.path.abspath(out), {}, [], {}
    with tempfile.TemporaryDirectory() as work:
        for app in NAMES[:programs]:
            for build in range(1, builds + 1):
                # Builds with the same names are compiled once.
                variant = (app, str(names_of(app, build)))
                folder = os.path.join(work, app, str(build))
                if variant not in sources:
                    sources[variant] = [folder + ".classes"] + write_sources(folder, app, build)
                day = FIRST_DAY + datetime.timedelta(days=build - 1)
                file = os.path.join(out, app, f"2.{build}", str(day), "heap.hprof")
                os.makedirs(os.path.dirname(file))
                files[(app, build)] = file
                dumps.append((sources[variant][0], f"com.acme.{app}.Main", build, file))
                if app == "mobile":
                    write_mapping(out, build)
        tool = os.path.join(work, "tool")
        subprocess.run([java + "javac", "-J-XX:TieredStopAtLevel=1", "-d", tool, os.path.join(HERE, "Dump.java"),
                        os.path.join(HERE, "FleetDump.java")], check=True)
        run(java, tool, "compile", sources.values())
        run(java, tool, "dump", dumps)
    truth = damage(out, files) if programs > 2 and builds > 7 else {}
    with open(os.path.join(out, "planted.json"), "w", encoding="utf-8") as f:
        json.dump({"dumps": len(files), **truth}, f, indent=1)
    print(f"{len(files)} dumps in {out}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
