"""Tests of the package heapdb_jvm, see python_test.sh: DUMP=sample.hprof python_test.py, or with pytest.

Standard library only; what needs others is left out where they are not.
"""
import gc
import importlib.metadata
import importlib.util
import itertools
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from unittest import mock

import heapdb_jvm

DUMP = os.environ["DUMP"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
HOLDER = 0xfeb10758  # the object in which Sample keeps what it makes


def has(*modules):
    return all(importlib.util.find_spec(m) for m in modules)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.dump = os.path.join(self.folder, "d.hprof")
        os.link(DUMP, self.dump)

    def open(self, **options):
        db = heapdb_jvm.open(self.dump, **options)
        self.addCleanup(db.close)
        return db


class CtrlC(Case):
    """SIGINT during a call of the library is a KeyboardInterrupt within a second, and nothing is left behind."""

    ENDLESS = "SELECT a.id FROM objects a, objects b, objects c"
    COUNTED = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

    def interrupted(self, call, *arguments, **options):
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.5, send)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call(*arguments, **options)
            self.assertLess(time.monotonic() - sent[0], 1)
        finally:
            timer.cancel()
            timer.join()
            signal.signal(signal.SIGINT, before)

    def test_statements(self):
        db = self.open()
        if not heapdb_jvm._library.STATEMENTS["sql"]:
            self.skipTest("no SQL in this library")
        self.interrupted(lambda: db.sql(self.COUNTED).first())
        self.interrupted(lambda: [row for row in db.sql(self.ENDLESS + " WHERE a.id + b.id + c.id < 0")])
        self.interrupted(lambda: db.sql(self.ENDLESS).write(os.path.join(self.folder, "x.parquet")))
        if has("pandas", "pyarrow"):
            self.interrupted(lambda: db.sql(self.COUNTED).to_pandas())
        if has("polars"):
            self.interrupted(lambda: db.sql(self.COUNTED).to_polars())
        self.assertEqual([name for name in os.listdir(self.folder) if "x.parquet" in name], [])
        self.assertEqual(db.sql("SELECT 1 AS one").first().one, 1)

    def test_import(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        with open(fifo, "r+b", buffering=0) as writer, open(DUMP, "rb") as dump:
            writer.write(dump.read(4096))  # and then nothing
            self.interrupted(heapdb_jvm.import_dump, fifo, os.path.join(self.folder, "f.heapdb"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["d.hprof", "fifo"])

    def test_progress_and_warnings_are_of_this_thread(self):
        threads = set()
        db = self.open(progress=lambda *_: threads.add(threading.get_ident()))
        db.dominators().rows()
        self.assertLessEqual(threads, {threading.get_ident()})
        db._watch._note(None, b"for the user")
        with self.assertWarnsRegex(UserWarning, "for the user") as warned:
            db.top().rows()
        self.assertEqual(warned.filename, __file__)


class NeverNull(Case):
    """Columns that a query promises to have a value in every row, under each choice and each switch."""

    def variants(self, query):
        yield {}
        for name, (argument, _) in query.options.items():
            if argument is None:
                yield {name: True}
            elif re.fullmatch("[a-z-]+([|][a-z-]+)+", argument):
                yield from ({name: word} for word in argument.split("|"))
            elif name == "kind":
                yield {name: "thread object"}

    def test_promised_columns_have_values(self):
        db = self.open()
        promised = 0
        for query in heapdb_jvm.queries():
            self.assertLessEqual(set(query.never_null), {column.name for column in query.columns}, query.name)
            targets = {"": [[]], "OBJECT": [[hex(HOLDER)]]}.get(query.targets, [[], ["java.util.*"], [hex(HOLDER)]])
            for options, target in itertools.product(self.variants(query), targets) if query.never_null else ():
                try:
                    rows = db.query(query.name, *target, limit=1000, **options)
                except heapdb_jvm.HeapdbError:  # a choice that needs another option, or finds nothing
                    continue
                for at, column in enumerate(rows.columns):
                    if column.name in query.never_null:
                        with self.subTest(query=query.name, column=column.name, options=options, target=target):
                            self.assertNotIn(None, [row[at] for row in rows.rows()])
                        promised += len(rows.rows())
        self.assertGreater(promised, 10000)


class Tqdm:
    """As tqdm.auto.tqdm: what bars were made, and how far they came."""

    made = []

    def __init__(self, **options):
        self.options, self.n, self.total, self.closed = options, 0, options["total"], False
        self.made.append(self)

    def update(self, n):
        assert n >= 0 and not self.closed
        self.n += n

    def close(self):
        self.closed = True


class Progress(Case):
    def test_bars(self):
        from heapdb_jvm import _progress
        bar = _progress.Bar(Tqdm)
        del Tqdm.made[:]
        for stage, done, total in (("scan", 1, 10), ("scan", 10, 10), ("resolve", 0, None), ("resolve", 5, 7)):
            bar(stage, done, total, "bytes")
        bar.close()
        bar.close()
        self.assertEqual([(b.options["desc"], b.n, b.total, b.closed) for b in Tqdm.made],
                         [("scan", 10, 10, True), ("resolve", 5, 7, True)])

    def test_chosen(self):
        from heapdb_jvm import _progress
        auto = mock.Mock(tqdm=Tqdm)
        with mock.patch.dict(sys.modules, {"tqdm": mock.Mock(auto=auto, tqdm=Tqdm), "tqdm.auto": auto}):
            self.assertIsInstance(_progress.chosen(True), _progress.Bar)
            self.assertIsNone(_progress.chosen(False))
            self.assertIsNone(_progress.chosen(None))
            self.assertIs(_progress.chosen(print), print)
            kernel = mock.Mock()
            kernel.get_ipython.return_value = mock.Mock(spec=["kernel"])
            with mock.patch.dict(sys.modules, {"IPython": kernel}):
                self.assertIsInstance(_progress.chosen(None), _progress.Bar)
            kernel.get_ipython.return_value = mock.Mock(spec=[])
            with mock.patch.dict(sys.modules, {"IPython": kernel}):
                self.assertIsNone(_progress.chosen(None))
            del Tqdm.made[:]
            with self.open(progress=True) as db:
                db.top().rows()
            self.assertTrue(all(b.closed for b in Tqdm.made))
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}):
            self.assertIsNone(_progress.chosen(True))


