import { z } from "zod";
import type { Write } from "#db/write";
import { auditAttempt } from "../../audit/audit.ts";
import { factsById, factsByIdentifier, type UserFacts } from "../../identity/facts.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { hasSecondFactor } from "../../methods/second-factors.ts";
import { handleOf } from "../../sessions/provider-sessions.ts";
import { decideAccount } from "../../thirdparty/account-decision.ts";
import { accountSituation, signUpAddress } from "../../thirdparty/account-situation.ts";
import {
  type ExchangeToken,
  findExchangeToken,
  isValidVerifier,
  takeExchangeToken,
} from "../../thirdparty/exchange-tokens.ts";
import { linkIdentity, refreshIdentity, signUpByIdentity } from "../../thirdparty/identities.ts";
import type { ProviderFacts } from "../../thirdparty/provider-facts.ts";
import { endsSessionAt } from "../../thirdparty/sign-out.ts";
import type { DataPatch, FlowData } from "../data.ts";
import { action, type Context } from "../define.ts";
import { noCodes, verificationCode } from "../expected-codes.ts";
import { accountFacts, type Facts, noFacts } from "../facts.ts";
import { NEXT } from "../names.ts";
import { requireCredentialAddable } from "../new-credential.ts";
import { type Effects, go, next, retryPayload } from "../outcome.ts";
import { rejectWithRedirect } from "../reject-with-redirect.ts";
import type { TakenAddressPayload } from "../wire.ts";
import { codeVerifier } from "./thirdparty-oauth.ts";

/** Turns the result of a provider callback into a new account, a linked identity, or a sign-in. */
export const exchangeToken = action({
  description: "Exchange the token that came back from the identity provider.",
  costs: ["write", "mail"],
  input: z.strictObject({ token: z.string().max(512).meta({ hidden: true }), code_verifier: codeVerifier() }),
  to: [NEXT],
  errors: [
    "value_invalid_error",
    "user_conflict",
    "signup_disabled",
    "identity_already_linked",
    "identity_not_linked",
    "rate_limit_exceeded",
  ],
  async run(context, { token, code_verifier }) {
    const { request, data, config } = context;
    const { runtime, tenant, client } = request;
    const rate = await runtime.rates.consume(tenant.id, "exchange_token", client.source);
    if (!rate.ok)
      return rejectWithRedirect(data, "rate_limit_exceeded", {
        payload: retryPayload(rate.retryAfterSeconds),
      });

    const exchange = await findExchangeToken(request, token);
    if (!exchange || !isForFlow(context, exchange))
      return rejectWithRedirect(data, "value_invalid_error", { input: "token" });
    // The token of a provider-initiated flow is bound to the browser by a cookie.
    const states = context.type === "token_exchange" ? (client.thirdPartyStates ?? []) : [];
    if (![code_verifier, ...states].some((verifier) => isValidVerifier(exchange, verifier)))
      return rejectWithRedirect(data, "value_invalid_error", { input: "code_verifier" });

    const { facts } = exchange;
    const { email } = facts;
    const known = email === null ? null : await factsByIdentifier(context.db, tenant.id, "email", email);
    const connectToUserId = context.type === "profile" ? (data.userId ?? null) : null;
    const decided = decideAccount(
      await accountSituation({ db: context.db, tenant }, facts, { known, connectToUserId }),
    );
    // Reauthentication links no identity.
    const verdict =
      data.steppingUp && !(decided.ok && decided.kind === "sign_in")
        ? ({ ok: false, reason: "identity_not_linked" } as const)
        : decided;
    if (!verdict.ok) {
      const failure = { provider: facts.provider, error: verdict.reason, reason: verdict.reason };
      const owner = context.type === "profile" ? (data.userId ?? null) : null;
      const about = owner === null ? {} : { userId: owner, cause: { account: owner } };
      return rejectWithRedirect(data, verdict.reason, {
        payload: { ...takenAddress(context, verdict.reason, facts) },
        writes: [auditAttempt(request, "thirdparty_signin_signup_failed", failure, about)],
      });
    }
    const take = takeExchangeToken(request, token);
    const providerSession = endsSessionAt(config, facts.provider) ? handleOf(token) : undefined;
    if (context.type === "profile" && data.steppingUp) {
      const writes = [take, ...identityWrites(context, verdict, facts)];
      return next({ data: { factors: [factorOf(context, facts)], providerSession }, writes });
    }
    // In a profile flow the user is signed in already; the flow's data does not change.
    if (context.type === "profile") {
      const { userId } = data;
      const addable = userId ? [requireCredentialAddable({ ...context, data: { ...data, userId } })] : [];
      return next({
        writes: [...addable, take, ...identityWrites(context, verdict, facts)],
        jobs: verdict.kind === "link" ? securityNotice(request, "identity_create", context.facts.email) : [],
      });
    }

    const effects =
      verdict.kind === "sign_up" ? signUp(context, facts) : await signIn(context, verdict, facts, known);
    const isLinkPending = effects.data?.pending?.identity !== undefined;
    const factor = factorOf(context, { ...facts, satisfiesMfa: facts.satisfiesMfa && !isLinkPending });
    const effectsWithFactor = {
      ...effects,
      data: { ...resetData(data), ...effects.data, factors: [factor], providerSession },
      writes: [take, ...(effects.writes ?? [])],
    };
    // In a `token_exchange` flow the protocol allows `back`, so that the user can present another token.
    return context.type === "token_exchange" ? go(NEXT, effectsWithFactor) : next(effectsWithFactor);
  },
});

