// The dominator tree as treemap, icicle or table. By object, each zoom is one query for the largest nodes below that
// object. By class, package and loader, the whole tree is loaded once.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Answer, hasSql, Params, report, Row } from "./api";
import { Cell, icicle, Node, treemap } from "./layout";
import { Marks, useAnswer, Wait } from "./asking";
import { Breaking, classActions, classPage, Item, menuAt, select } from "./objects";
import { Panel } from "./parts";
import { download } from "./export";
import { Table } from "./table";
import { change, linkTo, readRoute, Route } from "./route";
import { bytes, hue, number, percent, splitName, visible } from "./text";

export const blank = (name: string): Node => ({
  key: "",
  name,
  bytes: 0,
  weight: 0,
  count: 0,
  id: null,
  parent: null,
  children: [],
});
const labels = new Map<string, string>(); // labels of objects seen so far, for the breadcrumb

// Builds a tree from rows with levels. `grown`: areas show the change instead of the size.
function treeOf(answer: Answer, name: string, grown: boolean, group: Node["group"]): Node {
  const root = blank(name),
    stack = [root],
    all = [root];
  for (const row of answer.rows) {
    const level = Number(row.level ?? 0);
    stack.length = Math.min(stack.length, level + 1);
    const parent = stack[stack.length - 1],
      several = row.others !== null && row.others !== undefined;
    const node: Node = {
      ...blank(String(row.name ?? row.label)),
      key: String(parent.children.length),
      bytes: Number(row.retained ?? row.below_shallow ?? 0),
      count: Number((several ? row.others : row.objects) ?? 1),
      id: row.id === null || row.id === undefined ? null : String(row.id),
      parent,
      others: several,
      whole: group === "package",
      group,
      delta: row.retained_delta === undefined || row.retained_delta === null ? undefined : Number(row.retained_delta),
    };
    parent.children.push(node);
    stack.push(node);
    all.push(node);
  }
  root.bytes = Math.max(
    Number(answer.facts.id ? answer.facts.retained : (answer.facts.heap_shallow ?? 0)),
    root.children.reduce((s, c) => s + c.bytes, 0),
  );
  weigh(all, grown);
  return root;
}

// Inverts the tree: below each name are the names that hold it.
function inverted(root: Node): Node {
  const top: Node = { ...blank(root.name), bytes: root.bytes },
    all = [top],
    found = new Map<Node, Map<string, Node>>(),
    stack = [...root.children];
  const childOf = (at: Node, n: Node): Node => {
    const names = found.get(at) ?? new Map<string, Node>(),
      known = names.get(n.name);
    if (known) return known;
    const made: Node = {
      ...blank(n.name),
      key: String(at.children.length),
      parent: at,
      others: n.others,
      whole: n.whole,
      group: n.group,
      count: 0,
    };
    found.set(at, names.set(n.name, made));
    at.children.push(made);
    all.push(made);
    return made;
  };
  while (stack.length) {
    const n = stack.pop()!,
      own = n.bytes - n.children.reduce((s, c) => s + c.bytes, 0);
    stack.push(...n.children);
    if (own <= 0) continue;
    let at = top;
    for (let q: Node | null = n; q && q !== root; q = q.parent) {
      at = childOf(at, q);
      at.bytes += own;
      at.count += n.count;
    }
  }
  weigh(all, false);
  originals.set(top, topOf(root));
  return top;
}

// Sets the weights from the leaves up (parents precede their children in `all`). A node's area must not be smaller than
// the sum of its children's areas.
export function weigh(all: Node[], grown: boolean): void {
  for (let i = all.length - 1; i >= 0; i--) {
    const node = all[i],
      below = node.children.reduce((s, c) => s + c.weight, 0);
    node.weight = grown ? Math.max(node.others ? 0 : Math.abs(node.delta ?? 0), below) : Math.max(node.bytes, below);
  }
}

const dark = () =>
  !matchMedia("print").matches &&
  (document.documentElement.dataset.theme === "dark" ||
    (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches));

