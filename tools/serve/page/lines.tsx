// Line chart over time or over dumps. The legend shows the values at the pointer; vertical lines mark events.
import { useState } from "preact/hooks";
import { visible } from "./text";

export interface Line {
  name: string;
  points: [number, number][]; // sorted by x
  isLimit?: boolean; // whether the line is dashed
}

const WIDTH = 1000,
  HEIGHT = 200,
  HUES = [210, 28, 150, 285, 340, 55]; // distinguishable in the light and the dark theme

const nearest = (points: [number, number][], x: number): [number, number] | undefined =>
  points.reduce<[number, number] | undefined>(
    (best, p) => (!best || Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best),
    undefined,
  );

export function Lines({
  title,
  lines,
  format,
  at,
  marks = [],
  most = 0,
}: {
  title: string;
  lines: Line[];
  format(v: number): string;
  at(x: number): string; // label of an x value
  marks?: { x: number; text: string }[];
  most?: number; // minimum of the y axis's upper end
}) {
  const [place, setPlace] = useState<number | null>(null);
  const drawn = lines.filter((l) => l.points.length > 0),
    xs = drawn.flatMap((l) => [l.points[0][0], l.points[l.points.length - 1][0]]);
  if (drawn.length === 0) return null;
  const from = Math.min(...xs),
    to = Math.max(...xs, from + 1),
    top = drawn.reduce((m, l) => l.points.reduce((n, p) => Math.max(n, p[1]), m), most) || 1;
  const x = (v: number) => ((v - from) / (to - from)) * WIDTH,
    y = (v: number) => HEIGHT - (v / top) * (HEIGHT - 4);
  const said = (l: Line) => (place === null ? l.points[l.points.length - 1] : nearest(l.points, place));
  const onMove = (e: PointerEvent) => {
    const box = (e.currentTarget as Element).getBoundingClientRect();
    setPlace(from + (Math.max(0, Math.min(box.width, e.clientX - box.left)) / box.width) * (to - from));
  };
  const spoken = drawn
    .map((l) => `${visible(l.name)} from ${format(l.points[0][1])} to ${format(l.points[l.points.length - 1][1])}`)
    .join("; ");
  return (
    <figure class="lines">
      <figcaption>
        <b>{title}</b>
        <span class="right dim">{place === null ? "" : at(place)}</span>
      </figcaption>
      <div class="drawn">
        <span class="dim top">{format(top)}</span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${spoken}`}
          onPointerMove={onMove}
          onPointerLeave={() => setPlace(null)}
        >
          {marks
            .filter((m) => m.x >= from && m.x <= to)
            .map((m) => (
              <line class="event" x1={x(m.x)} x2={x(m.x)} y1={0} y2={HEIGHT}>
                <title>{visible(m.text)}</title>
              </line>
            ))}
          {place !== null && <line class="place" x1={x(place)} x2={x(place)} y1={0} y2={HEIGHT} />}
          {drawn.map((l, i) => (
            <polyline
              class={l.isLimit ? "limit" : ""}
              style={{ "--hue": String(HUES[i % HUES.length]) }}
              points={l.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ")}
            />
          ))}
        </svg>
      </div>
      <p class="ends dim">
        <span>{at(from)}</span>
        <span>{at(to)}</span>
      </p>
      <p class="legend">
        {drawn.map((l, i) => (
          <span title={visible(l.name)}>
            <i class="key" style={{ "--hue": String(HUES[i % HUES.length]) }} />
            {visible(l.name)} <b>{said(l) ? format(said(l)![1]) : "–"}</b>
          </span>
        ))}
      </p>
    </figure>
  );
}
