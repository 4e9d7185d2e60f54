import { z } from "zod";
import type { Write } from "#db/write";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import { factsByEmail, factsById, isProved } from "../../identity/users.ts";
import { decideAccount } from "../../thirdparty/account-decision.ts";
import {
  type ExchangeToken,
  findExchangeToken,
  isValidVerifier,
  takeExchangeToken,
} from "../../thirdparty/exchange-tokens.ts";
import {
  findIdentityOwner,
  linkIdentity,
  refreshIdentity,
  signUpByIdentity,
} from "../../thirdparty/identities.ts";
import type { ProviderFacts } from "../../thirdparty/provider-facts.ts";
import { findProvider } from "../../thirdparty/providers/index.ts";
import { withError } from "../../thirdparty/redirect-urls.ts";
import type { DataPatch, FlowData } from "../data.ts";
import { action, type Context } from "../define.ts";
import { type ErrorCode, errors, isInputError } from "../errors.ts";
import { accountFacts, type Facts, nobody } from "../facts.ts";
import { NEXT } from "../names.ts";
import { whileAddable } from "../new-credential.ts";
import { type Effects, go, next, type Outcome, refuse, retryPayload } from "../outcome.ts";
import { hasSecondFactor } from "../second-factor.ts";
import { emailVerification } from "../states/onboarding-email.ts";
import { codeVerifier } from "./thirdparty-oauth.ts";

/** What the callback found out becomes an account, an identity of one, or a sign-in: here, and not before. */
export const exchangeToken = action({
  description: "Exchange the token that came back from the identity provider.",
  input: z.strictObject({ token: z.string().max(512).meta({ hidden: true }), code_verifier: codeVerifier() }),
  to: [NEXT],
  errors: [
    "value_invalid_error",
    "user_conflict",
    "signup_disabled",
    "identity_already_linked",
    "rate_limit_exceeded",
  ],
  async run(context, { token, code_verifier }) {
    const { request, data } = context;
    const { runtime, tenant, client } = request;
    const rate = await runtime.rates.consume("exchange_token", `${tenant.id}/${client.source}`);
    if (!rate.ok)
      return refused(data, "rate_limit_exceeded", { payload: retryPayload(rate.retryAfterSeconds) });

    const exchange = await findExchangeToken(request, token);
    if (!exchange || !belongsHere(context, exchange))
      return refused(data, "value_invalid_error", { input: "token" });
    // A token that no flow asked for is bound to the browser that was given it, by a cookie.
    const kept = context.type === "token_exchange" ? (client.thirdPartyStates ?? []) : [];
    if (![code_verifier, ...kept].some((verifier) => isValidVerifier(exchange, verifier)))
      return refused(data, "value_invalid_error", { input: "code_verifier" });

    const { facts } = exchange;
    const verdict = decideAccount(await situationOf(context, facts));
    if (!verdict.ok) {
      const failure = { provider: facts.provider, error: verdict.reason };
      const owner = context.type === "profile" ? (data.userId ?? null) : null;
      return refused(data, verdict.reason, {
        writes: [audit(request, "thirdparty_signin_signup_failed", failure, owner)],
      });
    }
    const take = takeExchangeToken(request, token);
    // Whoever connects an identity is signed in already; nothing of the flow changes.
    if (context.type === "profile") {
      const { userId } = data;
      const addable = userId ? [whileAddable({ ...context, data: { ...data, userId } })] : [];
      return next({
        writes: [...addable, take, ...identityWrites(context, verdict, facts)],
        jobs: verdict.kind === "link" ? securityNotice(request, "identity_create", context.facts.email) : [],
      });
    }

    const effects =
      verdict.kind === "sign_up" ? signUp(context, facts) : await letIn(context, verdict, facts);
    const waits = effects.data?.pending?.identity !== undefined;
    const factor = {
      method: "third_party" as const,
      provider: facts.provider,
      at: request.now.toISOString(),
      // A provider stands in for the second factor of accounts that it is linked to, and of no other.
      ...(facts.satisfiesMfa && !waits ? { userVerified: true } : {}),
    };
    const arrived = {
      ...effects,
      data: { ...nothingShown(data), ...effects.data, factors: [factor] },
      writes: [take, ...(effects.writes ?? [])],
    };
    // The protocol offers a way back there, to where another token may be brought.
    return context.type === "token_exchange" ? go(NEXT, arrived) : next(arrived);
  },
});

