#!/usr/bin/env python3
"""Finds calls under TRY_ERRORS that never return HDB_END, HDB_NOTFOUND or another positive code.

    try.py [ROOT]          lists them: TRY says the same there
    try.py --fix [ROOT]    writes TRY

TRY_ERRORS means that the callee may have nothing (more) to give and the caller goes on without it. Where
the callee cannot say so, TRY is right, and TRY_ERRORS tells the reader something wrong.

What a function returns is read from its text: constants, results of functions that are known, variables
that only such are assigned to. Whatever is not understood (function pointers, other libraries, sums)
counts as positive, so a call that is listed is one for which it is certain.
"""
import collections
import pathlib
import re
import sys

# These return an error code that they are given or compose, although not as a constant.
FAILURES = {"hdb_fail_errno", "hdb_fail_open", "hdb_fail_memory", "oql_fail_at", "oql_refuse", "oql_too_deep",
            "BASE_ALLOC", "HEAP_ALLOC", "OQL_TAKE", "store_fail", "store_damaged", "heap_damaged", "walk_failed",
            "hprof_view_failed", "body_failed", "base_source_failed", "base_view_fill"}
# These return an argument, the one at this position, or an error.
PASSES = {"api_end": 1}
DEFINITION = re.compile(r"^((?:static |inline |const |HDB_PRINTF\([^)]*\) )*)([A-Za-z_][\w ]*?[ *]+)(\w+)"
                        r"\(([^;{}]*?)\)\n\{", re.M | re.S)
NEGATIVE = re.compile(r"HDB_(?!END\b|NOTFOUND\b)[A-Z]\w*|0|-\d+|SQLITE_OK")


class Function:
    """The text of a function, or of several that conditional compilation gives one name."""

    def __init__(self, static, is_int, parameters, body, at):
        self.static, self.is_int, self.parameters, self.body, self.at = static, is_int, parameters, body, at
        self.calls = set()  # functions whose results it returns
        self.positive = False


def blanked(text):
    """The text with comments and the contents of strings made blank; places stay the same."""
    def blank(match):
        if match[0][0] in "\"'":
            return match[0][0] + "_" * (len(match[0]) - 2) + match[0][0]
        return re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", blank, text, flags=re.S)


