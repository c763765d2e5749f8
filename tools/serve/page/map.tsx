// The dominator tree as treemap, icicle and table, on canvas.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Answer, ask, Params, report, Row } from "./api";
import { Cell, icicle, Node, treemap } from "./layout";
import { Marks, Panel, QueryTable, select, useAnswer, Wait } from "./parts";
import { change, Route } from "./route";
import { bytes, hue, number, percent, splitName, visible } from "./text";

const blank = (name: string): Node => ({ key: "", name, bytes: 0, count: 0, id: null, parent: null, children: [] });

// Rows with levels, made a tree.
function treeOf(answer: Answer): Node {
  const root = blank("the heap"), stack = [root];
  for (const row of answer.rows) {
    const level = Number(row.level ?? 0);
    stack.length = Math.min(stack.length, level + 1);
    const parent = stack[stack.length - 1];
    const node: Node = { key: String(parent.children.length), name: String(row.name), bytes: Number(row.retained ?? row.below_shallow ?? 0),
      count: Number(row.objects ?? row.others ?? 0), id: row.id === null ? null : String(row.id), parent, children: [], open: true,
      others: row.others !== null && row.others !== undefined,
      delta: row.retained_delta === undefined || row.retained_delta === null ? undefined : Number(row.retained_delta) };
    parent.children.push(node);
    stack.push(node);
  }
  root.open = true;
  root.bytes = Math.max(Number(answer.facts.heap_shallow ?? 0), root.children.reduce((s, c) => s + c.bytes, 0));
  return root;
}

function addObjects(parent: Node, rows: Row[]): void {
  parent.open = true;
  parent.children = rows.map((row) => ({ key: String(row.id), name: String(row.label ?? row.class), bytes: Number(row.retained),
    count: 1, id: String(row.id), parent, children: [], open: !Number(row.children) }));
}

// Objects: the largest cells are opened first, some dozens of small questions.
function useObjects(params: Params, active: boolean, zoom: string[]): { root: Node | null; version: number } {
  const [state, set] = useState<{ root: Node | null; version: number }>({ root: null, version: 0 });
  const kept = useRef<Node | null>(null);
  useEffect(() => {
    if (!active) return;
    let live = true, left = 80;
    const level = async (node: Node, limit: number) => {
      const answer = await ask("dominators", { ...params, target: node.id ?? undefined, limit: String(limit) }).answer;
      addObjects(node, answer.rows);
      if (!node.parent) node.bytes = Number(answer.facts.heap_shallow ?? 0);
    };
    void (async () => {
      let root = kept.current;
      if (!root) { root = blank("the heap"); await level(root, 1000); kept.current = root; }
      let start = root;
      for (const key of zoom) {
        if (!start.open) await level(start, 500);
        const next = start.children.find((c) => c.key === key);
        if (!next) break;
        start = next;
      }
      while (live && left > 0) {
        const waiting: Node[] = [];
        const walk = [start];
        for (let n = walk.pop(); n; n = walk.pop()) {
          if (!n.open) waiting.push(n);
          else for (const c of n.children) if (c.bytes > start.bytes / 500) walk.push(c);
        }
        const next = waiting.sort((a, b) => b.bytes - a.bytes).slice(0, 4);
        if (!next.length) break;
        left -= next.length;
        await Promise.all(next.map((n) => level(n, 200)));
        if (live) set((s) => ({ root, version: s.version + 1 }));
      }
      if (live) set((s) => ({ root, version: s.version + 1 }));
    })().catch(() => undefined);
    return () => { live = false; };
  }, [active, JSON.stringify(params), zoom.join()]);
  return state;
}

const dark = () => document.documentElement.dataset.theme === "dark" ||
  (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);

