import type { Config } from "../config/schema.ts";
import { contrast, inkOn, mix, readable } from "./color.ts";
import { type ColorName, fonts, type Palette, presets, stileColors } from "./presets.ts";

/** Contrast of texts (WCAG 2.2, 1.4.3), and of edges of controls and focus rings (1.4.11). */
const TEXT = 4.5;
const CONTROL = 3;

const schemes = ["light", "dark"] as const;
type Scheme = (typeof schemes)[number];

type Theme = Config["theme"];

/** A configured colour whose contrast is too low. Pages use a colour that suffices. */
export interface ContrastWarning {
  /** Path of the setting, for instance `theme.light.accent`. */
  setting: string;
  color: string;
  /** The colour that pages use. */
  used: string;
  /** Contrast of the configured colour; texts need 4.5. */
  contrast: number;
}

/** Whether a theme is the default one, which the style sheet of the pages contains. */
export function isDefaultTheme(theme: Theme): boolean {
  const { preset, color_scheme, light, dark, radius, font, density } = theme;
  return (
    preset === "stile" &&
    color_scheme === "auto" &&
    [...Object.values(light), ...Object.values(dark), radius, font].every((value) => value === undefined) &&
    density === "comfortable"
  );
}

/**
 * Derives the style sheet of a theme: the custom properties of `components/ui/theme.css`, for both colour schemes. Every
 * value was validated with the configuration, so no setting can add a rule.
 */
export function themeCss(theme: Theme): string {
  const preset = presets[theme.preset];
  const radius = theme.radius ?? preset.radius;
  const compact = theme.density === "compact";
  const shape = {
    font: fonts[theme.font ?? preset.font],
    radius: `${radius / 16}rem`,
    "radius-card": `${(radius * 1.8) / 16}rem`,
    control: compact ? "2.625rem" : "3rem",
    card: compact ? "25rem" : "27rem",
  };
  const colors = Object.fromEntries(schemes.map((scheme) => [scheme, colorsOf(theme, scheme).colors]));
  const only = theme.color_scheme === "auto" ? null : theme.color_scheme;
  return only
    ? rule(":root", { ...colors[only], ...shape }, only)
    : bothSchemes({ ...colors.light, ...shape }, colors.dark ?? {});
}

/**
 * Some colours of the theme `stile`, as custom properties for both colour schemes: for pages that load nothing and have no
 * tenant's theme.
 */
export function stileColorRules(names: readonly ColorName[]): string {
  const of = (scheme: Scheme) => Object.fromEntries(names.map((name) => [name, stileColors[scheme][name]]));
  return bothSchemes(of("light"), of("dark"));
}

/** The configured colours with too little contrast to be used as they are. */
export function contrastWarnings(theme: Theme): ContrastWarning[] {
  const shown = theme.color_scheme === "auto" ? schemes : [theme.color_scheme];
  return shown.flatMap((scheme) => colorsOf(theme, scheme).warnings);
}

/** The same in one line each, for operators. */
export function themeWarnings(theme: Theme): string[] {
  return contrastWarnings(theme).map(
    ({ setting, color, used, contrast }) =>
      `${setting} ${color} has a contrast of ${contrast.toFixed(1)}:1, and texts need 4.5:1 (WCAG 2.2, 1.4.3): pages use ${used}`,
  );
}

function colorsOf(
  theme: Theme,
  scheme: Scheme,
): { colors: Record<string, string>; warnings: ContrastWarning[] } {
  const preset = presets[theme.preset];
  const configured = theme[scheme];
  const own = [...Object.values(configured), theme.light.accent].some((color) => color !== undefined);
  if (theme.preset === "stile" && !own) return { colors: { ...stileColors[scheme] }, warnings: [] };
  // An accent that is configured for the light scheme alone is that of the dark one too, lightened until it is readable.
  const accent = configured.accent ?? theme.light.accent ?? preset[scheme].accent;
  const chosen: Palette = { ...preset[scheme], ...defined(configured), accent };
  const grounds = [chosen.surface, chosen.ground];
  const ink = readable(chosen.ink, grounds, TEXT);
  const used = { ink, accent: readable(accent, grounds, TEXT) };
  const warnings = (["ink", "accent"] as const).flatMap((name) =>
    configured[name] !== undefined && used[name] !== chosen[name]
      ? [
          {
            setting: `theme.${scheme}.${name}`,
            color: chosen[name],
            used: used[name],
            contrast: Math.min(...grounds.map((ground) => contrast(chosen[name], ground))),
          },
        ]
      : [],
  );
  const { ground, surface } = chosen;
  const onAccent = inkOn(used.accent);
  const fault = readable(scheme === "light" ? "#a3241b" : "#ffb4a8", grounds, TEXT);
  return {
    colors: {
      ground,
      fence: preset.fence ? mix(ground, ink, 0.07) : "transparent",
      surface,
      ink,
      "ink-soft": readable(mix(ink, surface, 0.3), grounds, TEXT),
      line: mix(surface, ink, 0.13),
      "line-strong": readable(mix(surface, ink, 0.45), grounds, CONTROL),
      accent: used.accent,
      "accent-strong": mix(used.accent, inkOn(surface), 0.2),
      "on-accent": onAccent,
      monochrome: inkOn(surface),
      tint: mix(surface, used.accent, 0.07),
      fault,
      "fault-tint": mix(surface, fault, 0.09),
      shadow:
        scheme === "light"
          ? `0 1px 2px ${ink}0f, 0 12px 40px -12px ${ink}2e`
          : `0 0 0 1px ${mix(surface, ink, 0.06)}, 0 16px 48px -12px #00000099`,
    },
    warnings,
  };
}

function bothSchemes(light: Record<string, string>, dark: Record<string, string>): string {
  return `${rule(":root", light, "light dark")}\n@media (prefers-color-scheme: dark) {\n${rule(":root", dark)}\n}`;
}

function rule(selector: string, values: Record<string, string>, colorScheme?: string): string {
  const declarations = Object.entries(values).map(([name, value]) => `  --stile-${name}: ${value};`);
  const scheme = colorScheme ? [`  color-scheme: ${colorScheme};`] : [];
  return [`${selector} {`, ...scheme, ...declarations, "}"].join("\n");
}

function defined(colors: Theme[Scheme]): Partial<Palette> {
  return Object.fromEntries(Object.entries(colors).filter(([, value]) => value !== undefined));
}
