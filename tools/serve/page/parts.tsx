// What all views are made of: waiting, objects, values, the table.
import { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Answer, ask, Cell, Column, Failure, hasSql, Params, Progress, report, Row, Spec } from "./api";
import { change, href, linkTo, readRoute } from "./route";
import { bytes, number, percent, splitName, visible } from "./text";

export const specs = new Map<string, Spec>();

// ---- asking ----

interface Asked { answer?: Answer; error?: string; progress?: Progress; cancel(): void }

export function useAnswer(query: string, params: Params): Asked {
  const key = query + JSON.stringify(params);
  const [state, set] = useState<{ key: string; answer?: Answer; error?: string; progress?: Progress }>({ key });
  const cancel = useRef(() => {});
  useEffect(() => {
    if (!query) return;
    const question = ask(query, params);
    let live = true, timer = 0;
    const poll = () => void question.progress().then((progress) => {
      if (!live) return;
      set((s) => (s.answer ? s : { key, progress }));
      timer = window.setTimeout(poll, 500);
    }).catch(() => undefined);
    if (!report) timer = window.setTimeout(poll, 400);
    cancel.current = () => { question.cancel(); if (live) set({ key, error: "Cancelled." }); };
    question.answer.then((answer) => live && set({ key, answer }), (e: Error) => {
      if (live) set({ key, error: e instanceof Failure ? e.message : "Cancelled." });
    }).finally(() => { live = false; clearTimeout(timer); });
    return () => { if (live && !report) { live = false; clearTimeout(timer); question.cancel(); } live = false; };
  }, [key]);
  return state.key === key ? { ...state, cancel: () => cancel.current() } : { cancel: () => cancel.current() };
}

export function Wait({ asked, what }: { asked: Asked; what: string }) {
  const p = asked.progress;
  if (asked.error) return <p class="error" role="alert">{visible(asked.error)}</p>;
  if (asked.answer) return null;
  return <p class="wait" role="status">
    {p ? `Waiting for ${what}: ${p.state === "waiting" ? "other questions come first" : p.stage || "working"}` : ""}
    {p?.total ? ` ${percent((100 * (p.done ?? 0)) / p.total)}` : ""}
    {p && <button onClick={() => asked.cancel()}>Cancel</button>}
  </p>;
}

// What an answer leaves out, is unsure of, or is of.
export function Marks({ facts }: { facts: Row }) {
  const marks: [string, Cell][] = [["Stale", facts.stale], ["Incomplete", facts.incomplete], ["Left out", facts.cut],
    ["Counted", facts.counted === "reachable" ? null : facts.counted]];
  return <>{marks.filter((m) => m[1]).map(([word, text]) =>
    <p class="mark"><b>{word}:</b> {visible(String(text))}</p>)}</>;
}

// ---- objects and values ----

export function Name({ text }: { text: string }) {
  const [head, tail] = splitName(visible(text));
  return <span class="name"><span class="dim">{head}</span>{tail}</span>;
}

export function select(id: string): void { change({ obj: id, tab: undefined }); }

// What can be asked of any object: the menu of "." and of the right mouse button, and of the inspector.
export function actionsOf(id: string): [string, string][] {
  const here = readRoute(), at = (tab: string) => href(here.view, { ...here.params, obj: id, tab });
  const list: [string, string][] = [["Path to a GC root", at("path")], ["Who refers to it", at("referrers")], ["What it retains", at("dominated")],
    ["Treemap of what it retains", linkTo("map", { by: "object", root: id, obj: undefined })]];
  if (hasSql()) list.push(["Use in SQL", linkTo("sql", { sql: `SELECT * FROM objects WHERE id = ${id}`, obj: undefined })]);
  return list;
}

