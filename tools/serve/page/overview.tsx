// What the dump says first: figures, leak suspects, findings, the biggest objects.
import { useEffect, useRef } from "preact/hooks";
import { isCounted, Params, report, Row } from "./api";
import { MapView } from "./map";
import { Marks, Name, Obj, Panel, useAnswer, useKept, Wait } from "./parts";
import { linkTo, Route } from "./route";
import { bytes, number, percent, visible } from "./text";
import { whyFinding, whyLeak } from "./why";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

// ---- figures ----

export type Info = (section: string, key: string) => Row | undefined;

const SOON = 1000, SELDOM = 8000; // milliseconds until it is asked again

// Before the heap was counted it is asked now and then: other questions build the tables meanwhile.
export function useInfo(db?: string): { info?: Info; rows: Row[]; wait: preact.JSX.Element | null; facts?: Row } {
  const asked = useKept("info", { db, limit: "500" }, db ?? ""), rows = asked.answer?.rows ?? [], pause = useRef(SOON);
  useEffect(() => {
    if (report || !asked.answer || asked.late || isCounted(asked.answer)) return;
    const timer = setTimeout(asked.again, pause.current);
    pause.current = Math.min(SELDOM, 2 * pause.current);
    return () => clearTimeout(timer);
  }, [asked.answer, asked.late]);
  return { rows, facts: asked.answer?.facts, wait: asked.answer ? null : <Wait asked={asked} what="what is known of the dump" />,
    info: asked.answer ? (section, key) => rows.find((r) => r.section === section && r.key === key) : undefined };
}

export const numberOf = (row?: Row): number | null => (typeof row?.number === "number" ? row.number : null);

export function when(row?: Row): string {
  const at = Date.parse(String(row?.value ?? ""));
  return Number.isNaN(at) ? "" : new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function vmOf(info: Info): string {
  const android = info("vm", "android"), java = info("vm", "java"), name = info("vm", "name");
  if (android) return `Android ${text(android.value)}`;
  return java && java.value !== "0" ? `Java ${text(java.value)}` : text(name?.value ?? info("dump", "runtime")?.value);
}

function Strip({ db }: { db?: string }) {
  const { info, wait } = useInfo(db);
  if (!info) return <div class="strip">{wait}</div>;
  const size = numberOf(info("objects", "reachable bytes")), most = numberOf(info("vm", "max heap")), objects = numberOf(info("objects", "reachable"));
  const dead = numberOf(info("objects", "unreachable bytes")), problems = numberOf(info("dump", "problems"));
  const parts: [string, string, string?][] = [
    ["Heap", size === null ? "–" : bytes(size), most && size !== null ? `${percent((100 * size) / most)} of ${bytes(most)}` : "reachable"],
    ["Objects", objects === null ? "–" : number(objects), `${text(info("objects", "classes")?.value)} classes`],
    ["Unreachable", dead === null ? "–" : bytes(dead), `${number(numberOf(info("objects", "unreachable")) ?? 0)} objects`],
    ["Threads", text(info("objects", "threads")?.value || "–")],
    ["VM", vmOf(info) || "–", text(info("vm", "device")?.value ?? info("vm", "name")?.value)],
    ["Dumped", when(info("dump", "time")) || "–", `${bytes(numberOf(info("dump", "bytes")) ?? 0)} file`]];
  return <dl class="strip" aria-label="The heap in figures">{parts.map(([name, value, more]) => <div><dt>{name}</dt><dd><b>{value}</b>{more ? <small>{more}</small> : null}</dd></div>)}
    {problems ? <div><dt>Problems</dt><dd><a href={linkTo("problems")}>{number(problems)}</a><small>of the dump</small></dd></div> : null}</dl>;
}

function Figures({ db }: { db?: string }) {
  const { rows, wait, facts } = useInfo(db);
  if (wait || !facts) return wait;
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = String(row.section);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)!.push(row);
  }
  return <><Marks facts={facts} />
    <div class="figures">{[...groups].map(([name, rows]) => <details open={["dump", "vm", "objects"].includes(name)}>
      <summary>{name}</summary><dl>{rows.map((r) => <div title={text(r.help)}><dt>{text(r.key)}</dt><dd>{typeof r.number === "number" && /^[\d,]+$/.test(String(r.value)) ? number(r.number) : text(r.value)}</dd></div>)}</dl></details>)}</div></>;
}

