"""page_dumps.py URL FOLDER - looks at several dumps in a running `heapdb serve`: no commands, and counts that reconcile."""
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_support import URL, browser, check, end, text

VIEWS = ["#/overview?", "#/leaks?", "#/all?q=triage&", "#/all?q=explain&", "#/all?q=big-drops&", "#/all?q=arrays&", "#/all?q=reference-leaks&", "#/threads?",
         "#/waste?", "#/loaders?", "#/all?q=overview&"]
# Views whose texts are the same for all dumps, looked at for the first one; so are all queries that need no target.
PLAIN = ["#/map?", "#/dominators?", "#/histogram?", "#/class?target=java.lang.String&", "#/paths?target=java.lang.String&", "#/strings?", "#/sql?", "#/all?", "#/problems?",
         "#/compare?", "#/android?", "#/all?q=path&", "#/all?q=retained&", "#/overview?obj=0&"]
QUERIES = """fetch('/api/specs').then(r => r.json()).then(a => a.specs.filter(s => !s.targets || s.targets.startsWith('[')).map(s => `#/all?q=${s.name}&`))"""
if os.environ.get("HEAPDB_PAGE") == "full":
    VIEWS += [v for v in PLAIN if "strings" not in v] + ["#/all?q=top-consumers&"]  # strings of a dump may look like options
COMMANDS = ("import capture check gate query sql report serve export convert strip redact meminfo memory allocations jfr watch growth mcp fleet notes oql").split()
# What a view says, with the help of columns and fields, their placeholders and names for screen readers.
SAID = """document.querySelector('main').innerText + '\\n' + [...document.querySelectorAll('main :is(th, label, button, a, input, select, summary, span, div, details)')]
    .filter(e => !e.closest('td')).flatMap(e => [e.title, e.placeholder, e.ariaLabel]).filter(t => t).join('\\n')"""
# Links with a number of things: in sentences, lists of accumulated objects, groups of equal objects.
LINKS = """[...document.querySelectorAll('main article h2 a, main article .parts a')].filter(a => /^(All )?\\d[\\d,]* ?/.test(a.innerText) && a.hash)
    .map(a => [a.innerText, a.hash])"""
# Numbers in the first column of tables.
TABLE = """(() => { const at = [...document.querySelectorAll('main th')].findIndex(h => /^objects/.test(h.innerText));
    return [...document.querySelectorAll('main tbody tr')].map(r => r.cells[at]?.querySelector('a')).filter(a => a).map(a => [a.innerText, a.hash]); })()"""
# The number of rows or objects that a view states.
COUNT = """(() => { const facts = document.querySelector('main dl.facts b'), rows = document.querySelector('main .count'), bad = document.querySelector('main .error');
    if (bad) return 'error: ' + bad.innerText;
    if (document.querySelector('main .wait')) return null;
    if (location.hash.startsWith('#/class') && facts) return facts.innerText;
    const of = /of ([\\d,]+) (rows|threads)|^([\\d,]+) (rows|threads)/.exec(rows?.innerText ?? '');
    return of ? of[1] ?? of[3] : null; })()"""

# Numbers of one thing in the answers of several queries: [name, number, the same number elsewhere].
SAME = """(async () => {
    const q = async (name, more) => (await fetch(`/api/query/${name}?db=%d&limit=1000${more ?? ''}`)).json();
    const [info, histogram, threads, triage, collections, sizes, duplicates, strings, strengths, loaders, leaks] = await Promise.all([q('info'), q('histogram'),
        q('threads', '&no-stack=1'), q('triage', '&all=1'), q('collections'), q('collections', '&by=size'), q('duplicates'), q('strings'), q('reference-stats'), q('loaders'), q('leaks')]);
    const fact = (key) => info.rows.find(r => r.section === 'objects' && r.key === key)?.number ?? null;
    const of = (rule) => triage.rows.find(r => r.rule === rule), empty = sizes.rows.find(r => r.size === 0);
    const weak = ['soft', 'weak', 'finalizer', 'phantom'].reduce((n, s) => n + strengths.facts[s + '_objects'], 0);
    return [['reachable objects', fact('reachable'), histogram.facts.objects], ['reachable bytes', fact('reachable bytes'), histogram.facts.shallow],
        ['unreachable objects', fact('unreachable'), histogram.facts.unreachable_objects], ['threads', fact('threads'), threads.total_rows],
        ['garbage and fillers', of('garbage').count + of('gc-fillers').count, histogram.facts.unreachable_objects],
        ['empty collections', of('empty-collections').count, collections.facts.empty], ['their size', of('empty-collections').bytes, collections.facts.empty_shallow],
        ['collections of size 0', empty?.objects ?? 0, collections.facts.empty], ['bytes of size 0', empty?.shallow ?? 0, collections.facts.empty_shallow],
        ['sparse collections', of('sparse-collections').count, collections.facts.sparse], ['unused slots', of('sparse-collections').bytes, collections.facts.sparse_wasted],
        ['duplicate strings', of('duplicate-strings').count, duplicates.facts.copies], ['their bytes', of('duplicate-strings').bytes, duplicates.facts.wasted],
        ['strings', strings.facts.objects, duplicates.facts.objects], ['weakly held', of('weak-only').count, weak],
        ['class loaders', of('loaders').count, loaders.facts.loaders - loaders.facts.unreachable - 1], ['suspects', triage.facts.suspects, leaks.facts.suspects]]; })()"""


