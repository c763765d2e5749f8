// QueryTable: a table whose rows come from a query, sorted and filtered by the server.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Answer, ask, Column, Params, report, Row } from "./api";
import { Mark, Marks, Nearest, Previous, useAnswer, usePrevious, Wait } from "./asking";
import { AT_LEAST } from "./columns";
import { Links } from "./line";
import { dateOf } from "./objects";
import { specs } from "./parts";
import { change, readRoute } from "./route";
import { Filter, Table } from "./table";
import { bytes, number } from "./text";

export const MOST = 100000; // maximum number of rows in one request

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
// Columns that are of no use in tables of these queries, such as the ID of one object in rows about several objects.
const HIDDEN: Record<string, string[]> = {
  "direct-buffers": ["class"],
  entries: ["key", "value", "key_id", "value_id"],
  histogram: ["id"],
  loaders: ["id", "parent"],
  "merged-paths": ["id"],
  threads: ["waits_for_class", "lock_owner_id"],
};
// Columns to show first, if this order differs from the query's. The last columns may not fit.
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

const SLOW = 100, // milliseconds before the quick answer is requested instead
  FIRST = "100";

// Quick answers that are shown before a slow one is computed, by query: what they lack, and their parameters.
const QUICK: Record<string, { lacks: string; params(p: Params, one: string): Params | undefined }> = {
  instances: {
    lacks: "Not in order yet: these objects are in the order of the dump, without their retained sizes.",
    params: (p) => (p.sort === undefined ? undefined : { ...p, sort: undefined, limit: FIRST, "no-retained": "1" }),
  },
  "merged-paths": {
    lacks: "Not complete yet: this is the path of one object; the other paths are being added.",
    params: (p, one) => ({ ...p, sort: undefined, limit: FIRST, target: one, subclasses: undefined }),
  },
  duplicates: {
    lacks: "Not complete yet: heapdb is still looking for the holders of these strings or arrays.",
    params: (p) => (p["no-holders"] || p.sort ? undefined : { ...p, limit: FIRST, "no-holders": "1" }),
  },
};

// The answer to a query, and the quick answer to show until it arrives. A slow query waits for the quick answer, so
// that they do not compete for processors.
function useFirstRows(query: string, params: Params, limit: string, kind: string): { reply: Previous; first?: Answer } {
  const key = query + JSON.stringify(params),
    [slow, setSlow] = useState(""),
    [told, setTold] = useState(""),
    isSlow = slow === key,
    isHeld = isSlow && told !== key,
    { db, target } = params;
  const reply = usePrevious(isHeld ? "" : query, { ...params, limit }, kind),
    needsOne = query === "merged-paths",
    hasQuick = !report && params.filter === undefined && !String(target).startsWith("0x"),
    isWaiting = hasQuick && !reply.answer && !reply.error && QUICK[query]?.params(params, "") !== undefined;
  useEffect(() => {
    if (!isWaiting || isSlow) return;
    const timer = setTimeout(() => setSlow(key), SLOW);
    return () => clearTimeout(timer);
  }, [key, isWaiting, isSlow]);
  const one = useAnswer(isSlow && needsOne ? "instances" : "", { db, target, limit: "1" }),
    id = one.answer?.rows[0]?.id,
    quick = isSlow && (!needsOne || id) ? QUICK[query].params(params, String(id)) : undefined,
    first = useAnswer(quick ? query : "", quick ?? {}),
    held = quick ? first : one,
    // A class without objects has no path, and a failure of the quick answer does not mean that the full answer fails.
    isOver = first.answer !== undefined || held.code !== undefined || (one.answer !== undefined && !id);
  useEffect(() => {
    if (isHeld && isOver) setTold(key);
  }, [isHeld, isOver, key]);
  return {
    // The full answer may have arrived just when the quick answer was requested.
    reply: isHeld && !reply.answer ? { ...held, answer: undefined, late: false } : reply,
    first: isSlow && isWaiting ? first.answer : undefined,
  };
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
    { reply, first } = useFirstRows(query, params, String(limit), query + JSON.stringify(props.params));
  const isFirst = !reply.answer && !reply.error && first !== undefined,
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
