// The table: a filter, an Export and a Columns menu, and rows of which only the visible ones are drawn. QueryTable
// (query.tsx) loads the rows from a query.
import { Ref } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Cell, File, report, Row } from "./api";
import { ColumnsMenu, Given, Head, Shown, useColumns } from "./columns";
import { ExportMenu, Exported } from "./export";
import { Folding, Line, Links, unfolded, useFolding } from "./line";
import { classActions, menuAt, select } from "./objects";
import { readRoute } from "./route";
import { Selection, Together, useSelection } from "./selection";
import { useSharing } from "./share";
import { hasAllWords, number, visible } from "./text";

const ROW = 24; // pixels
const IN_REPORT = 50; // number of rows of a table that a report shows at first
const AHEAD = 10; // number of rows drawn above the visible rows
const DRAWN = 70; // number of rows drawn, more than fit in a window

// ---- filter ----

const PAUSE = 250; // milliseconds after the last key before the server is queried

// The filter box: words that a row must contain. It searches all rows, not only the loaded ones.
function FilterBox({
  what,
  text,
  onText,
  pause,
}: {
  what: string;
  text: string;
  onText(t: string): void;
  pause: number;
}) {
  const [typed, setTyped] = useState(text),
    timer = useRef(0);
  useEffect(() => {
    setTyped(text);
    return () => clearTimeout(timer.current);
  }, [text]);
  const onInput = (e: Event) => {
    const now = (e.target as HTMLInputElement).value;
    setTyped(now);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onText(now), pause);
  };
  const help = "Show only rows that contain these words, ignoring case";
  return (
    <input
      type="search"
      size={26}
      placeholder="Filter all rows"
      title={help}
      aria-label={`Filter ${what}`}
      value={typed}
      onInput={onInput}
    />
  );
}

// A filter applied by the server: rows and total are those that match.
export interface Filter {
  text: string;
  set(text: string): void;
  whole: number | null; // number of rows without the filter, if known
}

function countOf(shown: number, total: number | null, isFiltered: boolean, whole: number | null): string {
  const all = total === null ? "many" : number(Math.max(total, shown));
  if (!isFiltered) return `${number(shown)} of ${all} rows`;
  if (total !== null && shown < total) return `${number(shown)} of ${all} rows that match`;
  return whole === null ? `${all} rows match` : `${all} of ${number(whole)} rows`;
}

// ---- rows ----

// Sorts rows by a column: numbers in descending order, texts in ascending order; a leading "-" reverses both.
function ordered(rows: Row[], sort: string): Row[] {
  const isReversed = sort.startsWith("-"),
    name = isReversed ? sort.slice(1) : sort,
    sign = isReversed ? -1 : 1;
  const compare = (a: Cell, b: Cell) => {
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    if (typeof a === "number" && typeof b === "number") return sign * (b - a);
    return sign * (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);
  };
  return rows.slice().sort((a, b) => compare(a[name], b[name]));
}
// Remembers the scroll position in the browser tab's session: back, forward and reload show the same rows.
function usePlace(box: Ref<HTMLDivElement>, rows: Row[], what: string): { top: number; onScroll(to: number): void } {
  const [top, setTop] = useState(0),
    place = `scroll ${what} ${location.hash}`,
    isBack = useRef(false);
  const element = () => (box as { current: HTMLDivElement | null }).current;
  useLayoutEffect(() => {
    if (isBack.current || report || !element() || rows.length === 0) return;
    isBack.current = true;
    try {
      element()!.scrollTop = Number(sessionStorage.getItem(place) ?? 0);
    } catch {
      /* storage is blocked: start at the top */
    }
  }, [rows]);
  const onScroll = (to: number) => {
    setTop(to);
    try {
      if (to) sessionStorage.setItem(place, String(Math.round(to)));
      else sessionStorage.removeItem(place);
    } catch {
      /* storage is blocked: the position is not remembered */
    }
  };
  return { top, onScroll };
}
// ---- the table ----

