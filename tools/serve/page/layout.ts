// Treemap (squarified) and icicle of one tree: cells of at least 3 x 3 pixels, at most 5,000.

export interface Node {
  key: string; // among its siblings
  name: string;
  bytes: number;
  count: number;
  id: string | null;
  delta?: number; // growth, where two dumps are compared
  others?: boolean; // stands for several that are not shown
  parent: Node | null;
  children: Node[];
  open?: boolean; // its children are known
}
export interface Cell { node: Node; x: number; y: number; w: number; h: number; depth: number; label: boolean; folded: number; foldedBytes: number }

const LEAST = 3, MOST = 5000, HEAD = 16, ROW = 18, ROWS = 64;

const sorted = (node: Node): Node[] => node.children.slice().sort((a, b) => b.bytes - a.bytes);

function worst(largest: number, smallest: number, sum: number, side: number): number {
  const across = sum / side;
  return Math.max(largest / (across * across), (across * across) / smallest);
}

export function treemap(root: Node, width: number, height: number): Cell[] {
  const cells: Cell[] = [{ node: root, x: 0, y: 0, w: width, h: height, depth: 0, label: true, folded: 0, foldedBytes: 0 }];
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at], children = sorted(cell.node).filter((c) => c.bytes > 0);
    const named = cell.h > 2 * HEAD && cell.w > 2 * HEAD;
    const room = { x: cell.x + 2, y: cell.y + (named ? HEAD : 2), w: cell.w - 4, h: cell.h - (named ? HEAD : 2) - 2 };
    const before = cells.length;
    if (room.w < LEAST || room.h < LEAST || !cell.node.bytes) continue;
    const scale = (room.w * room.h) / cell.node.bytes;
    for (let first = 0; first < children.length;) {
      const side = Math.min(room.w, room.h);
      if (side < LEAST) break;
      const largest = children[first].bytes * scale;
      let sum = largest, end = first + 1;
      while (end < children.length) {
        const next = children[end].bytes * scale;
        if (worst(largest, next, sum + next, side) > worst(largest, children[end - 1].bytes * scale, sum, side)) break;
        sum += next;
        end++;
      }
      const across = sum / side, upright = room.w >= room.h;
      let along = 0;
      for (; first < end; first++) {
        const size = (children[first].bytes * scale) / across;
        const box = upright ? { x: room.x, y: room.y + along, w: across, h: size }
          : { x: room.x + along, y: room.y, w: size, h: across };
        along += size;
        if (box.w >= LEAST && box.h >= LEAST && cells.length < MOST)
          cells.push({ node: children[first], ...box, depth: cell.depth + 1, label: true, folded: 0, foldedBytes: 0 });
      }
      if (upright) { room.x += across; room.w -= across; } else { room.y += across; room.h -= across; }
    }
    cell.label = named || cells.length === before;
    fold(cell, children, cells.slice(before));
  }
  return cells;
}

// What is too small to be drawn of a cell's children.
function fold(cell: Cell, children: Node[], drawn: Cell[]): void {
  cell.folded = children.length - drawn.length;
  if (cell.folded) cell.foldedBytes = children.reduce((s, c) => s + c.bytes, 0) - drawn.reduce((s, c) => s + c.node.bytes, 0);
}

export function icicle(root: Node, width: number): Cell[] {
  const cells: Cell[] = [{ node: root, x: 0, y: 0, w: width, h: ROW, depth: 0, label: true, folded: 0, foldedBytes: 0 }];
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at];
    let x = cell.x;
    const before = cells.length, children = sorted(cell.node);
    if (cell.depth + 1 >= ROWS || !cell.node.bytes) continue;
    for (const child of children) {
      const w = (cell.w * child.bytes) / cell.node.bytes;
      if (w < LEAST || cells.length >= MOST) break;
      cells.push({ node: child, x, y: cell.y + ROW, w, h: ROW, depth: cell.depth + 1, label: true, folded: 0, foldedBytes: 0 });
      x += w;
    }
    fold(cell, children, cells.slice(before));
  }
  return cells;
}
