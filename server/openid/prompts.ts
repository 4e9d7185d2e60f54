import { errors, type Interaction, interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import type { Databases } from "#db/client";
import { languageTags } from "#words/language-tags";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import { matchLanguage } from "../lib/match-language.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { consentOf, isOwn } from "./grants.ts";

const { Check, Prompt } = interactionPolicy;

/** Prompts that a new sign-in answers, beside those of the library: the user may choose the account, or make one. */
export const answeredBySigningIn = ["select_account", "create"] as const;

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
  const languages = typeof ui_locales === "string" ? ui_locales.split(" ") : [];
  const language = matchLanguage(languages, languageTags);
  const hasHint =
    typeof login_hint === "string" && login_hint !== "" && login_hint.length <= MAX_HINT_CHARACTERS;
  const query = new URLSearchParams({
    ...(isConsent ? { request: uid } : { redirect_to: returnTo }),
    ...(prompt.name === "create" ? { flow: "registration" } : {}),
    ...(hasHint && !isConsent ? { login_hint } : {}),
    ...(language ? { lang: language } : {}),
  });
  return `${base_url}/${isConsent ? "consent" : "login"}?${query}`;
}
