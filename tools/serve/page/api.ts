// Questions to the server, or to the answers inside a report. The page has no analysis of its own.

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;
export interface Answer {
  query: string;
  facts: Row;
  columns: string[];
  in_bytes?: string[]; // of a statement: columns that are sizes
  rows: Row[];
  row_count: number;
  total_rows: number | null;
  error?: { code: string; message: string };
}
export interface Column {
  name: string;
  title: string;
  help: string;
  type: string;
}
export interface Option {
  name: string;
  argument: string | null;
  help: string;
}
export interface Spec {
  name: string;
  group: string;
  targets: string;
  summary: string;
  example: string;
  options: Option[];
  columns: Column[];
  facts: Column[];
}
export interface Database {
  index: number;
  name: string;
  stale: string | null;
  incomplete: string | null;
  android?: boolean;
  replaced?: boolean; // another file has its path now
}
export interface Progress {
  state: string;
  stage?: string;
  done?: number;
  total?: number;
  rows?: number;
  unit?: string;
}
export type Params = Record<string, string | string[] | undefined>;

interface NotesFile {
  notes?: Record<string, { text: string }>;
  error?: { code: string; message: string };
}
interface Report {
  title: string;
  notes?: NotesFile;
  answers: Record<string, Answer>;
  specs: Spec[];
  databases: Database[];
}
declare const REPORT: boolean; // whether this is the script of a report
export const report: Report | null = REPORT ? JSON.parse(document.getElementById("answers")!.textContent!) : null;
// Rows of a report lack the keys of nulls.
for (const { columns, rows } of Object.values(report?.answers ?? {}))
  for (const row of rows) for (const name of columns) row[name] ??= null;

export class Failure extends Error {
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

// While the server is away it is asked now and then; when it is back the page is loaded anew, where it was.
let away = 0;
function watch(): void {
  if (away || report) return;
  dispatchEvent(
    new CustomEvent("away", {
      detail: "The server has stopped or does not answer. This page continues when the server is back.",
    }),
  );
  away = window.setInterval(() => {
    fetch("/api/health", { credentials: "same-origin" }).then(
      (r) => {
        if (r.ok) location.reload();
        else if (r.status === 403)
          dispatchEvent(
            new CustomEvent("away", {
              detail: "Another server is running now. Open the address that it printed, which contains its token.",
            }),
          );
      },
      () => undefined,
    );
  }, 2000);
}

async function get<T>(path: string, signal?: AbortSignal, method = "GET"): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { method, signal, credentials: "same-origin" });
  } catch (e) {
    if ((e as Error).name === "AbortError") throw e;
    watch();
    throw new Failure("The server does not answer. Is it still running?");
  }
  const body = await response.json();
  if (!response.ok || body.error) throw new Failure(body.error?.message ?? response.statusText, body.error?.code);
  return body;
}

// ---- notes ----

const notes = new Map<string, Record<string, string>>(),
  NONE: Record<string, string> = {};

function keepNotes(db: string, file: NotesFile): void {
  notes.set(db, Object.fromEntries(Object.entries(file.notes ?? {}).map(([on, note]) => [on, String(note.text)])));
  dispatchEvent(new Event("notes"));
}

export const noted = (db?: string): Record<string, string> => notes.get(db || "0") ?? NONE;

// Asks once; where there are none to be had nothing is shown.
export function readNotes(db?: string): void {
  const key = db || "0";
  if (notes.has(key)) return;
  notes.set(key, NONE);
  if (report) keepNotes(key, report.notes ?? {});
  else if (hasNotes)
    get<NotesFile>(`/api/notes?db=${key}`).then(
      (file) => keepNotes(key, file),
      () => undefined,
    );
}

// Writes a note; null removes it.
export async function noteText(db: string | undefined, on: string, text: string | null): Promise<void> {
  const key = db || "0",
    reply = new URLSearchParams({ db: key, on, ...(text === null ? {} : { text }) });
  keepNotes(key, await get<NotesFile>(`/api/notes?${reply}`, undefined, "POST"));
}

let sql = false,
  hasNotes = false,
  files: string[] = []; // answers from files beside the databases
export const hasFile = (name: string): boolean => (report ? name in report.answers : files.includes(name));
export const canNote = (): boolean => hasNotes;
export const hasSql = (): boolean => sql;

export async function start(): Promise<Database[]> {
  if (report) return report.databases;
  const health = await get<{ databases: Database[]; sql: boolean; notes: boolean; files: string[] }>("/api/health");
  sql = health.sql;
  hasNotes = health.notes;
  files = health.files;
  return health.databases;
}