/** A provider counts as multi-factor authentication only for an account that it is linked to. */
function factorOf(
  { request }: Context,
  { provider, satisfiesMfa }: Pick<ProviderFacts, "provider" | "satisfiesMfa">,
): FlowData["factors"][number] {
  const at = request.now.toISOString();
  return { method: "third_party", provider, at, ...(satisfiesMfa ? { userVerified: true } : {}) };
}

/** Resets data of earlier steps, which may belong to another account. */
function resetData({ completedStates }: FlowData): DataPatch {
  return {
    identifier: undefined,
    username: undefined,
    factors: [],
    completedStates: completedStates.filter((state) => state === "preflight"),
    pending: {},
    enrolled: undefined,
    trustsDevice: undefined,
    recovering: undefined,
    emailVerified: undefined,
  };
}

/**
 * Whether the token was issued for this flow; a token of a provider-initiated flow has no flow id. In a profile flow it
 * was issued for what the flow is at the provider for: a request to connect asks for no new sign-in there, so it proves
 * nothing.
 */
function isForFlow({ type, flowId, data }: Context, exchange: ExchangeToken): boolean {
  if (type === "token_exchange") return exchange.flowId === null;
  if (exchange.flowId !== flowId) return false;
  if (type !== "profile") return exchange.userId === undefined;
  return (
    exchange.userId === data.userId && (exchange.reauthenticates === true) === (data.steppingUp === true)
  );
}

/**
 * The address that the provider gave, where an account has it already and takes it at a sign-in: a page offers to sign in
 * with it. The user who sees it has just signed in at the provider, and the error says the rest.
 */
function takenAddress({ config }: Context, reason: string, { email }: ProviderFacts): TakenAddressPayload {
  const { enabled, use_as_login_identifier } = config.email;
  const signsIn = enabled && use_as_login_identifier && reason === "user_conflict" && email !== null;
  return signsIn ? { taken_address: email } : {};
}

type ExistingAccount = { kind: "sign_in" | "link"; userId: string };

function identityWrites(
  { request }: Context,
  verdict: ExistingAccount | { kind: "sign_up" },
  facts: ProviderFacts,
): Write[] {
  if (verdict.kind === "sign_up") return [];
  const write = verdict.kind === "link" ? linkIdentity : refreshIdentity;
  return [write(request, verdict.userId, facts)];
}

/** Signs in to an existing account. An account with a second factor is linked only after that factor is verified. */
async function signIn(
  context: Context,
  verdict: ExistingAccount,
  facts: ProviderFacts,
  known: UserFacts | null,
): Promise<Effects> {
  const { db, request, config } = context;
  const { userId } = verdict;
  const user = known?.userId === userId ? known : await factsById(db, request.tenant.id, userId);
  const linksLater = verdict.kind === "link" && user !== null && hasSecondFactor(user, config);
  return {
    data: {
      userId: verdict.userId,
      email: user?.email ?? undefined,
      signedUp: "known",
      passcode: undefined,
      ...(linksLater ? { pending: { identity: facts } } : {}),
    },
    facts: { ...(user ? accountFacts(user) : {}), hasIdentity: true },
    writes: linksLater ? [] : identityWrites(context, verdict, facts),
    jobs:
      verdict.kind === "link" && !linksLater
        ? securityNotice(request, "identity_create", user?.email ?? null)
        : [],
  };
}

/** Creates a new account. An unverified address is not written if verification is required. */
function signUp({ request, config }: Context, facts: ProviderFacts): Effects {
  const userId = request.runtime.platform.uuid();
  const { address, needsCode } = signUpAddress(config, facts);
  const email = address !== null && !needsCode ? { address, verified: facts.emailVerified } : null;
  const createdFacts: Facts = {
    ...noFacts,
    hasIdentity: true,
    email: email?.address ?? null,
    emailVerified: email?.verified ?? false,
  };
  return {
    data: {
      userId,
      email: email?.address,
      signedUp: "created",
      ...(address !== null && needsCode ? verificationCode("email", address, false) : noCodes),
    },
    facts: createdFacts,
    writes: signUpByIdentity(request, facts, { userId, email }),
  };
}
