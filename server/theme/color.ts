/** Colours of sRGB in 8 bits, as `#rrggbb`, and the contrast between them. */

type Channels = readonly [red: number, green: number, blue: number];

const BLACK = "#000000";
const WHITE = "#ffffff";

/**
 * Mixes two colours.
 *
 * @param share of `other` in the result, 0 to 1
 */
export function mix(color: string, other: string, share: number): string {
  const to = channelsOf(other);
  const mixed = channelsOf(color).map((channel, at) =>
    Math.round(channel + ((to[at] ?? 0) - channel) * share),
  );
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** Contrast ratio of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(color: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(color), luminance(other)].sort((one, two) => one - two);
  return (light + 0.05) / (dark + 0.05);
}

/** The one of black and white that is read better on a ground. */
export function inkOn(ground: string): string {
  return contrast(WHITE, ground) >= contrast(BLACK, ground) ? WHITE : BLACK;
}

/**
 * Moves a colour towards black or white, as little as needed, until it has a contrast with every ground.
 *
 * @param grounds colours that it is drawn on
 * @param ratio least contrast; black or white reach 4.5 on any one ground
 * @returns the colour itself if its contrast suffices; black or white if none suffices
 */
export function readable(color: string, grounds: readonly string[], ratio: number): string {
  const suffices = (candidate: string) => grounds.every((ground) => contrast(candidate, ground) >= ratio);
  const target = inkOn(grounds[0] ?? WHITE);
  for (let share = 0; share < 1; share += 0.02) {
    const candidate = mix(color, target, share);
    if (suffices(candidate)) return candidate;
  }
  return target;
}

/** Relative luminance, 0 to 1 (WCAG 2.2, "relative luminance"). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(color: string): Channels {
  const value = Number.parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
