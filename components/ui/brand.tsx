import { Mark } from "./mark.tsx";

/** What a page shows above its card. */
export interface BrandProps {
  /** The display name of the service. */
  service: string;
  /** Addresses of the service's logo, if it has one. `dark` is for the dark colour scheme, where it differs. */
  logo?: { light: string; dark?: string };
}

/** The logo of the service, else our mark and its name. */
export function Brand({ service, logo }: BrandProps) {
  if (!logo)
    return (
      <p className="stile-brand">
        <Mark />
        <span>{service}</span>
      </p>
    );
  return (
    <p className="stile-brand">
      <picture>
        {logo.dark && <source media="(prefers-color-scheme: dark)" srcSet={logo.dark} />}
        <img className="stile-logo" src={logo.light} alt={service} />
      </picture>
    </p>
  );
}
