// The views. Each is questions of the registry; what has no view of its own has the general one.
import { useState } from "preact/hooks";
import { Android } from "./android";
import { Database, hasSql, Params, report, Row, Spec } from "./api";
import { Choice, MapView } from "./map";
import { Marks, Name, Obj, Panel, QueryTable, select, specs, Table, useAnswer, Wait } from "./parts";
import { change, linkTo, Route } from "./route";
import { Sql } from "./sql";
import { bytes, number, percent, visible } from "./text";

type Props = { route: Route; databases: Database[] };
const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

// ---- overview ----

function Figures({ db }: { db?: string }) {
  const asked = useAnswer("info", { db, limit: "500" });
  if (!asked.answer) return <Wait asked={asked} what="what is known of the dump" />;
  const groups = new Map<string, Row[]>();
  for (const row of asked.answer.rows) {
    const name = String(row.section);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)!.push(row);
  }
  return <><Marks facts={asked.answer.facts} />
    <div class="figures">{[...groups].map(([name, rows]) => <details open={["dump", "vm", "objects", "heap"].includes(name)}>
      <summary>{name}</summary><dl>{rows.map((r) => <div title={text(r.help)}><dt>{text(r.key)}</dt><dd>{text(r.value)}</dd></div>)}</dl></details>)}</div></>;
}

function Chain({ rows }: { rows: Row[] }) {
  return <ol class="chain">{rows.map((r) => <li>
    <Obj id={r.id} text={r.label} />
    {r.via_field ? <span class="by">.{text(r.via_field).replace(/^static /, "")}{/^static /.test(String(r.via_field)) ? " (static)" : ""} →</span> : null}
    {r.text ? <small> ({text(r.text)})</small> : null}
    {typeof r.retained === "number" && <span class="right">{bytes(r.retained)}</span>}</li>)}</ol>;
}

const why: Record<string, string> = {
  suspect: "It retains a large share of the heap by itself. If it grows from dump to dump, it is what to look at first: what puts things in, and what should take them out?",
  leaking: "Its life is over, and yet something still refers to it. Whatever is first on the path and outlives it should let it go.",
  library: "A known fault of the platform or a library keeps it; the application can at most work round it.",
};

function Suspect({ rows }: { rows: Row[] }) {
  const head = rows[0], of = (kind: string) => rows.filter((r) => r.kind === kind);
  const path = [...of("path"), ...of("trace"), ...of("gap")].sort((a, b) => Number(a.step) - Number(b.step));
  const parts = of("element").length ? of("element") : of("child");
  const stack = [...of("thread"), ...of("frame"), ...of("local")];
  return <article class="suspect">
    <h3><span class="tag">{head.suspect === null ? "" : text(head.suspect)}</span> <Obj id={head.id} text={head.label ?? head.class} />
      <span class="right">{typeof head.retained === "number" && <b>{bytes(head.retained)}</b>}{typeof head.percent === "number" && ` · ${percent(head.percent)}`}</span></h3>
    {typeof head.percent === "number" && <div class="share"><i style={{ width: `${Math.min(100, head.percent)}%` }} /></div>}
    <p>{text(head.text)}</p>
    {path.length > 0 && <details open><summary>Path from a GC root</summary><Chain rows={path} /></details>}
    {parts.length > 0 && <details open><summary>What accumulates</summary><ul class="parts">{parts.map((r) => <li>
      {r.class && !report ? <a href={linkTo("paths", { target: String(r.class) })}><Name text={text(r.class)} /></a> : <Name text={text(r.label ?? r.class)} />}
      <span class="right">{typeof r.count === "number" && `${number(r.count)} objects · `}{typeof r.retained === "number" && bytes(r.retained)}</span></li>)}</ul></details>}
    {stack.length > 0 && <details><summary>Thread</summary><ul class="parts">{stack.map((r) => <li>{r.id ? <Obj id={r.id} text={r.label ?? r.text} /> : text(r.text ?? r.label)}</li>)}</ul></details>}
    <details><summary>Why is this a problem?</summary><p>{why[String(head.kind)] ?? why.suspect}</p></details>
  </article>;
}

