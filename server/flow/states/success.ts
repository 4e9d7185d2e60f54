import { ConflictError } from "#db/errors";
import { type Write, writeOf } from "#db/write";
import { audit } from "../../audit/audit.ts";
import { holds } from "../../conditions/condition.ts";
import type { CookieChanges } from "../../context/client.ts";
import { emit } from "../../events/emit.ts";
import { identifiers, loginIdentifiers } from "../../identity/identifiers.ts";
import { userParts } from "../../identity/users.ts";
import { describeUserAgent } from "../../lib/user-agent.ts";
import { locate } from "../../locations/location.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { secondFactors } from "../../methods/index.ts";
import { publicProvider } from "../../methods/provider/index.ts";
import { replaceRecoveryCodes } from "../../methods/recovery-code/recovery-codes.ts";
import { hasSecondFactor, includesSecondFactor, isAccepted } from "../../methods/second-factors.ts";
import { sms } from "../../methods/sms/index.ts";
import type { Job } from "../../runtime.ts";
import {
  hasSignedInBefore,
  type MarkedMethod,
  markAccount,
  markedMethods,
} from "../../sessions/account-marks.ts";
import { prepareAuthorizationCode } from "../../sessions/authorization-codes.ts";
import { joinProviderSession } from "../../sessions/provider-sessions.ts";
import { issueSession } from "../../sessions/sessions.ts";
import { findTrustedDevice, trustDevice } from "../../sessions/trusted-devices.ts";
import { linkIdentity } from "../../thirdparty/identities.ts";
import { providerFacts } from "../../thirdparty/provider-facts.ts";
import { amrOf } from "../amr.ts";
import type { FlowData } from "../data.ts";
import { type Context, type Entered, state } from "../define.ts";
import { withEnrolledFactor } from "../enrolled-factor.ts";
import { createdMethods, isPendingRegistration } from "../facts.ts";
import { createdPasskey } from "../verified-factors.ts";

type Factors = FlowData["factors"];
type SuccessContext = Context<"userId">;

/** The user is signed in. The only state that issues a session. */
export const success = state({
  name: "success",
  needs: ["userId"],
  showsUser: true,
  async enter(context) {
    const { type, request, data, facts } = context;
    const { userId } = data;
    const isRegistration = isPendingRegistration(context);
    const factors = isRegistration ? registrationFactors(context) : withEnrolledFactor(context, data.factors);
    const { issued, claims, write } = await issueSession(request, {
      userId,
      factors,
      amr: amrOf(factors),
      rememberMe: data.rememberMe ?? false,
      email: facts.email,
      emailVerified: facts.emailVerified,
      username: facts.username,
    });
    const methods = factors.map(({ method }) => method);
    const entry = audit(request, isRegistration ? "user_created" : "login_success", { methods }, userId);
    const recovery = recoveryCodes(context);
    const device = await deviceTrust(context);
    const code = data.codeChallenge
      ? prepareAuthorizationCode(request, { sessionId: issued.id, codeChallenge: data.codeChallenge })
      : null;
    return {
      ...(code ? { passedSessionId: issued.id } : { session: issued }),
      signIn: { methods, isNewAccount: isRegistration || data.signedUp === "created" },
      payload: { claims, ...(type === "registration" ? {} : { last_login: lastLogin(factors) }) },
      once: {
        ...(recovery ? { recovery_codes: recovery.codes } : {}),
        ...(code ? { authorization_code: code.code } : {}),
      },
      cookieChanges: { ...device?.cookieChanges, mark: markOf(context) },
      writes: [
        ...(isRegistration ? accountWrites(context) : linkWrites(context)),
        ...(recovery ? [recovery.write] : []),
        ...(device ? [device.write] : []),
        ...(isRegistration ? [emit(request, "user.create", userId)] : []),
        write,
        ...(data.providerSession
          ? [joinProviderSession(request, { handle: data.providerSession, sessionId: issued.id })]
          : []),
        ...(code ? [code.write] : []),
        ...(type === "login" ? [emit(request, "user.login", userId)] : []),
        entry,
      ],
      jobs: [
        ...(data.pending.identity ? securityNotice(request, "identity_create", facts.email) : []),
        ...newBrowserNotice(context),
      ],
    };
  },
  actions: () => ({}),
});

/**
 * The mark of the account in this browser. It keeps by which identifier the user knows the account, unless the session ends with
 * the browser: others may use it.
 */
function markOf(context: SuccessContext): NonNullable<CookieChanges["mark"]> {
  const { request, data, facts, config } = context;
  const { retention } = config.session.cookie;
  const { enabled, account_choice } = config.openid;
  const isRemembered = retention === "persistent" || (retention === "prompt" && data.rememberMe === true);
  const isKept = enabled && account_choice && isRemembered;
  const entered = data.identifier;
  const own = loginIdentifiers(config).flatMap(({ kind }) => facts[kind] ?? []);
  const identifier = own.find((value) => value === entered?.value) ?? own[0] ?? null;
  return markAccount(request, data.userId, usedMethod(context), isKept ? identifier : null);
}

/** Tells the owner of a sign-in in a browser that has no mark of the account; the first sign-in of an account is none. */
function newBrowserNotice(context: SuccessContext): Job[] {
  const { request, data, facts } = context;
  const isFirst = isPendingRegistration(context) || data.signedUp === "created";
  if (isFirst || hasSignedInBefore(request, data.userId)) return [];
  const { runtime, client, now } = request;
  const { city, country } = locate(runtime, client.ip) ?? {};
  return securityNotice(request, "new_browser", facts.email, {
    at: now.toISOString(),
    browser: describeUserAgent(client.userAgent),
    place: [city, country].filter(Boolean).join(", ") || null,
  });
}

