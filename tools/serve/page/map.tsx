// The dominator tree as treemap, icicle or table. By object, each zoom is one query for the largest nodes below that
// object. By class, package and loader, the whole tree is loaded once.
import { useMemo, useRef } from "preact/hooks";
import { Answer, hasSql, Params, report, Row } from "./api";
import { Marks, Reply, useAnswer, useAnswers, Wait } from "./asking";
import { blank, Node, pathOf, weigh } from "./layout";
import { classPage, select } from "./objects";
import { Choice, Panel } from "./parts";
import { originals, Picture, shade, sqlOf, topOf } from "./picture";
import { change, linkTo, Route } from "./route";
import { Table } from "./table";
import { number, splitName, visible } from "./text";

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

// Kind of the names in the picture.
const kindOf = (by: string, compare?: boolean): Node["group"] =>
  compare ? "class" : by === "package" || by === "loader" || by === "class" ? by : undefined;

interface Crumb {
  text: string;
  by?: string;
  go: Record<string, string | undefined>;
}

// Splits the largest "n more" cells into one cell per class. Objects that have their own cell are subtracted.
const SPLIT = 4;
function split(tree: Node, groups: (Answer | null | undefined)[], ids: string[], top?: string): Node {
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

// Settings of the map, read from the URL.
interface Setting {
  params: Record<string, string>;
  shape: string;
  by: string;
  colours: string;
  search: string;
  compare: boolean;
  grown: boolean; // whether areas show the growth
  objects: boolean; // whether cells are single objects, so that each zoom is a query
  ids: string[]; // zoomed objects, from the outermost to the one that is shown
}

interface MapProps {
  route: Route;
  compare?: boolean;
  small?: boolean;
  fixed?: { shape: string; by: string };
}

function settingOf({ route, compare = false, fixed }: MapProps): Setting {
  const params: Record<string, string> = { ...route.params, ...fixed },
    by = params.by ?? (params.root ? "object" : "class"),
    objects = by === "object" && !compare && !report;
  return {
    params,
    shape: params.shape ?? "treemap",
    by,
    colours: compare ? "growth" : (params.colour ?? "package"),
    search: (fixed ? "" : (params.find ?? "")).toLowerCase(),
    compare,
    grown: compare && params.area !== "size",
    objects,
    ids: objects && params.root ? params.root.split(",") : [],
  };
}

const keysOf = (node: Node): string =>
  pathOf(node)
    .map((n) => n.key)
    .join("/");

interface Tree {
  reply: Reply;
  zoom: Node | null; // the root of the picture
  isCurrent: boolean; // false while the previous tree is shown because the next one is still loading
  way: Row[]; // the path from a GC root to the zoomed object, which passes through every dominator
}

// Loads the tree, splits its largest groups, inverts it if required, and follows the zoom.
function useTree({ params: p, by, compare, grown, objects, ids }: Setting, isFixed: boolean): Tree {
  const { db } = p,
    top = ids[ids.length - 1],
    query = objects ? "dominators" : compare ? "diff" : "dominator-tree";
  const params: Params = objects
    ? { db, target: top, tree: "4000" }
    : compare
      ? { db, before: p.before, by: "dominator" }
      : { db, by };
  const reply = useAnswer(query, { ...params, limit: "100000" });
  const way = useAnswer(ids.length ? "path" : "", { db, target: top, exclude: "none", internals: "1", limit: "1000" });
  const plain = useMemo(
    () =>
      reply.answer
        ? treeOf(reply.answer, top ? (labels.get(top) ?? top) : "the heap", grown, kindOf(by, compare))
        : null,
    [reply.answer, grown],
  );
  const many = objects && plain ? holders(plain, top) : [];
  const groups = useAnswers(
    "dominators",
    many.map((id) => ({ db, target: id || undefined, by: "class", limit: "200" })),
  );
  const straight = useMemo(() => (plain && many.length ? split(plain, groups, many, top) : plain), [plain, ...groups]);
  const isInverted = p.turn === "1" && !objects && !compare && !isFixed,
    tree = useMemo(() => (straight && isInverted ? inverted(straight) : straight), [straight, isInverted]);
  const kept = useRef<Node | null>(null);
  if (tree) kept.current = tree;
  let zoom = kept.current;
  for (const key of !objects && p.zoom && !isFixed ? p.zoom.split("/") : [])
    zoom = zoom?.children.find((c) => c.key === key) ?? zoom;
  for (const n of zoom?.children ?? []) if (n.id) labels.set(n.id, n.name);
  return { reply, zoom, isCurrent: tree !== null, way: way.answer?.rows ?? [] };
}

// The breadcrumb: the zoomed objects with the fields between them, or the zoomed nodes.
function crumbsOf({ objects, ids }: Setting, { zoom, way }: Tree): Crumb[] {
  const stepOf = (id: string) => way.find((r) => r.id === id);
  const ofObjects = ids.map((id, i) => ({
    text: labels.get(id) ?? String(stepOf(id)?.label ?? id),
    by: i + 1 < ids.length && stepOf(id)?.via_field ? String(stepOf(id)!.via_field) : undefined,
    go: { root: ids.slice(0, i + 1).join(",") },
  }));
  const ofNodes = objects || !zoom ? [] : pathOf(zoom).map((n) => ({ text: n.name, go: { zoom: keysOf(n) } }));
  return [{ text: "the heap", go: { zoom: undefined, root: undefined } }, ...(objects ? ofObjects : ofNodes)];
}

// Opens a cell: its contents, or what it stands for if it has none.
function open(n: Node, { objects, ids }: Setting): void {
  if (n.owner !== undefined) {
    // A group of objects of one class: show them as rows of SQL, or show the class if SQL is missing.
    location.hash = hasSql()
      ? linkTo("sql", { obj: undefined, sql: sqlOf(n) })
      : linkTo("all", { q: "instances", target: n.name });
  } else if (objects) {
    for (const q of pathOf(n)) if (q.id) labels.set(q.id, q.name);
    if (!n.children.length) select(n.id!);
    else change({ root: [...ids, ...pathOf(n).map((q) => q.id!)].join(",") });
  } else if (n.children.length) change({ zoom: keysOf(n) });
  else if (n.group === "class" && n.count > 1 && !report) location.hash = classPage(n.name);
  else if (n.id && n.count === 1 && !report) select(n.id);
}

function Tools({ setting: { params: p, shape, by, colours, compare, objects } }: { setting: Setting }) {
  return (
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
  );
}

function Crumbs({ crumbs, by, here }: { crumbs: Crumb[]; by: string; here?: string | null }) {
  return (
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
  );
}

function titleOf({ compare, fixed }: MapProps): string | undefined {
  if (compare) return "What grew, in the dominator tree";
  return fixed ? `${fixed.shape.charAt(0).toUpperCase()}${fixed.shape.slice(1)} by ${fixed.by}` : undefined;
}

// Adapts a remark about omitted rows: where the table has one row for many objects, the picture has grey cells.
function cutOf(cut: Row[string], shape: string): Row[string] {
  return shape === "table" || !cut ? cut : String(cut).replace(/one "\(N others\)" row per parent/, "grey cells");
}

export function MapView(props: MapProps) {
  const { small, fixed } = props,
    setting = settingOf(props),
    tree = useTree(setting, fixed !== undefined),
    crumbs = crumbsOf(setting, tree);
  const { reply, zoom, isCurrent } = tree,
    { shape, objects, ids, compare } = setting,
    heap = Number(reply.answer?.facts.heap_shallow ?? 0) || zoom?.bytes || 0,
    here = objects ? ids[ids.length - 1] : zoom?.count === 1 ? zoom.id : null;
  const rows = useMemo(() => (zoom && shape === "table" ? rowsOf(zoom, heap) : []), [zoom, shape, heap]);
  const onZoom = (n: Node) => {
    if (small) location.hash = linkTo("map", { zoom: keysOf(n) });
    else open(n, setting);
  };
  const picture = (root: Node) => (
    <Picture
      root={root}
      late={!isCurrent}
      grown={setting.grown}
      whole={heap}
      shape={shape}
      by={setting.colours}
      search={setting.search}
      low={small}
      onZoom={onZoom}
      onUp={crumbs.length > 1 && !fixed ? () => change(crumbs[crumbs.length - 2].go) : undefined}
    />
  );
  const table = () => (
    <Table columns={columnsOfTree} rows={rows} total={rows.length} what="cells of the picture" tree late={!isCurrent} />
  );
  return (
    <Panel title={titleOf(props)} right={small ? <a href={linkTo("map")}>Map</a> : undefined}>
      {!fixed && <Tools setting={setting} />}
      {!fixed && <Crumbs crumbs={crumbs} by={setting.by} here={here} />}
      {!zoom && (
        <div class={compare && shape === "treemap" && !reply.error ? "picture-to-come" : undefined}>
          <Wait reply={reply} what="the dominator tree" />
        </div>
      )}
      {zoom && reply.error && <Wait reply={reply} what="the dominator tree" />}
      {zoom && shape === "table" && table()}
      {zoom && shape !== "table" && zoom.weight > 0 && picture(zoom)}
      {zoom && shape !== "table" && zoom.weight === 0 && (
        <p class="empty">
          {"Nothing grew or shrank enough to be drawn. "}
          {"The area “retained size now” shows the current heap."}
        </p>
      )}
      {reply.answer && !small && <Marks facts={{ ...reply.answer.facts, cut: cutOf(reply.answer.facts.cut, shape) }} />}
    </Panel>
  );
}
