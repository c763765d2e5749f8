# tests/lint/messages.py - counts the error messages of src and tools that occur in a test.
#
#     python3 tests/lint/messages.py [--missing ROOM]
#
# A message is the text given to one of the functions in CALLS. It occurs in a test if its longest
# piece between conversions does, or the first 24 characters of that piece. Exits with 1 if a room in
# LEAST has fewer messages in tests than it must have, or if all rooms together do.
import collections
import os
import re
import sys

CALLS = r"\b(?:hdb_fail|cli_usage|oql_fail_\w*|heap_damaged|store_damaged|damaged)\((.*?)\);"
CONVERSION = r"%[-+#0]*[.*\d]*(?:hh|h|ll|l|z|j)?[diuxXcsgfp]?|\\\"|\\n|\\t"
SHORTEST_PIECE = 8  # shorter ones occur by chance
FIRST_CHARACTERS = 24  # a test may name the beginning of a long message alone

# Rooms in which every message is in a test, and the least number for all rooms.
COMPLETE = ("src/derive", "src/heap", "src/hprof", "src/store")
LEAST = 500


def texts_of_tests():
    texts = []
    for folder, _, files in os.walk("tests"):
        for name in files:
            if name.endswith((".c", ".h", ".sh", ".py", ".stdout", ".stderr", ".txt")) and name != "messages.py":
                with open(os.path.join(folder, name), errors="replace") as f:
                    text = f.read()
                if name.endswith((".c", ".h", ".py")):
                    text = re.sub(r"\"\s*\n\s*\"", "", text)
                texts.append(text.replace('\\"', '"'))
    return "\n".join(texts)


def text_of(arguments):
    """The texts of a call; %d between those that the compiler does not join."""
    text, end = "", None
    for literal in re.finditer(r'"((?:\\.|[^"\\])*)"', arguments):
        if end is not None and arguments[end : literal.start()].strip():
            text += "%d"
        text += literal.group(1)
        end = literal.end()
    return text


def pieces():
    """Yields room, file, line and longest piece of each message."""
    for top in ("src", "tools"):
        for folder, folders, files in os.walk(top):
            folders.sort()
            for name in sorted(files):
                if not name.endswith(".c"):
                    continue
                path = os.path.join(folder, name)
                with open(path) as f:
                    text = f.read()
                for call in re.finditer(CALLS, text, re.S):
                    piece = max(re.split(CONVERSION, text_of(call.group(1))), key=len).strip(" :;,.")
                    if len(piece) >= SHORTEST_PIECE:
                        room = "/".join(path.split("/")[:2])
                        yield room, path, text.count("\n", 0, call.start()) + 1, piece


def main():
    tests = texts_of_tests()
    count, found = collections.Counter(), collections.Counter()
    shown = sys.argv[2] if sys.argv[1:2] == ["--missing"] else None
    for room, path, line, piece in pieces():
        count[room] += 1
        if piece in tests or piece[:FIRST_CHARACTERS] in tests:
            found[room] += 1
        elif shown is not None and room.startswith(shown):
            print(f"{path}:{line}: {piece}")
    if shown is not None:
        return 0
    bad = False
    for room in sorted(count):
        print(f"{room:20} {found[room]:4} of {count[room]:4}")
        if room in COMPLETE and found[room] < count[room]:
            print(f"  a message of {room} is in no test: tests/lint/messages.py --missing {room}")
            bad = True
    print(f"{'all':20} {found.total():4} of {count.total():4}, at least {LEAST}")
    return 1 if bad or found.total() < LEAST else 0


sys.exit(main())