// The package or class that determines a node's colour. Array lengths and values in labels are ignored.
const shade = (n: Node, by: string): string => {
  if (n.whole) return n.name;
  const [head, tail] = splitName(n.name.replace(/^class /, "")),
    klass = head + tail.replace(/[\s"].*$/, "").replace(/\[\d+\]/g, "[]");
  if (by === "class") return klass;
  return (
    head ||
    (/^(byte|char|short|int|long|float|double|boolean)\[\]/.test(klass)
      ? "arrays of numbers"
      : /\.$|^<|^\(/.test(klass)
        ? klass
        : n.parent
          ? "no package"
          : "the heap")
  );
};

// The names with the largest sizes get fixed hues, in an order that keeps neighbours apart. All others get a paler hue
// derived from the name.
const HUES = [210, 30, 130, 280, 0, 180, 60, 320, 100, 245, 160, 345];
const hues = new WeakMap<Node, Map<string, Map<string, number>>>(); // by tree, then by "class" or "package"
const originals = new WeakMap<Node, Node>(); // inverted tree -> original tree, so that both have the same colours
function topOf(node: Node): Node {
  let top = node;
  while (top.parent) top = top.parent;
  return top;
}
function huesOf(node: Node, by: string): Map<string, number> {
  const top = originals.get(topOf(node)) ?? topOf(node);
  const known = hues.get(top)?.get(by);
  if (known) return known;
  const sums = new Map<string, number>(),
    stack = [top];
  while (stack.length) {
    const n = stack.pop()!;
    const own = n.bytes - n.children.reduce((s, c) => s + c.bytes, 0);
    if (!n.others && n !== top && own > 0) sums.set(shade(n, by), (sums.get(shade(n, by)) ?? 0) + own);
    stack.push(...n.children);
  }
  const made = new Map(
    [...sums]
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, HUES.length)
      .map(([name], i) => [name, HUES[i]]),
  );
  hues.set(top, (hues.get(top) ?? new Map<string, Map<string, number>>()).set(by, made));
  return made;
}
function tint(name: string, of: Map<string, number>, isDark: boolean, light: number): string {
  const own = of.get(name);
  return `hsl(${own ?? hue(name)} ${own === undefined ? 12 : isDark ? 32 : 42}% ${light}%)`;
}

function colour(cell: Cell, by: string, root: Node, isDark: boolean): string {
  const n = cell.node,
    light = isDark ? 26 + (cell.depth % 2) * 6 : 84 - (cell.depth % 2) * 7;
  if (by === "growth") {
    if (!n.delta || n.others) return `hsl(220 8% ${light}%)`;
    const much = Math.min(1, Math.abs(n.delta) / Math.max(1, n.bytes));
    return `hsl(${n.delta > 0 ? 32 : 212} ${20 + 60 * much}% ${light - (isDark ? 0 : 12 * much)}%)`;
  }
  if (n.others || n === root) return `hsl(220 8% ${light}%)`;
  if (by === "size") {
    const share = Math.min(1, n.bytes / Math.max(1, root.bytes));
    return `hsl(212 ${25 + 35 * share}% ${isDark ? 22 + 18 * share : 92 - 30 * share}%)`;
  }
  return tint(shade(n, by), huesOf(root, by), isDark, light);
}

const LEGIBLE = 4; // minimum letters of a shortened name

// Shortens a text to the width of its cell.
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let fits = 0,
    cut = text.length;
  while (cut - fits > 1) {
    const middle = (fits + cut) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) fits = middle;
    else cut = middle;
  }
  return fits >= LEGIBLE ? `${text.slice(0, fits)}…` : "";
}

const short = (n: Node): string => (n.whole ? n.name : splitName(n.name)[1] || n.name);
const signed = (n: number): string => `${n > 0 ? "+" : ""}${bytes(n)}`;
// The number on a cell: its size or its growth.
const amount = (n: Node, grown: boolean): string =>
  grown ? signed(n.delta ?? 0) : n.plain ? number(n.bytes) : bytes(n.bytes);
const title = (n: Node, grown: boolean): string =>
  n.others
    ? `${number(n.count)} more, ${amount(n, grown)}`
    : `${n.owner !== undefined ? `${number(n.count)} ` : ""}${visible(short(n))}`;

// Number of objects and their size, at the right of a cell.
const sum = (n: Node, grown: boolean): string =>
  `${!grown && n.count > 1 && n.owner === undefined ? `${number(n.count)} · ` : ""}${amount(n, grown)}`;

interface Drawing {
  cells: Cell[];
  by: string;
  root: Node;
  search: string;
  over: Node | null;
  grown: boolean;
  tall: boolean;
}

