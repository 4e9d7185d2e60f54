import { errors, type Interaction, interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import type { Databases } from "#db/client";
import { languageTags } from "#words/language-tags";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import { matchLanguage } from "../lib/match-language.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type ContextClass, contextClassOf, knownClasses, meetsOne } from "./authentication-context.ts";
import { consentOf, isOwn } from "./grants.ts";
import { presentVisitor } from "./visitor.ts";

const { Check, Prompt } = interactionPolicy;

/** The prompt that lets the user choose the account. */
export const SELECT_ACCOUNT = "select_account";

/** Prompts that a new sign-in answers, beside those of the library: the user may choose the account, or make one. */
export const answeredBySigningIn = [SELECT_ACCOUNT, "create"] as const;

/** A longer hint is none: no identifier of an account is. */
const MAX_HINT_CHARACTERS = 254;

/**
 * When the user is asked something (OpenID Connect Core, 3.1.2.1; Initiating User Registration via OpenID Connect 1.0). For the
 * operator's own clients none is asked for consent: `prompt=consent` is answered by the consent that the operator has given.
 */
export function promptPolicy(context: TenantContext<Databases & OnPlatform>) {
  const policy = interactionPolicy.base();
  policy.get("consent")?.checks.add(isKnownToUser(context));
  for (const check of policy.get("consent")?.checks ?? []) {
    const isNeeded = check.check;
    check.check = (ctx) => {
      const isAsked = !isOwn(context, ctx.oidc.client?.clientId ?? "");
      return isAsked ? isNeeded(ctx) : Check.NO_NEED_TO_PROMPT;
    };
  }
  // First, because those for a claim `acr` compare what it sets.
  policy.get("login")?.checks.add(isOfAskedClass, 0);
  for (const check of policy.get("login")?.checks ?? []) {
    const isNeeded = check.check;
    check.check = async (ctx) => {
      if (check.reason === "id_token_hint") await readHint(ctx);
      const isUnmet = await isNeeded(ctx);
      // The user has just signed in: to ask again would not end.
      if (isUnmet && ctx.oidc.result?.login && unmetBySigningIn.has(check.reason))
        throw new errors.UnmetAuthenticationRequirements(
          "the sign-in was not of the kind or the user asked for",
        );
      return isUnmet;
    };
  }
  // Before that of the login, which would ask a visitor without a session first.
  for (const name of answeredBySigningIn) policy.add(new Prompt({ name, requestable: true }), 0);
  return policy;
}

/** The classes of authentication that a request asks for, by `acr_values` and as a claim (OpenID Connect Core, 5.5.1.1). */
function askedClasses(params: Record<string, unknown>): ContextClass[] {
  const { acr_values, claims } = params;
  const ofRequest = typeof acr_values === "string" ? acr_values.split(" ") : [];
  const { id_token } = (typeof claims === "string" ? JSON.parse(claims) : {}) as {
    id_token?: { acr?: { value?: unknown; values?: unknown } | null };
  };
  const { value, values } = id_token?.acr ?? {};
  return knownClasses([...ofRequest, value, ...(Array.isArray(values) ? values : [])]);
}

/**
 * Whether the sign-in is of a class that is asked for. They are voluntary (OpenID Connect Core, 3.1.2.1): after a new sign-in
 * the answer says of which class it is, and an API that needs another refuses the token (RFC 9470, 6).
 */
const isOfAskedClass = new Check(
  "acr_values",
  "the sign-in is not of a class that is asked for",
  "login_required",
  ({ oidc }) => {
    const { session } = presentVisitor();
    if (!session || !oidc.session) return Check.NO_NEED_TO_PROMPT;
    const asked = askedClasses(oidc.params ?? {});
    Object.assign(oidc.session, { acr: contextClassOf(session.factors, asked) });
    const isUnmet = asked.length > 0 && !meetsOne(session.factors, asked);
    return isUnmet && !oidc.result?.login ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
  },
);

/**
 * Whether the user has allowed the client anything, and something at each API: the library asks by scope and claim alone, and a
 * token without any still names the user.
 */
const isKnownToUser = (context: TenantContext<Databases & OnPlatform>) =>
  new Check("not_allowed", "the user has not allowed the client yet", "consent_required", async (ctx) => {
    const consent = await consentOf(context, ctx);
    const apis = Object.keys(ctx.oidc.resourceServers ?? {});
    const isAllowed = consent && apis.every((api) => Object.hasOwn(consent.allowed.resources, api));
    return isAllowed ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
  });

/** What a request may ask of the sign-in, and a user may be unable to give. */
const unmetBySigningIn: ReadonlySet<string> = new Set([
  "essential_acr",
  "essential_acrs",
  "claims_id_token_sub_value",
  "id_token_hint",
]);

/** Reads the hint of a request that was waiting, which the library reads of new ones alone. */
async function readHint({ oidc }: KoaContextWithOIDC): Promise<void> {
  const { id_token_hint: hint } = oidc.params ?? {};
  if (typeof hint !== "string" || oidc.entities.IdTokenHint || !oidc.client) return;
  const { IdToken } = oidc.provider as unknown as { IdToken: IdTokens };
  const read = await IdToken.validate(hint, oidc.client).catch(() => {
    throw new errors.InvalidRequest("could not validate id_token_hint");
  });
  oidc.entity("IdTokenHint", read);
}

/** The model of ID tokens, which the types of the library do not have. */
interface IdTokens {
  validate(jwt: string, client: object): Promise<{ header: object; payload: object }>;
}

/** The address of the page that asks the user. */
export function promptAddress(
  { base_url }: Pick<Config, "base_url">,
  { prompt, params, returnTo, uid }: Pick<Interaction, "prompt" | "params" | "returnTo" | "uid">,
): string {
  const isConsent = prompt.name === "consent";
  const { login_hint, ui_locales } = params;
  const asked = askedClasses(params);
  const languages = typeof ui_locales === "string" ? ui_locales.split(" ") : [];
  const language = matchLanguage(languages, languageTags);
  const hasHint =
    typeof login_hint === "string" && login_hint !== "" && login_hint.length <= MAX_HINT_CHARACTERS;
  const query = new URLSearchParams({
    ...(isConsent ? { request: uid } : { redirect_to: returnTo }),
    ...(prompt.name === "create" ? { flow: "registration" } : {}),
    ...(prompt.name === SELECT_ACCOUNT ? { prompt: SELECT_ACCOUNT } : {}),
    ...(hasHint && !isConsent ? { login_hint } : {}),
    ...(asked.length > 0 && !isConsent ? { acr_values: asked.join(" ") } : {}),
    ...(language ? { lang: language } : {}),
  });
  return `${base_url}/${isConsent ? "consent" : "login"}?${query}`;
}