class Sizes(Case):
    def test_sorted_by_retained(self):
        """On a new database: sizes that are not cheap are there where rows are sorted by them."""
        db = self.open()
        self.assertIn(None, [row.retained for row in db.references(HOLDER)])
        found = [row.retained for row in db.references(HOLDER, sort="retained")]
        self.assertEqual(found, sorted(found, reverse=True))

    def test_filtered_by_retained(self):
        self.open().close()
        command = ["heapdb", "references", hex(HOLDER), heapdb_jvm.default_path(self.dump), "--where",
                   "retained > 10", "--csv", "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        self.assertGreater(done.stdout.count(b"\n"), 10)


class Mistakes(Case):
    def test_messages(self):
        db = self.open()
        self.assertEqual(int(db.object(f"Main@{HOLDER:#x}")), HOLDER)
        for ask, words in ((lambda: db.object("Main@x"), "is not an object identifier"),
                           (lambda: db.retained("0xnix"), "is not an object identifier"),
                           (lambda: db.top(nix=1), "has no option 'nix'; available options: .*by"),
                           (lambda: db.sql("SELECT ?", []), "no parameter"),
                           (lambda: db.sql("SELECT :a", {}), "no parameter")):
            self.assertRaisesRegex(heapdb_jvm.UsageError, words, ask)
        self.assertEqual(tuple(db.sql("SELECT '?', ':a' -- ?").rows()[0]), ("?", ":a"))


class Pictures(Case):
    def areas(self, svg):
        """The titles of boxes with their areas."""
        import xml.etree.ElementTree as xml
        space = "{http://www.w3.org/2000/svg}"
        return [(g.find(space + "title").text, float(g.find(space + "rect").get("width")) *
                 float(g.find(space + "rect").get("height"))) for g in xml.fromstring(svg).findall(space + "g")]

    def test_treemap(self):
        db = self.open()
        top = db.top(limit=500)
        picture = top.picture()
        boxes = self.areas(picture._repr_svg_())
        self.assertEqual(len(boxes), 200)
        self.assertTrue(boxes[0][0].startswith(top[0].label + ": "))
        self.assertTrue(boxes[-1][0].startswith("301 others: "))
        whole, area = sum(row.retained for row in top), sum(size for _, size in boxes)
        for row, (_, size) in list(zip(top, boxes))[:5]:
            self.assertAlmostEqual(size / area, row.retained / whole, delta=0.005)
        classes = db.histogram(sort="objects")
        self.assertTrue(self.areas(str(classes.picture("objects")))[0][0].startswith(
            f"{classes[0].name}: {classes[0].objects:,}, "))
        with self.assertRaises(heapdb_jvm.UsageError):
            db.histogram().picture("nix")
        self.assertIn("nothing to show", db.sql("SELECT class, shallow FROM objects WHERE 0").picture().svg)
        file = os.path.join(self.folder, "tree.svg")
        picture.write(file)
        with open(file, encoding="utf-8") as f:
            self.assertEqual(f.read(), picture.svg)

    def test_squares(self):
        from heapdb_jvm._picture import squarified
        for values in ([1], [6, 6, 4, 3, 2, 2, 1], [1000] + [1] * 199, [1] * 200, [2 ** n for n in range(60, 0, -1)]):
            boxes = squarified(values, 0, 0, 600, 400)
            for value, (x, y, w, h) in zip(values, boxes):
                self.assertAlmostEqual(w * h, 240000 * value / sum(values), delta=1e-3)
                self.assertTrue(-1e-6 <= x and x + w <= 600 + 1e-6 and -1e-6 <= y and y + h <= 400 + 1e-6)
            for i, (x, y, w, h) in enumerate(boxes):
                for other in boxes[:i]:
                    self.assertLessEqual(min(x + w, other[0] + other[2]) - max(x, other[0]), 1e-6 +
                                         (min(y + h, other[1] + other[3]) <= max(y, other[1]) + 1e-6) * 600)

    def test_path(self):
        db = self.open()
        path = db.path(HOLDER)
        texts = self.areas(path.picture().svg)
        self.assertEqual([text for text, _ in texts], [row.label for row in path][::-1])
        self.assertIn("GC root: ", path.picture().svg)
        self.assertIn(path[-1].via_field, path.picture().svg)

    def test_long_answers(self):
        """What is shown of a long answer does not read all of it into lists."""
        from heapdb_jvm import _rows
        db = self.open()
        with mock.patch.object(_rows, "_KEPT_MOST", 100):
            rows = db.query("objects")
            self.assertTrue(repr(rows).endswith("20 of more than 100 rows"))
            self.assertIn("20 of more than 100 rows", rows._repr_html_())
            self.assertIsNone(rows._kept)
            self.assertGreater(sum(1 for _ in rows), 10000)
            self.assertIn("20 of more than 100 rows", repr(db.sql("SELECT id FROM objects")))


class Opening(Case):
    def test_imports_once(self):
        stages = []
        self.open(progress=lambda *a: stages.append(a)).close()
        self.assertTrue(os.path.exists(heapdb_jvm.default_path(self.dump)))
        self.assertTrue(all(len(s) == 4 for s in stages))
        before = os.stat(heapdb_jvm.default_path(self.dump)).st_ino
        self.assertIsNone(self.open().stale)
        self.assertEqual(before, os.stat(heapdb_jvm.default_path(self.dump)).st_ino)

    def test_archives(self):
        archive = os.path.join(self.folder, "a.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("README", "what this is")
            z.write(self.dump, "x/one.hprof")
            z.write(self.dump, "x/two.hprof")
        try:
            with self.assertWarnsRegex(UserWarning, "another dump; to import that dump, use ARCHIVE!x/two.hprof"):
                path = heapdb_jvm.import_dump(archive)
        except heapdb_jvm.UsageError as error:
            self.assertIn("built without libarchive", str(error))
            self.skipTest("built without libarchive")
        self.assertEqual(path, os.path.join(self.folder, "a.heapdb"))
        want = [tuple(row) for row in self.open().histogram(limit=20)]
        for name in archive, archive + "!x/two.hprof":
            for _ in "imported", "opened":
                with heapdb_jvm.open(name) as db:
                    self.assertEqual([tuple(row) for row in db.histogram(limit=20)], want)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "two.heapdb")))
        with self.assertRaises(heapdb_jvm.Missing):
            heapdb_jvm.import_dump(archive + "!x/three.hprof")

    def test_errors(self):
        with self.assertRaises(heapdb_jvm.Missing):
            heapdb_jvm.open(os.path.join(self.folder, "nix.heapdb"))
        with self.assertRaises(FileNotFoundError):
            heapdb_jvm.open(os.path.join(self.folder, "nix.hprof"))
        bad = os.path.join(self.folder, "bad.hprof")
        with open(bad, "w") as f:
            f.write("nothing that a VM wrote" * 100)
        with self.assertRaises(heapdb_jvm.FormatError) as caught:
            heapdb_jvm.open(bad)
        self.assertTrue(caught.exception.name.startswith("HDB_E"))
        heapdb_jvm.import_dump(self.dump)
        with self.assertRaises(heapdb_jvm.UsageError):
            heapdb_jvm.import_dump(self.dump)
        heapdb_jvm.import_dump(self.dump, force=True)

    def test_progress_that_raises_cancels(self):
        class Enough(Exception):
            pass

        def stop(*_):
            raise Enough

        try:
            db = self.open(progress=stop)
            db.dominators().rows()
        except Enough:
            return
        self.skipTest("the dump is read before anything is reported")

    def test_close(self):
        db = self.open()
        rows = db.histogram()
        iterator = iter(db.roots())
        next(iterator)
        db.close()
        db.close()
        for ask in (db.leaks, lambda: list(rows), lambda: db.object(HOLDER), lambda: db.stale):
            with self.assertRaises(heapdb_jvm.UsageError):
                ask()
        self.assertIn("closed", repr(db))
        list(iterator)  # what is being read is read to its end
        del rows, iterator
        gc.collect()


