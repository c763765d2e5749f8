#!/usr/bin/env python3
"""Draws texts that users read, for a reader who judges their English.

    tests/lint/text_sample.py SEED [HEAPDB]

Prints 60 help texts of options, columns and facts, 30 messages from the sources, and 20 paragraphs of the manual
pages. The same seed draws the same texts. Run it from the root of the project.
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
    """The help of everything that `heapdb help --names` lists."""
    lines = subprocess.run([heapdb, "help", "--names"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split("\t")[4] for line in lines if line.count("\t") >= 4 and " " in line.split("\t")[4]}


def messages():
    """The texts of messages of three words or more."""
    found = set()
    for path in glob.glob("src/**/*.c", recursive=True) + glob.glob("tools/**/*.c", recursive=True):
        with open(path, encoding="utf-8") as file:
            for match in CALL.finditer(file.read()):
                text = "".join(part[1:-1] for part in re.findall(LITERAL, match.group(1))).replace('\\"', '"')
                if len(text.split()) > 2:
                    found.add(re.sub(r"%(?=\W|$)", "%u", text))
    return found


def paragraphs():
    """The paragraphs of text in the manual pages."""
    found = set()
    for path in glob.glob("tools/heapdb/*.[13]"):
        with open(path, encoding="utf-8") as file:
            for part in re.split(r"\n\.(?:Pp|Sh|Ss|It|Bl|El|Bd|Ed|Dl|Sy|Fn|Fa|Ft)\b[^\n]*", file.read()):
                text = re.sub(r"\n\.(?:Fl Fl|Fl|Cm|Ar|Pa|Va|Ev|Ql|Nm|Xr|Sx|Li|Dq|Qq|Pq|Po|Em|Ns) ?", " ", part)
                text = " ".join(text.split())
                # Not the head of a page, lists of names, and examples.
                if len(text.split()) > 15 and text[0].isupper() and text.endswith(".") and "Described above" not in text:
                    found.add(text)
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: text_sample.py SEED [HEAPDB]")
    draw = random.Random(int(sys.argv[1]))
    heapdb = sys.argv[2] if len(sys.argv) > 2 else "build/heapdb"
    for title, texts, count in (("help", helps(heapdb), 60), ("message", messages(), 30), ("manual", paragraphs(), 20)):
        for number, text in enumerate(draw.sample(sorted(texts), count), 1):
            print(f"{title} {number}: {text}")


if __name__ == "__main__":
    main()
