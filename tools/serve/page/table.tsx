// The table, which draws only the visible rows, and QueryTable, which loads its rows from a query.
import { Ref } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { AdviceText } from "./advice";
import { Answer, ask, Cell, Column, File, hasSql, Params, report, Row } from "./api";
import { Mark, Marks, Nearest, useAnswer, usePrevious, Wait } from "./asking";
import { ExportMenu, Exported } from "./export";
import { classActions, dateOf, menuAt, Name, select, Value } from "./objects";
import { Meter, specs } from "./parts";
import { change, readRoute } from "./route";
import { MOST_SELECTED, Together } from "./selection";
import { useSharing } from "./share";
import { bytes, hasAllWords, number, visible } from "./text";

const ROW = 24; // pixels
const IN_REPORT = 50; // rows of a report's table that are shown at first
export const MOST = 100000; // maximum number of rows in one request
export const NARROW = 760; // pixels; narrower windows get the layout for phones
const SHORT_TEXT = 240; // pixels; maximum width of texts where columns are many, as in app.css
const TIGHT = 1100; // pixels; in narrower windows, tables begin with names and the main figures

const isNumber = (column: Column) => ["count", "bytes", "int", "double"].includes(column.type);

// Links for cells, by column: a sum, for example, opens the rows that were added up.
export type Links = Record<string, (row: Row) => string | undefined>;

// ---- columns ----

// Columns that are moved to the end.
const LAST = ["loader", "signature", "serial", "priority", "unreachable_objects", "unreachable_shallow"];
// Columns that are hidden if all their values are 0.
const OPTIONAL = ["native", "retained_native", "unreachable_objects", "unreachable_shallow"];
const NAMES = ["name", "label", "key", "key_label", "field"];
const FIGURES = ["value", "text", "retained", "wasted", "retained_delta", "below_objects"];

// Order of columns in narrow windows: names, the column that orders the rows, the main figures, then all others.
function rankOf(c: Column, all: Column[], order?: string): number {
  const has = (names: string[]) => all.some((o) => names.includes(o.name)),
    first = [NAMES, ["class"], ["text"], ["id"]].find(has) ?? [];
  if (c === all[0] && c.type !== "id") return 0;
  return first.includes(c.name) ? 0 : c.name === order ? 1 : FIGURES.includes(c.name) ? 2 : 3;
}

// The user's choices in the Columns menu, by name of column.
type Choices = Record<string, boolean>;

function remembered(what: string): Choices {
  try {
    const stored = report ? null : JSON.parse(localStorage.getItem(`columns ${what}`) ?? "{}");
    return Object.fromEntries(Object.entries(stored ?? {}).map(([name, isShown]) => [name, isShown === true]));
  } catch {
    return {};
  }
}

interface Shown {
  used: Column[]; // shown columns, in order
  filled: Column[]; // columns with values; all except the first can be hidden
  choose(name: string, isShown: boolean): void;
  barred?: string; // the column with bars
  isCrowded: boolean; // columns have no room, or only because texts are shortened
  isTight: boolean;
}

// Selects and orders the columns: those with values, without columns that the user has hidden or that have no room.
function useColumns(
  { columns, rows, what, tree, order, sort, hasAllColumns }: TableProps,
  box: Ref<HTMLDivElement>,
  isTicking: boolean,
): Shown {
  const [choices, setChoices] = useState(() => remembered(what));
  const isEmpty = (v: Cell, name: string) => v === null || v === undefined || (v === 0 && OPTIONAL.includes(name));
  const filled = useMemo(
    () => columns.filter((c) => !(tree && c.name === "level") && rows.some((r) => !isEmpty(r[c.name], c.name))),
    [columns, rows, tree],
  );
  const barred = useMemo(() => ["retained", "wasted"].find((name) => filled.some((c) => c.name === name)), [filled]);
  // Bars of the same length compare nothing.
  const hasBars = useMemo(
    () =>
      barred &&
      rows.some((r) => Number(r[barred]) > 0) &&
      (rows.length === 1 || rows.some((r) => r[barred] !== rows[0][barred])),
    [barred, rows],
  );
  const isLast = (c: Column, i: number) =>
    i > 0 && (LAST.includes(c.name) || (c.type === "id" && c.name !== "waits_for"));
  const wide = [...filled.filter((c, i) => !isLast(c, i)), ...filled.filter(isLast)],
    isTight = innerWidth <= TIGHT && !report,
    all = isTight ? [...wide].sort((a, b) => rankOf(a, wide, order) - rankOf(b, wide, order)) : wide;
  const isKept = (c: Column) => hasAllColumns || c === all[0] || choices[c.name] || c.name === sort?.replace("-", "");
  const crowded = useCrowded(box, all, isKept, JSON.stringify([choices, isTicking])),
    used = all.filter((c) => choices[c.name] ?? (isKept(c) || !crowded?.includes(c.name)));
  const choose = (name: string, isShown: boolean) => {
    const next = { ...choices, [name]: isShown };
    setChoices(next);
    try {
      if (!report) localStorage.setItem(`columns ${what}`, JSON.stringify(next));
    } catch {
      /* storage is blocked: the choice is not remembered */
    }
  };
  return {
    filled,
    choose,
    isTight,
    isCrowded: crowded !== undefined,
    used,
    barred: hasBars && used.some((c) => c.name === barred) ? barred : undefined,
  };
}

