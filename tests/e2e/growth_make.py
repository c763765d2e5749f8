"""Writes a series as `heapdb watch` does: growth_make.py KIND > series.jsonl. The time zone is UTC."""
import json
import sys
import zlib

MIB = 1 << 20
START = 1767225600000  # 2026-01-01 00:00
SAMPLES = 60  # a histogram every 10 minutes
JDK = [("[B", 30 * MIB), ("java.lang.String", 8 * MIB), ("java.lang.Class", 2 * MIB)]


def line(**values):
    text = json.dumps(values, separators=(",", ":"))[:-1]
    print('%s,"crc":"%08x"}' % (text, zlib.crc32(text.encode())))


def leaked(kind, i):
    """Bytes of the class com.acme.Session."""
    return {
        "leak": 4 * MIB + i * MIB,
        "late": 4 * MIB + max(0, i - 30) * MIB,
        "quiet": 4 * MIB + i % 3 * 1000,
        "sawtooth": 4 * MIB + i % 12 * 2 * MIB,
        "heaponly": 4 * MIB,
    }[kind]


def run(kind, jvm, start, samples=SAMPLES):
    line(kind="jvm", time=start, jvm=jvm, age=0, main="com.acme.Shop", version="25.0.1")
    for i in range(samples):
        age = i * 600000
        leak = leaked(kind, i)
        heap = sum(b for _, b in JDK) + leak
        used = heap + (i * MIB if kind == "heaponly" else 0) + i % 4 * 8 * MIB
        line(kind="sample", time=start + age, jvm=jvm, age=age, heap=used, max=512 * MIB, gcs=i + 1,
             gc_us=i * 1000, rss=600 * MIB, limit=1024 * MIB)
        if kind != "heaponly":
            classes = [[n, b // 64, b] for n, b in JDK] + [["com.acme.Session", leak // 96, leak]]
            line(kind="classes", time=start + age + 1, jvm=jvm, age=age + 1, pause_us=20000,
                 objects=sum(c[1] for c in classes), bytes=heap, classes=classes)


kind = sys.argv[1]
if kind == "restarted":
    run("leak", "10-100", START, 30)
    line(kind="event", time=START, event="exit", text="ended")
    run("quiet", "11-200", START + 30 * 600000, 30)
else:
    run(kind, "4711-%d" % len(kind), START, int(sys.argv[2]) if len(sys.argv) > 2 else SAMPLES)
