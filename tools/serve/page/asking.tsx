// Hooks that run queries, with progress and errors, and suggestions for class names that do not exist.
import { useEffect, useRef, useState } from "preact/hooks";
import { Answer, ask, Cell, Failure, Params, Progress, report, Row } from "./api";
import { Name } from "./objects";
import { href, readRoute } from "./route";
import { counted, percent, forPage, visible } from "./text";
export interface Reply {
  answer?: Answer;
  error?: string;
  code?: string;
  progress?: Progress;
  cancel(): void;
  retry(): void;
}

const EARLY = 1000; // milliseconds of a stage before its duration is estimated

// Returns a function that adds the estimated remaining time of the stage to progress reports.
function estimating(): (p: Progress) => Progress {
  let stage: string | undefined,
    since = 0,
    first = 0;
  return (p) => {
    const done = p.done ?? 0,
      now = performance.now();
    if (p.stage !== stage || done < first) [stage, since, first] = [p.stage, now, done];
    if (!p.total || done <= first || now - since < EARLY) return p;
    return { ...p, left: Math.ceil(((now - since) / 1000 / (done - first)) * Math.max(0, p.total - done)) };
  };
}

export function useAnswer(query: string, params: Params): Reply {
  const [turn, setTurn] = useState(0);
  const key = `${query}${JSON.stringify(params)}${turn}`;
  const [state, set] = useState<{ key: string; answer?: Answer; error?: string; code?: string; progress?: Progress }>({
    key,
  });
  const cancel = useRef(() => {});
  useEffect(() => {
    if (!query) return;
    const question = ask(query, params),
      estimated = estimating();
    let live = true,
      timer = 0;
    const poll = () =>
      void question
        .progress()
        .then((progress) => {
          if (!live) return;
          const known = estimated(progress);
          set((s) => (s.answer ? s : { key, progress: known }));
          timer = window.setTimeout(poll, 500);
        })
        .catch(() => undefined);
    if (!report) timer = window.setTimeout(poll, 400);
    cancel.current = () => {
      question.cancel();
      if (live) set({ key, error: "Cancelled." });
    };
    question.answer
      .then(
        (answer) => live && set({ key, answer }),
        (e: Error) => {
          if (live)
            set({
              key,
              error: e instanceof Failure ? e.message : "Cancelled.",
              code: e instanceof Failure ? e.code : undefined,
            });
        },
      )
      .finally(() => {
        live = false;
        clearTimeout(timer);
      });
    return () => {
      if (live && !report) {
        live = false;
        clearTimeout(timer);
        question.cancel();
      }
      live = false;
    };
  }, [key]);
  const acts = { cancel: () => cancel.current(), retry: () => setTurn(turn + 1) };
  return state.key === key ? { ...state, ...acts } : acts;
}

// Runs a query several times with different parameters. Answers are undefined until they arrive, and null if the query
// failed.
export function useAnswers(query: string, all: Params[]): (Answer | null | undefined)[] {
  const key = JSON.stringify([query, all]),
    [found, set] = useState<{ key: string; answers: (Answer | null)[] }>({ key: "", answers: [] });
  useEffect(() => {
    const questions = all.map((params) => ask(query, params));
    let live = true;
    questions.forEach(({ answer }, i) => {
      const keep = (a: Answer | null) => {
        if (!live) return;
        set((old) => {
          const answers = old.key === key ? [...old.answers] : [];
          answers[i] = a;
          return { key, answers };
        });
      };
      answer.then(keep, () => keep(null));
    });
    return () => {
      live = false;
      if (!report) for (const question of questions) question.cancel();
    };
  }, [key]);
  return all.map((_, i) => (found.key === key ? found.answers[i] : undefined));
}

// Like useAnswer, but returns the previous answer of the same kind until the new one arrives, so that the layout does
// not jump.
export type Previous = Reply & { late: boolean };
export function usePrevious(query: string, params: Params, kind: string): Previous {
  const reply = useAnswer(query, params),
    before = useRef<{ kind: string; answer: Answer } | null>(null);
  if (reply.answer) before.current = { kind, answer: reply.answer };
  const old = before.current?.kind === kind ? before.current.answer : undefined;
  return { ...reply, answer: reply.answer ?? old, late: !reply.answer && old !== undefined };
}