// The names of columns for which the table is too narrow, where the first columns take precedence; undefined if all fit
// with long texts. All are drawn once, to measure them.
function useCrowded(
  box: Ref<HTMLDivElement>,
  all: Column[],
  isKept: (c: Column) => boolean,
  layout: string, // changes with what else determines the width
): string[] | undefined {
  const [width, setWidth] = useState(0),
    key = `${width} ${all.map((c) => c.name).join()} ${layout}`,
    [found, setFound] = useState({ key: "", names: [] as string[] });
  const element = () => (box as { current: HTMLDivElement | null }).current;
  useLayoutEffect(() => {
    const table = element();
    if (!table) return;
    const observer = new ResizeObserver(() => setWidth(table.clientWidth));
    observer.observe(table);
    return () => observer.disconnect();
  }); // after each drawing, because a filter without matches removes the table
  useLayoutEffect(() => {
    const table = element();
    if (!table || table.scrollWidth <= table.clientWidth) return;
    const widths = new Map([...table.querySelectorAll<HTMLElement>("th")].map((h) => [h.dataset.name, h.offsetWidth]));
    const others = all.filter((c) => !isKept(c) && widths.has(c.name)),
      needed = (c: Column) => Math.min(widths.get(c.name)!, isNumber(c) ? Infinity : SHORT_TEXT);
    let room = table.clientWidth - table.scrollWidth;
    for (const c of others) room += widths.get(c.name)!;
    const names = found.key === key ? [...found.names] : [];
    for (const c of others)
      if (needed(c) <= room) room -= needed(c);
      else names.push(c.name);
    if (found.key !== key || names.length > found.names.length) setFound({ key, names });
  }); // after each drawing, because other rows may have longer values
  return found.key === key ? found.names : undefined;
}

function ColumnsMenu({ of: { filled, used, choose } }: { of: Shown }) {
  if (filled.length <= 2 && used.length === filled.length) return null;
  return (
    <details class="columns">
      <summary>
        Columns{used.length < filled.length ? ` (${number(used.length)} of ${number(filled.length)})` : ""}
      </summary>
      <div>
        {filled.slice(1).map((c) => (
          <label title={c.help}>
            <input
              type="checkbox"
              checked={used.includes(c)}
              onChange={(e) => choose(c.name, (e.target as HTMLInputElement).checked)}
            />{" "}
            {c.title}
          </label>
        ))}
      </div>
    </details>
  );
}

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

interface Folding {
  parents: Set<Row>;
  closed: Set<Row>;
  toggle(row: Row): void;
}