function draw(
  canvas: HTMLCanvasElement,
  { cells, by, root, search, over, grown, tall }: Drawing,
  from: Cell | null,
  part: number,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const scale = devicePixelRatio || 1,
    isDark = dark(),
    box = canvas.getBoundingClientRect();
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  context.scale(scale, scale);
  if (from && part < 1) {
    const mix = (a: number, b: number) => a + (b - a) * part;
    context.translate(mix(from.x, 0), mix(from.y, 0));
    context.scale(mix(from.w / box.width, 1), mix(from.h / box.height, 1));
  }
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "top";
  for (const cell of cells) {
    const { x, y, w, h } = cell,
      n = cell.node;
    context.globalAlpha = search && !n.name.toLowerCase().includes(search) ? 0.35 : 1;
    context.fillStyle = colour(cell, by, root, isDark);
    context.fillRect(x, y, w, h);
    context.strokeStyle = n === over ? (isDark ? "#fff" : "#000") : isDark ? "#14181d" : "#fff";
    context.lineWidth = n === over ? 2 : 0.5;
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    if (cell.label && w > 26 && h >= 13) {
      context.fillStyle = isDark ? "#f4f7fa" : "#14191f";
      const roomLeft = w - 10 - context.measureText(sum(n, grown)).width,
        isFull = !n.others && n.owner === undefined && context.measureText(visible(n.name)).width <= roomLeft;
      const name = isFull ? visible(n.name) : title(n, grown),
        room = w - 6 - context.measureText(name).width;
      context.fillText(fitted(context, name, w - 6), x + 3, y + 2);
      if (n.others) continue;
      const isBelow = h > 30 && (!n.children.length || tall);
      if (n !== root || tall)
        for (const said of [sum(n, grown), amount(n, grown)]) {
          const long = context.measureText(said).width;
          if ((isBelow ? w - 6 : room - 10) < long) continue;
          context.fillText(said, isBelow ? x + 3 : x + w - 3 - long, isBelow ? y + 15 : y + 2);
          break;
        }
    }
  }
  context.globalAlpha = 1;
}

function sentence(n: Node, whole: number): string {
  const share = whole ? `, ${percent((100 * n.bytes) / whole)} of the heap` : "";
  const grew = n.delta ? `, ${signed(n.delta)}` : "";
  const where = n.parent?.parent || n.parent?.id ? ` in ${short(n.parent!)}` : "";
  const what = n.others
    ? `${number(n.count)} more, too small to be drawn one by one,`
    : `${n.count > 1 ? `${number(n.count)} × ` : ""}${visible(n.name)}`;
  return `${what}${visible(where)}: ${amount(n, false)}${share}${grew}`;
}

function Legend({
  root,
  cells,
  by,
  most,
  grown,
}: {
  root: Node;
  cells: Cell[];
  by: string;
  most: number;
  grown: boolean;
}) {
  if (by === "growth")
    return (
      <p class="legend">
        {grown ? "Area and number: growth, or growth of the contents if that is larger. " : ""}Colour: orange for
        growth, blue for shrinkage, grey for neither. The contents of a grey cell may have changed.
      </p>
    );
  if (by === "size") return <p class="legend">Colour: retained size. A stronger colour is larger.</p>;
  const sums = new Map<string, number>();
  const isInverted = originals.has(topOf(root)); // then the first level has all bytes
  for (const c of cells.slice(1)) {
    const own = isInverted
      ? c.depth === 1
        ? c.node.bytes
        : 0
      : c.node.bytes - c.node.children.reduce((s, n) => s + n.bytes, 0);
    if (!c.node.others && own > 0) sums.set(shade(c.node, by), (sums.get(shade(c.node, by)) ?? 0) + own);
  }
  const isDark = dark();
  return (
    <p class="legend">
      Colour: {by}
      {root.plain ? "" : ", with the shallow size of the drawn cells"}.{" "}
      {[...sums]
        .sort((a, b) => b[1] - a[1])
        .slice(0, most)
        .map(([name, sum]) => (
          <span>
            <i style={{ background: tint(name, huesOf(root, by), isDark, isDark ? 32 : 77) }} />
            <Breaking
              text={visible(
                by === "class" && !root.children.some((n) => n.whole)
                  ? splitName(name)[1] || name
                  : name.replace(/\.$/, ""),
              )}
              at={/(?<=\.)/}
            />{" "}
            <small>{root.plain ? number(sum) : bytes(sum)}</small>
          </span>
        ))}
    </p>
  );
}

