"""Mapping files of ProGuard and R8: the names of classes and fields before obfuscation."""
import hashlib
import re

_CLASS = re.compile(r"(\S+) -> (\S+):$")
_FIELD = re.compile(r"\s+(\S+) (\S+) -> (\S+)$")
STEP, FIELD = " > ", "#"


class Mapping:
    """Maps the names of a build to the original names."""

    def __init__(self, lines):
        self.classes, self.fields = {}, {}
        fields = None
        for line in lines:
            found = _CLASS.match(line)
            if found:
                self.classes[found[2]] = found[1]
                fields = self.fields.setdefault(found[2], {})
                continue
            found = _FIELD.match(line)
            # Methods have brackets: "void fill(int) -> a".
            if found and fields is not None and "(" not in found[2]:
                fields[found[3]] = found[2]

    def class_name(self, name):
        """Maps "a.b[]" to "com.acme.Cache[]", and the "a.b" in "class a.b" of a class object. Other names stay
        unchanged."""
        if not name:
            return name
        prefix = "class " if name.startswith("class ") else ""
        name = name[len(prefix):]
        base = name.split("[", 1)[0]
        return prefix + self.classes.get(base, base) + name[len(base):]

    def member(self, text, mark=FIELD):
        """Maps "a.b#static c" to "com.acme.Cache#static ENTRIES"."""
        owner, found, field = text.partition(mark)
        if not found:
            return self.class_name(text)
        prefix, name = ("static ", field[7:]) if field.startswith("static ") else ("", field)
        local = re.match(r"(local variable of )(.*)\.([^.]*)$", field)
        if local:
            return f"{owner}{mark}{local[1]}{self.class_name(local[2])}.{local[3]}"
        return (self.class_name(owner) + mark + prefix +
                self.fields.get(owner, {}).get(name, name))

    def signature(self, kind, text):
        """Returns the text of a signature with original names, and the signature of that text, as in the columns of
        the leaks query."""
        text = STEP.join(self.member(step) for step in text.split(STEP))
        signed = text.replace(STEP, "").replace(FIELD, "") if kind == "leaking" else text
        return text, hashlib.sha1(signed.encode()).hexdigest()

    def rows(self, table, rows):
        """Returns the rows of a table, a dict of lists, with original names."""
        for column in ("class", "name") if table == "histogram" else ("class",):
            if column in rows:
                rows[column] = [self.class_name(name) for name in rows[column]]
        if "signature_text" in rows:
            for i, text in enumerate(rows["signature_text"]):
                if text and rows["kind"][i] in ("suspect", "leaking"):
                    rows["signature_text"][i], rows["signature"][i] = \
                        self.signature(rows["kind"][i], text)
            rows["label"] = [self.class_name(label) for label in rows["label"]]
            rows["field"] = [self.fields.get(owner, {}).get(field, field)
                             for owner, field in zip(rows["owner"], rows["field"])]
            rows["owner"] = [self.class_name(owner) for owner in rows["owner"]]
        return rows
