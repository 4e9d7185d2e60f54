type Circle = readonly [cx: number, cy: number, r: number];
type Box = readonly [x: number, y: number, width: number, height: number, rx: number];

/** A path, a circle or a rectangle. */
type Shape = string | Circle | Box;

/** Line drawings on a grid of 24, in the colour of the surrounding text. */
const drawings = {
  user: [[12, 8, 4], "M4 20.5c.8-4 4-6 8-6s7.2 2 8 6"],
  picture: [[3.5, 4.5, 17, 15, 2.5], [8.75, 9.5, 1.5], "m4.5 18 5-5 3 3 3.5-4 4.5 5"],
  back: ["M19 12H5m6-6-6 6 6 6"],
  forward: ["m9 6 6 6-6 6"],
  phone: [[6.5, 2.5, 11, 19, 2.5], "M10.5 18.25h3"],
  key: [[7, 8, 10, 13.5, 2.5], "M9 8V2.5h6V8M12 13.5v3"],
  copy: [[8.5, 8.5, 12, 12, 2], "M15.5 5.5a2 2 0 0 0-2-2h-8a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2"],
  download: ["M12 3.5v12m-5-5 5 5 5-5M4 20.5h16"],
  print: [
    "M7 8.5v-5h10v5M7 17H4.5a1.5 1.5 0 0 1-1.5-1.5V10a1.5 1.5 0 0 1 1.5-1.5h15A1.5 1.5 0 0 1 21 10v5.5a1.5 1.5 0 0 1-1.5 1.5H17",
    [7, 13.5, 10, 7, 1],
  ],
  laptop: [[4.5, 4.5, 15, 11, 1.5], "M2.5 19.5h19"],
  link: [
    "M10 14a4.5 4.5 0 0 0 6.4 0l3-3A4.5 4.5 0 0 0 13 4.6l-1 1m2 4.4a4.5 4.5 0 0 0-6.4 0l-3 3a4.5 4.5 0 0 0 6.4 6.4l1-1",
  ],
  passkey: [
    [9, 7.5, 3.5],
    "M2.5 20c0-3.6 2.9-6 6.5-6 .9 0 1.7.15 2.5.4",
    [17.5, 12.5, 2.75],
    "M17.5 15.25V21.5m0-1.25h2m-2-2.5h1.5",
  ],
  lock: [[4.5, 10.5, 15, 10, 2], "M8 10.5V7.5a4 4 0 0 1 8 0v3M12 14.5v2"],
  mail: [[3, 5, 18, 14, 2], "m3.5 7 8.5 6 8.5-6"],
  check: ["m5 12.5 4.5 4.5L19 7.5"],
  alert: [[12, 12, 9], "M12 7.5v5.5m0 3v.01"],
  info: [[12, 12, 9], "M12 11v5.5M12 7.75v.01"],
  eye: ["M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12Z", [12, 12, 3]],
  eye_off: [
    "M9.9 5.7A9.6 9.6 0 0 1 12 5.5c6.5 0 10 6.5 10 6.5a17 17 0 0 1-2.9 3.6M6.3 7.2A16.6 16.6 0 0 0 2 12s3.5 6.5 10 6.5a10 10 0 0 0 4.6-1.1",
    "M9.9 9.9a3 3 0 0 0 4.2 4.2M3.5 3.5l17 17",
  ],
} as const satisfies Record<string, readonly Shape[]>;

export type IconName = keyof typeof drawings;

function ShapeView({ shape }: { shape: Shape }) {
  if (typeof shape === "string") return <path d={shape} />;
  if (shape.length === 3) {
    const [cx, cy, r] = shape;
    return <circle cx={cx} cy={cy} r={r} />;
  }
  const [x, y, width, height, rx] = shape;
  return <rect x={x} y={y} width={width} height={height} rx={rx} />;
}

/** Drawings that point along the text, and are mirrored where it is written from right to left. */
const pointing: ReadonlySet<IconName> = new Set<IconName>(["back", "forward"]);

/** A decorative icon: its meaning is also given in words. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="stile-icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
      data-pointing={pointing.has(name) || undefined}
    >
      {drawings[name].map((shape) => (
        <ShapeView key={String(shape)} shape={shape} />
      ))}
    </svg>
  );
}
