const codesCookie = /^((?:__Host-)?stile-codes-[\w-]+)=/;

/**
 * Names of the cookies that hold recovery codes; the page that displays the codes removes them.
 *
 * @param header the `Cookie` header of the request
 */
export function codesCookies(header: string | null): string[] {
  return (header ?? "").split(";").flatMap((pair) => codesCookie.exec(pair.trim())?.[1] ?? []);
}
