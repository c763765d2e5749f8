// Advice from an answer. Where a terminal prints a command, the page has a link.
import { actionLink, viewOf } from "./actions";
import { Row } from "./api";
import { capital, forPage, visible } from "./text";

export function AdviceText({ row, words }: { row: Row; words: unknown }) {
  const [before, after] = capital(forPage(visible(String(words ?? "")))).split("{run}"),
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