export function Wait({ reply, what }: { reply: Reply; what: string }) {
  const p = reply.progress;
  if (reply.error)
    return (
      <p class="error" role="alert">
        {forPage(visible(reply.error))}{" "}
        {!report && reply.code !== "HDB_NOTFOUND" && <button onClick={() => reply.retry()}>Try again</button>}
      </p>
    );
  if (reply.answer) return null;
  return (
    <p class="wait" role="status">
      {p
        ? `Waiting for ${what}: ${p.state === "waiting" ? "other queries run first" : p.stage || "working"}`
        : `Loading ${what} …`}
      {p?.total ? ` ${percent(Math.min(100, (100 * (p.done ?? 0)) / p.total))}` : ""}
      {p?.left ? `, about ${counted(p.left, "second")} left in this step` : ""}
      {p && <button onClick={() => reply.cancel()}>Cancel</button>}
    </p>
  );
}

// Edit distance (Levenshtein) of two words; more than `most` if their lengths alone differ by more.
function steps(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

const NEAR = 4; // maximum number of suggested names

// Suggestions for a class name that does not exist: names that contain it, otherwise names a few letters away.
export async function nearest(word: string, db?: string): Promise<string[]> {
  const plain = word.replace(/[*?]/g, "").toLowerCase(),
    simple = (n: string) => n.slice(n.lastIndexOf(".") + 1).toLowerCase();
  const all = (await ask("histogram", { db, shallow: "1", limit: "50000" }).answer).rows.map((r) => String(r.name));
  const inside = all.filter((n) => n.toLowerCase().includes(plain));
  if (plain && inside.length) return inside.slice(0, NEAR);
  const simpleName = simple(plain),
    most = Math.max(2, Math.floor(simpleName.length / 3));
  return all
    .map((n) => [steps(simpleName, simple(n).replace(/\[\]/g, ""), most), n] as [number, string])
    .filter(([d]) => d <= most)
    .sort((a, b) => a[0] - b[0])
    .slice(0, NEAR)
    .map(([, n]) => n);
}

export function Nearest({ word, db }: { word: string; db?: string }) {
  const [names, set] = useState<string[] | null>(null);
  useEffect(() => {
    let live = true;
    nearest(word, db).then(
      (found) => {
        if (live) set(found);
      },
      () => undefined,
    );
    return () => {
      live = false;
    };
  }, [word, db]);
  if (!names) return null;
  return (
    <p class="empty nearest">
      {names.length ? (
        <>
          Nearest:{" "}
          {names.map((n, i) => (
            <>
              {i > 0 && ", "}
              <a href={href(readRoute().view, { ...readRoute().params, target: n, obj: undefined })}>
                <Name text={n} />
              </a>
            </>
          ))}
        </>
      ) : (
        "No class has such a name. In a pattern, * stands for any characters, as in java.util.* or *Session."
      )}
    </p>
  );
}

// A remark whose part before the colon is highlighted.
export function Mark({ text }: { text: string }) {
  const colon = text.indexOf(":") + 1;
  return (
    <p class="mark">
      <b>{text.slice(0, colon)}</b>
      {text.slice(colon)}
    </p>
  );
}

// Limits of an answer: outdated or incomplete data, omitted rows, and which objects it counts. Also reports a deadlock.
export function Marks({ facts }: { facts: Row }) {
  const marks: [string, Cell][] = [
    ["Stale", facts.stale],
    ["Incomplete", facts.incomplete],
    ["Left out", facts.cut],
    [
      "Combined",
      facts.folded
        ? `${counted(Number(facts.folded), "object")} counted at another above, because the tree is too large`
        : null,
    ],
    ["Deadlock", facts.deadlock],
    ["Counted", facts.counted && facts.counted !== "reachable" ? `${facts.counted} objects` : null],
  ];
  return (
    <>
      {marks
        .filter((m) => m[1])
        .map(([word, text]) => (
          <Mark text={`${word}: ${forPage(visible(String(text)))}`} />
        ))}
    </>
  );
}
