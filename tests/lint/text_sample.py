#!/usr/bin/env python3
"""Draws texts that users read, for a reader who judges their English.

    tests/lint/text_sample.py SEED [HEAPDB]

Prints 60 help texts of options, columns and facts, 30 messages from the sources, 20 paragraphs of the manual pages
and 60 comments, each with its place. The same seed draws the same texts. Run it from the root of
the project.
"""
import glob
import random
import re
import subprocess
import sys

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
GAP = r'(?:[ \t]*\\?\n?[ \t]*(?:PRI[a-zA-Z0-9]+[ \t\n]*)?'
# Calls whose text is shown: errors, notices and what is left out of an answer.
CALL = re.compile(r'(?:_fail(?:_errno)?|_usage|_notice|_cut|complain|refuse|problem)\([^;"]*?'
                  '(' + LITERAL + GAP + LITERAL + ')*)', re.S)


def helps(heapdb):
    """The help of everything that `heapdb help --names` lists, with what it describes."""
    found = {}
    lines = subprocess.run([heapdb, "help", "--names"], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        parts = line.split("\t")
        if len(parts) > 4 and " " in parts[4]:
            found.setdefault(parts[4], f"{parts[0]} {parts[2]} of {parts[1]}")
    return found


def sources(*endings):
    for path in sorted(path for top in ("include", "src", "tools") for path in glob.glob(top + "/**/*", recursive=True)):
        if path.endswith(endings) and "node_modules" not in path:
            with open(path, encoding="utf-8") as file:
                yield path, file.read()


def place(path, text, at):
    return f"{path}:{text.count(chr(10), 0, at) + 1}"


def messages():
    """The texts of messages of three words or more."""
    found = {}
    for path, text in sources(".c"):
        for match in CALL.finditer(text):
            said = "".join(part[1:-1] for part in re.findall(LITERAL, match.group(1))).replace('\\"', '"')
            if len(said.split()) > 2:
                found.setdefault(re.sub(r"%(?=$|[^\w.*%])", "%u", said), place(path, text, match.start(1)))
    return found


def words_of(line, name):
    """The text of a line of mdoc."""
    if not line.startswith("."):
        return line
    text, joins, quotes = "", False, ""
    line = line.replace("\\&", "").replace("\\(dq", "'").replace("\\(aq", "'")
    for word in re.findall(r'"[^"]*"|\S+', line[1:]):
        if word == "Fl":
            text, joins = text + ("" if joins else " ") + "-", True
        elif word == "Nm" and line.strip() == ".Nm":
            text += " " + name
        elif word in ("Ns", "Pf"):
            joins = word == "Ns"
        elif word in ("Dq", "Qq", "Pq"):
            text, joins, quotes = text + (" (" if word == "Pq" else ' "'), True, ")" if word == "Pq" else '"'
        elif word in ("Po", "Pc"):
            text, joins = text + (" (" if word == "Po" else ")"), word == "Po"
        elif not re.fullmatch(r"[A-Z][a-z]", word):
            text += ("" if joins or word in ".,:;)" else " ") + word.strip('"')
            joins = word == "("
    text = re.sub(r"(\S+) (\d)(?=[ .,:;)]*$)", r"\1(\2)", text) if line.startswith(".Xr") else text
    end = text[len(text.rstrip(" .,:;")):] if quotes else ""
    return text[:len(text) - len(end)].strip() + quotes + end.strip()


def paragraphs():
    """The paragraphs of text in the manual pages."""
    found = {}
    for path, source in sources(".1", ".3"):
        name = re.search(r"^\.Nm (.*)", source, re.M).group(1)
        for part in re.split(r"\n\.(?:Pp|Sh|Ss|It|Bl|El|Bd|Ed|Dl|Sy)\b[^\n]*", source):
            text = " ".join(words_of(line, name) for line in part.split("\n"))
            text = re.sub(r" ([.,:;)])(?= |$)", r"\1", " ".join(text.split()))
            # Not the head of a page, lists of names, and examples.
            if len(text.split()) > 15 and text[0].isalnum() and text.endswith(".") and not text.startswith("Also "):
                found.setdefault(text, place(path, source, source.index(part)))
    return found


def comments():
    """The comments of six words or more in the C sources and headers."""
    found = {}
    for path, text in sources(".c", ".h"):
        for match in re.finditer(r"/\*(.*?)\*/", text, re.S):
            said = re.sub(r"(?:\s*\n[ \t]*\*?)+\s*", " ", match.group(1)).strip()
            if len(said.split()) > 5 and not said.startswith("----"):
                found.setdefault(said, place(path, text, match.start()))
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: text_sample.py SEED [HEAPDB]")
    draw = random.Random(int(sys.argv[1]))
    heapdb = sys.argv[2] if len(sys.argv) > 2 else "build/heapdb"
    for title, texts, count in (("help", helps(heapdb), 60), ("message", messages(), 30), ("manual", paragraphs(), 20),
                                ("comment", comments(), 60)):
        for number, text in enumerate(draw.sample(sorted(texts), count), 1):
            print(f"{title} {number} ({texts[text]}): {text}")


if __name__ == "__main__":
    main()