// ---- leaks ----

function Chain({ rows }: { rows: Row[] }) {
  return <ol class="chain">{rows.map((r) => <li>
    {typeof r.retained === "number" && <span class="right" title="retained size">{bytes(r.retained)}</span>}
    <Obj id={r.id} text={r.label} />
    {r.via_field ? <span class="by">.{text(r.via_field).replace(/^static /, "")}{/^static /.test(String(r.via_field)) ? " (static)" : ""} →</span> : null}
    {r.text ? <small> ({text(r.text)})</small> : null}</li>)}</ol>;
}

function Suspect({ rows, brief }: { rows: Row[]; brief?: boolean }) {
  const head = rows[0], of = (kind: string) => rows.filter((r) => r.kind === kind);
  const path = [...of("path"), ...of("trace"), ...of("gap")].sort((a, b) => Number(a.step) - Number(b.step));
  const element = of("element").length > 0, parts = element ? of("element") : of("child");
  const stack = [...of("thread"), ...of("frame"), ...of("local")], contents = of("content");
  const kind = whyLeak[String(head.kind)] ? String(head.kind) : "suspect", id = head.id ? String(head.id) : null;
  return <article class="suspect">
    <h3><span class="right">{typeof head.retained === "number" && <b>{bytes(head.retained)}</b>}{typeof head.percent === "number" && ` · ${percent(head.percent)}`}</span>
      <span class="tag">{head.suspect === null ? "" : text(head.suspect)}</span> <Obj id={head.id} text={head.label ?? head.class} /></h3>
    {typeof head.percent === "number" && <div class="share"><i style={{ width: `${Math.min(100, head.percent)}%` }} /></div>}
    <p>{text(head.text)}</p>
    {path.length > 0 && <details open><summary>Path from a GC root</summary><Chain rows={path} /></details>}
    {parts.length > 0 && <details open><summary>What accumulates</summary><ul class="parts">{parts.map((r) => <li>
      <span class="right">{typeof r.count === "number" && `${number(r.count)} objects · `}{typeof r.retained === "number" && bytes(r.retained)}</span>
      {r.class && !report ? <a href={linkTo("paths", { target: String(r.class) })}><Name text={text(r.class)} /></a> : <Name text={text(r.label ?? r.class ?? "others")} />}</li>)}</ul></details>}
    {!brief && contents.length > 0 && <details><summary>All that it retains, by class</summary><ul class="parts">{contents.map((r) => <li>
      <span class="right">{typeof r.count === "number" && `${number(r.count)} objects · `}{typeof r.shallow === "number" && bytes(r.shallow)}</span>
      <Name text={text(r.class ?? r.label ?? "others")} /></li>)}</ul></details>}
    {stack.length > 0 && <details><summary>Thread</summary><ul class="parts">{stack.map((r) => <li>{r.id ? <Obj id={r.id} text={r.label ?? r.text} /> : text(r.text ?? r.label)}</li>)}</ul></details>}
    <details><summary>Why is this a problem?</summary><p>{whyLeak[kind]}</p></details>
    {id && !report && <p class="acts"><a href={linkTo("map", { by: "object", root: id, obj: undefined })}>Treemap of what it retains</a> · <a href={linkTo("overview", { obj: id, tab: "path" })}>path to a GC root</a>
      {" "}· <a href={linkTo("overview", { obj: id, tab: "referrers" })}>who refers to it</a></p>}
  </article>;
}

const BRIEF = 3; // suspects of the overview

