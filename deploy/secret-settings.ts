import { configLeaves } from "../server/config/load.ts";

/** The variables of settings that are or have secrets, a line each: `deploy/helm/stile/secret-settings.txt`. */
export const secretSettings = (): string =>
  configLeaves()
    .filter(({ secret }) => secret)
    .map(({ variable }) => `${variable}\n`)
    .join("");
