import type { ReactNode } from "react";

export type IconName =
  | "back"
  | "passkey"
  | "lock"
  | "mail"
  | "check"
  | "alert"
  | "info"
  | "eye"
  | "eye_off"
  | "forward"
  | "phone"
  | "key"
  | "copy"
  | "download"
  | "print"
  | "add"
  | "laptop"
  | "link"
  | "user"
  | "picture";

/** Line drawings on a grid of 24, in the colour of the surrounding text. */
const drawings: Record<IconName, ReactNode> = {
  user: (
    <>
      <circle cx="12" cy="8" r="4" />
      <path d="M4 20.5c.8-4 4-6 8-6s7.2 2 8 6" />
    </>
  ),
  picture: (
    <>
      <rect x="3.5" y="4.5" width="17" height="15" rx="2.5" />
      <circle cx="8.75" cy="9.5" r="1.5" />
      <path d="m4.5 18 5-5 3 3 3.5-4 4.5 5" />
    </>
  ),
  back: <path d="M19 12H5m6-6-6 6 6 6" />,
  forward: <path d="m9 6 6 6-6 6" />,
  phone: (
    <>
      <rect x="6.5" y="2.5" width="11" height="19" rx="2.5" />
      <path d="M10.5 18.25h3" />
    </>
  ),
  key: (
    <>
      <rect x="7" y="8" width="10" height="13.5" rx="2.5" />
      <path d="M9 8V2.5h6V8M12 13.5v3" />
    </>
  ),
  copy: (
    <>
      <rect x="8.5" y="8.5" width="12" height="12" rx="2" />
      <path d="M15.5 5.5a2 2 0 0 0-2-2h-8a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2" />
    </>
  ),
  download: <path d="M12 3.5v12m-5-5 5 5 5-5M4 20.5h16" />,
  print: (
    <>
      <path d="M7 8.5v-5h10v5M7 17H4.5a1.5 1.5 0 0 1-1.5-1.5V10a1.5 1.5 0 0 1 1.5-1.5h15A1.5 1.5 0 0 1 21 10v5.5a1.5 1.5 0 0 1-1.5 1.5H17" />
      <rect x="7" y="13.5" width="10" height="7" rx="1" />
    </>
  ),
  add: <path d="M12 5v14M5 12h14" />,
  laptop: (
    <>
      <rect x="4.5" y="4.5" width="15" height="11" rx="1.5" />
      <path d="M2.5 19.5h19" />
    </>
  ),
  link: (
    <path d="M10 14a4.5 4.5 0 0 0 6.4 0l3-3A4.5 4.5 0 0 0 13 4.6l-1 1m2 4.4a4.5 4.5 0 0 0-6.4 0l-3 3a4.5 4.5 0 0 0 6.4 6.4l1-1" />
  ),
  passkey: (
    <>
      <circle cx="9" cy="7.5" r="3.5" />
      <path d="M2.5 20c0-3.6 2.9-6 6.5-6 .9 0 1.7.15 2.5.4" />
      <circle cx="17.5" cy="12.5" r="2.75" />
      <path d="M17.5 15.25V21.5m0-1.25h2m-2-2.5h1.5" />
    </>
  ),
  lock: (
    <>
      <rect x="4.5" y="10.5" width="15" height="10" rx="2" />
      <path d="M8 10.5V7.5a4 4 0 0 1 8 0v3M12 14.5v2" />
    </>
  ),
  mail: (
    <>
      <rect x="3" y="5" width="18" height="14" rx="2" />
      <path d="m3.5 7 8.5 6 8.5-6" />
    </>
  ),
  check: <path d="m5 12.5 4.5 4.5L19 7.5" />,
  alert: (
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 7.5v5.5m0 3v.01" />
    </>
  ),
  info: (
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 11v5.5M12 7.75v.01" />
    </>
  ),
  eye: (
    <>
      <path d="M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12Z" />
      <circle cx="12" cy="12" r="3" />
    </>
  ),
  eye_off: (
    <>
      <path d="M9.9 5.7A9.6 9.6 0 0 1 12 5.5c6.5 0 10 6.5 10 6.5a17 17 0 0 1-2.9 3.6M6.3 7.2A16.6 16.6 0 0 0 2 12s3.5 6.5 10 6.5a10 10 0 0 0 4.6-1.1" />
      <path d="M9.9 9.9a3 3 0 0 0 4.2 4.2M3.5 3.5l17 17" />
    </>
  ),
};

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
      {drawings[name]}
    </svg>
  );
}