class Asking(Case):
    def test_every_query_is_a_method(self):
        db = self.open()
        asked = 0
        for query in heapdb_jvm.queries():
            method = getattr(db, query.method)
            self.assertIn(query.columns[0].name, method.__doc__ or "object retained",
                          query.name) if query.method not in ("object", "retained") else None
            words, targets, options = (query.example or "").replace("'", "").split(), [], {}
            if query.name == "diff":
                continue
            while words:
                word = words.pop(0)
                if not word.startswith("--"):
                    targets.append(word)
                    continue
                name = word[2:].replace("-", "_")
                options[name] = True if query.options[name][0] is None else words.pop(0)
                if query.name == "roots":
                    options[name] += " " + words.pop(0)
            rows = db.query(query.name, *targets, **options)
            total = rows.total
            self.assertEqual(len(rows.rows()), total, query.name)
            asked += 1
        self.assertGreater(asked, 40)

    def test_rows(self):
        db = self.open()
        answer = db.histogram(limit=3, sort="shallow")
        self.assertGreater(answer.total, 100)
        rows = answer.rows()
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0].name, "byte[]")
        self.assertIsInstance(rows[0].shallow, int)
        self.assertGreaterEqual(rows[0].shallow, rows[1].shallow)
        self.assertEqual(answer.rows(), list(answer))
        self.assertIn("byte[]", repr(answer))
        self.assertIn("<table>", answer._repr_html_())
        self.assertEqual([c.name for c in answer.columns][0], "name")
        again = db.histogram()
        self.assertEqual([list(again), again.rows()], [list(again), list(again)])
        self.assertEqual((len(answer), answer[0], answer[1:], answer[-1]), (3, rows[0], rows[1:], rows[2]))
        self.assertEqual(pickle.loads(pickle.dumps(rows)), rows)
        again.close()
        with self.assertRaises(heapdb_jvm.UsageError):
            again.to_arrow() if has("pyarrow") else again._take()

    def test_forms_of_arguments(self):
        db = self.open()
        self.assertEqual(db.object(hex(HOLDER)), db.object(HOLDER))
        self.assertEqual(db.retained(hex(HOLDER)), db.retained(db.object(HOLDER)))
        other = os.path.join(self.folder, "other.heapdb")
        shutil.copy(db.file, other)
        self.assertEqual(db.diff(before=other).rows(), db.diff(before=[heapdb_jvm.open(other)]).rows())
        self.assertEqual(db.diff(before=other).rows(), db.diff(heapdb_jvm.open(other)).rows())
        with self.assertRaises(heapdb_jvm.UsageError):
            db.top(limit=-1)

    def test_values_are_those_of_the_command(self):
        """Identifiers, texts, nulls and numbers, all rows of several queries."""
        import json
        db = self.open()
        path = heapdb_jvm.default_path(self.dump)
        if not shutil.which("heapdb"):
            self.skipTest("no command")
        for name, options in (("histogram", {}), ("threads", {}), ("strings", {}),
                              ("leaks", {}), ("properties", {})):
            out = subprocess.run(["heapdb", "query", name, "--json", "--db", path],
                                 stdout=subprocess.PIPE, check=True).stdout
            want = json.loads(out)
            answer = db.query(name, **options)
            ids = {c.name for c in answer.columns if c.type == "id"}
            rows = answer.rows()
            self.assertEqual(len(rows), len(want["rows"]), name)
            for mine, its in zip(rows, want["rows"]):
                for column, value in zip(answer.columns, mine):
                    other = its[column.name]
                    if column.name in ids and other is not None:
                        other = int(other, 16)
                    if column.type == "percent" and value is not None:
                        value = float("%.2f" % value)
                    self.assertEqual(value, other, (name, column.name))

    def test_columns_are_what_rows_are(self):
        """Objects come column by column, sorted ones row by row."""
        db = self.open()
        for options in ({}, {"all": True, "invented": True}, {"unreachable": True},
                        {"columns": "class,id,dominator,kind,heap,length"}):
            together = db.objects(**options).rows()
            one_by_one = db.objects(sort="-id", **options).rows()
            self.assertEqual(together, one_by_one, options)
            self.assertEqual(db.objects(limit=20001, **options).rows(), together[:20001])
        self.assertGreater(len({r.class_ for r in db.objects()}), 100)

    def test_objects(self):
        db = self.open()
        o = db.object(HOLDER)
        self.assertEqual(o.cls, "Sample")
        self.assertEqual(o.retained, db.retained(HOLDER))
        self.assertEqual(o.retained, db.retained(o))
        self.assertGreater(o.retained, o.shallow)
        self.assertEqual(o.fields["list"].cls, "Sample$Node")
        self.assertEqual(o.path_to_root()[0].id, HOLDER)
        self.assertTrue(o.path_to_root()[-1].root)
        self.assertTrue(o.dominated().rows() and o.references().rows() and o.referrers().rows())
        types = o.fields["allTypes"].fields
        self.assertTrue(any(isinstance(v, (int, float)) for v in types.values()), types)
        self.assertEqual(db.object(o.id), o)
        self.assertIn("retained", o._repr_html_())
        with self.assertRaises(KeyError):
            db.object(1)

    def test_wrong_questions(self):
        db = self.open()
        for ask in (lambda: db.query("nix"), lambda: db.histogram(nix=1),
                    lambda: db.histogram(by="nix"), lambda: db.histogram(sort="nix"),
                    lambda: db.histogram(shallow="yes"), lambda: db.path()):
            with self.assertRaises(ValueError):
                ask()
        with self.assertRaises(heapdb_jvm.NotFound):
            db.class_("nix.Nix")

    def test_compare(self):
        db = self.open()
        other = os.path.join(self.folder, "other.heapdb")
        heapdb_jvm.import_dump(self.dump, other)
        with heapdb_jvm.open(other) as later:
            self.assertTrue(later.diff(before=[db]).columns)

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "no /proc here")
    def test_many_without_growth(self):
        db = self.open()

        def rss():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * 4096

        def ask(count):
            for _ in range(count):
                db.histogram(limit=5).rows()
                list(db.roots())
                next(iter(db.top(limit=9)), None)
            gc.collect()

        ask(30)
        before = rss()
        ask(100)
        self.assertLess(rss() - before, 8 << 20)