function colour(cell: Cell, by: string, root: Node, isDark: boolean): string {
  const n = cell.node, light = isDark ? 26 + (cell.depth % 2) * 6 : 84 - (cell.depth % 2) * 7;
  if (by === "growth") {
    if (!n.delta) return `hsl(220 8% ${light}%)`;
    const much = Math.min(1, Math.abs(n.delta) / Math.max(1, n.bytes));
    return `hsl(${n.delta > 0 ? 32 : 212} ${20 + 60 * much}% ${light - (isDark ? 0 : 12 * much)}%)`;
  }
  if (by === "size") {
    const share = Math.min(1, n.bytes / Math.max(1, root.bytes));
    return `hsl(212 ${25 + 35 * share}% ${isDark ? 22 + 26 * share : 92 - 30 * share}%)`;
  }
  if (n.others) return `hsl(220 8% ${light}%)`;
  const [head] = splitName(n.name);
  return `hsl(${hue(head || n.name)} ${isDark ? 32 : 42}% ${light}%)`;
}

function draw(canvas: HTMLCanvasElement, cells: Cell[], by: string, root: Node, search: string, over: Node | null): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const scale = devicePixelRatio || 1, isDark = dark(), box = canvas.getBoundingClientRect();
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  context.scale(scale, scale);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "top";
  for (const cell of cells) {
    const { x, y, w, h } = cell, n = cell.node;
    context.globalAlpha = search && !n.name.toLowerCase().includes(search) ? 0.35 : 1;
    context.fillStyle = colour(cell, by, root, isDark);
    context.fillRect(x, y, w, h);
    context.strokeStyle = n === over ? (isDark ? "#fff" : "#000") : isDark ? "#14181d" : "#fff";
    context.lineWidth = n === over ? 2 : 0.5;
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    if (cell.label && w > 26 && h >= 13) {
      const text = visible(splitName(n.name)[1] || n.name), room = Math.floor((w - 6) / 6);
      context.fillStyle = isDark ? "#e8edf2" : "#1b2229";
      context.fillText(text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text, x + 3, y + 2);
      if (w > 150 && h > 30 && !n.children.length) context.fillText(bytes(n.bytes), x + 3, y + 15);
    }
  }
  context.globalAlpha = 1;
}

function sentence(n: Node, whole: number): string {
  const share = whole ? `, ${percent((100 * n.bytes) / whole)} of the heap` : "";
  const count = n.count > 1 ? `${number(n.count)} × ` : "";
  const grew = n.delta ? `, ${n.delta > 0 ? "+" : ""}${bytes(n.delta)}` : "";
  const where = n.parent?.parent ? ` in ${splitName(n.parent.name)[1]}` : "";
  return `${count}${visible(n.name)}${where}: ${bytes(n.bytes)}${share}${grew}`;
}

function Picture({ root, whole, shape, by, zoom, search }: { root: Node; whole: number; shape: string; by: string; zoom: Node; search: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [over, setOver] = useState<Node | null>(null);
  const height = shape === "icicle" ? 0 : Math.max(320, Math.min(640, Math.round(width * 0.55)));
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(canvas.current?.parentElement?.clientWidth ?? 0));
    if (canvas.current?.parentElement) watch.observe(canvas.current.parentElement);
    return () => watch.disconnect();
  }, []);
  const cells = useMemo(() => (width ? (shape === "icicle" ? icicle(zoom, width) : treemap(zoom, width, height)) : []), [zoom, width, shape, height, root]);
  const tall = shape === "icicle" ? Math.max(...cells.map((c) => c.y + c.h), 60) : height;
  useEffect(() => { if (canvas.current) draw(canvas.current, cells, by, zoom, search, over); }, [cells, by, search, over, tall]);
  const hit = (e: MouseEvent): Cell | undefined => {
    const box = (e.target as HTMLElement).getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    for (let i = cells.length - 1; i >= 0; i--) {
      const c = cells[i];
      if (x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h) return c;
    }
  };
  const go = (n: Node) => change({ zoom: pathOf(n).map((p) => p.key).join("/") || undefined });
  const found = search ? cells.filter((c) => c.node.name.toLowerCase().includes(search) && !(c.node.parent?.name.toLowerCase().includes(search))) : [];
  return <div>
    <p class="status">{over ? sentence(over, whole) : search
      ? `${number(found.length)} cells match “${search}”: ${bytes(found.reduce((s, c) => s + c.node.bytes, 0))}`
      : `Click zooms in, Escape goes up. ${number(cells.length)} cells; smaller ones are not drawn.`}</p>
    <div><canvas ref={canvas} style={{ width: "100%", height: `${tall}px` }} tabIndex={0} role="img"
      aria-label={`${shape} of the dominator tree; the table has the same numbers`}
      onMouseMove={(e) => setOver(hit(e)?.node ?? null)} onMouseLeave={() => setOver(null)}
      onClick={(e) => {
        const n = hit(e)?.node;
        if (!n || n === zoom) return;
        if (n.id && !n.children.length && !report) select(n.id);
        else go(n.children.length || !n.open ? n : (n.parent ?? n));
      }}
      onKeyDown={(e) => { if (e.key === "Escape" && zoom.parent) { go(zoom.parent); e.stopPropagation(); } }} /></div>
  </div>;
}

