// What several selected objects, or all objects of several classes, retain together: not the sum of their retained
// sizes, because one may dominate another, and an object that only two of them hold is retained by neither alone.
import { hasSql } from "./api";
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