@unittest.skipUnless(heapdb_jvm._library.STATEMENTS["sql"], "a library without SQL")
class Sql(Case):
    def test_rows(self):
        db = self.open()
        answer = db.sql("SELECT class, count(*) AS n, sum(shallow) AS bytes, NULL AS missing, "
                        "1.5 AS half FROM objects GROUP BY class ORDER BY n DESC, class")
        self.assertEqual([c.name for c in answer.columns],
                         ["class", "n", "bytes", "missing", "half"])
        twice = db.sql("SELECT 1 AS class, 2 AS class, 3 AS class_2")
        self.assertEqual([c.name for c in twice.columns], ["class", "class_3", "class_2"])
        rows = answer.rows()
        self.assertEqual(rows[0].class_, "byte[]")
        self.assertEqual((rows[0].missing, rows[0].half), (None, 1.5))
        self.assertEqual(answer.total, len(rows))
        everything = db.sql("SELECT count(*) AS n FROM objects").first().n
        self.assertEqual(sum(r.n for r in rows), everything)
        self.assertIn("byte[]", repr(answer))
        self.assertIn("<table>", db.sql("SELECT 1 AS a")._repr_html_())
        big = sum(1 for _ in db.sql("SELECT id FROM objects"))
        self.assertEqual(big, everything)

    def test_parameters(self):
        db = self.open()
        ask = lambda *args: db.sql(*args).first()[0]  # noqa: E731
        self.assertEqual(ask("SELECT '?' || ? || \"?\" FROM (SELECT ':b' AS \"?\") -- ?", ["it's"]), "?it's:b")
        self.assertEqual(ask("SELECT :a + :b * :a", {"a": 2, "b": 1.5}), 5.0)
        self.assertEqual(ask("SELECT ? IS NULL", [None]), 1)
        self.assertEqual(ask("SELECT count(*) FROM objects WHERE id = ?", [db.object(HOLDER)]), 1)
        for statement, parameters in (("SELECT ?", [1, 2]), ("SELECT ?, ?", [1]), ("SELECT :a", {"b": 1})):
            with self.assertRaises(heapdb_jvm.UsageError, msg=statement):
                db.sql(statement, parameters)

    def test_identifiers(self):
        db = self.open()
        answer = db.sql("SELECT id, dominator FROM objects WHERE class = 'Sample'")
        self.assertEqual([c.type for c in answer.columns], ["id", "id"])
        self.assertIn(hex(HOLDER), repr(answer))
        if has("pandas"):
            frame = db.sql("SELECT id, dominator FROM objects").to_pandas()
            self.assertEqual(str(frame.dtypes["dominator"]), "UInt64")
            self.assertEqual(str(frame.dtypes["id"]), "uint64")
            self.assertIn(hex(HOLDER), set(answer.to_pandas(hex_ids=True)["id"]))

    def test_sql_catalogue(self):
        db = self.open()
        listed = dict((row.name, row.sql) for row in db.sql("SELECT name, sql FROM sqlite_master").rows())
        self.assertGreater(len(listed), 40)
        self.assertIn("All objects", listed["objects"])

    def test_sql_without_rows(self):
        db = self.open()
        none = db.sql("SELECT id FROM objects WHERE class = 'String'")
        self.assertEqual(len(none), 0)
        self.assertIn("did you mean 'java.lang.String'", none.note)
        self.assertIsNone(db.sql("SELECT id FROM objects WHERE class = 'java.lang.String'").note)
        self.assertIsNone(db.sql("SELECT id FROM objects WHERE id = 1").note)

    def test_oql(self):
        db = self.open()
        answer = db.oql("SELECT s, s.@usedHeapSize AS used, toString(s) AS text FROM java.lang.String s")
        self.assertEqual([(c.name, c.type) for c in answer.columns],
                         [("s", "text"), ("used", "integer"), ("text", "text")])
        self.assertTrue(all(row.s == row.text for row in answer))
        parts = db.oql("SELECT s AS a FROM java.lang.String s UNION ( SELECT m FROM java.util.HashMap m )")
        self.assertEqual(parts.columns[0].type, "text")
        self.assertRegex(parts[-1].a, "^0x[0-9a-f]+$")
        everything = db.sql("SELECT count(*) FROM objects WHERE class = 'java.lang.String'").first()[0]
        self.assertEqual(len(answer), everything)
        mixed = db.oql("SELECT m.size AS a FROM java.util.HashMap m UNION ( SELECT toHex(1) FROM OBJECTS 0 )")
        self.assertEqual((mixed.columns[0].type, mixed[-1].a), ("text", "0x1"))
        self.assertEqual(db.oql("SELECT * FROM Sample").first().id, HOLDER)
        with self.assertRaises(heapdb_jvm.UsageError) as caught:
            db.oql("SELECT * FROM java.util.HashMab")
        self.assertIn("java.util.HashMap", str(caught.exception))

    def test_what_a_column_holds(self):
        db = self.open()
        answer = db.sql("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) "
                        "SELECT i, iif(i = 8999, 'x', i) AS t, iif(i = 7000, 0.5, i) AS d FROM n")
        self.assertEqual([c.type for c in answer.columns], ["integer", "text", "number"])
        rows = answer.rows()
        self.assertEqual((len(rows), rows[8998].t, rows[6999].d), (9000, "x", 0.5))

    def test_errors(self):
        db = self.open()
        for wrong in ("", "SELEC 1", "SELECT 1; SELECT 2", "SELECT nix FROM objects",
                      "DELETE FROM objects"):
            with self.assertRaises(heapdb_jvm.HeapdbError, msg=wrong):
                db.sql(wrong)
        answer = db.sql("SELECT 1 AS a")
        self.assertEqual(list(answer), list(answer))
        closed = db.sql("SELECT 1 AS a")
        closed.close()
        with self.assertRaises(ValueError):
            list(closed)
        left = db.sql("SELECT * FROM refs")
        next(iter(left))
        waiting = db.sql("SELECT 2 AS b")
        db.close()
        with self.assertRaises(ValueError):
            waiting.rows()
        with self.assertRaises(ValueError):
            db.sql("SELECT 1")

    def test_write(self):
        db = self.open()
        path = os.path.join(self.folder, "o.parquet")
        db.objects().write(path)
        with open(path, "rb") as file:
            self.assertEqual(file.read(4), b"PAR1")
        with self.assertRaises(heapdb_jvm.HeapdbError):
            db.objects().write(path)
        db.sql("SELECT id, class FROM objects").write(path, "arrow", force=True)
        with open(path, "rb") as file:
            self.assertEqual(file.read(6), b"ARROW1")
        if has("pyarrow"):
            import pyarrow
            table = pyarrow.ipc.open_file(path).read_all()
            frame = db.sql("SELECT id, class FROM objects").to_arrow()
            self.assertEqual(table.to_pylist(), frame.to_pylist())
        if has("pandas"):
            frame = db.sql("SELECT class, shallow FROM objects").to_pandas()
            self.assertEqual(list(frame.columns), ["class", "shallow"])