const LOOK = 60000; // milliseconds between two looks at the files

// Reports databases whose file was replaced since the server opened it: looked at now and then, and when somebody
// comes back to the tab.
export function watchFiles(notify: (replaced: number[]) => void): () => void {
  if (report) return () => undefined;
  const look = () =>
    void get<{ databases: Database[] }>("/api/health").then(
      ({ databases }) => notify(databases.filter((d) => d.replaced).map((d) => d.index)),
      () => undefined,
    );
  const timer = setInterval(look, LOOK);
  addEventListener("focus", look);
  return () => {
    clearInterval(timer);
    removeEventListener("focus", look);
  };
}

// What the queries are called and answer: asked for once, when something of the page needs it.
let described: Promise<Spec[]> | null = null;
export function describe(): Promise<Spec[]> {
  described ??= report ? Promise.resolve(report.specs) : get<{ specs: Spec[] }>("/api/specs").then((s) => s.specs);
  return described;
}

// The key of an answer in a report: what changes it, in order of name.
export function keyOf(query: string, params: Params): string {
  const parts: string[] = [];
  for (const name of Object.keys(params).sort()) {
    const value = params[name];
    if (value !== undefined && !["limit", "db", "sort"].includes(name)) parts.push(`${name}=${value}`);
  }
  return parts.length ? `${query}?${parts.join("&")}` : query;
}

let jobs = 0;
const session = Math.random().toString(36).slice(2, 10);
const kept = new Map<string, Answer>();
// What is known of a dump is shown in several places at once: they wait for one answer, which nobody cancels.
const shared = new Map<string, Question>();

// What is known of a dump grows while tables are built: the heap is counted last.
export const isCounted = (info: Answer): boolean => info.rows.some((r) => r.key === "reachable bytes");

export interface Question {
  answer: Promise<Answer>;
  cancel(): void;
  progress(): Promise<Progress>;
}

function argumentsOf(params: Params): URLSearchParams {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== "") text.append(name, one);
  return text;
}

const pathOf = (query: string): string =>
  `/api/${query === "sql" ? "sql" : `${files.includes(query) ? "file" : "query"}/${query}`}`;

// All rows and columns as a file that the server makes, however many there are.
export interface File {
  query: string;
  params: Params;
}
export function exportFile(
  { query, params }: File,
  format: string,
  notify: (p: Progress) => void,
): { file: Promise<Blob>; cancel(): void } {
  const job = `${session}-${++jobs}`,
    text = argumentsOf({ ...params, limit: undefined, format, job });
  const timer = setInterval(() => void get<Progress>(`/api/progress?job=${job}`).then(notify, () => undefined), 500);
  const make = async () => {
    const response = await fetch(`${pathOf(query)}?${text}`, { credentials: "same-origin" });
    if (!response.headers.has("content-disposition"))
      throw new Failure((await response.json()).error?.message ?? response.statusText);
    return response.blob();
  };
  return {
    file: make().finally(() => clearInterval(timer)),
    cancel: () => void fetch(`/api/cancel?job=${job}`, { method: "POST" }).catch(() => undefined),
  };
}

export function ask(query: string, params: Params): Question {
  if (report) {
    const found = report.answers[keyOf(query, params)];
    return {
      answer: found
        ? Promise.resolve(found)
        : Promise.reject(new Failure("This report does not contain this view: open the database with `heapdb serve`.")),
      cancel() {},
      progress: () => Promise.resolve({ state: "none" }),
    };
  }
  const text = argumentsOf(params.db === "0" ? { ...params, db: undefined } : params),
    key = `${query}?${text}`;
  const old = kept.get(key),
    flying = shared.get(key);
  if (flying) return flying;
  if (old) return { answer: Promise.resolve(old), cancel() {}, progress: () => Promise.resolve({ state: "none" }) };
  const job = `${session}-${++jobs}`;
  text.append("job", job);
  const control = new AbortController();
  const answer = get<Answer>(`${pathOf(query)}?${text}`, control.signal).then((a) => {
    if (kept.size > 200) kept.delete(kept.keys().next().value as string);
    if (!files.includes(query) && (query !== "info" || isCounted(a))) kept.set(key, a);
    return a;
  });
  const question: Question = {
    answer,
    cancel() {
      if (shared.has(key)) return;
      control.abort();
      void fetch(`/api/cancel?job=${job}`, { method: "POST" }).catch(() => undefined);
    },
    progress: () => get<Progress>(`/api/progress?job=${job}`),
  };
  if (query !== "info") return question;
  shared.set(key, question);
  const done = () => void shared.delete(key);
  answer.then(done, done);
  return question;
}