// The picture as an SVG file, with tooltips and the legend.
function svgOf(
  cells: Cell[],
  by: string,
  root: Node,
  whole: number,
  grown: boolean,
  legend: [string, string][],
): string {
  const escape = (t: string) => t.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`),
    width = Math.max(...cells.map((c) => c.x + c.w)),
    height = Math.max(...cells.map((c) => c.y + c.h));
  const measure = document.createElement("canvas").getContext("2d")!;
  measure.font = "12px sans-serif";
  const n2 = (n: number) => n.toFixed(1),
    lines: string[] = [];
  for (const c of cells) {
    const name = `${title(c.node, grown)}${c.node.others ? "" : `  ${sum(c.node, grown)}`}`,
      box = `x="${n2(c.x)}" y="${n2(c.y)}" width="${n2(c.w)}" height="${n2(c.h)}" fill="${colour(c, by, root, false)}"`,
      isNamed = c.label && c.w > 26 && c.h >= 13,
      at = `x="${n2(c.x + 3)}" y="${n2(c.y + 12)}"`;
    lines.push(
      `<g><title>${escape(sentence(c.node, whole))}</title><rect ${box} stroke="#fff" stroke-width="0.5"/>` +
        `${isNamed ? `<text ${at}>${escape(fitted(measure, name, c.w - 6))}</text>` : ""}</g>`,
    );
  }
  let x = 0;
  for (const [name, fill] of legend) {
    lines.push(
      `<rect x="${n2(x)}" y="${n2(height + 8)}" width="11" height="11" fill="${fill}"/><text ` +
        `x="${n2(x + 15)}" y="${n2(height + 18)}">${escape(name)}</text>`,
    );
    x += measure.measureText(name).width + 34;
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n2(width)} ${n2(height + 26)}" ` +
    `font-family="sans-serif" font-size="12" fill="#14191f">${lines.join("\n")}</svg>\n`
  );
}

// Kind of the names in the picture.
const kindOf = (by: string, compare?: boolean): Node["group"] =>
  compare ? "class" : by === "package" || by === "loader" || by === "class" ? by : undefined;

// SQL for all objects of a class that one object dominates.
const sqlOf = (n: Node): string =>
  "SELECT id, class, shallow, retained FROM objects WHERE " +
  `${n.owner ? `dominator = ${n.owner}` : "dominator IS NULL AND reachable"} AND class = ` +
  `'${n.name.replace(/'/g, "''")}' ORDER BY retained DESC LIMIT 1000`;