class Processes(Case):
    """growth and memory: what the command prints with --json."""

    def said(self, *args):
        import json
        return json.loads(subprocess.run(["heapdb", *args, "--json", "--quiet"], stdout=subprocess.PIPE, check=True).stdout)

    def test_growth(self):
        series = os.path.join(self.folder, "leak.jsonl")
        with open(series, "wb") as out:
            subprocess.run([sys.executable, os.path.join(ROOT, "tests/e2e/growth_make.py"), "leak"], stdout=out, check=True)
        told = heapdb_jvm.growth(series)
        self.assertEqual(told, self.said("growth", series))
        self.assertEqual(told, heapdb_jvm.growth(self.folder))
        self.assertIn("com.acme.Session", [row["name"] for row in told["rows"] if row["grows"]])
        with self.assertRaises(heapdb_jvm.Missing):
            heapdb_jvm.growth(series + ".none")
        with self.assertRaises(ValueError):
            heapdb_jvm.growth()

    def test_memory(self):
        corpus = os.path.join(ROOT, "tests/corpus/memory")
        files = [os.path.join(corpus, name) for name in ("smaps", "nmt_detail", "vm_info")]
        told = heapdb_jvm.memory(*files)
        self.assertEqual(told, self.said("memory", *files))
        parts = [row["resident"] for row in told["rows"] if row["detail"] is None]
        self.assertEqual(sum(parts), told["facts"]["rss"])
        self.assertEqual(heapdb_jvm.memory(*files, database=self.open())["facts"]["rss"], told["facts"]["rss"])
        with self.assertRaises(heapdb_jvm.FormatError):
            heapdb_jvm.memory(DUMP)  # a dump is no file of these: it is opened
        with self.assertRaises(heapdb_jvm.HeapdbError):
            heapdb_jvm.memory(os.getpid())  # no JVM
        with self.assertRaises(ValueError):
            heapdb_jvm.memory(1, 2)


