import type { Config } from "../config/schema.ts";

export type PresetName = Config["theme"]["preset"];
export type FontName = NonNullable<Config["theme"]["font"]>;

/** The colours that a theme is made of; all others derive from them. */
export interface Palette {
  accent: string;
  ground: string;
  surface: string;
  ink: string;
}

export interface Preset {
  light: Palette;
  dark: Palette;
  /** CSS pixels. */
  radius: number;
  font: FontName;
  /** Whether the fence is drawn behind the card. */
  fence: boolean;
}

/**
 * The colours of the theme `stile`. Adjusted by eye, they differ slightly from those that would be derived. `npm run docs`
 * writes them into `components/ui/theme.css`.
 */
export const stileColors = {
  light: {
    ground: "#f2f0e8",
    fence: "#e5e1d4",
    surface: "#fffefb",
    ink: "#1a211d",
    "ink-soft": "#56605a",
    line: "#dfdcd1",
    "line-strong": "#868c85",
    accent: "#1f5b43",
    "accent-strong": "#164632",
    "on-accent": "#ffffff",
    monochrome: "#000000",
    tint: "#eff4ef",
    fault: "#a3241b",
    "fault-tint": "#fbeeeb",
    shadow: "0 1px 2px rgb(38 43 32 / 6%), 0 12px 40px -12px rgb(38 43 32 / 18%)",
  },
  dark: {
    ground: "#0f1311",
    fence: "#1a211e",
    surface: "#191f1c",
    ink: "#edefea",
    "ink-soft": "#a9b2ac",
    line: "#2e3732",
    "line-strong": "#717c76",
    accent: "#93d0af",
    "accent-strong": "#aadcc1",
    "on-accent": "#0b1a12",
    monochrome: "#ffffff",
    tint: "#212a25",
    fault: "#ffb4a8",
    "fault-tint": "#38201c",
    shadow: "0 0 0 1px #262e2a, 0 16px 48px -12px rgb(0 0 0 / 60%)",
  },
} as const satisfies Record<"light" | "dark", Record<string, string>>;

export type ColorName = keyof (typeof stileColors)["light"];

/** The finished themes. */
export const presets: Record<PresetName, Preset> = {
  stile: {
    light: stileColors.light,
    dark: stileColors.dark,
    radius: 10,
    font: "system",
    fence: true,
  },
  slate: {
    light: { accent: "#1d4ed8", ground: "#eef1f5", surface: "#ffffff", ink: "#131a24" },
    dark: { accent: "#9db8ff", ground: "#0d1117", surface: "#161c26", ink: "#eaeef5" },
    radius: 6,
    font: "system",
    fence: false,
  },
  paper: {
    light: { accent: "#26211c", ground: "#ffffff", surface: "#ffffff", ink: "#26211c" },
    dark: { accent: "#f1ece4", ground: "#16130f", surface: "#16130f", ink: "#f1ece4" },
    radius: 2,
    font: "serif",
    fence: false,
  },
};

/** Lists of fonts that systems have (CSS Fonts 4, 2.1). */
export const fonts: Record<FontName, string> = {
  system:
    '-apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "Helvetica Neue", Arial, sans-serif',
  humanist: 'Seravek, "Gill Sans Nova", Ubuntu, Calibri, "DejaVu Sans", source-sans-pro, sans-serif',
  geometric: 'Avenir, Montserrat, Corbel, "URW Gothic", source-sans-pro, sans-serif',
  serif: '"Iowan Old Style", "Palatino Linotype", "URW Palladio L", P052, "Noto Serif", Georgia, serif',
  rounded:
    'ui-rounded, "Hiragino Maru Gothic ProN", Quicksand, Comfortaa, Manjari, "Arial Rounded MT Bold", Calibri, source-sans-pro, sans-serif',
  mono: 'ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", Menlo, Consolas, monospace',
};
