import type { Config } from "../config/schema.ts";
import { isAllowedRedirect, parseRedirectTarget } from "./redirect-target.ts";

/**
 * Returns one line for each entry of the lists of redirect URLs that no redirect URL can match, such as one with a
 * fragment, a wildcard at the end of its host, or a path that browsers send in another form.
 */
export function unmatchableRedirects({ hosted, third_party, saml }: Config): string[] {
  const lists = {
    STILE_HOSTED_ALLOWED_REDIRECT_URLS: hosted.allowed_redirect_urls,
    STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: third_party.allowed_redirect_urls,
    STILE_SAML_ALLOWED_REDIRECT_URLS: saml.allowed_redirect_urls,
  };
  return Object.entries(lists).flatMap(([setting, entries]) =>
    entries
      .filter((entry) => !isMatchable(entry))
      .map((entry) => `${setting} has the entry ${entry}, which no address can match`),
  );
}

/** What a wildcard stands for in examples: a name, or a number, as in an IP address or a port. */
const samples = ["a", "1"];

/** Whether an example, the entry with its wildcards filled in, is a redirect URL that the entry allows. */
function isMatchable(entry: string): boolean {
  return samples.some((sample) => {
    const example = entry
      // The notation for a whole origin.
      .replace(/^(https?:\/\/[^/?#*]+)\*\*$/, "$1/")
      .replace(/^(https?:\/\/[^/?#]*:)\*+/, "$18443")
      .replaceAll(/\*+/g, sample);
    const target = parseRedirectTarget(example);
    return target !== null && isAllowedRedirect(target, [entry]);
  });
}