class Frames(Case):
    @unittest.skipUnless(has("pyarrow"), "no pyarrow")
    def test_arrow(self):
        import pyarrow
        db = self.open()
        table = db.objects(all=True).to_arrow()
        self.assertEqual(table.num_rows, db.objects(all=True).total)
        self.assertEqual(table.schema.field("id").type, pyarrow.uint64())
        table.validate(full=True)
        rows = db.histogram().rows()
        table = db.histogram().to_arrow()
        self.assertEqual(table.column("retained").to_pylist(), [r.retained for r in rows])
        self.assertEqual(table.column("name").to_pylist(), [r.name for r in rows])
        self.assertEqual(db.triage().to_arrow().num_rows, db.triage().total)
        classes = db.objects().to_arrow().column("class")
        self.assertTrue(pyarrow.types.is_dictionary(classes.type))
        self.assertEqual(classes.num_chunks, 1)
        names = classes.chunk(0).dictionary.to_pylist()
        self.assertEqual(names, sorted(set(names)))
        self.assertEqual(classes.to_pylist(), [r.class_ for r in db.objects()])
        stream = db.histogram().__arrow_c_stream__()
        del stream
        reader = pyarrow.RecordBatchReader.from_stream(db.objects(all=True))
        reader.read_next_batch()
        db.close()  # the reader keeps what it needs
        reader.read_next_batch() if table.num_rows > 65536 else None
        del reader
        gc.collect()

    @unittest.skipUnless(has("pandas"), "no pandas")
    def test_pandas(self):
        db = self.open()
        frame = db.histogram().to_pandas()
        self.assertEqual(list(frame["name"]), [r.name for r in db.histogram()])
        self.assertEqual(int(frame["shallow"].sum()), db.histogram().to_pandas()["shallow"].sum())

    @unittest.skipUnless(has("polars"), "no polars")
    def test_polars(self):
        db = self.open()
        frame = db.histogram().to_polars()
        self.assertEqual(frame["retained"].to_list(), [r.retained for r in db.histogram()])

    @unittest.skipUnless(has("duckdb"), "no duckdb")
    def test_duckdb_reads_answers(self):
        """By the name of the variable, without a file, as often as asked for."""
        import duckdb
        db = self.open()
        classes = db.histogram()
        for _ in range(2):
            self.assertEqual(duckdb.sql("SELECT count(*), sum(shallow) FROM classes").fetchall(),
                             [(classes.total, sum(r.shallow for r in classes))])
        con = duckdb.connect()
        con.register("o", db.sql("SELECT id, class, shallow FROM objects"))
        con.register("s", db.sql("SELECT id, text FROM strings"))
        found = con.sql("SELECT count(*), sum(shallow), count(text) FROM o JOIN s USING (id)").fetchall()[0]
        self.assertEqual(found, tuple(db.sql(
            "SELECT count(*), sum(shallow), (SELECT count(text) FROM strings) FROM objects "
            "WHERE class = 'java.lang.String'").rows()[0]))

    def test_what_is_missing_is_named(self):
        rows = self.open().histogram(limit=1)
        for call, module, packages in ((rows.to_pandas, "pandas", "pandas pyarrow"),
                                       (rows.to_arrow, "pyarrow", "pyarrow"), (rows.to_polars, "polars", "polars")):
            with mock.patch.dict(sys.modules, {module: None}), self.assertRaises(ModuleNotFoundError) as caught:
                call()
            self.assertEqual(str(caught.exception), f"{module} is not installed: pip install {packages}")
        self.assertEqual(len(rows.rows()), 1)  # nothing was taken
        code = "import sys; sys.modules['pyspark'] = None; from heapdb_jvm import spark"
        out = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=False, text=True)
        self.assertIn("pip install 'pyspark>=4' pyarrow", out.stderr)