interface TableProps extends Given {
  total: number | null;
  onSort?(c: string): void; // sorts on the server; if absent, `rows` are sorted here
  onOpen?(row: Row): void;
  ofClasses?: boolean; // whether each row is a class, identified by name
  links?: Links;
  empty?: string;
  late?: boolean;
  filter?: Filter; // applied by the server; if absent, `rows` has all rows and is filtered here
  file?: File; // for export by the server
  // Loads all rows if `rows` has only the first ones; whole: the result has all of them.
  every?(): Promise<{ rows: Row[]; whole: boolean }>;
}

interface Order {
  sort?: string;
  sortBy(name: string): void;
  matching(rows: Row[]): Row[]; // filters and sorts rows as the table does, unless the server has done so
}

// The order chosen by the user, and the rows that match the filter.
function useOrder({ columns, tree, sort, onSort, filter: served }: TableProps, filter: Filter): Order {
  const [own, setOwn] = useState<string | undefined>();
  const matches = (row: Row) =>
    hasAllWords(
      filter.text,
      columns.map((c) => row[c.name]),
    );
  return {
    sort: onSort ? sort : own,
    sortBy: onSort ?? ((name) => setOwn(own === name ? `-${name}` : own === `-${name}` ? undefined : name)),
    matching: (rows) => {
      const found = served ? rows : rows.filter(matches);
      return !tree && !onSort && own ? ordered(found, own) : found;
    },
  };
}

// The rows to draw, [from, to): those near the visible part, or in a report the first ones.
function drawnRows(count: number, top: number, isShared: boolean, isWhole: boolean): [from: number, to: number] {
  if (isShared) return [0, count];
  if (report) return [0, isWhole ? count : IN_REPORT];
  const from = Math.max(0, Math.floor(top / ROW) - AHEAD);
  return [from, from + DRAWN];
}

// Scrolls until a row is visible, by number.
function showRow(box: HTMLDivElement | null, no: number): void {
  if (!box) return;
  const y = no * ROW;
  if (y < box.scrollTop) box.scrollTop = y;
  if (y > box.scrollTop + box.clientHeight - 3 * ROW) box.scrollTop = y - box.clientHeight + 3 * ROW;
}

// Handles a click on a row: selects it, unless the click was on a link or button.
function clickRow(e: MouseEvent, no: number, selection: Selection): void {
  const at = e.target as HTMLElement;
  if (selection.isTicking && !at.closest("button")) {
    if (at.closest("a")) e.preventDefault();
    selection.mark(no, "one");
  } else if (!report && !at.closest("a, button"))
    selection.mark(no, e.shiftKey ? "range" : e.ctrlKey || e.metaKey ? "toggle" : "only");
}