def whole(words):
    return int(re.sub(r"[^\d]", "", words) or -1)


try:
    browser.size(1280, 800)
    browser.open(URL)
    check("the page is there", browser.until("document.querySelector('main article, main .empty') !== null"))
    names = browser.run("fetch('/api/health').then(r => r.json()).then(h => h.databases.map(d => d.name.replace('.heapdb', '')))")
    NAMES = COMMANDS + browser.run("fetch('/api/specs').then(r => r.json()).then(a => a.specs.map(s => s.name))")
    counted = groups = 0
    for db, name in enumerate(names):
        for view in dict.fromkeys(VIEWS + ([] if db else PLAIN + browser.run(QUERIES))):
            browser.run(f"location.hash = '{view}db={db}'; 1")
            browser.until(f"({db} === 0 || location.hash.includes('db={db}')) && !document.querySelector('main .wait') && document.querySelector('main .panel') !== null", 60)
            browser.run("for (const d of document.querySelectorAll('main article details')) d.open = true; 1")
            shown = browser.run(SAID)
            commands = re.findall(r".{0,40}(?:\bheapdb (?:" + "|".join(NAMES) + r")\b|(?:^|[\s(])--[a-z]|\{run\}).{0,40}", shown)
            # Strings of the dump are not texts of the page.
            commands = [c for c in commands if "java -" not in c and "-jar" not in c]
            check(f"{name} {view}: no command: {commands[:2]}", not commands)
            # A sentence begins with what it is about.
            bare = browser.run("[...document.querySelectorAll('main article h2')].map(h => h.innerText).filter(t => /^(the|an?) /.test(t))")
            check(f"{name} {view}: sentences without a subject: {bare[:2]}", not bare)
            if "q=explain" in view:
                groups += browser.run("[...document.querySelectorAll('main tbody tr')].filter(r => / java\\.lang\\.VirtualThread/.test(r.innerText) && !r.querySelector('a.object, a[href*=\"obj=\"]')).length")
                # A group of objects has no ID: its row opens nothing.
                browser.run("for (const r of document.querySelectorAll('main tbody tr')) r.dispatchEvent(new MouseEvent('dblclick', {bubbles: true})); 1")
                at = browser.run("location.hash")
                check(f"{name} {view}: opened {at}", not re.search("null|undefined", at))
        for what, one, other in browser.run(SAME % db):
            counted += 1
            check(f"{name}: {what}: {one} and {other}", one is None or one == other)
        links = []
        for view, selector, most in [("#/overview?", LINKS, 20), ("#/histogram?", TABLE, 3), ("#/waste?q=duplicates&", TABLE, 2)]:
            browser.run(f"location.hash = '{view}db={db}'; 1")
            browser.until("!document.querySelector('main .wait') && document.querySelector('main article, main .empty, main tbody td') !== null", 60)
            links += browser.run(selector)[:most]
        for words, address in links:
            browser.run(f"location.hash = {address!r}; 1")
            # A view may begin to wait for more rows between two looks at it.
            found = None
            for _ in range(10):
                browser.until(f"location.hash === {address!r} && {COUNT} !== null", 60)
                found = browser.run(COUNT)
                if found is not None:
                    break
            counted += 1
            # Views of waste have one row per class, and state the sum above.
            stated = re.findall(r"[\d,]+", browser.run("document.querySelector('main .sums')?.innerText ?? ''")) if "waste?q=" in address else []
            check(f"{name}: {words!r} opens {found} ({urllib.parse.unquote_plus(address)})", found is not None and whole(words) in [whole(str(found)), *map(whole, stated)])
    print(f"{len(names)} dumps, {counted} numbers")
    check("there were numbers", counted > 2)
    check("explain had a row for a group", groups > 0 or not any("vthreads" in name for name in names))
finally:
    end()
