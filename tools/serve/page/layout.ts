// Lays out a tree as a squarified treemap or an icicle: at most 5,000 cells of at least 3 x 3 pixels. Smaller nodes
// share one cell, "n more".

export interface Node {
  key: string; // unique among its siblings
  name: string;
  bytes: number;
  weight: number; // determines the area: size, or amount of change
  count: number;
  id: string | null;
  delta?: number; // growth, when two dumps are compared
  others?: boolean; // a group of nodes that are not drawn one by one
  whole?: boolean; // whether the name is not a class (for example a package) and is shown in full
  group?: "class" | "package" | "loader"; // kind of the name, if the node groups several objects
  owner?: string; // if the node groups all objects of a class that one object dominates: that object
  plain?: boolean; // whether `bytes` is a count instead of a size; undefined in the dominator tree
  parent: Node | null;
  children: Node[];
}
export interface Cell {
  node: Node;
  x: number;
  y: number;
  w: number;
  h: number;
  depth: number;
  label: boolean;
}

const LEAST = 3,
  MOST = 5000,
  HEAD = 16,
  ROW = 18,
  ROWS = 64,
  TALL = 40;

const sorted = (node: Node): Node[] => node.children.filter((c) => c.weight > 0).sort((a, b) => b.weight - a.weight);

function worst(largest: number, smallest: number, sum: number, side: number): number {
  const across = sum / side;
  return Math.max(largest / (across * across), (across * across) / smallest);
}

// Groups the nodes that are too small to be drawn.
function more(parent: Node, left: Node[]): Node {
  const sum = (of: (n: Node) => number) => left.reduce((s, n) => s + of(n), 0);
  return {
    key: "more",
    name: "",
    bytes: sum((n) => n.bytes),
    weight: sum((n) => n.weight),
    count: sum((n) => (n.others ? n.count : 1)),
    id: null,
    delta: left.some((n) => n.delta !== undefined) ? sum((n) => n.delta ?? 0) : undefined,
    others: true,
    plain: parent.plain,
    parent,
    children: [],
  };
}

export function treemap(root: Node, width: number, height: number): Cell[] {
  const cells: Cell[] = [{ node: root, x: 0, y: 0, w: width, h: height, depth: 0, label: true }];
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at],
      children = sorted(cell.node);
    const named = cell.h > 2 * HEAD && cell.w > 2 * HEAD;
    const room = { x: cell.x + 2, y: cell.y + (named ? HEAD : 2), w: cell.w - 4, h: cell.h - (named ? HEAD : 2) - 2 };
    const before = cells.length,
      whole = cell.node.weight;
    if (room.w < LEAST || room.h < LEAST || !whole) continue;
    const scale = (room.w * room.h) / whole;
    let left = children.reduce((s, c) => s + c.weight, 0);
    for (let first = 0; first < children.length;) {
      const side = Math.min(room.w, room.h),
        upright = room.w >= room.h;
      if (side < LEAST) break;
      const largest = children[first].weight * scale;
      let sum = largest,
        end = first + 1;
      while (end < children.length) {
        const next = children[end].weight * scale;
        if (worst(largest, next, sum + next, side) > worst(largest, children[end - 1].weight * scale, sum, side)) break;
        sum += next;
        end++;
      }
      const across = sum / side;
      if (across < LEAST || (children[end - 1].weight * scale) / across < LEAST || cells.length + end - first >= MOST) {
        const depth = (left * scale) / side; // the remaining nodes take one row
        if (depth >= LEAST && cells.length < MOST)
          cells.push({
            node: more(cell.node, children.slice(first)),
            x: room.x,
            y: room.y,
            w: upright ? Math.min(depth, room.w) : room.w,
            h: upright ? room.h : Math.min(depth, room.h),
            depth: cell.depth + 1,
            label: true,
          });
        break;
      }
      for (let along = 0; first < end; first++) {
        const size = (children[first].weight * scale) / across;
        const box = upright
          ? { x: room.x, y: room.y + along, w: across, h: size }
          : { x: room.x + along, y: room.y, w: size, h: across };
        along += size;
        left -= children[first].weight;
        cells.push({ node: children[first], ...box, depth: cell.depth + 1, label: true });
      }
      if (upright) {
        room.x += across;
        room.w -= across;
      } else {
        room.y += across;
        room.h -= across;
      }
    }
    cell.label = named || cells.length === before;
  }
  return cells;
}

// Rows share the available height, between ROW and TALL pixels each.
export function icicle(root: Node, width: number, room = 0): Cell[] {
  const cells: Cell[] = [{ node: root, x: 0, y: 0, w: width, h: ROW, depth: 0, label: true }];
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at],
      children = sorted(cell.node);
    let x = cell.x;
    if (cell.depth + 1 >= ROWS || !cell.node.weight) continue;
    for (let i = 0; i < children.length && cells.length < MOST; i++) {
      const small = (cell.w * children[i].weight) / cell.node.weight < LEAST;
      const node = small && i + 1 < children.length ? more(cell.node, children.slice(i)) : children[i];
      const w = (cell.w * node.weight) / cell.node.weight;
      if (w >= LEAST) cells.push({ node, x, y: cell.y + ROW, w, h: ROW, depth: cell.depth + 1, label: true });
      if (small) break;
      x += w;
    }
  }
  const rows = Math.max(...cells.map((c) => c.depth)) + 1,
    high = Math.max(ROW, Math.min(TALL, Math.floor(room / rows)));
  for (const c of cells) {
    c.y = c.depth * high;
    c.h = high;
  }
  return cells;
}

// A node without size, the start of a tree.
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

// Sets the weights from the leaves up (parents precede their children in `all`). A node's area must not be smaller than
// the sum of its children's areas.
export function weigh(all: Node[], grown: boolean): void {
  for (let i = all.length - 1; i >= 0; i--) {
    const node = all[i],
      below = node.children.reduce((s, c) => s + c.weight, 0);
    node.weight = grown ? Math.max(node.others ? 0 : Math.abs(node.delta ?? 0), below) : Math.max(node.bytes, below);
  }
}

// The nodes from below the root to a node.
export function pathOf(node: Node): Node[] {
  const path: Node[] = [];
  for (let n: Node | null = node; n && n.parent; n = n.parent) path.unshift(n);
  return path;
}
