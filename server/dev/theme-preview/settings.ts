import type { z } from "zod";
import { theme as themeSchema } from "../../config/sections/theme.ts";
import { themeWarnings } from "../../theme/theme-css.ts";

export type Theme = z.output<typeof themeSchema>;

export const schemes = ["light", "dark"] as const;
export const colorNames = ["accent", "ground", "surface", "ink"] as const;

/** A theme as a form describes it. */
export interface TriedTheme {
  theme: Theme;
  /** What is wrong with the settings; then the theme is the default one. */
  faults: string[];
  /** Colours with too little contrast, and those that pages use. */
  warnings: string[];
  /** The settings as they are written into the configuration. */
  configuration: string;
}

/**
 * Reads the settings of a theme from a query: `preset`, `color_scheme`, `radius`, `font`, `density`, and colours such as
 * `light.accent`. Empty values count as absent.
 *
 * @param fallback the theme of a query without settings
 */
export function triedTheme(query: URLSearchParams, fallback: Theme): TriedTheme {
  const given = query.has("preset") ? settingsOf(query) : withoutDefaults(fallback);
  const parsed = themeSchema.safeParse(given);
  const theme = parsed.success ? parsed.data : themeSchema.parse({});
  return {
    theme,
    faults: parsed.success
      ? []
      : parsed.error.issues.map(({ path, message }) => `theme.${path.join(".")}: ${message}`),
    warnings: themeWarnings(theme),
    configuration: JSON.stringify({ theme: given }, null, 2),
  };
}

function settingsOf(query: URLSearchParams): Record<string, unknown> {
  const value = (name: string) => query.get(name) || undefined;
  const radius = value("radius");
  const colors = schemes.map((scheme) => [
    scheme,
    defined(Object.fromEntries(colorNames.map((name) => [name, value(`${scheme}.${name}`)]))),
  ]);
  return defined({
    preset: value("preset"),
    color_scheme: value("color_scheme"),
    ...Object.fromEntries(colors),
    radius: radius === undefined ? undefined : Number(radius),
    font: value("font"),
    density: value("density"),
  });
}

/** The settings that differ from the default theme. Images are left out, which would make a long text. */
function withoutDefaults({ logo, favicon, ...theme }: Theme): Record<string, unknown> {
  const byDefault: Record<string, unknown> = themeSchema.parse({});
  return Object.fromEntries(
    Object.entries(theme).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(byDefault[name]),
    ),
  );
}

/** Without absent members and empty sections. */
function defined(settings: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([, value]) =>
        value !== undefined && (typeof value !== "object" || Object.keys(value ?? {}).length > 0),
    ),
  );
}
