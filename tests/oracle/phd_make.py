"""phd_make.py VERSION BITS HASHED REFERENCE FILE: a portable heap dump with every form of record."""
import random
import sys

from phd_dump import Dump

version, bits, hashed, reference = (int(a) for a in sys.argv[1:5])
rng = random.Random(version * 100 + bits + hashed)
dump = Dump(version, bits, bool(hashed), reference)
BASE = 0xe0000000 if bits == 32 else 0x7f0012340000
at = BASE + 0x100000
CLASSES = ["java/lang/Object", "java/lang/Class", "java/lang/ClassLoader", "java/lang/String", "java/lang/Thread",
           "app/Loader", "app/Node", "app/Wide", "app/Leaf"] + ["[" + c for c in "ZCFDBSIJ"]
CLASSES += ["[Ljava/lang/Object;", "[Lapp/Node;", "[[I", "[[Lapp/Node;"]
ids = {name: BASE + 64 * i for i, name in enumerate(CLASSES)}
SUPER = {"app/Loader": "java/lang/ClassLoader", "app/Leaf": "app/Node"}
INSTANCE = {"java/lang/Object": 8, "app/Wide": 16 + 20 * reference, "app/Leaf": 40, "app/Node": 28}
everything = []


def place(bytes_):
    """Returns the address of an object with this size; sometimes it is far from the previous one."""
    global at
    here = at
    at += (bytes_ + 7) // 8 * 8 + rng.choice([0] * 20 + [64, 1 << 12, 1 << 19])
    everything.append(here)
    return here


def some(count):
    return rng.sample(everything, min(count, len(everything)))


hash_codes = [None] if hashed else [None, None, None, 0x1234567]
loader = place(24)
dump.object(loader, ids["app/Loader"])
thread = place(48)
dump.object(thread, ids["java/lang/Thread"], some(1))
for i in range(int(sys.argv[6]) if len(sys.argv) > 6 else 1000):
    code, kind = rng.choice(hash_codes), i % 7
    if kind == 0:
        dump.object(place(32), ids["app/Node"], some(rng.randrange(5)), code)
    elif kind == 1:
        dump.object(place(40), ids["app/Leaf"], some(rng.randrange(7)), code)
    elif kind == 2:
        dump.object(place(16 + 20 * reference), ids["app/Wide"], some(rng.randrange(20)), code)
    elif kind == 3:
        name = rng.choice(["boolean", "char", "float", "double", "byte", "short", "int", "long"])
        length = rng.choice([1, 2, 3, 17, 100, 127, 128, 300, 40000 if i % 50 == 0 else 5])
        width = {"boolean": 1, "byte": 1, "char": 2, "short": 2, "long": 8, "double": 8}.get(name, 4)
        dump.primitive(place(dump.header + length * width), name, length, code)
    elif kind in (4, 5):
        element = "java/lang/Object" if kind == 4 else "app/Node"
        refs = [r if rng.random() < 0.7 else 0 for r in some(rng.randrange(1, 30))] or [0]
        here = place(dump.header + len(refs) * reference)
        if version == 4:  # no nulls, and the class first, which stands last as all are turned round
            refs = [r for r in refs if r] + [ids[f"[L{element};"]]
        dump.array(here, ids[element], refs, code)
    else:
        refs = [] if version == 4 else [0, 0, 0]
        here = place(dump.header + 3 * reference)
        dump.array(here, ids["[I"], refs + ([ids["[[I"]] if version == 4 else []), code)
for name in CLASSES:
    refs = [loader] if name.startswith("app/") or "app/" in name else []
    refs += some(rng.randrange(12)) if "app/Node" in name else []
    above = 0 if name == "java/lang/Object" else ids[SUPER.get(name, "java/lang/Object")]
    dump.klass(ids[name], above, name, INSTANCE.get(name, 24), refs, rng.choice(hash_codes))
open(sys.argv[5], "wb").write(dump.bytes())
print(f"{thread:x}")
