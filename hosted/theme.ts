import type { Config } from "#server/config/schema";
import { withinTenant } from "#server/http/request/tenant-path";
import { isDefaultTheme, themeCss } from "#server/theme/theme-css";
import { type ThemeFileName, themeFiles } from "#server/theme/theme-files";
import type { BrandProps } from "../components/ui/brand.tsx";

type Theme = Config["theme"];
type Scheme = Theme["color_scheme"];

const sheets = new WeakMap<Theme, Map<Scheme, string>>();

/**
 * The style sheet of the tenant's theme, which follows that of the pages; empty where it says nothing else. Derived once
 * for each configuration.
 *
 * @param scheme the colour scheme that a frame asks for; absent: that of the theme
 */
export function themeStyle({ theme }: Config, scheme: Scheme = theme.color_scheme): string {
  const derived = sheets.get(theme) ?? new Map<Scheme, string>();
  sheets.set(theme, derived);
  const asked = { ...theme, color_scheme: scheme };
  const sheet = derived.get(scheme) ?? (isDefaultTheme(asked) ? "" : themeCss(asked));
  derived.set(scheme, sheet);
  return sheet;
}

/** The address of the icon of the tenant's theme; null for the default one. */
export function themeIcon(config: Config): string | null {
  return addressOf(config, "favicon");
}

/** What pages of a tenant show above their card. */
export function brandOf(config: Config): BrandProps {
  const { color_scheme: scheme } = config.theme;
  const service = config.service.name;
  const light = addressOf(config, "logo-light");
  const dark = addressOf(config, "logo-dark");
  const first = scheme === "dark" ? (dark ?? light) : (light ?? dark);
  if (!first) return { service };
  return { service, logo: { light: first, ...(scheme === "auto" && light && dark ? { dark } : {}) } };
}

function addressOf(config: Config, name: ThemeFileName): string | null {
  const { version, files } = themeFiles(config.theme);
  return files.has(name) ? withinTenant(config, `/theme/${version}/${name}`) : null;
}
