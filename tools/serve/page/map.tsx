// The dominator tree as treemap, icicle and table, on canvas. By object each zoom is one question:
// the largest nodes below that object. By class, package and loader one tree is asked once.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Answer, Params, report } from "./api";
import { Cell, icicle, Node, treemap } from "./layout";
import { Marks, Panel, QueryTable, select, useAnswer, Wait } from "./parts";
import { change, Route } from "./route";
import { bytes, hue, number, percent, splitName, visible } from "./text";

const blank = (name: string): Node => ({ key: "", name, bytes: 0, count: 0, id: null, parent: null, children: [] });
const labels = new Map<string, string>(); // of objects that were zoomed into

// Rows with levels, made a tree.
function treeOf(answer: Answer, name: string): Node {
  const root = blank(name), stack = [root];
  for (const row of answer.rows) {
    const level = Number(row.level ?? 0);
    stack.length = Math.min(stack.length, level + 1);
    const parent = stack[stack.length - 1];
    const node: Node = { key: String(parent.children.length), name: String(row.name ?? row.label), bytes: Number(row.retained ?? row.below_shallow ?? 0),
      count: Number(row.objects ?? row.others ?? 1), id: row.id === null || row.id === undefined ? null : String(row.id), parent, children: [],
      others: row.others !== null && row.others !== undefined,
      delta: row.retained_delta === undefined || row.retained_delta === null ? undefined : Number(row.retained_delta) };
    parent.children.push(node);
    stack.push(node);
  }
  root.bytes = Math.max(Number(answer.facts.id ? answer.facts.retained : answer.facts.heap_shallow ?? 0), root.children.reduce((s, c) => s + c.bytes, 0));
  return root;
}

const dark = () => !matchMedia("print").matches && (document.documentElement.dataset.theme === "dark" ||
  (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches));

// What a colour stands for: a package, or a class without what follows it.
const shade = (n: Node, by: string): string => {
  const [head, tail] = splitName(n.name);
  return by === "class" ? head + tail.replace(/[\s"].*$/, "").replace(/\[\d+\]/g, "[]") : head || n.name;
};
const tint = (name: string, isDark: boolean, light: number) => `hsl(${hue(name)} ${isDark ? 32 : 42}% ${light}%)`;

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
  return tint(shade(n, by), isDark, light);
}

function draw(canvas: HTMLCanvasElement, cells: Cell[], by: string, root: Node, search: string, over: Node | null, from: Cell | null, part: number): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const scale = devicePixelRatio || 1, isDark = dark(), box = canvas.getBoundingClientRect();
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  context.scale(scale, scale);
  if (from && part < 1) {
    const mix = (a: number, b: number) => a + (b - a) * part;
    context.translate(mix(from.x, 0), mix(from.y, 0));
    context.scale(mix(from.w / box.width, 1), mix(from.h / box.height, 1));
  }
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

function sentence(n: Node, whole: number, cells: Cell[]): string {
  const share = whole ? `, ${percent((100 * n.bytes) / whole)} of the heap` : "";
  const count = n.count > 1 && !n.others ? `${number(n.count)} × ` : "";
  const grew = n.delta ? `, ${n.delta > 0 ? "+" : ""}${bytes(n.delta)}` : "";
  const where = n.parent?.parent ? ` in ${splitName(n.parent.name)[1]}` : "";
  const cell = cells.find((c) => c.node === n);
  const more = cell?.folded && n.children.length ? `; ${number(cell.folded)} more in it, ${bytes(cell.foldedBytes)}, are too small to be drawn` : "";
  return `${count}${visible(n.name)}${visible(where)}: ${bytes(n.bytes)}${share}${grew}${more}`;
}

function Legend({ cells, by }: { cells: Cell[]; by: string }) {
  if (by === "growth") return <p class="legend">Colour: blue shrinks, grey stays, orange grows.</p>;
  if (by === "size") return <p class="legend">Colour: retained size, the stronger the larger.</p>;
  const sums = new Map<string, number>();
  for (const c of cells.slice(1)) if (!c.node.others && !c.node.children.length) sums.set(shade(c.node, by), (sums.get(shade(c.node, by)) ?? 0) + c.node.bytes);
  const isDark = dark();
  return <p class="legend">Colour: {by}. {[...sums].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name]) =>
    <span><i style={{ background: tint(name, isDark, isDark ? 32 : 77) }} />{visible(by === "class" ? splitName(name)[1] || name : name.replace(/\.$/, ""))}</span>)}</p>;
}

