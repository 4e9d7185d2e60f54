import { stileColors } from "../server/theme/presets.ts";

const DARK = "@media (prefers-color-scheme: dark)";

/**
 * Writes the colours of `server/theme/presets.ts` into the style sheet of the components.
 *
 * @param sheet `components/ui/theme.css`
 * @throws Error if a colour has no custom property in it
 */
export function withThemeColors(sheet: string): string {
  const [light = "", dark = ""] = sheet.split(DARK);
  return [withColors(light, stileColors.light), withColors(dark, stileColors.dark)].join(DARK);
}

function withColors(rules: string, colors: Readonly<Record<string, string>>): string {
  return Object.entries(colors).reduce((written, [name, value]) => {
    const property = new RegExp(`(--stile-${name}: )[^;]*;`);
    if (!property.test(written)) throw new Error(`theme.css has no --stile-${name}`);
    return written.replace(property, `$1${value};`);
  }, rules);
}