@unittest.skipUnless("HDB_ROOT" in os.environ, "no sources")
class Wheel(Case):
    def test_says_what_it_is(self):
        root = os.environ["HDB_ROOT"]
        sys.path.insert(0, os.path.join(root, "tools", "packaging"))
        import make_wheel
        library, stubs = (os.path.join(self.folder, name) for name in ("library", "stubs"))
        for path in (library, stubs):
            with open(path, "w", encoding="utf-8") as f:
                f.write("# a file\n")
        tag = "py3-none-any"
        path = make_wheel.write(self.folder, tag, make_wheel.contents(library, stubs, tag))
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(self.folder)
        found = list(importlib.metadata.distributions(path=[self.folder]))
        self.assertEqual([one.name for one in found], ["heapdb-jvm"])
        said = found[0].metadata
        for field in ("Summary", "License-Expression", "Keywords", "Requires-Python", "Classifier"):
            self.assertTrue(said[field], field)
        self.assertIn("Programming Language :: Python :: 3.13", said.get_all("Classifier"))
        self.assertEqual(said.get_all("Provides-Extra"), ["arrow", "pandas", "polars", "fleet", "spark"])
        self.assertIn("pandas; extra == 'pandas'", found[0].requires)
        text = said.get_payload()
        self.assertTrue(text.startswith("# heapdb"))
        self.assertNotIn("](src/", text)  # where the description is shown, the repository is not
        self.assertEqual(said.get_all("License-File"), ["LICENSE", "NOTICES"])
        for name in said.get_all("License-File"):
            with open(os.path.join(root, name), encoding="utf-8") as f:
                self.assertEqual(found[0].read_text(f"licenses/{name}"), f.read())
        self.assertTrue(all(file.locate().exists() for file in found[0].files))


if __name__ == "__main__":
    unittest.main(verbosity=1)