export function Menu() {
  const [at, set] = useState<{ id: string; x: number; y: number } | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const show = (e: Event, x: number, y: number) => {
      const link = (e.target as HTMLElement).closest?.<HTMLElement>("a.obj");
      if (!link || !link.title) return;
      e.preventDefault();
      set({ id: link.title, x: Math.min(x, innerWidth - 210), y: Math.min(y, innerHeight - 190) });
    };
    const onMenu = (e: MouseEvent) => show(e, e.clientX, e.clientY);
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== ".") return;
      const box = (e.target as HTMLElement).getBoundingClientRect();
      show(e, box.left, box.bottom);
    };
    addEventListener("contextmenu", onMenu);
    addEventListener("keydown", onKey);
    return () => { removeEventListener("contextmenu", onMenu); removeEventListener("keydown", onKey); };
  }, []);
  useEffect(() => {
    const hide = () => set(null);
    list.current?.querySelector<HTMLElement>("a")?.focus();
    const onEscape = (e: KeyboardEvent) => { if (e.key === "Escape") { hide(); e.stopImmediatePropagation(); } };
    if (at) { addEventListener("click", hide); addEventListener("hashchange", hide); addEventListener("keydown", onEscape, true); }
    return () => { removeEventListener("keydown", onEscape, true); removeEventListener("click", hide); removeEventListener("hashchange", hide); };
  }, [at]);
  if (!at) return null;
  const onKey = (e: KeyboardEvent) => {
    const items = [...list.current!.querySelectorAll<HTMLElement>("a, button")], now = items.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape") set(null);
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") items[(now + (e.key === "ArrowDown" ? 1 : items.length - 1)) % items.length].focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return <ul class="menu" role="menu" ref={list} style={{ left: `${at.x}px`, top: `${at.y}px` }} onKeyDown={onKey}>
    {actionsOf(at.id).map(([name, to]) => <li role="none"><a role="menuitem" href={to}>{name}</a></li>)}
    <li role="none"><button role="menuitem" onClick={() => void navigator.clipboard.writeText(at.id)}>Copy {at.id}</button></li></ul>;
}

export function Obj({ id, text }: { id: Cell; text?: Cell }) {
  const label = text === null || text === undefined || text === "" ? String(id) : String(text);
  if (!id || id === "0x0" || report) return <Name text={label} />;
  return <a class="obj" title={String(id)} href={linkTo(readRoute().view, { ...readRoute().params, obj: String(id), tab: undefined })}>
    <Name text={label} /></a>;
}

export function Value({ value, column, row }: { value: Cell; column: Column; row: Row }) {
  if (value === null || value === undefined) return <span class="dim">–</span>;
  if (typeof value === "number") {
    if (column.name === "percent") return <>{percent(value)}</>;
    return <>{Number.isInteger(value) ? number(value) : value.toPrecision(4)}</>;
  }
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (column.type === "id") return <Obj id={value} />;
  if (column.name === "label" && row.id) return <Obj id={row.id} text={value} />;
  if (["value", "key"].includes(column.name) && row[`${column.name}_id`]) return <Obj id={row[`${column.name}_id`]} text={value} />;
  if (column.name === "label" && row.ref) return <Obj id={row.ref} text={value} />;
  if (["class", "name", "loader", "holder", "thread"].includes(column.name)) return <Name text={value} />;
  return <span class="text">{visible(value)}</span>;
}

const isNumber = (column: Column) => ["count", "bytes", "int", "double"].includes(column.type);

// ---- the table ----

function csvOf(columns: Column[], rows: Row[]): string {
  const cell = (v: Cell) => {
    const text = v === null || v === undefined ? "" : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns.map((c) => c.name).join(","), ...rows.map((r) => columns.map((c) => cell(r[c.name])).join(","))].join("\r\n");
}

const ROW = 25;
const REPORTED = 50; // rows of a report's table that are shown at once

function remembered(what: string): string[] {
  try { return (JSON.parse(localStorage.getItem(`hidden ${what}`) ?? "[]") as string[]).map(String); } catch { return []; }
}