// Subject of a cell's menu: its object, or the group if the cell has several objects.
function subjectOf(n: Node): Parameters<typeof menuAt>[0] | null {
  if (n.others || n.plain !== undefined) return n.id && n.count === 1 ? { id: n.id } : null;
  if (n.owner === undefined && (!n.group || n.count === 1)) return n.id ? { id: n.id } : null;
  const items: Item[] = [];
  if (n.owner !== undefined && hasSql())
    items.push(["Objects of this cell", linkTo("sql", { sql: sqlOf(n), obj: undefined })]);
  if (n.group === "package")
    items.push(["Classes of the package", linkTo("histogram", { target: `${n.name}.*`, obj: undefined })]);
  else if (n.group === "loader") items.push(["Class loaders", linkTo("loaders", { obj: undefined })]);
  else if (/^[^<(]/.test(n.name)) items.push(...classActions(n.name));
  return { name: n.name, items };
}

const skipsMotion = () => report !== null || matchMedia("(prefers-reduced-motion: reduce)").matches;

export function Picture({
  root,
  whole,
  shape,
  by,
  search,
  low,
  late,
  grown,
  onZoom,
  onUp,
}: {
  root: Node;
  whole: number;
  shape: string;
  by: string;
  search: string;
  low?: boolean;
  late: boolean;
  grown: boolean;
  onZoom(n: Node): void;
  onUp?(): void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null),
    from = useRef<Cell | null>(null),
    timer = useRef(0);
  const [width, setWidth] = useState(0);
  const [over, setOver] = useState<Node | null>(null);
  const [tip, setTip] = useState<{ x: number; y: number } | null>(null);
  const [, redraw] = useState(0);
  useEffect(() => {
    const media = [matchMedia("print"), matchMedia("(prefers-color-scheme: dark)")],
      on = () => redraw((n) => n + 1);
    for (const m of media) m.addEventListener("change", on);
    return () => {
      for (const m of media) m.removeEventListener("change", on);
    };
  }, []);
  const height = low
    ? 220
    : report
      ? Math.max(320, Math.min(640, Math.round(width * 0.55)))
      : Math.max(320, Math.min(Math.round(width * 1.2), innerHeight - 240));
  useLayoutEffect(() => setWidth(canvas.current?.parentElement?.clientWidth ?? 0), []); // before the first paint
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(canvas.current?.parentElement?.clientWidth ?? 0));
    if (canvas.current?.parentElement) watch.observe(canvas.current.parentElement);
    return () => watch.disconnect();
  }, []);
  const cells = useMemo(
    () => (width ? (shape === "icicle" ? icicle(root, width, height) : treemap(root, width, height)) : []),
    [root, width, shape, height],
  );
  const tall = shape === "icicle" ? Math.max(...cells.map((c) => c.y + c.h), 60) : height;
  useEffect(() => {
    const start = performance.now(),
      box = from.current;
    const frame = () => {
      const part = box ? Math.min(1, (performance.now() - start) / 150) : 1;
      if (canvas.current)
        draw(canvas.current, { cells, by, root, search, over, grown, tall: shape === "icicle" }, box, part);
      if (part < 1) timer.current = requestAnimationFrame(frame);
      else from.current = null;
    };
    frame();
    return () => cancelAnimationFrame(timer.current);
  }, [cells, by, search, over, tall, grown, dark()]);
  const menu = (n: Node | null, x: number, y: number) => {
    const of = n && subjectOf(n);
    if (of && !report) menuAt(of, x, y);
    return of !== null && !report;
  };
  const hit = (e: MouseEvent): Cell | undefined => {
    const box = (e.target as HTMLElement).getBoundingClientRect(),
      x = e.clientX - box.left,
      y = e.clientY - box.top;
    for (let i = cells.length - 1; i >= 0; i--) {
      const c = cells[i];
      if (x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h) return c;
    }
  };
  // Escape zooms out wherever the focus is, unless something else closes first.
  useEffect(() => {
    const onEscape = (e: KeyboardEvent) => {
      const isTaken = /INPUT|SELECT|TEXTAREA/.test((e.target as HTMLElement).tagName) || readRoute().params.obj;
      if (e.key === "Escape" && !isTaken && !document.querySelector(".help")) onUp?.();
    };
    if (onUp) addEventListener("keydown", onEscape);
    return () => removeEventListener("keydown", onEscape);
  }, [onUp]);
  const zoom = (n: Node) => {
    if (n === root) onUp?.();
    if (n === root || n.others) return;
    from.current = skipsMotion() ? null : (cells.find((c) => c.node === n) ?? null);
    setOver(null);
    onZoom(n);
  };
  const onKey = (e: KeyboardEvent) => {
    const drawn = (list: Node[]) =>
      list.filter((n) => !n.others && cells.some((c) => c.node === n)).sort((a, b) => b.bytes - a.bytes);
    const beside = over?.parent ? drawn(over.parent.children) : [],
      below = drawn((over ?? root).children);
    if (e.key === "Escape" && onUp) onUp();
    else if (e.key === "Enter" && over) zoom(over);
    else if (e.key === "." && over) {
      const cell = cells.find((c) => c.node === over),
        box = canvas.current!.getBoundingClientRect();
      menu(over, box.left + (cell?.x ?? 0) + 8, box.top + (cell?.y ?? 0) + 16);
    } else if (e.key === "ArrowDown" && below.length) setOver(below[0]);
    else if (e.key === "ArrowUp" && over?.parent && over !== root) setOver(over.parent === root ? null : over.parent);
    else if ((e.key === "ArrowRight" || e.key === "ArrowLeft") && beside.length)
      setOver(beside[(beside.indexOf(over!) + (e.key === "ArrowRight" ? 1 : beside.length - 1)) % beside.length]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const savePng = () =>
    canvas.current?.toBlob((blob) => {
      if (blob) download(blob, `${shape}.png`);
    });
  const saveSvg = () => {
    const isColour = by === "package" || by === "class";
    download(
      svgOf(
        cells,
        by,
        root,
        whole,
        grown,
        isColour
          ? [...huesOf(root, by)]
              .slice(0, 8)
              .map(([name]) => [name.replace(/\.$/, ""), tint(name, huesOf(root, by), false, 77)])
          : [],
      ),
      `${shape}.svg`,
    );
  };
  const found = search
    ? cells.filter(
        (c) => c.node.name.toLowerCase().includes(search) && !c.node.parent?.name.toLowerCase().includes(search),
      )
    : [];
  return (
    <div class={late ? "late" : undefined} aria-busy={late}>
      <p class="status" aria-live="polite">
        {late
          ? "Waiting for the new picture. This is still the previous one."
          : over
            ? sentence(over, whole)
            : search
              ? `${number(found.length)} cells match “${search}”: ` +
                `${bytes(found.reduce((s, c) => s + c.node.bytes, 0))}`
              : report
                ? `${number(cells.length)} cells.`
                : low
                  ? "A click opens the map there."
                  : `${number(cells.length)} cells. `}
        {!late && !over && !search && !report && !low && (
          <span class="keys">
            A click or Enter zooms in, a click on the {shape === "icicle" ? "first row" : "frame"} or Escape zooms out.
            Right button or “.”: menu.
          </span>
        )}
      </p>
      <div>
        <canvas
          ref={canvas}
          style={{ width: "100%", height: `${tall}px` }}
          tabIndex={0}
          role="img"
          aria-label={
            `${shape}${root.plain === undefined ? " of the dominator tree" : ""}; the table has the same ` + "numbers"
          }
          onMouseMove={(e) => {
            setOver(hit(e)?.node ?? null);
            setTip({ x: e.clientX, y: e.clientY });
          }}
          onMouseLeave={() => {
            setOver(null);
            setTip(null);
          }}
          onContextMenu={(e) => {
            if (!menu(hit(e)?.node ?? null, e.clientX, e.clientY)) return;
            e.preventDefault();
            e.stopPropagation();
          }}
          onClick={(e) => {
            const n = hit(e)?.node;
            if (n) zoom(n);
          }}
          onKeyDown={onKey}
        />
        {over && tip && !report && (
          <div
            class="tip"
            aria-hidden="true"
            style={
              tip.x > innerWidth / 2
                ? { right: `${innerWidth - tip.x + 12}px`, top: `${tip.y + 14}px` }
                : { left: `${tip.x + 12}px`, top: `${tip.y + 14}px` }
            }
          >
            {pathOf(over)
              .slice(-4, -1)
              .map((n) => (
                <div class="dim">{visible(short(n))} ›</div>
              ))}
            <b>{visible(over.name)}</b>
            <div>
              {sentence(over, whole).replace(/^.*: /, "")}
              {over.count > 1 ? ` · ${number(over.count)} objects` : ""}
            </div>
          </div>
        )}
      </div>
      {!report && !low && (
        <p class="tools save">
          <span class="group">
            <button onClick={savePng} title="This picture as PNG">
              PNG
            </button>
            <button onClick={saveSvg} title="This picture as SVG, with sizes and legend">
              SVG
            </button>
          </span>
        </p>
      )}
      <Legend root={root} cells={cells} by={by} most={low ? 4 : 8} grown={grown} />
    </div>
  );
}

function pathOf(node: Node): Node[] {
  const path: Node[] = [];
  for (let n: Node | null = node; n && n.parent; n = n.parent) path.unshift(n);
  return path;
}

export function Choice({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: string;
  choices: string[][];
  onChange(v: string): void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(e) => onChange((e.target as HTMLSelectElement).value)}>
        {choices.map(([v, t]) => (
          <option value={v}>{t ?? v}</option>
        ))}
      </select>
    </label>
  );
}

