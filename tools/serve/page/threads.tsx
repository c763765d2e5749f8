// Threads: what each holds, its stack, and the objects that its frames hold.
import { report, Row } from "./api";
import { Marks, Obj, Panel, Table, useAnswer, Wait, specs } from "./parts";
import { change, Route } from "./route";
import { bytes, number, percent, visible } from "./text";
import { numberOf, useInfo } from "./overview";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

interface Thread { head: Row; rest: Row[] }

function Stack({ rows }: { rows: Row[] }) {
  if (rows.length === 0) return <p class="empty">The dump has no frames of this thread.</p>;
  return <ol class="stack">{rows.map((r) => (r.level === 1
    ? <li class="frame-line" title={text(r.signature)}>{r.kind === "frame" ? "at " : ""}{r.id ? <Obj id={r.id} text={r.text} /> : text(r.text)}</li>
    : <li class="local">{text(r.kind)} <Obj id={r.id} text={r.text} />{typeof r.retained === "number" && <span class="right">{bytes(r.retained)}</span>}</li>))}</ol>;
}

function One({ thread, open, whole, onToggle }: { thread: Thread; open: boolean; whole: number; onToggle(): void }) {
  const { head, rest } = thread, share = whole && typeof head.retained === "number" ? (100 * head.retained) / whole : null;
  const what = [head.state, head.daemon === true && "daemon", head.virtual === true && "virtual", typeof head.depth === "number" && `${number(head.depth)} frames`,
    typeof head.locals === "number" && head.locals > 0 && `${number(head.locals)} locals`].filter(Boolean).map((w) => text(w)).join(" · ");
  return <li class="thread">
    <div class="row"><button class="twist" aria-label={`stack of ${text(head.thread)}`} aria-expanded={open} onClick={onToggle}>{open ? "▾" : "▸"}</button>
      <span class="grow"><Obj id={head.id} text={text(head.thread) || head.text} /> <small>{what}</small></span>
      <span class="right">{share !== null && <i class="bar" style={{ width: `${Math.round(share * 0.6)}px` }} />}{typeof head.retained === "number" ? bytes(head.retained) : "–"}{share !== null && <small> {percent(share)}</small>}</span></div>
    {open && <Stack rows={rest} />}
  </li>;
}

export function Threads({ route }: { route: Route }) {
  const p = route.params, find = (p.filter ?? "").toLowerCase(), asked = useAnswer("threads", { db: p.db, limit: "100000", all: p.o_all === "1" ? "1" : undefined });
  const { info } = useInfo(p.db), whole = info ? numberOf(info("objects", "reachable bytes")) ?? 0 : 0;
  if (!asked.answer) return <Panel title="Threads"><Wait asked={asked} what="threads" /></Panel>;
  const all: Thread[] = [];
  for (const row of asked.answer.rows) {
    if (Number(row.level) === 0) all.push({ head: row, rest: [] });
    else all[all.length - 1]?.rest.push(row);
  }
  all.sort((a, b) => Number(b.head.retained ?? 0) - Number(a.head.retained ?? 0));
  const has = (t: Thread) => [t.head, ...t.rest].some((r) => String(r.level === 0 ? r.thread : r.text).toLowerCase().includes(find));
  const shown = find ? all.filter(has) : all, open = new Set((p.open ?? (all[0] ? String(all[0].head.id) : "")).split(",").filter(Boolean));
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    change({ open: [...next].join(",") || "none" }, true);
  };
  const every = p.open === "all" || report !== null;
  const spec = specs.get("threads");
  return <Panel title="Threads"><Marks facts={asked.answer.facts} />
    {!report && <div class="tools">
      <input type="search" placeholder="Name, frame or local" aria-label="Filter threads" value={p.filter ?? ""} onInput={(e) => change({ filter: (e.target as HTMLInputElement).value || undefined }, true)} />
      <span class="count" role="status">{number(shown.length)} of {number(all.length)} threads</span>
      <button onClick={() => change({ open: every ? "none" : "all" }, true)}>{every ? "Close all" : "Open all"}</button>
      <button onClick={() => change({ as: p.as === "table" ? undefined : "table" })}>{p.as === "table" ? "Stacks" : "Table"}</button>
      <label title="threads that are not started, ended, or virtual ones that the VM left out"><input type="checkbox" checked={p.o_all === "1"} onChange={(e) => change({ o_all: (e.target as HTMLInputElement).checked ? "1" : undefined })} /> thread objects that are not running, too</label></div>}
    {p.as === "table" && spec ? <Table columns={spec.columns.filter((c) => asked.answer!.columns.includes(c.name))} rows={asked.answer.rows} total={asked.answer.total_rows} what="threads" tree />
      : shown.length ? <ul class="threads">{shown.map((t) => <One key={String(t.head.id)} thread={t} whole={whole} open={every || open.has(String(t.head.id)) || (find !== "" && shown.length < 10)} onToggle={() => toggle(String(t.head.id))} />)}</ul>
        : <p class="empty">{all.length ? `No thread, frame or local has “${p.filter}” in its name.` : "The dump has no threads."}</p>}
  </Panel>;
}
