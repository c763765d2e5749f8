// The keys, and what the words mean: one box over the page.
import { useLayoutEffect, useRef } from "preact/hooks";

const keys: [string, string][] = [
  ["/  Ctrl K", "search: classes, objects, strings, threads, views"],
  ["?", "this box"],
  ["Esc", "up in a picture; closes the inspector, a menu, this box"],
  ["↑ ↓", "rows of a table or tree, cells of a picture"],
  ["→ ←", "open and close a row; neighbours in a picture"],
  ["Enter", "open the row, zoom into the cell"],
  [".", "menu of the object (also the right mouse button)"],
  ["Ctrl Enter", "run the statement (SQL)"],
  ["Ctrl Space", "complete (SQL)"],
];
const words: [string, string][] = [
  ["Shallow size", "bytes of the object itself."],
  [
    "Retained size",
    "what would be freed without the object: itself and all that it dominates. Of many objects at once " +
      "“at least” says that it may be more.",
  ],
  ["Dominator", "A dominates B if every path from the GC roots to B passes through A."],
  ["GC root", "what the VM keeps alive by itself: static fields, threads and their local variables, native code."],
  [
    "Reachable",
    "some path of references leads there from a GC root. Sums are of reachable objects unless they say otherwise.",
  ],
];

export function Help({ onClose }: { onClose(): void }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    box.current?.querySelector("button")?.focus();
  }, []);
  return (
    <div
      class="help"
      role="dialog"
      aria-modal="true"
      aria-label="Keys and words"
      ref={box}
      onClick={(e) => {
        if (e.target === box.current) onClose();
      }}
    >
      <div class="panel">
        <button class="close" aria-label="Close" onClick={onClose}>
          ×
        </button>
        <h2>Keys</h2>
        <dl>
          {keys.map(([key, what]) => (
            <div>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <h2>Words</h2>
        <dl>
          {words.map(([word, what]) => (
            <div>
              <dt>{word}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p class="dim">
          The address of a view contains its filter, sort order, zoom and object: everyone who may open it sees the
          same.
        </p>
      </div>
    </div>
  );
}
