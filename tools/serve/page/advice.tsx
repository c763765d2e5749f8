// Advice of an answer: words, and the query that they name as a button, where a terminal has a command.
import { actionLink, viewOf } from "./actions";
import { Row } from "./api";
import { plainly, visible } from "./text";

export function AdviceText({ row, words }: { row: Row; words: unknown }) {
  const [before, after] = plainly(visible(String(words ?? ""))).split("{run}"),
    to = actionLink(row),
    title = row.action ? viewOf(String(row.action))[0] : "look";
  return (
    <>
      {before}
      {after === undefined ? null : to ? <a href={to}>{title}</a> : title}
      {after}
    </>
  );
}

export function Advice({ row, words }: { row: Row; words: unknown }) {
  return (
    <p class="advice">
      <b>What to do:</b> <AdviceText row={row} words={words} />
      {/[.?]$/.test(String(words ?? "")) ? "" : "."}
    </p>
  );
}