const calm = () => report !== null || matchMedia("(prefers-reduced-motion: reduce)").matches;

function Picture({ root, whole, shape, by, search, onZoom, onUp }: {
  root: Node; whole: number; shape: string; by: string; search: string; onZoom(n: Node): void; onUp?(): void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null), from = useRef<Cell | null>(null), timer = useRef(0);
  const [width, setWidth] = useState(0);
  const [over, setOver] = useState<Node | null>(null);
  const [, redraw] = useState(0);
  useEffect(() => {
    const print = matchMedia("print"), on = () => redraw((n) => n + 1);
    print.addEventListener("change", on);
    return () => print.removeEventListener("change", on);
  }, []);
  const height = shape === "icicle" ? 0 : Math.max(320, Math.min(640, Math.round(width * 0.55)));
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(canvas.current?.parentElement?.clientWidth ?? 0));
    if (canvas.current?.parentElement) watch.observe(canvas.current.parentElement);
    return () => watch.disconnect();
  }, []);
  const cells = useMemo(() => (width ? (shape === "icicle" ? icicle(root, width) : treemap(root, width, height)) : []), [root, width, shape, height]);
  const tall = shape === "icicle" ? Math.max(...cells.map((c) => c.y + c.h), 60) : height;
  useEffect(() => {
    const start = performance.now(), box = from.current;
    const frame = () => {
      const part = box ? Math.min(1, (performance.now() - start) / 150) : 1;
      if (canvas.current) draw(canvas.current, cells, by, root, search, over, box, part);
      if (part < 1) timer.current = requestAnimationFrame(frame);
      else from.current = null;
    };
    frame();
    return () => cancelAnimationFrame(timer.current);
  }, [cells, by, search, over, tall, dark()]);
  const hit = (e: MouseEvent): Cell | undefined => {
    const box = (e.target as HTMLElement).getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    for (let i = cells.length - 1; i >= 0; i--) {
      const c = cells[i];
      if (x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h) return c;
    }
  };
  const zoom = (n: Node) => {
    if (n === root || n.others) return;
    from.current = calm() ? null : cells.find((c) => c.node === n) ?? null;
    setOver(null);
    onZoom(n);
  };
  const onKey = (e: KeyboardEvent) => {
    const drawn = (list: Node[]) => list.filter((n) => !n.others && cells.some((c) => c.node === n)).sort((a, b) => b.bytes - a.bytes);
    const beside = over?.parent ? drawn(over.parent.children) : [], below = drawn((over ?? root).children);
    if (e.key === "Escape" && onUp) onUp();
    else if (e.key === "Enter" && over) zoom(over);
    else if (e.key === "ArrowDown" && below.length) setOver(below[0]);
    else if (e.key === "ArrowUp" && over?.parent && over !== root) setOver(over.parent === root ? null : over.parent);
    else if ((e.key === "ArrowRight" || e.key === "ArrowLeft") && beside.length)
      setOver(beside[(beside.indexOf(over!) + (e.key === "ArrowRight" ? 1 : beside.length - 1)) % beside.length]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const found = search ? cells.filter((c) => c.node.name.toLowerCase().includes(search) && !(c.node.parent?.name.toLowerCase().includes(search))) : [];
  return <div>
    <p class="status" aria-live="polite">{over ? sentence(over, whole, cells) : search
      ? `${number(found.length)} cells match “${search}”: ${bytes(found.reduce((s, c) => s + c.node.bytes, 0))}`
      : `Click or arrows and Enter zoom in, Escape goes up. ${number(cells.length)} cells; smaller ones are not drawn.`}</p>
    <div><canvas ref={canvas} style={{ width: "100%", height: `${tall}px` }} tabIndex={0} role="img"
      aria-label={`${shape} of the dominator tree; the table has the same numbers`}
      onMouseMove={(e) => setOver(hit(e)?.node ?? null)} onMouseLeave={() => setOver(null)}
      onClick={(e) => { const n = hit(e)?.node; if (n) zoom(n); }} onKeyDown={onKey} /></div>
    <Legend cells={cells} by={by} />
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

interface Crumb { text: string; go: Record<string, string | undefined> }

export function MapView({ route, compare, fixed }: { route: Route; compare?: boolean; fixed?: { shape: string; by: string } }) {
  const p: Record<string, string> = { ...route.params, ...fixed }, by = p.by ?? "class", shape = p.shape ?? "treemap", colours = compare ? "growth" : p.colour ?? "package";
  const [search, setSearch] = useState("");
  const objects = by === "object" && !compare && !report;
  const ids = objects && p.root ? p.root.split(",") : [], top = ids[ids.length - 1];
  const query = objects ? "dominators" : compare ? "diff" : "dominator-tree";
  const params: Params = objects ? { db: p.db, target: top, tree: "4000" } : compare ? { db: p.db, before: p.before, by: "dominator" } : { db: p.db, by };
  const asked = useAnswer(query, { ...params, limit: "100000" });
  const kept = useRef<Node | null>(null); // what is shown until the next level is there: nothing moves
  const tree = useMemo(() => (asked.answer ? treeOf(asked.answer, top ? labels.get(top) ?? top : "the heap") : null), [asked.answer]);
  if (tree) kept.current = tree;
  const keys = !objects && p.zoom && !fixed ? p.zoom.split("/") : [];
  let zoom = tree ?? kept.current;
  for (const key of keys) zoom = zoom?.children.find((c) => c.key === key) ?? zoom;
  for (const n of zoom?.children ?? []) if (n.id) labels.set(n.id, n.name);
  const heap = Number(asked.answer?.facts.heap_shallow ?? 0) || zoom?.bytes || 0;
  const crumbs: Crumb[] = [{ text: "the heap", go: { zoom: undefined, root: undefined } },
    ...(objects ? ids.map((id, i) => ({ text: labels.get(id) ?? id, go: { root: ids.slice(0, i + 1).join(",") } }))
      : zoom ? pathOf(zoom).map((n) => ({ text: n.name, go: { zoom: pathOf(n).map((q) => q.key).join("/") } })) : [])];
  const onZoom = (n: Node) => {
    if (!objects) {
      if (n.children.length) change({ zoom: pathOf(n).map((q) => q.key).join("/") });
      else if (n.id && !report) select(n.id);
      return;
    }
    for (const q of pathOf(n)) if (q.id) labels.set(q.id, q.name);
    if (!n.children.length) select(n.id!);
    else change({ root: [...ids, ...pathOf(n).map((q) => q.id!)].join(",") });
  };
  const here = objects ? top : zoom?.id;
  return <Panel title={compare ? "What grew, in the dominator tree" : fixed ? `Where the memory is: ${shape} by ${by}` : "Where the memory is"}>
    {!fixed && <div class="tools">
      <Choice label="Shape" value={shape} choices={[["treemap"], ["icicle"], ["table"]]} onChange={(shape) => change({ shape })} />
      {!compare && <Choice label="By" value={by} choices={report ? [["class"], ["package"]] : [["class"], ["package"], ["loader"], ["object"]]}
        onChange={(by) => change({ by, zoom: undefined, root: undefined })} />}
      {!compare && <Choice label="Colour" value={colours} choices={[["package"], ["class"], ["size", "retained size"]]} onChange={(colour) => change({ colour })} />}
      <input type="search" placeholder="Highlight" aria-label="Highlight names" onInput={(e) => setSearch((e.target as HTMLInputElement).value.toLowerCase())} />
    </div>}
    {!fixed && <nav class="crumbs" aria-label="Path of dominators">{crumbs.map((c, i) => <>{i > 0 && " › "}<button onClick={() => change(c.go)}>{visible(splitName(c.text)[1] || c.text)}</button></>)}
      {here && crumbs.length > 1 && !report && <button class="act" onClick={() => select(here)}>inspect</button>}</nav>}
    {!zoom && <Wait asked={asked} what="the dominator tree" />}
    {asked.error && <p class="error" role="alert">{visible(asked.error)}</p>}
    {asked.answer && <Marks facts={asked.answer.facts} />}
    {zoom && (shape === "table"
      ? <QueryTable query={query} params={params} what="dominator tree" />
      : <Picture root={zoom} whole={heap} shape={shape} by={colours} search={search} onZoom={onZoom}
        onUp={crumbs.length > 1 ? () => change(crumbs[crumbs.length - 2].go) : undefined} />)}
  </Panel>;
}
