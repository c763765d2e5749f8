// Formats numbers, sizes and names in the browser's locale.

const plain = new Intl.NumberFormat();
const one = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export const number = (n: number): string => plain.format(n);
// "1 class", "2 classes".
export const counted = (n: number, one: string): string =>
  `${number(n)} ${n === 1 ? one : one.endsWith("s") ? `${one}es` : `${one}s`}`;
export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
export const percent = (n: number): string => `${one.format(n)}\u00a0%`;

export function bytes(n: number): string {
  const sign = n < 0 ? "-" : "";
  let value = Math.abs(n),
    unit = 0;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  while (value >= 1023.95 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return sign + (unit ? one.format(value) : plain.format(value)) + "\u00a0" + units[unit];
}

// "java.util.HashMap$Node[]" -> ["java.util.", "HashMap$Node[]"]. Dots after a space, quote or bracket do not count.
export function splitName(name: string): [string, string] {
  const head = name.startsWith("class ") ? 6 : 0;
  const end = name.slice(head).search(/[\s"(/\[]/);
  const dot = name.lastIndexOf(".", end < 0 ? undefined : head + end);
  return dot > head ? [name.slice(0, dot + 1), name.slice(dot + 1)] : [name.slice(0, head), name.slice(head)];
}

// Escapes control, bidirectional and invisible characters, so that text from the dump cannot hide or reorder itself.
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u{${c.charCodeAt(0).toString(16)}}`,
  );
}

export function hue(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
  return ((hash >>> 8) % 12) * 30;
}

// True if every word occurs in one of the texts, ignoring case.
export function hasAllWords(words: string, texts: unknown[]): boolean {
  const low = texts.filter((t) => typeof t === "string").map((t) => (t as string).toLowerCase());
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.some((t) => t.includes(word)));
}

// Names of commands and queries after "heapdb". Any other word belongs to a sentence, as in "heapdb cannot tell".
const COMMANDS = new RegExp(
  "\\bheapdb (?=(" +
    (
      "import capture info check diff gate query sql report serve export convert strip redact meminfo " +
      "memory allocations jfr watch growth mcp fleet notes oql overview leaks leak-traces triage explain " +
      "path merged-paths immediate-dominators reference-leaks retained histogram top top-consumers " +
      "dominators dominator-tree big-drops object instances references referrers roots entries " +
      "direct-buffers strings group-by-value secrets duplicates substrings arrays collections " +
      "reference-stats finalizers native bitmaps unreachable threads class layout loaders duplicate-classes " +
      "problems properties sizes tables dangling records"
    ).replace(/ /g, "|") +
    ")\\b)",
  "g",
);

// Rewrites a message or help text for the page, which has no commands, and form fields instead of options.
export const forPage = (text: string): string =>
  text.replace(COMMANDS, "").replace(/(^|[\s(])--(?=[a-z])/g, "$1option ");