/** States that are completed only by declining what they offer. */
const passkeyOffers = ["onboarding_create_passkey", "credential_onboarding_chooser"] as const;

/** Returns the writes that create the account of a pending registration. */
function accountWrites({ request, data }: SuccessContext): Write[] {
  const { tenant, now, runtime } = request;
  const { userId, pending, completedStates } = data;
  const named = identifiers.map(({ kind, verified }) => {
    const value = data[kind];
    return [kind, value && { value, verifiedAt: verified !== null && data[verified] ? now : null }];
  });
  const user = userParts(tenant.id, {
    id: userId,
    now,
    platform: runtime.platform,
    identifiers: Object.fromEntries(named),
    declinesPasskey: !pending.credential && passkeyOffers.some((state) => completedStates.includes(state)),
  });
  return [
    writeOf(...user),
    ...createdMethods(data).map(({ pending: { member, store } }) =>
      store(request, userId, pending[member] as never),
    ),
  ];
}

/** Returns the write that links a pending identity, after the second factor of its account was verified. */
function linkWrites({ request, data }: SuccessContext): Write[] {
  const { userId, pending } = data;
  return pending.identity ? [linkIdentity(request, userId, providerFacts.parse(pending.identity))] : [];
}

/** Creates recovery codes with the first second factor of an account. */
function recoveryCodes({
  request,
  data,
  facts,
  config,
}: SuccessContext): { codes: string[]; write: Write } | null {
  const enrolled = config.mfa.recovery_codes && data.enrolled === true && hasSecondFactor(facts, config);
  return enrolled && !facts.hasRecoveryCode ? replaceRecoveryCodes(request, data.userId) : null;
}

/** Rotates the token of a trusted device, or issues its first one. */
async function deviceTrust({
  request,
  data,
  facts,
  config,
}: SuccessContext): Promise<(Pick<Entered, "cookieChanges"> & { write: Write }) | null> {
  const { userId, factors } = data;
  const cookie = request.client.deviceCookie;
  const trust = await findTrustedDevice(request.runtime.database.read, request, { cookie, userId });
  // The token was used concurrently, possibly by the holder of a copy, so it no longer replaces the second factor.
  if (facts.deviceTrusted && !trust.ok) return { cookieChanges: {}, write: deviceConflict };
  // This step may revoke the trust; until its writes run, the trust is still stored.
  const rotates = trust.ok && facts.deviceTrusted ? { rotates: trust } : null;
  const granted =
    data.trustsDevice === true ||
    (config.mfa.device_trust_policy === "always" &&
      (includesSecondFactor(factors) || data.enrolled === true));
  if (!config.mfa.enabled || (!granted && !rotates)) return null;
  const { cookieChanges, write } = trustDevice(request, { userId, cookie, ...rotates, granted });
  if (rotates) return { cookieChanges, write };
  const entry = audit(request, "trusted_device_created", {}, userId);
  return {
    cookieChanges,
    async write(tx) {
      await write(tx);
      await entry(tx);
    },
  };
}

const deviceConflict: Write = async () => {
  throw new ConflictError("device");
};

/**
 * Returns the method to suggest to this browser at the next sign-in: a passkey that this flow has created, or a password
 * that it has set; else the method of the first factor.
 */
function usedMethod({ type, data }: SuccessContext): MarkedMethod | null {
  const { completedStates, pending, factors } = data;
  const created = (state: (typeof completedStates)[number]) => completedStates.includes(state);
  if (
    pending.credential ||
    (created("onboarding_verify_passkey_attestation") && data.credentialKind === "passkey")
  )
    return { method: "passkey" };
  if (pending.passwordHash || created("login_password_recovery")) return { method: "password" };
  const [first] = factors;
  if (first?.provider) return { provider: first.provider };
  const method = markedMethods.find((name) => name === first?.method);
  if (method) return { method };
  return type === "registration" && data.emailVerified ? { method: "passcode" } : null;
}

/** Returns the methods of this login, which a client may suggest at the next one. */
function lastLogin(factors: Factors) {
  const [first, ...others] = factors;
  const second = others.findLast((factor) => secondFactors.some(({ name }) => name === factor.method));
  return {
    login_method: first?.method,
    ...(first?.provider ? { third_party_provider: publicProvider(first.provider) } : {}),
    ...(second ? { mfa_method: second.method } : {}),
  };
}

/**
 * Returns the verified factors of a registration: the credentials that it created. A number is the first of them where a
 * code by SMS is a way to sign in, or the last where it is a second factor.
 */
function registrationFactors({ request, data, config }: SuccessContext): Factors {
  const isFirst = data.phoneVerified && !data.emailVerified && holds(sms.firstFactor.enabled, { config });
  const isSecond = data.phoneVerified && isAccepted(sms, config);
  const methods: Factors[number]["method"][] = [
    ...(data.emailVerified ? (["passcode"] as const) : []),
    ...(isFirst ? (["sms"] as const) : []),
    ...createdMethods(data).map(({ name }) => name),
    ...(isSecond ? (["sms"] as const) : []),
  ];
  const at = request.now.toISOString();
  const passkey = data.pending.credential && createdPasskey(data.pending.credential);
  return (methods.length > 0 ? methods : (["registration"] as const)).map((method) => ({
    ...(method === passkey?.method ? passkey : { method }),
    at,
  }));
}