export function Leaks({ db, brief, more }: { db?: string; brief?: boolean; more?: Params }) {
  const asked = useAnswer("leaks", { db, limit: "5000", ...more });
  if (!asked.answer) return <Wait asked={asked} what="leak suspects" />;
  const groups = new Map<string, Row[]>();
  for (const row of asked.answer.rows) {
    const key = String(row.suspect);
    if (row.suspect === null) continue;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key)!.push(row);
  }
  const all = [...groups.values()], shown = brief ? all.slice(0, BRIEF) : all;
  return <><Marks facts={asked.answer.facts} />
    {all.length === 0 && <p class="empty">No single object or class retains more than {bytes(Number(asked.answer.facts.threshold ?? 0))}: nothing here looks like a leak.
      {!report && <> Look at <a href={linkTo("map")}>where the memory is</a>.</>}</p>}
    {shown.map((rows) => <Suspect rows={rows} brief={brief} />)}
    {all.length > shown.length && <p><a href={linkTo("leaks")}>All {number(all.length)} suspects</a></p>}</>;
}

function Findings({ db }: { db?: string }) {
  const asked = useAnswer("triage", { db, limit: "200" });
  if (!asked.answer) return <Wait asked={asked} what="findings" />;
  return <>{asked.answer.rows.length === 0 && <p class="empty">None of the {number(Number(asked.answer.facts.rules ?? 0))} known problems that are looked for is in this heap.</p>}
    <ul class="findings">{asked.answer.rows.map((r) => {
      const { why, next } = whyFinding(r), count = Number(r.count ?? 0);
      return <li class={text(r.severity)}>
        <p><b class="severity">{text(r.severity)}</b> {text(r.text)}{r.label || r.class ? (/[?.]$/.test(String(r.text)) ? " " : ": ") : ""}{r.id ? <Obj id={r.id} text={r.label ?? r.class} /> : r.class ? <Name text={text(r.label ?? r.class)} /> : null}
          {r.detail ? <>, {text(r.detail)}</> : null}</p>
        <p class="dim">{count > 1 ? `${number(count)} ${text(r.unit ?? "objects")}` : ""}{typeof r.bytes === "number" && r.bytes ? `${count > 1 ? ", " : ""}${bytes(r.bytes)}` : ""}{typeof r.percent === "number" && r.percent ? `, ${percent(r.percent)} of the heap` : ""}</p>
        <details><summary>Why is this a problem?</summary>{why && <p>{why}</p>}{r.advice ? <p>Advice: {text(r.advice)}</p> : null}</details>
        {!report && next.length > 0 && <p class="acts">{next.map(([name, to], i) => <>{i > 0 && " · "}<a href={to}>{name}</a></>)}</p>}
      </li>;
    })}</ul></>;
}

const BIGGEST = 12;

function Biggest({ db }: { db?: string }) {
  const asked = useAnswer("top", { db, limit: String(BIGGEST) }), a = asked.answer;
  if (!a) return <Wait asked={asked} what="biggest objects" />;
  return <><ol class="parts">{a.rows.map((r) => <li><span class="right"><i class="bar" style={{ width: `${Math.round(Number(r.percent ?? 0) * 0.6)}px` }} />{bytes(Number(r.retained ?? 0))} <small class="pc">{percent(Number(r.percent ?? 0))}</small></span>
    <Obj id={r.id} text={r.label} /></li>)}</ol>
    <p class="dim">{number(a.row_count)} of {a.total_rows === null ? "many" : number(a.total_rows)} objects that no other dominates.</p></>;
}

export function Overview({ route }: { route: Route }) {
  const db = route.params.db;
  const story = <><Panel title="Leak suspects"><Leaks db={db} brief={!report} /></Panel><Panel title="Findings"><Findings db={db} /></Panel></>;
  const dump = <Panel title="The dump and the heap"><Figures db={db} /></Panel>;
  if (report) return <><Strip db={db} />{story}{dump}</>;
  return <><Strip db={db} />
    <div class="two"><div class="flow">{story}</div>
      <div class="flow"><div class="reserved"><MapView route={{ ...route, params: { db: db ?? "" } }} fixed={{ shape: "treemap", by: "class" }} small /></div>
        <Panel title="Biggest objects" right={<a href={linkTo("dominators")}>dominator tree</a>}><Biggest db={db} /></Panel>
        {dump}</div></div></>;
}