function Leaks({ db }: { db?: string }) {
  const asked = useAnswer("leaks", { db, limit: "5000" });
  if (!asked.answer) return <Wait asked={asked} what="leak suspects" />;
  const groups = new Map<string, Row[]>();
  for (const row of asked.answer.rows) {
    const key = String(row.suspect);
    if (row.suspect === null) continue;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key)!.push(row);
  }
  return <><Marks facts={asked.answer.facts} />
    {groups.size === 0 && <p class="empty">No single object or class retains more than {bytes(Number(asked.answer.facts.threshold ?? 0))}: nothing here looks like a leak.
      {!report && <> Look at <a href={linkTo("map")}>where the memory is</a>.</>}</p>}
    {[...groups.values()].map((rows) => <Suspect rows={rows} />)}</>;
}

function Findings({ db }: { db?: string }) {
  const asked = useAnswer("triage", { db, limit: "200" });
  if (!asked.answer) return <Wait asked={asked} what="findings" />;
  return <>{asked.answer.rows.length === 0 && <p class="empty">None of the known problems is in this heap.</p>}
    <ul class="findings">{asked.answer.rows.map((r) => <li class={text(r.severity)}>
      <b>{text(r.severity)}</b> {text(r.text)} {r.id ? <Obj id={r.id} text={r.label ?? r.class} /> : null}
      {r.detail ? <p>{text(r.detail)}</p> : null}{r.advice ? <p class="dim">{text(r.advice)}</p> : null}</li>)}</ul></>;
}

function Overview({ route }: Props) {
  const db = route.params.db;
  return <>
    <Panel title="Leak suspects"><Leaks db={db} /></Panel>
    <Panel title="Findings"><Findings db={db} /></Panel>
    <Panel title="The dump and the heap"><Figures db={db} /></Panel>
    {!report && <Panel title="Biggest objects" right={<a href={linkTo("map")}>treemap</a>}><QueryTable query="top" params={{ db }} what="biggest objects" sortKey="sort" hide={["class"]} /></Panel>}
  </>;
}

// ---- any question, its options as a form ----

export function words(argument: string | null): string[] | null {
  return argument && /^[a-z-]+(\|[a-z-]+)+$/.test(argument) ? argument.split("|") : null;
}

function Form({ spec, route }: { spec: Spec; route: Route }) {
  const p = route.params;
  if (report) return null;
  const shown = spec.options.filter((o) => !["fail-if", "only-names"].includes(o.name));
  return <form class="tools" onSubmit={(e) => e.preventDefault()}>
    {spec.targets && <label>{spec.targets.split("|")[0].toLowerCase().replace(/[[\].]/g, "")} <input value={p.target ?? ""} placeholder={spec.targets}
      onChange={(e) => change({ target: (e.target as HTMLInputElement).value || undefined })} /></label>}
    {shown.map((o) => {
      const choice = words(o.argument), key = `o_${o.name}`;
      if (choice) return <Choice label={o.name} value={p[key] ?? ""} choices={[["", "default"], ...choice.map((c) => [c])]} onChange={(v) => change({ [key]: v || undefined })} />;
      if (!o.argument) return <label title={o.help}><input type="checkbox" checked={p[key] === "1"} onChange={(e) => change({ [key]: (e.target as HTMLInputElement).checked ? "1" : undefined })} /> {o.name}</label>;
      return <label title={o.help}>{o.name} <input size={8} value={p[key] ?? ""} placeholder={o.argument} onChange={(e) => change({ [key]: (e.target as HTMLInputElement).value || undefined })} /></label>;
    })}
  </form>;
}

function paramsOf(route: Route, spec: Spec): Params {
  const params: Params = { db: route.params.db, target: route.params.target };
  for (const o of spec.options) if (route.params[`o_${o.name}`]) params[o.name] = route.params[`o_${o.name}`];
  return params;
}

export function General({ route, query, title, extra }: { route: Route; query: string; title?: string; extra?: Params }) {
  const spec = specs.get(query);
  if (!spec) return <p class="empty">There is no query “{query}”.</p>;
  const needs = spec.targets && !spec.targets.startsWith("[") && !route.params.target;
  return <Panel title={title ?? spec.name}>
    <p class="dim">{spec.summary}</p>
    <Form spec={spec} route={route} />
    {needs ? <p class="empty">Name an object (0x…), a class or a pattern above{spec.example ? `, as in: ${spec.example}` : ""}.</p>
      : <QueryTable query={query} params={{ ...paramsOf(route, spec), ...extra }} what={spec.name} sortKey="sort"
        onOpen={query === "histogram" ? (row) => (location.hash = linkTo("paths", { target: String(row.name) })) : undefined} />}
  </Panel>;
}