def close_of(text, at):
    """The place of the bracket that closes the one at `at`; -1: there is none."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    return -1


def part(text, at, ends):
    """The text from `at` to the first of these characters that is in no bracket."""
    i = at
    while i < len(text) and text[i] not in ends and text[i] not in ")]}":
        i = close_of(text, i) + 1 if text[i] in "([{" else i + 1
    return text[at:i]


def calls_of(body, macro):
    """Places and arguments of a macro."""
    for match in re.finditer(rf"\b{macro}\(", body):
        yield match.start(), body[match.end():close_of(body, match.end() - 1)]


def is_guarded(body, at, name):
    """Whether "return name" is under "if (name < 0)" or "if ((name = ...) < 0)" and nothing else."""
    if not re.fullmatch(r"\w+", name):
        return False
    head = body[:at].rstrip()
    if not head.endswith(")"):  # out of the block, if nothing in it writes the variable
        depth, start = 0, len(head)
        while start > 0 and depth >= 0:
            start -= 1
            depth += (head[start] == "}") - (head[start] == "{")
        if re.search(rf"\b{name} = |&{name}\b", head[start:]):
            return False
        head = head[:start].rstrip()
    at = len(head) - 1
    while at > 0 and close_of(head, at) != len(head) - 1:
        at = head.rfind("(", 0, at)
    parts = head[at + 1:-1].split(" || ") if head[:max(at, 0)].endswith("if ") else [""]
    return all(re.fullmatch(rf"(?:{name}|\({name} = [^|]*\)) < 0(?: && .*)?", part, re.S) for part in parts)


class Tree:
    def __init__(self, root):
        self.functions = {}
        self.named = collections.defaultdict(list)
        for path in sorted(p for top in ("src", "tools") for p in (root / top).rglob("*.[ch]")):
            self.read(path, blanked(path.read_text(errors="replace")))
        for (path, _), function in self.functions.items():
            if function.is_int:
                self.look(path, function)
        self.spread()

    def read(self, path, text):
        for match in DEFINITION.finditer(text):
            start = match.end() - 1
            body = text[start:close_of(text, start) + 1]
            words = (match[1] + match[2]).split()
            is_int = "int" in words and "unsigned" not in words and "*" not in match[2]
            key = path, match[3]
            if key in self.functions:
                self.functions[key].body += body
                self.functions[key].is_int &= is_int
                continue
            self.functions[key] = Function("static" in words, is_int, match[4], body, start)
            self.named[match[3]].append(key)

    def resolve(self, path, name):
        if (path, name) in self.functions:
            return {(path, name)}
        return {key for key in self.named[name]
                if not self.functions[key].static or key[0].suffix == ".h"}

    def classify(self, path, function, text, seen=()):
        """The functions on which it depends that an expression is not positive; None: it may be."""
        text = text.strip()
        while text.startswith("(") and close_of(text, 0) == len(text) - 1:
            text = text[1:-1].strip()
        condition = part(text, 0, "?")
        if condition != text:
            first = part(text, len(condition) + 1, ":").strip()
            sides = [text[len(part(text, 0, "?")) + 1 + len(part(text, len(condition) + 1, ":")) + 1:]]
            if condition.strip() == f"{sides[0].strip()} > 0":
                sides = [first]
            elif condition.strip() != f"{first} < 0":
                sides.append(first)
            found = [self.classify(path, function, side, seen) for side in sides]
            return None if None in found else set().union(*found)
        if NEGATIVE.fullmatch(text):
            return set()
        match = re.match(r"(\w+)\(", text)
        if match and close_of(text, match.end() - 1) == len(text) - 1:
            if match[1] == "hdb_fail":
                code = part(text, len(part(text, match.end(), ",")) + match.end() + 1, ",")
                return self.classify(path, function, code, seen)
            keys = self.resolve(path, match[1])
            if match[1] in FAILURES:
                return set()
            if match[1] in PASSES:
                at = match.end()
                for _ in range(PASSES[match[1]]):
                    at += len(part(text, at, ",")) + 1
                return self.classify(path, function, part(text, at, ","), seen)
            return keys if keys and all(self.functions[key].is_int for key in keys) else None
        match = re.match(r"[\w.>-]+ = (?!=)", text)
        if match:
            return self.classify(path, function, text[match.end():], seen)
        return self.variable(path, function, text, seen) if re.fullmatch(r"\w+", text) else None

    def variable(self, path, function, name, seen):
        """The same of a local variable: of all that is assigned to it."""
        body = function.body
        if name in seen:
            return set()
        if re.search(rf"\b{name}\b", function.parameters) or re.search(rf"&{name}\b", body) or \
                not re.search(rf"\bint [^;]*\b{name}\b", body) or \
                re.search(rf"\b{name}\s*(?:\+|-|\||&|\^|<<|>>)=|\b{name}(?:\+\+|--)|(?:\+\+|--){name}\b", body):
            return None
        out = set()
        for match in re.finditer(rf"\b{name} = (?!=)", body):
            found = self.classify(path, function, part(body, match.end(), ";,"), seen + (name,))
            if found is None:
                return None
            out |= found
        return out

    def look(self, path, function):
        results = [match[1] for match in re.finditer(r"\breturn\b([^;]*);", function.body)
                   if not is_guarded(function.body, match.start(), match[1].strip())]
        results += [argument for _, argument in calls_of(function.body, "TRY")]
        found = [self.classify(path, function, text) for text in results]
        function.positive = None in found or "BASE_ASCENDING" in function.body or "BASE_DESCENDING" in function.body
        function.calls = set() if function.positive else set().union(*found)

    def spread(self):
        changed = True
        while changed:
            changed = False
            for function in self.functions.values():
                if not function.positive and any(self.functions[key].positive for key in function.calls):
                    function.positive = changed = True

    def needless(self):
        """File, and place in it, of each TRY_ERRORS whose argument is never positive."""
        for (path, _), function in self.functions.items():
            for at, argument in calls_of(function.body, "TRY_ERRORS"):
                found = self.classify(path, function, argument)
                if found is not None and not any(self.functions[key].positive for key in found):
                    yield path, function.at + at


def main():
    words = sys.argv[1:]
    is_fix = words[:1] == ["--fix"]
    root = pathlib.Path(words[is_fix] if len(words) > is_fix else ".")
    places = collections.defaultdict(list)
    for path, at in Tree(root).needless():
        places[path].append(at)
    for path, ats in places.items():
        text = path.read_text()
        for at in sorted(ats, reverse=True):
            line = text.count("\n", 0, at) + 1
            print(f"{path}:{line}: never positive: TRY, not TRY_ERRORS")
            text = text[:at] + text[at:].replace("TRY_ERRORS", "TRY", 1)
        if is_fix:
            path.write_text(text)
    return 0 if is_fix or not places else 1


if __name__ == "__main__":
    sys.exit(main())
