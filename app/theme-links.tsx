import type { Config } from "#server/config/schema";
import { withinTenant } from "#server/http/tenant-path";
import { type ThemeFileName, themeFiles } from "#server/theme/theme-files";
import type { BrandProps } from "../components/ui/brand.tsx";

interface ThemeLinksProps {
  config: Config;
  /** The colour scheme that a frame asks for; absent: that of the theme. */
  scheme?: "light" | "dark" | undefined;
}

/** The style sheet and the icon of the tenant's theme, where they differ from the default. */
export function ThemeLinks({ config, scheme }: ThemeLinksProps) {
  const style = addressOf(config, scheme ? `${scheme}.css` : "style.css");
  const icon = addressOf(config, "favicon");
  return (
    <>
      {/* After the style sheets of Next, so that its properties replace theirs. */}
      {style && <link rel="stylesheet" href={style} precedence="stile-theme" />}
      {icon && <link rel="icon" href={icon} />}
    </>
  );
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