const waste = ["duplicates", "collections", "arrays", "substrings", "reference-stats", "finalizers", "unreachable"];

function Waste({ route }: Props) {
  const q = waste.includes(route.params.q) ? route.params.q : waste[0];
  const there = report ? waste.filter((w) => report!.answers[w]) : waste.filter((w) => specs.has(w));
  if (report) return <>{there.map((w) => <General route={route} query={w} />)}</>;
  return <><nav class="tabs">{there.map((w) => <a class={w === q ? "on" : ""} href={linkTo("waste", { q: w })}>{w}</a>)}</nav><General route={route} query={q} /></>;
}

// Groups of the registry, and heaps where the dump has them: those are counted in SQL.
function Histogram({ route, databases }: Props) {
  const db = Number(route.params.db ?? 0), heaps = route.params.heaps === "1", there = databases[db]?.android && hasSql();
  const asked = useAnswer(heaps && there ? "sql" : "", { db: route.params.db, limit: "50",
    q: "SELECT coalesce(heap, '–') AS heap, count(*) AS objects, sum(shallow) AS shallow FROM objects WHERE reachable GROUP BY heap ORDER BY shallow DESC" });
  const by = route.params.o_by ?? "class";
  const tab = (name: string, title: string) => <a class={(heaps ? "heap" : by) === name ? "on" : ""} href={linkTo("histogram", name === "heap" ? { heaps: "1" } : { o_by: name === "class" ? undefined : name, target: route.params.target })}>{title}</a>;
  return <>
    {!report && <nav class="tabs" aria-label="Group by">{tab("class", "classes")}{tab("superclass", "superclasses")}{tab("package", "packages")}{tab("loader", "class loaders")}{there && tab("heap", "heaps")}</nav>}
    {heaps && there ? <Panel title="Histogram by heap"><Wait asked={asked} what="heaps" />
      {asked.answer && <Table columns={["heap", "objects", "shallow"].map((name, i) => ({ name, title: name, help: "", type: ["text", "count", "bytes"][i] }))}
        rows={asked.answer.rows} total={asked.answer.row_count} what="heaps" />}</Panel>
      : <General route={route} query="histogram" title="Histogram" />}
  </>;
}

const growth: [string, string][] = [["class", "classes"], ["package", "packages"], ["loader", "class loaders"], ["object", "new and gone objects"], ["path", "growth by path"],
  ["dominator", "growth by dominator"], ["suspect", "suspects"]];

function Compare({ route, databases }: Props) {
  const now = Number(route.params.db ?? 0), before = route.params.before ?? String(databases.findIndex((d) => d.index !== now));
  if (databases.length < 2) return <p class="empty">Only one database is open: `heapdb serve BEFORE AFTER` compares two.</p>;
  const with_ = { ...route, params: { ...route.params, before } };
  return <>
    <Panel title="Compare"><div class="tools"><Choice label="Before" value={before} choices={databases.filter((d) => d.index !== now).map((d) => [String(d.index), d.name])}
      onChange={(before) => change({ before })} /> <span>now: {databases[now]?.name}</span></div></Panel>
    <MapView route={with_} compare />
    <nav class="tabs" aria-label="Compare by">{growth.map(([name, title]) => <a class={(route.params.o_by ?? "class") === name ? "on" : ""}
      href={linkTo("compare", { before: route.params.before, o_by: name === "class" ? undefined : name })}>{title}</a>)}</nav>
    <General route={with_} query="diff" title="What changed" extra={{ before }} />
  </>;
}

function All({ route }: Props) {
  if (route.params.q) return <General route={route} query={route.params.q} />;
  const groups = new Map<string, Spec[]>();
  for (const s of specs.values()) groups.set(s.group, [...(groups.get(s.group) ?? []), s]);
  return <>{[...groups].map(([group, list]) => <Panel title={group}><ul class="parts">{list.map((s) => <li><a href={linkTo("all", { q: s.name })}>{s.name}</a> <span class="dim">{s.summary}</span></li>)}</ul></Panel>)}</>;
}

