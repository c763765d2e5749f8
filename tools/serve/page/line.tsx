// One row of a table: its cells, with links and bars, and folding of rows with levels.
import { useMemo, useState } from "preact/hooks";
import { AdviceText } from "./advice";
import { Cell, Column, report, Row } from "./api";
import { isNumber, LAST, Shown } from "./columns";
import { Name, Value } from "./objects";
import { Meter } from "./parts";
import { visible } from "./text";

// Links for cells, by column: a sum, for example, opens the rows that were added up.
export type Links = Record<string, (row: Row) => string | undefined>;

export interface Folding {
  parents: Set<Row>;
  closed: Set<Row>;
  toggle(row: Row): void;
}

// For rows with levels: the rows that have children, and which of these rows are collapsed.
export function useFolding(rows: Row[], tree?: boolean): Folding {
  const [closed, setClosed] = useState<Set<Row>>(new Set());
  const parents = useMemo(
    () => new Set(tree ? rows.filter((r, i) => Number(rows[i + 1]?.level ?? -1) > Number(r.level)) : []),
    [rows, tree],
  );
  const toggle = (row: Row) =>
    setClosed((old) => {
      const s = new Set(old);
      if (!s.delete(row)) s.add(row);
      return s;
    });
  return { parents, closed, toggle };
}

export function unfolded(rows: Row[], closed: Set<Row>): Row[] {
  let hidden = Infinity;
  return rows.filter((r) => {
    const level = Number(r.level);
    if (level > hidden) return false;
    hidden = closed.has(r) ? level : Infinity;
    return true;
  });
}
// The content of a cell: a value, possibly with a link.
function Content({ row, column, to }: { row: Row; column: Column; to?: string }) {
  if (column.name === "advice" && row.advice_words) return <AdviceText row={row} words={row.advice_words} />;
  if (!to) return <Value value={row[column.name]} column={column} row={row} />;
  // links to classes have the menu of a class
  const isClass = to.startsWith("#/class?") && typeof row[column.name] === "string";
  return (
    <a href={to} class={isClass ? "class" : undefined} data-class={isClass ? row[column.name] : undefined}>
      {typeof row[column.name] === "string" ? (
        <Name text={String(row[column.name])} />
      ) : (
        <Value value={row[column.name]} column={column} row={{}} />
      )}
    </a>
  );
}

function Twist({ row, folding, step }: { row: Row; folding: Folding; step: number }) {
  const isClosed = folding.closed.has(row);
  return (
    <span style={{ paddingLeft: `${Math.min(40, Number(row.level)) * step}px` }}>
      {folding.parents.has(row) ? (
        <button class="twist" aria-label="fold" aria-expanded={!isClosed} onClick={() => folding.toggle(row)}>
          {isClosed ? "▸" : "▾"}
        </button>
      ) : (
        <span class="twist" />
      )}
    </span>
  );
}
interface LineProps {
  row: Row;
  isAt: boolean;
  isSelected: boolean;
  isTicking: boolean;
  shown: Shown;
  folding: Folding | null;
  largest: number;
  links?: Links;
  onAt(e: MouseEvent): void;
  onOpen(): void;
}

export function Line(props: LineProps) {
  const {
    row,
    shown: { used, barred, isTight },
    folding,
    largest,
    links,
  } = props;
  const titleOf = (v: Cell) => (typeof v === "string" && v.length > 40 ? visible(v) : undefined);
  return (
    <tr
      class={`${props.isAt ? "at" : ""}${props.isSelected ? " selected" : ""}`}
      onMouseDown={(e) => e.shiftKey && e.preventDefault()} // keeps Shift+click from selecting text
      onClick={props.onAt}
      onDblClick={props.onOpen}
    >
      {props.isTicking && (
        <td class="tick">
          <input
            type="checkbox"
            checked={props.isSelected}
            aria-label={`Select ${visible(String(row.label ?? row.name ?? row.id))}`}
          />
        </td>
      )}
      {used.map((c, j) => {
        const value = row[c.name],
          to = report || value === 0 ? undefined : links?.[c.name]?.(row);
        return (
          <td class={isNumber(c) ? "n" : LAST.includes(c.name) ? "narrow" : ""} title={titleOf(value)}>
            {folding && j === 0 && <Twist row={row} folding={folding} step={isTight ? 4 : 14} />}
            <Content row={row} column={c} to={to} />
            {c.name === barred && <Meter part={typeof value === "number" ? (100 * value) / largest : 0} />}
          </td>
        );
      })}
    </tr>
  );
}