function pathOf(node: Node): Node[] {
  const path: Node[] = [];
  for (let n: Node | null = node; n && n.parent; n = n.parent) path.unshift(n);
  return path;
}

export function Choice({ label, value, choices, onChange }: { label: string; value: string; choices: string[][]; onChange(v: string): void }) {
  return <label>{label} <select value={value} onChange={(e) => onChange((e.target as HTMLSelectElement).value)}>
    {choices.map(([v, t]) => <option value={v}>{t ?? v}</option>)}</select></label>;
}

export function MapView({ route, compare }: { route: Route; compare?: boolean }) {
  const p = route.params, by = p.by ?? "class", shape = p.shape ?? "treemap", colours = compare ? "growth" : p.colour ?? "package";
  const [search, setSearch] = useState("");
  const objects = by === "object" && !compare && !report;
  const params: Params = compare ? { db: p.db, before: p.before, by: "dominator" } : { db: p.db, by };
  const asked = useAnswer(objects ? "" : compare ? "diff" : "dominator-tree", objects ? {} : { ...params, limit: "100000" });
  const keys = p.zoom ? p.zoom.split("/") : [];
  const byObject = useObjects({ db: p.db }, objects, keys);
  const merged = useMemo(() => (asked.answer ? treeOf(asked.answer) : null), [asked.answer]);
  const root = objects ? byObject.root : merged;
  let zoom = root;
  for (const key of keys) zoom = zoom?.children.find((c) => c.key === key) ?? zoom;
  const fresh = useMemo(() => (zoom ? { ...zoom } : null), [zoom, byObject.version]);
  return <Panel title={compare ? "What grew, in the dominator tree" : "Where the memory is"}>
    <div class="tools">
      <Choice label="Shape" value={shape} choices={[["treemap"], ["icicle"], ["table"]]} onChange={(shape) => change({ shape })} />
      {!compare && <Choice label="By" value={by} choices={report ? [["class"], ["package"]] : [["class"], ["package"], ["loader"], ["object"]]}
        onChange={(by) => change({ by, zoom: undefined })} />}
      {!compare && <Choice label="Colour" value={colours} choices={[["package"], ["size", "retained size"]]} onChange={(colour) => change({ colour })} />}
      {compare && <span class="legend">blue shrinks, grey stays, orange grows</span>}
      <input type="search" placeholder="Highlight" aria-label="Highlight names" onInput={(e) => setSearch((e.target as HTMLInputElement).value.toLowerCase())} />
    </div>
    {!objects && <Wait asked={asked} what="the dominator tree" />}
    {asked.answer && <Marks facts={asked.answer.facts} />}
    {root && zoom && fresh && <>
      <nav class="crumbs" aria-label="Path of dominators"><button onClick={() => change({ zoom: undefined })}>the heap</button>
        {pathOf(zoom).map((n) => <> › <button onClick={() => change({ zoom: pathOf(n).map((q) => q.key).join("/") })}>{visible(splitName(n.name)[1] || n.name)}</button></>)}
        {zoom.id && !report && <button class="act" onClick={() => select(zoom!.id!)}>inspect</button>}</nav>
      {shape === "table"
        ? <QueryTable query={objects ? "dominators" : compare ? "diff" : "dominator-tree"} params={objects ? { db: p.db, target: zoom.id ?? undefined } : params} what="dominator tree" />
        : <Picture root={root} whole={root.bytes} shape={shape} by={colours} zoom={fresh} search={search} />}
    </>}
  </Panel>;
}
