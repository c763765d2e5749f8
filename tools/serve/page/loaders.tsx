// Class loaders: those that a redeployment may have left behind, then all by class, then the tree.
import { useMemo } from "preact/hooks";
import { Row } from "./api";
import { Card } from "./card";
import { Marks, useAnswer, Wait } from "./asking";
import { classPage, Name, Obj } from "./objects";
import { Panel, specs } from "./parts";
import { QueryTable } from "./query";
import { Table } from "./table";
import { linkTo, readRoute, Route } from "./route";
import { bytes, number, visible } from "./text";

const SHOWN = 10; // loaders listed per set

interface LoaderSet {
  name: string;
  loaders: Row[];
  classes: string[];
  retained: number;
}

// Sets of class loaders of the same class that define classes of the same names, as one loader per deployment does.
function setsOf(loaders: Row[], copies: Row[]): LoaderSet[] {
  const known = new Map(loaders.map((r) => [String(r.id), r])),
    sets = new Map<string, { ids: Set<string>; classes: Set<string> }>();
  const byName = new Map<string, Row[]>();
  for (const r of copies) byName.set(String(r.name), [...(byName.get(String(r.name)) ?? []), r]);
  for (const [name, rows] of byName) {
    const kinds = new Map<string, string[]>();
    for (const r of rows) kinds.set(String(r.loader), [...(kinds.get(String(r.loader)) ?? []), String(r.loader_id)]);
    for (const [kind, ids] of kinds) {
      if (new Set(ids).size < 2) continue;
      const set = sets.get(kind) ?? { ids: new Set<string>(), classes: new Set<string>() };
      for (const id of ids) set.ids.add(id);
      set.classes.add(name);
      sets.set(kind, set);
    }
  }
  return [...sets]
    .map(([name, { ids, classes }]): LoaderSet => {
      const list = [...ids]
        .map((id) => known.get(id))
        .filter((r): r is Row => r !== undefined)
        .sort((a, b) => Number(b.retained) - Number(a.retained));
      return {
        name,
        loaders: list,
        classes: [...classes],
        retained: list.reduce((s, r) => s + Number(r.retained ?? 0), 0),
      };
    })
    .filter((s) => s.loaders.length > 1)
    .sort((a, b) => b.retained - a.retained);
}

function SetCard({ set, first }: { set: LoaderSet; first: boolean }) {
  const all = classPage(set.classes[0], "loaders"),
    keeps = (r: Row) => linkTo("loaders", { ...readRoute().params, obj: String(r.id), tab: "path" });
  return (
    <Card
      kind="finding"
      figure={`up to ${bytes(set.retained)}`}
      sentence={
        <>
          <a href={all}>
            {number(set.loaders.length)} {visible(set.name.replace(/^.*\./, ""))}
          </a>{" "}
          define classes with the same names.
        </>
      }
      first={first}
      act={["Show what holds the largest", keeps(set.loaders[0])]}
      more={[["All class loaders of the set", all]]}
    >
      <p>
        Each keeps its own copy of these classes. After a redeployment or a reload, the earlier class loaders should be
        gone. The path of each one shows what keeps it alive. Classes with several copies:{" "}
        {set.classes.slice(0, 5).map((c, i) => (
          <>
            {i > 0 && ", "}
            <a href={classPage(c, "loaders")}>
              <Name text={c} wrap />
            </a>
          </>
        ))}
        {set.classes.length > 5 && ` and ${number(set.classes.length - 5)} more`}.
      </p>
      <ul class="parts">
        {set.loaders.slice(0, SHOWN).map((r) => (
          <li>
            <span class="right">
              {number(Number(r.classes))} classes · {bytes(Number(r.retained ?? 0))}
            </span>
            <Obj id={r.id} text={`${r.name}${r.label ? ` ${r.label}` : ""}`} />{" "}
            <small>
              <a href={keeps(r)}>what keeps it</a>
            </small>
          </li>
        ))}
        {set.loaders.length > SHOWN && (
          <li>
            <a href={all}>All {number(set.loaders.length)}</a>
          </li>
        )}
      </ul>
    </Card>
  );
}

// One row per class of class loaders, because an application may have dozens of loaders with one class each.
function kindsOf(loaders: Row[]): Row[] {
  const kinds = new Map<string, Row>();
  for (const r of loaders) {
    const old = kinds.get(String(r.name)) ?? {
      class: r.name,
      loaders: 0,
      classes: 0,
      objects: 0,
      retained: 0,
      dead: 0,
    };
    kinds.set(String(r.name), {
      ...old,
      loaders: Number(old.loaders) + 1,
      dead: Number(old.dead) + Number(r.use === "garbage"),
      classes: Number(old.classes) + Number(r.classes ?? 0),
      objects: Number(old.objects) + Number(r.objects ?? 0),
      retained: Number(old.retained) + Number(r.retained ?? 0),
    });
  }
  return [...kinds.values()].sort((a, b) => Number(b.retained) - Number(a.retained));
}

// The objects of such a row. The page of a class lists only reachable ones.
const objectsOf = (row: Row) =>
  row.class === "<boot>"
    ? undefined
    : row.dead
      ? linkTo("all", { q: "instances", target: String(row.class), o_all: "1" })
      : classPage(String(row.class));

export function Loaders({ route }: { route: Route }) {
  const { db } = route.params,
    reply = useAnswer("loaders", { db, limit: "20000" }),
    duplicates = useAnswer("duplicate-classes", { db, limit: "100000" });
  const sets = useMemo(
    () => (reply.answer && duplicates.answer ? setsOf(reply.answer.rows, duplicates.answer.rows) : []),
    [reply.answer, duplicates.answer],
  );
  if (!reply.answer || (!duplicates.answer && !duplicates.error))
    return (
      <Panel>
        <Wait reply={reply.answer ? duplicates : reply} what="class loaders" />
      </Panel>
    );
  const kinds = kindsOf(reply.answer.rows);
  const column = (name: string, title: string, type: string, help: string) => ({ name, title, type, help }),
    use = specs
      .get("loaders")
      ?.columns.find((c) => c.name === "use")
      ?.help.replace(/, `query[^`]*` says which/, "");
  return (
    <>
      <Panel>
        <Marks facts={reply.answer.facts} />
        {sets.length === 0 ? (
          <p class="empty">
            No two class loaders of the same class define a class of the same name, so none appears to have leaked.
          </p>
        ) : (
          sets.map((set, i) => <SetCard set={set} first={i === 0} />)
        )}
      </Panel>
      <Panel title="By class">
        <p class="dim">
          {number(Number(reply.answer.facts.loaders ?? reply.answer.row_count))} class loaders
          {Number(reply.answer.facts.unreachable) > 0 &&
            `, ${number(Number(reply.answer.facts.unreachable))} unreachable`}
          . The retained size is the sum over the loaders with their classes and objects. Memory that two loaders retain
          counts twice.
        </p>
        <Table
          columns={[
            column("class", "class", "text", "class of the class loaders"),
            column("loaders", "loaders", "count", "class loaders of this class"),
            column("classes", "classes", "count", "classes that they define"),
            column("objects", "objects", "count", "objects of these classes"),
            column("retained", "retained", "bytes", "sum of the retained sizes"),
          ]}
          rows={kinds}
          total={kinds.length}
          what="kinds of class loaders"
          links={{ loaders: objectsOf }}
        />
      </Panel>
      <Panel title="Class loader tree">
        {use && <p class="dim">The column “use”: {use}</p>}
        <QueryTable query="loaders" params={{ db }} what="class loaders" sortKey="sort" />
      </Panel>
    </>
  );
}
