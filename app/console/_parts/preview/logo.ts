import type { Scheme } from "./preview-view.tsx";

/**
 * The logo that a page has in a colour scheme of the visitor's system; a theme with one scheme has the logo of that one.
 *
 * @param settingOf returns the value of a setting by its name
 * @returns a `data:` address; null without one
 */
export function logoOf(settingOf: (name: string) => unknown, system: Scheme): string | null {
  const fixed = settingOf("theme.color_scheme");
  const scheme = fixed === "light" || fixed === "dark" ? fixed : system;
  const [light, dark] = [settingOf("theme.logo.light"), settingOf("theme.logo.dark")];
  const logo = scheme === "dark" ? (dark ?? light) : (light ?? dark);
  return typeof logo === "string" ? logo : null;
}
