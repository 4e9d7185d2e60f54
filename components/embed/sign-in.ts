import type { FlowResult, SignInOptions } from "../flow/embedding.ts";
import { baseOf } from "../flow/rest-server.ts";
import type { OpenLogin, signInAtOnce } from "./immediate-sign-in.ts";

/**
 * Signs in behind a button of an application: with what the browser has at hand, else on the hosted page or in what the
 * caller opens. Call it in the handler of a click.
 *
 * @param language BCP 47 tag for mails
 * @param load the part with the immediate mode; where it cannot be loaded, nothing is at hand
 * @param go goes to another page
 * @returns null if there is nothing to open: the user is signed in, or goes to another page
 * @throws Error if the options do not fit each other
 */
export async function signInOrOpen(
  options: SignInOptions,
  language: string,
  load: () => Promise<{ signInAtOnce: typeof signInAtOnce }>,
  go: (address: string) => void = (address) => location.assign(address),
): Promise<OpenLogin | null> {
  const attempt = (options: SignInOptions) =>
    load()
      .then(({ signInAtOnce }) => signInAtOnce(options, language))
      .catch(() => ({ begun: null }));
  if (options.otherwise !== "page") return attempt(options);
  const page = hostedPage(options);
  let target = page;
  const onSuccess = (result: FlowResult) => {
    target = returnAddress(options, result) ?? page;
  };
  await attempt({ ...options, onSuccess });
  go(target);
  return null;
}

/** The hosted page, which leads back to the application. */
function hostedPage({ url, codeChallenge, redirectTo, state }: SignInOptions): string {
  if (!redirectTo) throw new Error("Stile: the way to the page needs redirectTo");
  // The application's server redeems the code, in another page than this one.
  if (codeChallenge === true)
    throw new Error("Stile: the way to the page needs a codeChallenge of your server");
  const query = new URLSearchParams({ redirect_to: redirectTo });
  if (codeChallenge) query.set("code_challenge", codeChallenge);
  if (state !== undefined) query.set("state", state);
  return `${baseOf(url)}/login?${query}`;
}

/** The address that the hosted page would lead back to; null for a token, which belongs into no address. */
function returnAddress({ redirectTo = "", state }: SignInOptions, result: FlowResult): string | null {
  if (result.kind === "token") return null;
  const address = new URL(redirectTo);
  if (result.kind === "code") address.searchParams.set("code", result.code);
  if (state !== undefined) address.searchParams.set("state", state);
  return address.href;
}
