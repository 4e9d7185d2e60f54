import type { Config } from "#server/config/schema";
import { withinTenant } from "#server/http/tenant-path";
import { type ThemeFileName, themeFiles } from "#server/theme/theme-files";
import type { BrandProps } from "../components/ui/brand.tsx";

/**
 * The style sheet and the icon of the tenant's theme; null where they do not differ from the default.
 *
 * @param scheme the colour scheme that a frame asks for; absent: that of the theme
 */
export function themeLinks(
  config: Config,
  scheme?: "light" | "dark",
): { style: string | null; icon: string | null } {
  return {
    style: addressOf(config, scheme ? `${scheme}.css` : "style.css"),
    icon: addressOf(config, "favicon"),
  };
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
