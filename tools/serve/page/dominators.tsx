// The dominator tree as an expandable table, by object or merged by class, package or class loader.
import { useState } from "preact/hooks";
import { usePrevious, Wait } from "./asking";
import { Obj, select } from "./objects";
import { Choice, Meter, Panel } from "./parts";
import { QueryTable } from "./query";
import { change, linkTo, Route } from "./route";
import { number, percent } from "./text";
import { Branch } from "./tree";

const PAGE = 50;

function Level({ db, id, open, depth }: { db?: string; id?: string; open: Set<string>; depth: number }) {
  const [limit, setLimit] = useState(PAGE);
  const reply = usePrevious("dominators", { db, target: id, limit: String(limit) }, id ?? "");
  const a = reply.answer;
  if (!a) return <Wait reply={reply} what="the dominator tree" />;
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    change({ open: [...next].join(",") || undefined }, true);
  };
  return (
    <>
      {a.rows.length === 0 && (
        <p class="empty">{id ? "This object dominates no other object." : "No object is reachable."}</p>
      )}
      <ul class="tree" role={depth ? "group" : "tree"} aria-label={depth ? undefined : "Dominator tree"}>
        {a.rows.map((r) => {
          const key = String(r.id),
            isOpen = open.has(key),
            canOpen = Number(r.children) > 0;
          return (
            <Branch
              level={depth + 1}
              fold={{ isOpen, canOpen, toggle: () => toggle(key), enter: () => select(key) }}
              inside={depth < 200 ? () => <Level db={db} id={key} open={open} depth={depth + 1} /> : undefined}
            >
              <Obj id={r.id} text={r.label} />
              <span class="cols">
                <span class="wide">{canOpen ? number(Number(r.children)) : ""}</span>
                <span class="wide">{number(Number(r.shallow))}</span>
                <span>{number(Number(r.retained))}</span>
                <span class="pc">{percent(Number(r.percent ?? 0))}</span>
                <Meter part={Number(r.percent ?? 0)} />
              </span>
            </Branch>
          );
        })}
      </ul>
      {a.total_rows !== null && a.total_rows > a.row_count && (
        <div class="rest">
          <span class="count">
            {number(a.row_count)} of {number(a.total_rows)}
          </span>
          {reply.late ? (
            <Wait reply={{ ...reply, answer: undefined }} what="more" />
          ) : (
            <button class="more" onClick={() => setLimit(limit * 4)}>
              Show {number(Math.min(a.total_rows - a.row_count, limit * 3))} more
            </button>
          )}
          {id && <a href={linkTo("map", { by: "object", root: id })}>treemap</a>}
        </div>
      )}
    </>
  );
}

export function Dominators({ route }: { route: Route }) {
  const p = route.params,
    by = p.by ?? "object",
    open = new Set((p.open ?? "").split(",").filter(Boolean)); // open rows are part of the URL
  return (
    <Panel>
      <div class="tools">
        <Choice
          label="By"
          value={by}
          choices={[["object"], ["class"], ["package"], ["loader", "class loader"]]}
          onChange={(v) => change({ by: v === "object" ? undefined : v })}
        />
        <span class={by === "object" ? "dim keys" : "dim"}>
          {by === "object"
            ? "Right arrow opens a row, left closes it."
            : "The same tree, with siblings of the same name merged."}
        </span>
      </div>
      {by === "object" ? (
        <>
          <p class="row heads">
            <span>object</span>
            <span class="cols">
              <span class="wide">dominates</span>
              <span class="wide">
                shallow <small>bytes</small>
              </span>
              <span>
                retained <small>bytes</small>
              </span>
              <span class="pc">%</span>
              <span class="meter" />
            </span>
          </p>
          <Level db={p.db} id={undefined} open={open} depth={0} />
        </>
      ) : (
        <QueryTable query="dominator-tree" params={{ db: p.db, by }} what="merged dominator tree" limit={100000} />
      )}
    </Panel>
  );
}