export function Table({ columns, rows, total, sort, onSort, tree, what, onOpen }: {
  columns: Column[]; rows: Row[]; total: number | null; sort?: string; onSort?(c: string): void; tree?: boolean;
  what: string; onOpen?(row: Row): void;
}) {
  const [filter, setFilter] = useState("");
  const [closed, setClosed] = useState<Set<Row>>(new Set());
  const [top, setTop] = useState(0);
  const [at, setAt] = useState(-1);
  const [hidden, setHidden] = useState(() => (report ? [] : remembered(what)));
  const [all, setAll] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => {
    let found = rows, pattern: RegExp | null = null;
    try { pattern = filter ? new RegExp(filter, "i") : null; } catch { pattern = null; }
    if (pattern) found = rows.filter((r) => columns.some((c) => typeof r[c.name] === "string" && pattern!.test(r[c.name] as string)));
    if (tree && !pattern && closed.size) {
      let hidden = Infinity;
      found = rows.filter((r) => {
        const level = Number(r.level);
        if (level > hidden) return false;
        hidden = closed.has(r) ? level : Infinity;
        return true;
      });
    }
    return found;
  }, [rows, filter, closed, tree, columns]);
  const filled = columns.filter((c) => !(tree && c.name === "level") && rows.some((r) => r[c.name] !== null && r[c.name] !== undefined));
  const used = filled.filter((c, i) => i === 0 || !hidden.includes(c.name));
  const hide = (name: string) => {
    const next = hidden.includes(name) ? hidden.filter((h) => h !== name) : [...hidden, name];
    setHidden(next);
    try { localStorage.setItem(`hidden ${what}`, JSON.stringify(next)); } catch { /* not remembered then */ }
  };
  const largest = Math.max(1, ...rows.map((r) => Number(r.retained ?? r.shallow ?? 0)));
  const height = Math.min(shown.length * ROW + 2 * ROW + 12, report ? 1e9 : 620);
  const from = report ? 0 : Math.max(0, Math.floor(top / ROW) - 10), to = report ? (all ? shown.length : REPORTED) : from + 60;
  const toggle = (row: Row) => setClosed((old) => { const s = new Set(old); if (!s.delete(row)) s.add(row); return s; });
  const open = (row: Row) => {
    if (onOpen) onOpen(row);
    else if (row.id && !report) select(String(row.id));
  };
  const onKey = (e: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
    const row = shown[at];
    if (move !== undefined) {
      const next = Math.max(0, Math.min(shown.length - 1, at + move));
      setAt(next);
      if (box.current) {
        const y = next * ROW, view = box.current;
        if (y < view.scrollTop) view.scrollTop = y;
        if (y > view.scrollTop + view.clientHeight - 3 * ROW) view.scrollTop = y - view.clientHeight + 3 * ROW;
      }
    } else if (e.key === "Enter" && row) open(row);
    else if (tree && row && e.key === "ArrowLeft" && !closed.has(row)) toggle(row);
    else if (tree && row && e.key === "ArrowRight" && closed.has(row)) toggle(row);
    else return;
    e.preventDefault();
  };
  return <div class="table">
    <div class="tools">
      {!report && <input type="search" placeholder="Filter (regular expression)" aria-label={`Filter ${what}`} value={filter}
        onInput={(e) => setFilter((e.target as HTMLInputElement).value)} />}
      <span class="count">{number(shown.length)} of {total === null ? "many" : number(total)} rows</span>
      {!report && <button onClick={() => void navigator.clipboard.writeText(csvOf(used, shown))}>Copy as CSV</button>}
      {report && to < shown.length && <button class="print" onClick={() => setAll(true)}>Show all {number(shown.length)}</button>}
      {!report && filled.length > 2 && <details class="columns"><summary>Columns</summary><div>{filled.slice(1).map((c) =>
        <label title={c.help}><input type="checkbox" checked={!hidden.includes(c.name)} onChange={() => hide(c.name)} /> {c.title}</label>)}</div></details>}
    </div>
    <div class="scroll" ref={box} style={{ height: report ? "auto" : `${height}px` }} tabIndex={0} onKeyDown={onKey}
      onScroll={(e) => setTop((e.target as HTMLElement).scrollTop)} role="region" aria-label={what}>
      <table>
        <thead><tr>{used.map((c) => <th title={c.help} class={isNumber(c) ? "n" : ""}
          aria-sort={sort === c.name || sort === `-${c.name}` ? "other" : "none"}>
          {onSort && !tree && !report ? <button onClick={() => onSort(c.name)}>{c.title}{sort === c.name ? " ▾" : sort === `-${c.name}` ? " ▴" : ""}</button> : c.title}
          {c.type === "bytes" && !/bytes/i.test(c.title) ? <small> bytes</small> : null}</th>)}</tr></thead>
        <tbody>
          {from > 0 && <tr style={{ height: `${from * ROW}px` }} />}
          {shown.slice(from, to).map((row, i) => <tr key={from + i} class={from + i === at ? "at" : ""} onClick={() => setAt(from + i)}
            onDblClick={() => open(row)}>
            {used.map((c, j) => <td class={isNumber(c) ? "n" : ""}>
              {tree && j === 0 && <span style={{ paddingLeft: `${Math.min(40, Number(row.level)) * 14}px` }}>
                <button class="twist" aria-label="fold" onClick={() => toggle(row)}>{closed.has(row) ? "▸" : "▾"}</button></span>}
              {c.name === "retained" && typeof row.retained === "number" && <i class="bar" style={{ width: `${Math.round((60 * row.retained) / largest)}px` }} />}
              <Value value={row[c.name]} column={c} row={row} /></td>)}
          </tr>)}
          {to < shown.length && !report && <tr style={{ height: `${(shown.length - to) * ROW}px` }} />}
        </tbody>
      </table>
      {report && to < shown.length && <p class="dim">{number(shown.length - to)} more rows are in this file.</p>}
      {shown.length === 0 && <p class="empty">{rows.length ? `None of ${number(rows.length)} rows matches “${filter}”.` : "There are none."}</p>}
    </div>
  </div>;
}

