// Queries to the server, or to the answers embedded in a report. The page does no analysis itself.

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;
export interface Answer {
  query: string;
  facts: Row;
  columns: string[];
  in_bytes?: string[]; // SQL only: columns whose values are sizes
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
  default_value: string | null; // null: see `help`
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
  replaced?: boolean; // another file now has this path
}
export interface Progress {
  state: string;
  stage?: string;
  done?: number;
  total?: number;
  rows?: number;
  unit?: string;
  left?: number; // estimated seconds until the end of the stage
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
declare const REPORT: boolean; // true in the script of reports; set by the build
export const report: Report | null = REPORT ? JSON.parse(document.getElementById("answers")!.textContent!) : null;
// Reports omit null values to save space; put them back.
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

// Polls a server that stopped answering, and reloads the page at the same address when it is back.
let retryTimer = 0;
function waitForServer(): void {
  if (retryTimer || report) return;
  dispatchEvent(
    new CustomEvent("away", {
      detail: "The server has stopped or does not answer. This page continues when the server is back.",
    }),
  );
  retryTimer = window.setInterval(() => {
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
    waitForServer();
    throw new Failure("The server does not answer. Is it still running?");
  }
  const body = await response.json();
  if (!response.ok || body.error) throw new Failure(body.error?.message ?? response.statusText, body.error?.code);
  return body;
}

// ---- notes ----

const notes = new Map<string, Record<string, string>>(),
  NONE: Record<string, string> = {};

function storeNotes(db: string, file: NotesFile): void {
  notes.set(db, Object.fromEntries(Object.entries(file.notes ?? {}).map(([on, note]) => [on, String(note.text)])));
  dispatchEvent(new Event("notes"));
}

export const notesOf = (db?: string): Record<string, string> => notes.get(db || "0") ?? NONE;

// Loads the notes of a database once. Errors are ignored: without notes the page shows none.
export function readNotes(db?: string): void {
  const key = db || "0";
  if (notes.has(key)) return;
  notes.set(key, NONE);
  if (report) storeNotes(key, report.notes ?? {});
  else if (hasNotes)
    get<NotesFile>(`/api/notes?db=${key}`).then(
      (file) => storeNotes(key, file),
      () => undefined,
    );
}

// Writes a note; null text removes it.
export async function writeNote(db: string | undefined, on: string, text: string | null): Promise<void> {
  const key = db || "0",
    query = new URLSearchParams({ db: key, on, ...(text === null ? {} : { text }) });
  storeNotes(key, await get<NotesFile>(`/api/notes?${query}`, undefined, "POST"));
}

let sql = false,
  hasNotes = false,
  android: boolean[] = [], // by database
  files: string[] = []; // answers computed from --with files
export const hasFile = (name: string): boolean => (report ? name in report.answers : files.includes(name));
export const canNote = (): boolean => hasNotes;
export const hasSql = (): boolean => sql;
export const isAndroid = (db?: string): boolean => report !== null || android[Number(db ?? 0)];

export async function start(): Promise<Database[]> {
  if (report) return report.databases;
  const health = await get<{ databases: Database[]; sql: boolean; notes: boolean; files: string[] }>("/api/health");
  sql = health.sql;
  android = health.databases.map((d) => d.android === true);
  hasNotes = health.notes;
  files = health.files;
  return health.databases;
}

const CHECK_INTERVAL = 60000; // milliseconds

// Reports databases whose file was replaced after the server opened it. Checks periodically, and when the user returns
// to the tab.
export function watchFiles(notify: (replaced: number[]) => void): () => void {
  if (report) return () => undefined;
  const look = () =>
    void get<{ databases: Database[] }>("/api/health").then(
      ({ databases }) => notify(databases.filter((d) => d.replaced).map((d) => d.index)),
      () => undefined,
    );
  const timer = setInterval(look, CHECK_INTERVAL);
  addEventListener("focus", look);
  return () => {
    clearInterval(timer);
    removeEventListener("focus", look);
  };
}

// Descriptions of all queries.
export async function describe(): Promise<Spec[]> {
  return report ? report.specs : (await get<{ specs: Spec[] }>("/api/specs")).specs;
}

// Key of an answer in a report: the query and its parameters in alphabetical order, as the report's writer builds it.
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
const cache = new Map<string, Answer>();
// "info" gains rows while the server builds tables. Once it has the heap size, which is the last row to appear, it may
// be cached.
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

// Exports the whole answer as a file written by the server, which has no row limit.
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
    sorted = new URLSearchParams(text);
  sorted.sort();
  const key = `${query}?${sorted}`,
    old = cache.get(key);
  if (old) return { answer: Promise.resolve(old), cancel() {}, progress: () => Promise.resolve({ state: "none" }) };
  const request = requests.get(key) ?? send(query, key, text);
  request.users++;
  let isLeft = false;
  return {
    answer: request.answer,
    cancel() {
      if (isLeft) return;
      isLeft = true;
      if (--request.users || query === "info") return;
      if (requests.get(key) === request) requests.delete(key);
      request.control.abort();
      void fetch(`/api/cancel?job=${request.job}`, { method: "POST" }).catch(() => undefined);
    },
    progress: () => get<Progress>(`/api/progress?job=${request.job}`),
  };
}

// Requests in flight. Panels that need the same answer share one request, which is cancelled when the last of them
// closes; "info" is never cancelled, because the next view needs it.
interface Request {
  answer: Promise<Answer>;
  control: AbortController;
  job: string;
  users: number;
}
const requests = new Map<string, Request>();

function send(query: string, key: string, text: URLSearchParams): Request {
  const control = new AbortController(),
    job = `${session}-${++jobs}`;
  text.append("job", job);
  const answer = get<Answer>(`${pathOf(query)}?${text}`, control.signal).then((a) => {
    if (cache.size > 200) cache.delete(cache.keys().next().value as string);
    if (!files.includes(query) && (query !== "info" || isCounted(a))) cache.set(key, a);
    return a;
  });
  const request = { answer, control, job, users: 0 };
  requests.set(key, request);
  const done = () => {
    if (requests.get(key) === request) requests.delete(key);
  };
  answer.then(done, done);
  return request;
}