export function Table(props: TableProps) {
  const { rows, total, tree, ofClasses, what, late } = props,
    box = useRef<HTMLDivElement>(null);
  const [own, setOwn] = useState(""),
    [at, setAt] = useState(-1), // number of the current row
    [isWhole, setWhole] = useState(false); // whether all rows are shown, in a report
  const filter = props.filter ?? { text: own, set: setOwn, whole: rows.length },
    isFiltered = filter.text.trim() !== "";
  const place = usePlace(box, rows, what),
    folding = useFolding(rows, tree),
    order = useOrder(props, filter);
  const shown = useMemo(
    () => (tree && !isFiltered && folding.closed.size ? unfolded(rows, folding.closed) : order.matching(rows)),
    [rows, filter.text, folding.closed, tree, props.columns, order.sort],
  );
  const selection = useSelection(shown, at, ofClasses),
    columns = useColumns(props, box, selection.isTicking),
    drawn = drawnRows(shown.length, place.top, useSharing(), isWhole);
  const open = (row: Row) => {
    if (props.onOpen) props.onOpen(row);
    else if (row.id && row.id !== "0x0" && !report) select(String(row.id));
  };
  const go = (no: number) => {
    setAt(no);
    showRow(box.current, no);
  };
  const onKey = (e: KeyboardEvent) => {
    const view = box.current;
    if (!view || e.target !== view) return;
    if (!handleKey(e, { shown, at, box: view, folding, tree, ofClasses, selection, open, go })) return;
    e.preventDefault();
    e.stopPropagation();
  };
  const onClick = (e: MouseEvent, no: number) => {
    setAt(no);
    clickRow(e, no, selection);
  };
  const exported = async () => {
    if (!props.every || (total !== null && rows.length >= total)) return { rows: shown, whole: true };
    const found = await props.every();
    return { rows: order.matching(found.rows), whole: found.whole };
  };
  const counted = isFiltered && !props.filter ? shown.length : total;
  return (
    <div class={late ? "table late" : "table"} aria-busy={late}>
      {(rows.length > 0 || isFiltered) && (
        <Tools
          what={what}
          filter={filter}
          pause={props.filter ? PAUSE : 0}
          count={countOf(shown.length, counted, isFiltered, filter.whole)}
          selection={selection}
          columns={columns}
          exported={{ what, columns: columns.used, total, file: props.file, rows: exported }}
          onAll={report && drawn[1] < shown.length ? () => setWhole(true) : undefined}
          all={shown.length}
        />
      )}
      <Selected selection={selection} ofClasses={ofClasses} />
      {shown.length > 0 && (
        <Grid
          {...{ props, box, columns, order, shown, drawn, at, folding, selection, onKey, onClick, open }}
          place={place}
        />
      )}
      {shown.length === 0 && isFiltered && !late && (
        <p class="empty">
          {filter.whole === null ? "No row" : `None of ${number(filter.whole)} rows`}
          {` contains “${visible(filter.text)}”.`}
        </p>
      )}
      {rows.length === 0 && !isFiltered && <p class="empty">{props.empty ?? "No rows."}</p>}
    </div>
  );
}

interface ToolsProps {
  what: string;
  filter: Filter;
  pause: number;
  count: string;
  selection: Selection;
  columns: Shown;
  exported: Exported;
  onAll?(): void;
  all: number;
}

// The line above the rows: filter, number of rows, menus.
function Tools({ what, filter, pause, count, selection, columns, exported, onAll, all }: ToolsProps) {
  return (
    <div class="tools">
      {!report && <FilterBox what={what} text={filter.text} onText={filter.set} pause={pause} />}
      {selection.isPossible && (
        <button class="fingers" aria-pressed={selection.isTicking} onClick={() => selection.tick(!selection.isTicking)}>
          {selection.isTicking ? "Done" : "Select"}
        </button>
      )}
      <span class="count" role="status">
        {count}
      </span>
      {!report && <ExportMenu of={exported} />}
      {onAll && (
        <button class="print" onClick={onAll}>
          Show all {number(all)}
        </button>
      )}
      <ColumnsMenu of={columns} />
    </div>
  );
}

// The retained size of the selected rows together. A single row clicked without a checkbox is not a selection.
function Selected({ selection, ofClasses }: { selection: Selection; ofClasses?: boolean }) {
  const { names, isTicking, clear } = selection;
  if (names.length <= (isTicking ? 0 : 1)) return null;
  return (
    <p class="selection" role="status">
      <Together db={readRoute().params.db} {...(ofClasses ? { classes: names } : { ids: names })} />{" "}
      <button class="link" onClick={clear}>
        Clear
      </button>
    </p>
  );
}

interface GridProps {
  props: TableProps;
  box: Ref<HTMLDivElement>;
  columns: Shown;
  order: Order;
  shown: Row[];
  drawn: [from: number, to: number];
  at: number;
  folding: Folding;
  selection: Selection;
  place: { onScroll(to: number): void };
  onKey(e: KeyboardEvent): void;
  onClick(e: MouseEvent, no: number): void;
  open(row: Row): void;
}

