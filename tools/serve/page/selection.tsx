// What several selected objects, or all objects of several classes, retain together: not the sum of their retained
// sizes, because one may dominate another, and an object that only two of them hold is retained by neither alone.
import { useMemo, useRef, useState } from "preact/hooks";
import { hasSql, report, Row } from "./api";
import { useAnswer, Wait } from "./asking";
import { numberOf, useInfo } from "./overview";
import { linkTo } from "./route";
import { bytes, counted, percent } from "./text";

export const MOST_SELECTED = 400; // so that the request stays below the server's limit of 16 KiB

interface Selected {
  db?: string;
  ids?: string[];
  classes?: string[]; // IDs, because names may be long
  what?: string;
}

export function Together({ db, ids, classes, what = "selected" }: Selected) {
  const which = ids ? `id IN (${ids.join(", ")})` : `class_id IN (${classes!.join(", ")})`,
    from = ` FROM objects WHERE ${which}`,
    reply = useAnswer(hasSql() ? "sql" : "", { db, q: `SELECT retained_set(id) AS retained${from}`, limit: "1" });
  const { info } = useInfo(db),
    heap = info ? numberOf(info("objects", "reachable bytes")) : null;
  const retained = reply.answer?.rows[0]?.retained,
    isOne = (ids ?? classes)!.length === 1;
  if (!hasSql()) return null;
  if (!reply.answer) return <Wait reply={reply} what="the size of the selection" />;
  return (
    <>
      {ids ? counted(ids.length, "object") : counted(classes!.length, "class")} {what}.{" "}
      {typeof retained === "number" ? (
        <>
          {isOne ? (ids ? "It retains" : "Its objects retain") : "Together they retain"} <b>{bytes(retained)}</b>
          {heap ? `, ${percent((100 * retained) / heap)} of the heap` : ""}.{" "}
        </>
      ) : (
        `No path from a GC root leads to ${isOne && ids ? "it, so it retains" : "them, so they retain"} nothing. `
      )}
      <a href={linkTo("sql", { sql: `SELECT *${from} ORDER BY retained DESC LIMIT 1000`, obj: undefined })}>
        {ids ? "In SQL" : "Their objects in SQL"}
      </a>
    </>
  );
}

export interface Selection {
  names: string[]; // IDs of the selected rows
  has(row: Row): boolean;
  // Handles a click or key at a row: "only" clears the selection, "move" keeps it, "toggle" adds or removes the row,
  // where the current row counts as selected, "one" does the same without the current row, and "range" selects all rows
  // from the last current row to this one.
  mark(no: number, how: "only" | "move" | "toggle" | "one" | "range"): void;
  clear(): void;
  isPossible: boolean; // whether rows can be selected: they are objects or classes
  // whether each row has a checkbox, and a tap anywhere in the row ticks it: for touch screens without keys
  isTicking: boolean;
  tick(on: boolean): void;
}

// The rows selected with Ctrl, Shift or checkboxes. A plain click makes a row the current row but does not select it.
export function useSelection(shown: Row[], at: number, ofClasses?: boolean): Selection {
  const [names, set] = useState<string[]>([]),
    [isTicking, setTicking] = useState(false),
    anchor = useRef(-1);
  const nameOf = (row?: Row): string | null => {
    const name = String(row?.id ?? "");
    if (!ofClasses && Number(row?.objects ?? 1) > 1) return null; // the ID identifies only one of several objects
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
