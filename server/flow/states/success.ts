import { profileOf } from "../../account/profile.ts";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import { createPassword } from "../../credentials/passwords.ts";
import { replaceRecoveryCodes } from "../../credentials/recovery-codes.ts";
import { insertTotp } from "../../credentials/totp.ts";
import { trustDevice, trustedDevice } from "../../credentials/trusted-devices.ts";
import { insertCredential } from "../../credentials/webauthn-credentials.ts";
import { createUser } from "../../identity/users.ts";
import { TakenError, type Write } from "../../runtime.ts";
import { issueSession } from "../../sessions/sessions.ts";
import { linkIdentity } from "../../thirdparty/identities.ts";
import { providerFacts } from "../../thirdparty/provider-facts.ts";
import type { FlowData } from "../data.ts";
import { type Context, type Entered, state } from "../define.ts";
import { isGathering } from "../facts.ts";
import { methodReference, publicProvider } from "../method-reference.ts";
import { hasSecondFactor, showsSecondFactor } from "../second-factor.ts";

type Factors = FlowData["factors"];
type Arriving = Context<"userId">;

/** The person is let in: here, and nowhere before, a session exists. */
export const success = state({
  name: "success",
  needs: ["userId"],
  async enter(context) {
    const { type, scope, data, facts } = context;
    const { userId } = data;
    const registers = isGathering(context);
    const factors = registers ? registrationFactors(context) : data.factors;
    const { issued, claims, write } = await issueSession(scope, {
      userId,
      factors,
      amr: factors.map(methodReference).filter((reference) => reference !== null),
      rememberMe: data.rememberMe ?? false,
      email: facts.email,
      emailVerified: facts.emailVerified,
      username: facts.username,
    });
    const methods = factors.map(({ method }) => method);
    const record = audit(scope, registers ? "user_created" : "login_success", { methods }, userId);
    const recovery = recoveryCodes(context);
    const device = await deviceTrust(context);
    return {
      session: issued,
      payload: { claims, ...(type === "registration" ? {} : { last_login: lastLogin(factors) }) },
      ...(recovery ? { secrets: { recovery_codes: recovery.codes } } : {}),
      kept: device?.kept ?? {},
      writes: [
        ...(registers ? accountWrites(context) : linkWrites(context)),
        ...(recovery ? [recovery.write] : []),
        ...(device ? [device.write] : []),
        write,
        record,
      ],
      jobs: data.pending.identity ? securityNotice(scope, "identity_create", facts.email) : [],
      settle: async (tx) => ({ user: await profileOf(tx, scope.tenant, userId) }),
    };
  },
  actions: () => ({}),
});

/** Writes the account that registration has been gathering. */
function accountWrites({ scope, data }: Arriving): Write[] {
  const { tenant, now, runtime } = scope;
  const { userId, email, username, pending } = data;
  const { passwordHash, credential, securityKey, totp } = pending;
  const create: Write = (tx) =>
    createUser(tx, tenant.id, {
      id: userId,
      now,
      environment: runtime.environment,
      ...(email ? { email: { address: email, verifiedAt: data.emailVerified ? now : null } } : {}),
      ...(username ? { username } : {}),
    });
  return [
    create,
    ...(passwordHash ? [createPassword(scope, userId, passwordHash)] : []),
    ...(credential ? [insertCredential(scope, userId, credential)] : []),
    ...(securityKey ? [insertCredential(scope, userId, securityKey)] : []),
    ...(totp ? [insertTotp(scope, userId, totp)] : []),
  ];
}

/** Links the identity that waited until its owner had shown the account's second factor. */
function linkWrites({ scope, data }: Arriving): Write[] {
  const { userId, pending } = data;
  return pending.identity ? [linkIdentity(scope, userId, providerFacts.parse(pending.identity))] : [];
}

/** Whoever has just set up a first second factor is given what stands in for it when it is lost. */
function recoveryCodes({ scope, data, facts, config }: Arriving): { codes: string[]; write: Write } | null {
  const wanted = config.mfa.recovery_codes && data.enrolled === true && hasSecondFactor(facts, config);
  return wanted && !facts.hasRecoveryCode ? replaceRecoveryCodes(scope, data.userId) : null;
}

/** A token that was used gets its successor; a browser that is to be trusted gets its first. */
async function deviceTrust({
  scope,
  data,
  facts,
  config,
}: Arriving): Promise<(Pick<Entered, "kept"> & { write: Write }) | null> {
  const { userId, factors } = data;
  const cookie = scope.client.deviceCookie;
  const found = await trustedDevice(scope.runtime.database.read, scope, { cookie, userId });
  // A copy of it was used since this step began: what it has saved is to be shown after all.
  if (facts.deviceTrusted && found.status !== "trusted") return { kept: {}, write: taken };
  // This very step may be about to end the trust that is still there to be read.
  const rotates = found.status === "trusted" && facts.deviceTrusted ? { rotates: found } : null;
  const granted =
    data.trustsDevice === true ||
    (config.mfa.device_trust_policy === "always" && (showsSecondFactor(factors) || data.enrolled === true));
  if (!config.mfa.enabled || (!granted && !rotates)) return null;
  return trustDevice(scope, { userId, cookie, ...rotates, granted });
}

const taken: Write = async () => {
  throw new TakenError("device");
};

/** Second factors that will be there next time too. */
const lasting: readonly Factors[number]["method"][] = ["totp", "security_key", "authenticator"];

/** What a client may remind the person of next time. */
function lastLogin(factors: Factors) {
  const [first, ...others] = factors;
  const second = others.findLast(({ method }) => lasting.includes(method));
  return {
    login_method: first?.method,
    ...(first?.provider ? { third_party_provider: publicProvider(first.provider) } : {}),
    ...(second ? { mfa_method: second.method } : {}),
  };
}

/** Who registers has shown that they hold what they registered. */
function registrationFactors({ scope, data }: Arriving): Factors {
  const { passwordHash, credential, securityKey, totp } = data.pending;
  const methods: Factors[number]["method"][] = [
    ...(data.emailVerified ? (["passcode"] as const) : []),
    ...(passwordHash ? (["password"] as const) : []),
    ...(credential ? (["passkey"] as const) : []),
    ...(totp ? (["totp"] as const) : []),
    ...(securityKey ? (["security_key"] as const) : []),
  ];
  const at = scope.now.toISOString();
  return (methods.length > 0 ? methods : (["registration"] as const)).map((method) => ({ method, at }));
}