function Dominators({ route }: Props) {
  // Opened nodes are in the URL.
  const open = new Set((route.params.open ?? "").split(",").filter(Boolean));
  return <Panel title="Dominator tree"><p class="dim">What each object keeps alive, largest first. Open a row to see what it dominates.</p>
    <Level db={route.params.db} id={undefined} open={open} depth={0} /></Panel>;
}

function Level({ db, id, open, depth }: { db?: string; id?: string; open: Set<string>; depth: number }) {
  const [limit, setLimit] = useState(50);
  const asked = useAnswer("dominators", { db, target: id, limit: String(limit) });
  const a = asked.answer;
  if (!a) return <Wait asked={asked} what="the dominator tree" />;
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    change({ open: [...next].join(",") || undefined }, true);
  };
  return <ul class="tree" role={depth ? "group" : "tree"}>
    {a.rows.map((r) => <li role="treeitem" aria-expanded={open.has(String(r.id))}>
      <div class="row" tabIndex={0} onKeyDown={(e) => {
        const isOpen = open.has(String(r.id));
        if ((e.key === "ArrowRight" && !isOpen) || (e.key === "ArrowLeft" && isOpen)) toggle(String(r.id));
        else if (e.key === "Enter") select(String(r.id));
        else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
          const rows = [...document.querySelectorAll<HTMLElement>(".tree .row")], at = rows.indexOf(e.currentTarget as HTMLElement);
          rows[at + (e.key === "ArrowDown" ? 1 : -1)]?.focus();
        } else return;
        e.preventDefault();
        e.stopPropagation();
      }}>
        {r.children ? <button class="twist" aria-label="open" onClick={() => toggle(String(r.id))}>{open.has(String(r.id)) ? "▾" : "▸"}</button> : <span class="twist" />}
        <Obj id={r.id} text={r.label} />
        <span class="right"><i class="bar" style={{ width: `${Math.round(Number(r.percent ?? 0) * 0.6)}px` }} />{number(Number(r.retained))} <span class="dim">{percent(Number(r.percent ?? 0))}</span></span>
      </div>
      {open.has(String(r.id)) && depth < 200 && <Level db={db} id={String(r.id)} open={open} depth={depth + 1} />}
    </li>)}
    {a.total_rows !== null && a.total_rows > a.row_count && <li><button class="more" onClick={() => setLimit(limit * 4)}>{number(a.total_rows - a.row_count)} more</button></li>}
  </ul>;
}

export const views: { name: string; title: string; show(p: Props): preact.JSX.Element; needs?: string }[] = [
  { name: "overview", title: "Overview", show: (p) => <Overview {...p} /> },
  { name: "map", title: "Map", needs: "dominator-tree?by=class", show: (p) => (report
    ? <><MapView route={p.route} fixed={{ shape: "treemap", by: "class" }} /><MapView route={p.route} fixed={{ shape: "icicle", by: "package" }} /></> : <MapView route={p.route} />) },
  { name: "dominators", title: "Dominators", needs: "-", show: (p) => <Dominators {...p} /> },
  { name: "histogram", title: "Histogram", needs: "histogram", show: (p) => <Histogram {...p} /> },
  { name: "paths", title: "Merged paths", needs: "-", show: (p) => <General route={p.route} query="merged-paths" title="Merged paths to the GC roots" /> },
  { name: "threads", title: "Threads", needs: "threads", show: (p) => <General route={p.route} query="threads" title="Threads" /> },
  { name: "waste", title: "Waste", needs: "collections", show: (p) => <Waste {...p} /> },
  { name: "loaders", title: "Class loaders", needs: "loaders", show: (p) => <General route={p.route} query="loaders" title="Class loaders" /> },
  { name: "strings", title: "Strings", needs: "-", show: (p) => <General route={p.route} query="strings" title="Strings" /> },
  { name: "android", title: "Android", needs: "-", show: (p) => <Android route={p.route} /> },
  { name: "compare", title: "Compare", needs: "-", show: (p) => <Compare {...p} /> },
  { name: "sql", title: "SQL", needs: "-", show: (p) => <Sql route={p.route} /> },
  { name: "problems", title: "Problems", needs: "problems", show: (p) => <General route={p.route} query="problems" title="Problems of the dump" /> },
  { name: "all", title: "All queries", needs: "-", show: (p) => <All {...p} /> },
];
export { Table };