// A question of the registry, with its columns, sorted by the server, in pages.
export function QueryTable({ query, params, what, sortKey, onOpen, hide, columns, limit: fixed }: {
  query: string; params: Params; what: string; sortKey?: string; onOpen?(row: Row): void; hide?: string[]; columns?: string[]; limit?: number;
}) {
  const [limit, setLimit] = useState(fixed ?? 1000);
  const sort = sortKey ? readRoute().params[sortKey] : undefined;
  const asked = useAnswer(query, { ...params, sort, limit: String(limit) });
  const spec = specs.get(query), answer = asked.answer;
  if (!answer) return <Wait asked={asked} what={what} />;
  const known = new Map(spec?.columns.map((c) => [c.name, c]));
  const names = columns ? columns.filter((c) => answer.columns.includes(c)) : answer.columns.filter((c) => !hide?.includes(c));
  const cols = names.map((name) => known.get(name) ?? { name, title: name, help: "", type: "text" });
  return <>
    <Marks facts={answer.facts} />
    <Table columns={cols} rows={answer.rows} total={answer.total_rows} sort={sort} what={what} onOpen={onOpen}
      tree={answer.columns.includes("level")}
      onSort={sortKey ? (c) => change({ [sortKey]: sort === c ? `-${c}` : c }) : undefined} />
    {!report && !fixed && answer.total_rows !== null && answer.total_rows > answer.row_count &&
      <button class="more" onClick={() => setLimit(Math.min(100000, limit * 5))}>Load more rows</button>}
  </>;
}

export function Panel({ title, children, right }: { title: string; children: ComponentChildren; right?: ComponentChildren }) {
  return <section class="panel"><h2>{title}<span class="right">{right}</span></h2>{children}</section>;
}

export { bytes, number, percent };
