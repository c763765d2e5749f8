// The picture of a tree on a canvas: colours, labels, legend, mouse and keys, export as PNG and SVG. layout.ts computes
// the cells. Draws the map and the treemaps of SQL.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { hasSql, report } from "./api";
import { download } from "./export";
import { Cell, icicle, Node, pathOf, treemap } from "./layout";
import { Breaking, classActions, Item, menuAt } from "./objects";
import { linkTo, readRoute } from "./route";
import { bytes, hue, number, percent, splitName, visible } from "./text";

const dark = () =>
  !matchMedia("print").matches &&
  (document.documentElement.dataset.theme === "dark" ||
    (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches));

// The package or class that determines a node's colour. Array lengths and values in labels are ignored.
export const shade = (n: Node, by: string): string => {
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
export const originals = new WeakMap<Node, Node>(); // inverted tree -> original tree, whose colours it has
export function topOf(node: Node): Node {
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

const LEGIBLE = 4; // minimum number of letters of a shortened name

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
  const isInverted = originals.has(topOf(root)); // in an inverted tree, the first level contains all bytes
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

// SQL for all objects of a class that one object dominates.
export const sqlOf = (n: Node): string =>
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
  // sets the width before the first paint
  useLayoutEffect(() => setWidth(canvas.current?.parentElement?.clientWidth ?? 0), []);
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