// The heading and the drawn rows. Empty rows take the height of the rows that are not drawn.
function Grid(grid: GridProps) {
  const { props, columns, order, shown, at, selection } = grid,
    { rows, tree, what, links } = props,
    { used, barred } = columns,
    [from, to] = grid.drawn;
  const largest = useMemo(
    () => rows.reduce((m, r) => Math.max(m, Number(barred ? (r[barred] ?? 0) : 0)), 1),
    [rows, barred],
  );
  const left = shown.length - to; // number of rows below the drawn ones
  return (
    <div
      class="scroll"
      ref={grid.box}
      style={report ? undefined : { maxHeight: `${Math.max(320, innerHeight - 190)}px` }}
      tabIndex={0}
      onKeyDown={grid.onKey}
      onScroll={(e) => grid.place.onScroll((e.target as HTMLElement).scrollTop)}
      role="region"
      aria-label={what}
    >
      <table class={`${tree ? "deep" : ""}${columns.isCrowded ? " crowded" : ""}`} aria-rowcount={shown.length}>
        <thead>
          <tr>
            {selection.isTicking && (
              <th class="tick">
                <span class="unseen">Selected</span>
              </th>
            )}
            {used.map((c) => (
              <Head
                column={c}
                sort={order.sort}
                isBarred={c.name === barred}
                onSort={!tree && !report ? order.sortBy : undefined}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <tr style={{ height: `${from * ROW}px` }} />}
          {shown.slice(from, to).map((row, i) => (
            <Line
              key={from + i}
              row={row}
              isAt={from + i === at}
              shown={columns}
              folding={tree ? grid.folding : null}
              largest={largest}
              links={links}
              isSelected={selection.has(row)}
              isTicking={selection.isTicking}
              onAt={(e) => grid.onClick(e, from + i)}
              onOpen={() => grid.open(row)}
            />
          ))}
          {left > 0 && !report && <tr style={{ height: `${left * ROW}px` }} />}
        </tbody>
      </table>
      {report && left > 0 && <p class="dim">{number(left)} more rows are in this file.</p>}
    </div>
  );
}

// ---- keys ----

interface KeyTarget {
  shown: Row[];
  at: number;
  box: HTMLDivElement;
  folding: Folding;
  tree?: boolean;
  ofClasses?: boolean;
  selection: Selection;
  open(row: Row): void;
  go(no: number): void;
}

// Handles a key in the table; returns whether it did.
function handleKey(e: KeyboardEvent, target: KeyTarget): boolean {
  const { shown, at, box, folding, tree, ofClasses, selection, open, go } = target,
    row = shown[at],
    last = shown.length - 1;
  const to: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + 20,
    PageUp: at - 20,
    Home: 0,
    End: last,
  };
  const next = to[e.key] === undefined ? at : Math.max(0, Math.min(last, to[e.key]));
  if (to[e.key] !== undefined) {
    selection.mark(next, e.shiftKey ? "range" : "move");
    go(next);
  } else if (!row) return false;
  else if (e.key === " ") selection.mark(at, "toggle");
  else if (e.key === "Escape" && selection.names.length > 1) selection.clear();
  else if (e.key === "Enter") open(row);
  else if (e.key === ".") {
    const line = box.querySelector<HTMLElement>("tr.at"),
      name = line?.querySelector<HTMLElement>("a.class")?.dataset.class,
      here = line?.getBoundingClientRect();
    const of =
      row.id && row.id !== "0x0" && !ofClasses
        ? { id: String(row.id) }
        : name
          ? { name, items: classActions(name) }
          : null;
    if (of) menuAt(of, here?.left ?? 100, here?.bottom ?? 100);
  } else if (!tree) return false;
  else if (e.key === "ArrowLeft" && folding.parents.has(row) && !folding.closed.has(row)) folding.toggle(row);
  else if (e.key === "ArrowLeft") {
    let above = at - 1;
    while (above >= 0 && Number(shown[above].level) >= Number(row.level)) above--;
    if (above >= 0) go(above);
  } else if (e.key === "ArrowRight" && folding.parents.has(row)) {
    if (folding.closed.has(row)) folding.toggle(row);
    else go(at + 1);
  } else return false;
  return true;
}