interface Crumb {
  text: string;
  by?: string;
  go: Record<string, string | undefined>;
}

// Splits the largest "n more" cells into one cell per class. Objects that have their own cell are subtracted.
const SPLIT = 4;
function split(tree: Node, groups: (Answer | undefined)[], ids: string[], top?: string): Node {
  const parts = new Map(ids.map((id, i) => [id, groups[i]]));
  const copy = (n: Node, parent: Node | null, id: string | null): Node => {
    const made: Node = { ...n, parent, children: [] },
      answer = id === null ? undefined : parts.get(id);
    for (const child of n.children) {
      if (!child.others || !answer) {
        made.children.push(copy(child, made, child.id));
        continue;
      }
      const shown = n.children.filter((c) => !c.others);
      for (const row of answer.rows) {
        const same = shown.filter(
            (c) => (c.name.startsWith("class ") ? "java.lang.Class" : shade(c, "class")) === row.name,
          ),
          size = Number(row.retained) - same.reduce((s, c) => s + c.bytes, 0),
          count = Number(row.objects) - same.length;
        if (size > 0 && count > 0)
          made.children.push({
            ...blank(String(row.name)),
            key: `g${row.name}`,
            bytes: size,
            weight: size,
            count,
            owner: id ?? "",
            parent: made,
          });
      }
    }
    return made;
  };
  return copy(tree, null, top ?? "");
}

function holders(tree: Node, top: string | undefined): string[] {
  const found: [string, number][] = [];
  const look = (n: Node, id: string | null) => {
    for (const c of n.children) {
      if (c.others && id !== null && c.bytes * 50 > tree.bytes) found.push([id, c.bytes]);
      else if (!c.others) look(c, c.id);
    }
  };
  look(tree, top ?? ""); // "" is the top level of the whole tree
  return found
    .sort((a, b) => b[1] - a[1])
    .slice(0, SPLIT)
    .map(([id]) => id);
}