/** What was shown, set up or answered before was somebody else's, or nobody's: it serves no account that is entered now. */
function nothingShown({ answered }: FlowData): DataPatch {
  return {
    identifier: undefined,
    username: undefined,
    factors: [],
    answered: answered.filter((state) => state === "preflight"),
    pending: {},
    enrolled: undefined,
    trustsDevice: undefined,
    recovering: undefined,
    emailVerified: undefined,
  };
}

/**
 * A refusal, with the way back to the page that the person came from: published clients go wherever `redirect_url`
 * says, and the provider's address is spent.
 */
function refused<Code extends ErrorCode>(
  { returnTo }: FlowData,
  code: Code,
  details: Parameters<typeof refuse>[1] = {},
): Outcome<never, Code> {
  if (!returnTo) return refuse(code, details);
  const told = isInputError(code) ? "invalid_request" : code;
  const redirect_url = withError(new URL(returnTo), told, errors[code].message);
  return refuse(code, { ...details, payload: { ...details.payload, redirect_url } });
}

/** A token is for the flow that sent the person; one that no flow asked for, for a flow that begins with it. */
function belongsHere({ type, flowId, data }: Context, exchange: ExchangeToken): boolean {
  if (type === "token_exchange") return exchange.flowId === null;
  const userId = type === "profile" ? data.userId : undefined;
  return exchange.flowId === flowId && exchange.userId === userId;
}

async function situationOf({ type, db, request, data, config }: Context, facts: ProviderFacts) {
  const { tenant } = request;
  const { email } = facts;
  const known = email === null ? null : await factsByEmail(db, tenant.id, email);
  const accountWithSameEmail =
    known && email !== null
      ? {
          userId: known.userId,
          verified: await isProved(db, tenant.id, { userId: known.userId, address: email }),
        }
      : null;
  return {
    facts,
    owner: await findIdentityOwner(db, tenant.id, facts),
    accountWithSameEmail,
    connectToUserId: type === "profile" ? (data.userId ?? null) : null,
    // SAML providers speak for the domains that the operator has given them.
    allowLinking: findProvider(config, facts.provider)?.allowLinking ?? facts.provider.startsWith("saml:"),
    allowSignup: config.account.allow_signup,
  };
}

type LetIn = { kind: "sign_in" | "link"; userId: string };

function identityWrites(
  { request }: Context,
  verdict: LetIn | { kind: "sign_up" },
  facts: ProviderFacts,
): Write[] {
  if (verdict.kind === "sign_up") return [];
  const write = verdict.kind === "link" ? linkIdentity : refreshIdentity;
  return [write(request, verdict.userId, facts)];
}

/** An account that exists. A link to one with a second factor waits until that was shown. */
async function letIn(context: Context, verdict: LetIn, facts: ProviderFacts): Promise<Effects> {
  const { db, request, config } = context;
  const user = await factsById(db, request.tenant.id, verdict.userId);
  const waits = verdict.kind === "link" && user !== null && hasSecondFactor(user, config);
  return {
    data: {
      userId: verdict.userId,
      email: user?.email ?? undefined,
      signedUp: "known",
      passcode: undefined,
      ...(waits ? { pending: { identity: facts } } : {}),
    },
    facts: { ...(user ? accountFacts(user) : {}), hasIdentity: true },
    writes: waits ? [] : identityWrites(context, verdict, facts),
    jobs:
      verdict.kind === "link" && !waits
        ? securityNotice(request, "identity_create", user?.email ?? null)
        : [],
  };
}

/** A new account. An address that nobody vouches for is not written while addresses have to be verified. */
function signUp({ request, config }: Context, facts: ProviderFacts): Effects {
  const userId = request.runtime.platform.uuid();
  const address = config.email.enabled ? facts.email : null;
  // What a SAML provider says of an address is proved by a code, unless the operator vouches for it.
  const asks = config.email.require_verification || facts.provider.startsWith("saml:");
  const unproved = !facts.emailVerified && !facts.skipEmailVerification && asks;
  const email = address !== null && !unproved ? { address, verified: facts.emailVerified } : null;
  const made: Facts = {
    ...nobody,
    hasIdentity: true,
    email: email?.address ?? null,
    emailVerified: email?.verified ?? false,
  };
  return {
    data: {
      userId,
      email: email?.address,
      signedUp: "created",
      passcode: address !== null && unproved ? emailVerification(address, false) : undefined,
    },
    facts: made,
    writes: [signUpByIdentity(request, facts, { userId, email })],
  };
}