// For rows with levels: the rows that have children, and which of them are closed.
function useFolding(rows: Row[], tree?: boolean): Folding {
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

function unfolded(rows: Row[], closed: Set<Row>): Row[] {
  let hidden = Infinity;
  return rows.filter((r) => {
    const level = Number(r.level);
    if (level > hidden) return false;
    hidden = closed.has(r) ? level : Infinity;
    return true;
  });
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

// The content of a cell: a value, possibly with a link.
function Content({ row, column, to }: { row: Row; column: Column; to?: string }) {
  if (column.name === "advice" && row.advice_words) return <AdviceText row={row} words={row.advice_words} />;
  if (!to) return <Value value={row[column.name]} column={column} row={row} />;
  const isClass = to.startsWith("#/class?") && typeof row[column.name] === "string"; // then it has the menu of a class
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

function sortOf(column: Column, sort?: string): "none" | "ascending" | "descending" {
  if (sort !== column.name && sort !== `-${column.name}`) return "none";
  return (sort === column.name) === isNumber(column) ? "descending" : "ascending";
}

interface HeadProps {
  column: Column;
  sort?: string;
  isBarred: boolean;
  onSort?(name: string): void;
}

const AT_LEAST = ", at least"; // the end of the title of lower bounds

function Head({ column: c, sort, isBarred, onSort }: HeadProps) {
  const title = c.title.replace(AT_LEAST, ""),
    notes = [title !== c.title && "at least", c.type === "bytes" && !/bytes/i.test(title) && "bytes"].filter(Boolean);
  const mark = sort === c.name ? "\u00a0▾" : sort === `-${c.name}` ? "\u00a0▴" : "";
  return (
    <th
      title={c.help}
      class={`${isNumber(c) ? "n" : ""}${isBarred ? " barred" : ""}`}
      data-name={c.name}
      aria-sort={sortOf(c, sort)}
    >
      {onSort ? (
        <button onClick={() => onSort(c.name)}>
          {title}
          {mark}
        </button>
      ) : (
        title
      )}
      {notes.length > 0 && <small> {notes.join(", ")}</small>}
    </th>
  );
}

// ---- selection ----

interface Selection {
  names: string[]; // IDs of the selected rows
  has(row: Row): boolean;
  // Handles a click or key at a row: "only" clears the selection, "move" keeps it, "toggle" adds or removes the row,
  // where the current row counts as selected, "one" does the same without the current row, and "range" selects all rows
  // from the last current row to this one.
  mark(no: number, how: "only" | "move" | "toggle" | "one" | "range"): void;
  clear(): void;
  isPossible: boolean; // the rows are objects or classes
  isTicking: boolean; // each row has a checkbox, and a tap anywhere in the row ticks it: for fingers, without keys
  tick(on: boolean): void;
}

// The rows selected with Ctrl, Shift or checkboxes. A plain click makes a row the current row but does not select it.
function useSelection(shown: Row[], at: number, ofClasses?: boolean): Selection {
  const [names, set] = useState<string[]>([]),
    [isTicking, setTicking] = useState(false),
    anchor = useRef(-1);
  const nameOf = (row?: Row): string | null => {
    const name = String(row?.id ?? "");
    if (!ofClasses && Number(row?.objects ?? 1) > 1) return null; // the ID is that of one of several objects
    return /^0x0*[1-9a-f]/.test(name) ? name : null;
  };
  const isPossible = useMemo(() => !report && hasSql() && shown.some((r) => nameOf(r) !== null), [shown]);
  return {
    names,
    isPossible,
    isTicking: isTicking && isPossible,
    tick: (on) => {
      setTicking(on);
      set([]);
    },
    has: (row) => names.length > 0 && names.includes(nameOf(row) ?? ""),
    mark: (no, how) => {
      const name = nameOf(shown[no]),
        start = anchor.current < 0 ? at : anchor.current;
      if (how !== "range") anchor.current = no;
      if (how === "move") return;
      if (how === "only" || !name) set([]);
      else if (how === "range" && start >= 0) {
        const between = shown.slice(Math.min(start, no), Math.max(start, no) + 1).map(nameOf);
        anchor.current = start;
        set([...new Set(between.filter((n) => n !== null))].slice(0, MOST_SELECTED) as string[]);
      } else {
        const others = names.length || how === "one" ? names : [nameOf(shown[at]) ?? name].filter((n) => n !== name);
        set(names.includes(name) ? names.filter((n) => n !== name) : [...others, name].slice(-MOST_SELECTED));
      }
    },
    clear: () => set([]),
  };
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

function Line(props: LineProps) {
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
      onMouseDown={(e) => e.shiftKey && e.preventDefault()} // no text is selected instead
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

// ---- the table ----

interface TableProps {
  columns: Column[];
  rows: Row[];
  total: number | null;
  sort?: string;
  order?: string; // column that orders the rows if the user does not sort them
  onSort?(c: string): void;
  tree?: boolean;
  what: string;
  onOpen?(row: Row): void;
  ofClasses?: boolean; // each row is a class, by name
  links?: Links;
  empty?: string;
  late?: boolean;
  hasAllColumns?: boolean; // the user has chosen the columns: none is left out for lack of room
  filter?: Filter; // applied by the server; if absent, `rows` has all rows and is filtered here
  file?: File; // for export by the server
  // Loads all rows if `rows` has only the first ones; whole: the result has all of them.
  every?(): Promise<{ rows: Row[]; whole: boolean }>;
}

export function Table(props: TableProps) {
  const { columns, rows, total, onSort, tree, ofClasses, what, links, late } = props;
  const [own, setOwn] = useState(""),
    [ownSort, setOwnSort] = useState<string | undefined>(),
    [at, setAt] = useState(-1),
    [all, setAll] = useState(false);
  const isShared = useSharing();
  const box = useRef<HTMLDivElement>(null),
    filter = props.filter ?? { text: own, set: setOwn, whole: rows.length },
    isFiltered = filter.text.trim() !== "";
  const { top, onScroll } = usePlace(box, rows, what),
    folding = useFolding(rows, tree);
  const matching = (list: Row[]) => {
    const found = props.filter
      ? list
      : list.filter((r) =>
          hasAllWords(
            filter.text,
            columns.map((c) => r[c.name]),
          ),
        );
    return !tree && !onSort && ownSort ? ordered(found, ownSort) : found;
  };
  const shown = useMemo(
    () => (tree && !isFiltered && folding.closed.size ? unfolded(rows, folding.closed) : matching(rows)),
    [rows, filter.text, folding.closed, tree, columns, ownSort],
  );
  const selection = useSelection(shown, at, ofClasses),
    shownColumns = useColumns(props, box, selection.isTicking),
    { used, barred } = shownColumns;
  const largest = useMemo(
    () => rows.reduce((m, r) => Math.max(m, Number(barred ? (r[barred] ?? 0) : 0)), 1),
    [rows, barred],
  );
  const sort = onSort ? props.sort : ownSort;
  const sortBy = (name: string) => {
    if (onSort) onSort(name);
    else setOwnSort(ownSort === name ? `-${name}` : ownSort === `-${name}` ? undefined : name);
  };
  const open = (row: Row) => {
    if (props.onOpen) props.onOpen(row);
    else if (row.id && row.id !== "0x0" && !report) select(String(row.id));
  };
  const scrollTo = (next: number) => {
    setAt(next);
    if (!box.current) return;
    const y = next * ROW,
      view = box.current;
    if (y < view.scrollTop) view.scrollTop = y;
    if (y > view.scrollTop + view.clientHeight - 3 * ROW) view.scrollTop = y - view.clientHeight + 3 * ROW;
  };
  const onKey = (e: KeyboardEvent) => {
    const view = box.current;
    if (
      view &&
      e.target === view &&
      handleKey(e, { shown, at, box: view, folding, tree, ofClasses, selection, open, scrollTo })
    ) {
      e.preventDefault();
      e.stopPropagation();
    }
  };
  const click = (e: MouseEvent, no: number) => {
    setAt(no);
    if (selection.isTicking && !(e.target as HTMLElement).closest("button")) {
      if ((e.target as HTMLElement).closest("a")) e.preventDefault();
      selection.mark(no, "one");
      return;
    }
    if (report || (e.target as HTMLElement).closest("a, button")) return;
    selection.mark(no, e.shiftKey ? "range" : e.ctrlKey || e.metaKey ? "toggle" : "only");
  };
  const exported: Exported = {
    what,
    columns: used,
    total,
    file: props.file,
    rows: async () => {
      if (!props.every || (total !== null && rows.length >= total)) return { rows: shown, whole: true };
      const found = await props.every();
      return { rows: matching(found.rows), whole: found.whole };
    },
  };
  const from = report || isShared ? 0 : Math.max(0, Math.floor(top / ROW) - 10),
    to = isShared ? shown.length : report ? (all ? shown.length : IN_REPORT) : from + 70;
  const count = countOf(
    shown.length,
    props.filter ? total : isFiltered ? shown.length : total,
    isFiltered,
    filter.whole,
  );
  const hasRows = rows.length > 0 || isFiltered;
  return (
    <div class={late ? "table late" : "table"} aria-busy={late}>
      {hasRows && (
        <div class="tools">
          {!report && <FilterBox what={what} text={filter.text} onText={filter.set} pause={props.filter ? PAUSE : 0} />}
          {selection.isPossible && (
            <button
              class="fingers"
              aria-pressed={selection.isTicking}
              onClick={() => selection.tick(!selection.isTicking)}
            >
              {selection.isTicking ? "Done" : "Select"}
            </button>
          )}
          <span class="count" role="status">
            {count}
          </span>
          {!report && <ExportMenu of={exported} />}
          {report && to < shown.length && (
            <button class="print" onClick={() => setAll(true)}>
              Show all {number(shown.length)}
            </button>
          )}
          <ColumnsMenu of={shownColumns} />
        </div>
      )}
      {selection.names.length > (selection.isTicking ? 0 : 1) && (
        <p class="selection" role="status">
          <Together
            db={readRoute().params.db}
            {...(ofClasses ? { classes: selection.names } : { ids: selection.names })}
          />{" "}
          <button class="link" onClick={selection.clear}>
            Clear
          </button>
        </p>
      )}
      {shown.length > 0 && (
        <div
          class="scroll"
          ref={box}
          style={report ? undefined : { maxHeight: `${Math.max(320, innerHeight - 190)}px` }}
          tabIndex={0}
          onKeyDown={onKey}
          onScroll={(e) => onScroll((e.target as HTMLElement).scrollTop)}
          role="region"
          aria-label={what}
        >
          <table
            class={`${tree ? "deep" : ""}${shownColumns.isCrowded ? " crowded" : ""}`}
            aria-rowcount={shown.length}
          >
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
                    sort={sort}
                    isBarred={c.name === barred}
                    onSort={!tree && !report ? sortBy : undefined}
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
                  shown={shownColumns}
                  folding={tree ? folding : null}
                  largest={largest}
                  links={links}
                  isSelected={selection.has(row)}
                  isTicking={selection.isTicking}
                  onAt={(e) => click(e, from + i)}
                  onOpen={() => open(row)}
                />
              ))}
              {to < shown.length && !report && <tr style={{ height: `${(shown.length - to) * ROW}px` }} />}
            </tbody>
          </table>
          {report && to < shown.length && <p class="dim">{number(shown.length - to)} more rows are in this file.</p>}
        </div>
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

interface KeyTarget {
  shown: Row[];
  at: number;
  box: HTMLDivElement;
  folding: Folding;
  tree?: boolean;
  ofClasses?: boolean;
  selection: Selection;
  open(row: Row): void;
  scrollTo(no: number): void;
}

// Handles a key in the table; returns whether it did.
function handleKey(e: KeyboardEvent, target: KeyTarget): boolean {
  const { shown, at, box, folding, tree, ofClasses, selection, open, scrollTo } = target,
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
    scrollTo(next);
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
    if (above >= 0) scrollTo(above);
  } else if (e.key === "ArrowRight" && folding.parents.has(row)) {
    if (folding.closed.has(row)) folding.toggle(row);
    else scrollTo(at + 1);
  } else return false;
  return true;
}

// ---- a query ----

// The filter of a table, stored in the URL or only in the table. `rememberTotal` keeps the number of unfiltered rows.
export function useFilter(inAddress: boolean): { filter: Filter; rememberTotal(total: number | null): void } {
  const [own, setOwn] = useState(""),
    whole = useRef<number | null>(null);
  const text = inAddress && !report ? (readRoute().params.filter ?? "") : own;
  return {
    filter: {
      text,
      whole: whole.current,
      set: (now) => (inAddress ? change({ filter: now || undefined }, true) : setOwn(now)),
    },
    rememberTotal: (total) => {
      if (!text.trim()) whole.current = total;
    },
  };
}

interface QueryTableProps {
  query: string;
  params: Params;
  what: string;
  sortKey?: string;
  onOpen?(row: Row): void;
  hide?: string[];
  columns?: string[];
  limit?: number;
  links?: Links;
  empty?: string;
  order?: string;
  each?(row: Row): Row;
  ofClasses?: boolean;
  titles?: Record<string, string>;
  first?: string[];
  sums?: Column[]; // facts that are shown above the table
}

// Columns that only describe the value or the link of another cell.
const PARTS = ["advice_words", "action", "target", "action_option", "label_kind", "label_value"];
// Columns that are of no use in tables of these queries, such as the ID of one object in rows of several.
const HIDDEN: Record<string, string[]> = {
  "direct-buffers": ["class"],
  entries: ["key", "value", "key_id", "value_id"],
  histogram: ["id"],
  loaders: ["id", "parent"],
  "merged-paths": ["id"],
  threads: ["waits_for_class", "lock_owner_id"],
};
// The first columns, if the query has another order. The last ones may have no room.
const FRONT: Record<string, string[]> = {
  arrays: ["class", "objects", "shallow", "trailing_wasted", "zero_shallow", "empty_shallow", "constant_shallow"],
  "direct-buffers": ["label", "kind", "capacity", "holder", "thread", "position", "limit"],
  duplicates: ["text", "wasted", "objects", "holder"],
  entries: ["no", "key_label", "value_label", "retained"],
  instances: ["id", "label", "retained", "shallow"],
  loaders: ["label", "name", "use", "classes", "objects", "shallow", "retained"],
  "merged-paths": ["name", "below_objects", "percent", "below_shallow"],
  strings: ["text"],
  threads: ["thread", "state", "retained", "waits_for", "lock_owner"],
};

// Describes the columns of an answer, in the view's order. Columns unknown to the registry are fields of objects:
// numbers or texts.
function describedColumns(
  answer: Answer | undefined,
  { query, columns, hide, first, titles }: QueryTableProps,
): Column[] {
  const names = answer?.columns ?? [],
    typeOf = (name: string) =>
      answer!.rows.every((r) => typeof (r[name] ?? 0) === "number" && !dateOf(name, r[name])) ? "int" : "text";
  const known = new Map(specs.get(query)?.columns.map((c) => [c.name, c])),
    there = columns
      ? columns.filter((c) => names.includes(c))
      : names.filter((c) => ![...(hide ?? HIDDEN[query] ?? []), ...PARTS].includes(c)),
    front = (first ?? FRONT[query] ?? []).filter((name) => there.includes(name));
  return [...front, ...there.filter((name) => !front.includes(name))]
    .map((name) => ({
      ...(known.get(name) ?? { name, title: name, help: "", type: typeOf(name) }),
      ...(titles?.[name] ? { title: titles[name] } : {}),
    }))
    .map((c) => ({ ...c, title: c.title.replace(/ >=$/, AT_LEAST) }));
}

// Returns whether numbers of the column descend. Options of a query may change its order.
const isOrdered = (rows: Row[], name?: string): boolean =>
  name !== undefined &&
  rows.every((r, i) => typeof r[name] === "number" && (!i || Number(r[name]) <= Number(rows[i - 1][name])));

// ---- first rows ----

const SLOW = 300, // milliseconds before the quick answer is requested
  FIRST = "100";

// Quick answers that are shown while a slow one is computed, by query: what they lack, and their parameters.
const QUICK: Record<string, { lacks: string; params(p: Params, one?: string): Params | undefined }> = {
  instances: {
    lacks: "Not in order yet: these objects are in the order of the dump.",
    params: (p) => (p.sort === undefined ? undefined : { ...p, sort: undefined, limit: FIRST }),
  },
  "merged-paths": {
    lacks: "Not complete yet: this is the path of one object; the other paths are being added.",
    params: (p, one) =>
      one === undefined ? undefined : { ...p, sort: undefined, limit: FIRST, target: one, subclasses: undefined },
  },
  duplicates: {
    lacks: "Not complete yet: heapdb is still looking for the holders of these strings or arrays.",
    params: (p) => (p["no-holders"] || p.sort ? undefined : { ...p, limit: FIRST, "no-holders": "1" }),
  },
};

// The quick answer, once a slow one has taken a while.
function useFirstRows(query: string, params: Params, isWaiting: boolean): Answer | undefined {
  const key = JSON.stringify(params),
    [slow, setSlow] = useState(""),
    isSlow = query in QUICK && params.filter === undefined && !String(params.target).startsWith("0x");
  useEffect(() => {
    if (!isWaiting || !isSlow) return;
    const timer = setTimeout(() => setSlow(key), SLOW);
    return () => clearTimeout(timer);
  }, [key, isWaiting, isSlow]);
  const isRequested = isWaiting && isSlow && slow === key,
    { db, target } = params;
  const one = useAnswer(isRequested && query === "merged-paths" ? "instances" : "", { db, target, limit: "1" }).answer
    ?.rows[0]?.id;
  const quick = isRequested ? QUICK[query].params(params, one ? String(one) : undefined) : undefined;
  return useAnswer(quick ? query : "", quick ?? {}).answer;
}

// A sum with its name, on one line.
const sumOf = (c: Column, n: number) =>
  `${c.title} ${c.type === "bytes" ? bytes(n) : number(n)}`.replace(/[_ ]/g, "\u00a0");

// The table of a query, sorted and filtered by the server. More rows are loaded on request.
export function QueryTable(props: QueryTableProps) {
  const { query, what, sortKey, each, limit: fixed } = props;
  const [limit, setLimit] = useState(fixed ?? 1000),
    { filter, rememberTotal } = useFilter(sortKey !== undefined),
    sort = (sortKey ? readRoute().params[sortKey] : undefined) ?? (props.params.sort as string | undefined);
  const params = { ...props.params, sort, filter: filter.text.trim() || undefined },
    reply = usePrevious(query, { ...params, limit: String(limit) }, query + JSON.stringify(props.params));
  const first = useFirstRows(query, params, !report && !reply.answer && !reply.error),
    isFirst = !reply.answer && !reply.error && first !== undefined,
    answer = reply.answer ?? (isFirst ? first : undefined),
    target = props.params.target;
  const columns = useMemo(() => describedColumns(answer, props), [answer]);
  const rows = useMemo(() => (each && answer ? answer.rows.map(each) : (answer?.rows ?? [])), [answer]);
  const order = useMemo(() => (isOrdered(rows, props.order) ? props.order : undefined), [rows, props.order]),
    shownSort = sort ?? order;
  if (reply.answer && !reply.late) rememberTotal(reply.answer.total_rows);
  if (!answer || reply.error)
    return (
      <>
        <Wait reply={reply} what={what} />
        {reply.code === "HDB_NOTFOUND" && typeof target === "string" && !report && !target.startsWith("0x") ? (
          <Nearest word={target} db={props.params.db as string | undefined} />
        ) : null}
      </>
    );
  const isMore =
    !report && !fixed && !isFirst && answer.total_rows !== null && answer.total_rows > answer.row_count && limit < MOST;
  const every = async () => {
    const a = await ask(query, { ...params, limit: String(MOST) }).answer;
    return { rows: each ? a.rows.map(each) : a.rows, whole: a.row_count < MOST || a.row_count === a.total_rows };
  };
  return (
    <>
      <Marks facts={answer.facts} />
      {props.sums && (
        <p class="dim sums">
          {props.sums
            .filter((c) => typeof answer.facts[c.name] === "number")
            .map((c, i) => (i ? " · " : "") + sumOf(c, Number(answer.facts[c.name])))
            .join("")}
        </p>
      )}
      {isFirst && <Mark text={QUICK[query].lacks} />}
      <Table
        columns={columns}
        rows={rows}
        total={isFirst ? null : answer.total_rows}
        sort={shownSort}
        order={order}
        what={what}
        onOpen={props.onOpen}
        ofClasses={props.ofClasses}
        links={props.links}
        empty={props.empty}
        late={reply.late}
        tree={answer.columns.includes("level")}
        filter={report ? undefined : filter}
        file={report ? undefined : { query, params }}
        every={report ? undefined : every}
        onSort={
          sortKey
            ? (c) => change({ [sortKey]: shownSort === c ? `-${c}` : shownSort === `-${c}` ? undefined : c })
            : undefined
        }
      />
      {(reply.late || isFirst) && <Wait reply={{ ...reply, answer: undefined }} what={what} />}
      {isMore && (
        <button class="more" onClick={() => setLimit(Math.min(MOST, limit * 5))}>
          Load more rows
        </button>
      )}
    </>
  );
}