// The tree as table rows, largest first.
function rowsOf(root: Node, whole: number): Row[] {
  const rows: Row[] = [],
    stack = [...root.children].sort((a, b) => a.weight - b.weight).map((n) => [n, 0] as [Node, number]);
  while (stack.length && rows.length < 20000) {
    const [n, level] = stack.pop()!;
    rows.push({
      level,
      name: n.others ? `${number(n.count)} more` : n.name,
      objects: n.count,
      retained: n.bytes,
      percent: whole ? (100 * n.bytes) / whole : null,
      retained_delta: n.delta ?? null,
      id: n.count === 1 ? n.id : null,
    });
    for (const c of [...n.children].sort((a, b) => a.weight - b.weight)) stack.push([c, level + 1]);
  }
  return rows;
}
const columnsOfTree = [
  ["name", "name", "text"],
  ["objects", "objects", "count"],
  ["retained", "retained", "bytes"],
  ["percent", "% of the heap", "double"],
  ["retained_delta", "growth", "bytes"],
].map(([name, title, type]) => ({ name, title, type, help: "" }));

export function MapView({
  route,
  compare,
  fixed,
  small,
}: {
  route: Route;
  compare?: boolean;
  small?: boolean;
  fixed?: { shape: string; by: string };
}) {
  const p: Record<string, string> = { ...route.params, ...fixed },
    by = p.by ?? (p.root ? "object" : "class"),
    shape = p.shape ?? "treemap",
    colours = compare ? "growth" : (p.colour ?? "package");
  const search = (fixed ? "" : (p.find ?? "")).toLowerCase(),
    grown = compare === true && p.area !== "size";
  const objects = by === "object" && !compare && !report;
  const ids = objects && p.root ? p.root.split(",") : [],
    top = ids[ids.length - 1];
  const query = objects ? "dominators" : compare ? "diff" : "dominator-tree";
  const params: Params = objects
    ? { db: p.db, target: top, tree: "4000" }
    : compare
      ? { db: p.db, before: p.before, by: "dominator" }
      : { db: p.db, by };
  const reply = useAnswer(query, { ...params, limit: "100000" });
  // The path from a GC root supplies field names for the breadcrumb: it passes through every dominator.
  const way = useAnswer(ids.length ? "path" : "", {
    db: p.db,
    target: top,
    exclude: "none",
    internals: "1",
    limit: "1000",
  });
  const kept = useRef<Node | null>(null); // shown until the next level is loaded, so the layout does not jump
  const plain = useMemo(
    () =>
      reply.answer
        ? treeOf(reply.answer, top ? (labels.get(top) ?? top) : "the heap", grown, kindOf(by, compare))
        : null,
    [reply.answer, grown],
  );
  const many = objects && plain ? holders(plain, top) : [];
  const groups = [0, 1, 2, 3].map(
    (i) =>
      useAnswer(many[i] !== undefined ? "dominators" : "", {
        db: p.db,
        target: many[i] || undefined,
        by: "class",
        limit: "200",
      }).answer,
  );
  const isInverted = p.turn === "1" && !objects && !compare && !fixed;
  const straight = useMemo(() => (plain && many.length ? split(plain, groups, many, top) : plain), [plain, ...groups]);
  const tree = useMemo(() => (straight && isInverted ? inverted(straight) : straight), [straight, isInverted]);
  if (tree) kept.current = tree;
  const keys = !objects && p.zoom && !fixed ? p.zoom.split("/") : [];
  let zoom = tree ?? kept.current;
  for (const key of keys) zoom = zoom?.children.find((c) => c.key === key) ?? zoom;
  for (const n of zoom?.children ?? []) if (n.id) labels.set(n.id, n.name);
  const heap = Number(reply.answer?.facts.heap_shallow ?? 0) || zoom?.bytes || 0;
  const field = (id: string) => way.answer?.rows.find((r) => r.id === id)?.via_field;
  const crumbs: Crumb[] = [
    { text: "the heap", go: { zoom: undefined, root: undefined } },
    ...(objects
      ? ids.map((id, i) => ({
          text: labels.get(id) ?? String(way.answer?.rows.find((r) => r.id === id)?.label ?? id),
          by: i + 1 < ids.length && field(id) ? String(field(id)) : undefined,
          go: { root: ids.slice(0, i + 1).join(",") },
        }))
      : zoom
        ? pathOf(zoom).map((n) => ({
            text: n.name,
            go: {
              zoom: pathOf(n)
                .map((q) => q.key)
                .join("/"),
            },
          }))
        : []),
  ];
  const onZoom = (n: Node) => {
    if (n.owner !== undefined) {
      // A group of objects of one class: show them as rows of SQL, or show the class if SQL is missing.
      location.hash = hasSql()
        ? linkTo("sql", { obj: undefined, sql: sqlOf(n) })
        : linkTo("all", { q: "instances", target: n.name });
      return;
    }
    if (!objects) {
      if (n.children.length)
        change({
          zoom: pathOf(n)
            .map((q) => q.key)
            .join("/"),
        });
      else if (n.group === "class" && n.count > 1 && !report) location.hash = classPage(n.name);
      else if (n.id && n.count === 1 && !report) select(n.id);
      return;
    }
    for (const q of pathOf(n)) if (q.id) labels.set(q.id, q.name);
    if (!n.children.length) select(n.id!);
    else change({ root: [...ids, ...pathOf(n).map((q) => q.id!)].join(",") });
  };
  const here = objects ? top : zoom?.count === 1 ? zoom.id : null;
  const rows = useMemo(() => (zoom && shape === "table" ? rowsOf(zoom, heap) : []), [zoom, shape, heap]);
  return (
    <Panel
      title={
        compare
          ? "What grew, in the dominator tree"
          : fixed
            ? `${shape.charAt(0).toUpperCase()}${shape.slice(1)} by ${by}`
            : undefined
      }
      right={small ? <a href={linkTo("map")}>Map</a> : undefined}
    >
      {!fixed && (
        <div class="tools">
          <Choice
            label="Shape"
            value={shape}
            choices={[["treemap"], ["icicle"], ["table"]]}
            onChange={(shape) => change({ shape })}
          />
          {!compare && (
            <Choice
              label="By"
              value={by}
              choices={[["class"], ["package"], ["loader", "class loader"], ["object"]]}
              onChange={(by) => change({ by, zoom: undefined, root: undefined })}
            />
          )}
          {!compare && !objects && (
            <Choice
              label="Shows"
              value={p.turn ?? ""}
              choices={[
                ["", "what each one holds"],
                ["1", "what holds each one"],
              ]}
              onChange={(turn) => change({ turn: turn || undefined, zoom: undefined })}
            />
          )}
          {!compare && (
            <Choice
              label="Colour"
              value={colours}
              choices={[["package"], ["class"], ["size", "retained size"]]}
              onChange={(colour) => change({ colour })}
            />
          )}
          {compare && (
            <Choice
              label="Area"
              value={p.area ?? "growth"}
              choices={[["growth"], ["size", "retained size now"]]}
              onChange={(area) => change({ area, zoom: undefined })}
            />
          )}
          <input
            type="search"
            placeholder="Highlight names"
            aria-label="Highlight names"
            value={p.find ?? ""}
            onInput={(e) => change({ find: (e.target as HTMLInputElement).value || undefined }, true)}
          />
        </div>
      )}
      {!fixed && (
        <nav class="crumbs" aria-label="Path of dominators">
          {crumbs.map((c, i) => (
            <>
              {i > 0 && " › "}
              <button onClick={() => change(c.go)}>
                {visible(by === "package" ? c.text : splitName(c.text)[1] || c.text)}
              </button>
              {c.by ? <small>.{visible(c.by.replace(/^static /, ""))}</small> : null}
            </>
          ))}
          {here && crumbs.length > 1 && !report && (
            <button class="act" onClick={() => select(here)}>
              inspect
            </button>
          )}
        </nav>
      )}
      {!zoom && (
        <div class={compare && shape === "treemap" && !reply.error ? "picture-to-come" : undefined}>
          <Wait reply={reply} what="the dominator tree" />
        </div>
      )}
      {zoom && reply.error && <Wait reply={reply} what="the dominator tree" />}
      {zoom &&
        (shape === "table" ? (
          <Table
            columns={columnsOfTree}
            rows={rows}
            total={rows.length}
            what="cells of the picture"
            tree
            late={!tree}
          />
        ) : zoom.weight === 0 ? (
          <p class="empty">
            {"Nothing grew or shrank enough to be drawn. "}
            {"The area “retained size now” shows the current heap."}
          </p>
        ) : (
          <Picture
            root={zoom}
            late={!tree}
            grown={grown}
            whole={heap}
            shape={shape}
            by={colours}
            search={search}
            low={small}
            onZoom={
              small
                ? (n) => {
                    location.hash = linkTo("map", {
                      zoom: pathOf(n)
                        .map((q) => q.key)
                        .join("/"),
                    });
                  }
                : onZoom
            }
            onUp={crumbs.length > 1 && !fixed ? () => change(crumbs[crumbs.length - 2].go) : undefined}
          />
        ))}
      {reply.answer && !small && (
        <Marks
          facts={{
            ...reply.answer.facts,
            cut:
              shape === "table" || !reply.answer.facts.cut
                ? reply.answer.facts.cut
                : String(reply.answer.facts.cut).replace(/one "\(N others\)" row per parent/, "grey cells"),
          }}
        />
      )}
    </Panel>
  );
}
