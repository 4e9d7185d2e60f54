import { audit } from "../../audit/audit.ts";
import { createPassword } from "../../credentials/passwords.ts";
import { insertCredential } from "../../credentials/webauthn-credentials.ts";
import { profileOf } from "../../identity/profile.ts";
import { createUser } from "../../identity/users.ts";
import type { Write } from "../../runtime.ts";
import { issueSession } from "../../sessions/sessions.ts";
import type { FlowData } from "../data.ts";
import { type Context, state } from "../define.ts";

type Factors = FlowData["factors"];

/** Authentication method references (RFC 8176), by the names that clients of the protocol know. */
const methodReferences: Record<Factors[number]["method"], string | null> = {
  password: "pwd",
  passcode: "otp",
  passkey: "passkey",
  registration: null,
};

/** The person is let in: here, and nowhere before, a session exists. */
export const success = state({
  name: "success",
  needs: ["userId"],
  async enter(context) {
    const { type, scope, data, facts } = context;
    const { userId } = data;
    const registers = type === "registration";
    const factors = registers ? registrationFactors(context) : data.factors;
    const methods = factors.map(({ method }) => method);
    const { issued, claims, write } = await issueSession(scope, {
      userId,
      factors,
      amr: methods.flatMap((method) => methodReferences[method] ?? []),
      rememberMe: data.rememberMe ?? false,
      email: facts.email,
      emailVerified: facts.emailVerified,
      username: facts.username,
    });
    const record = audit(scope, registers ? "user_created" : "login_success", { methods }, userId);
    return {
      session: issued,
      payload: { claims, ...(registers ? {} : { last_login: { login_method: methods[0] } }) },
      writes: [...(registers ? accountWrites(context) : []), write, record],
      settle: async (tx) => ({ user: await profileOf(tx, scope.tenant, userId) }),
    };
  },
  actions: () => ({}),
});

/** Writes the account that registration has been gathering. */
function accountWrites({ scope, data }: Context<"userId">): Write[] {
  const { tenant, now, runtime } = scope;
  const { userId, email, username, pending } = data;
  const { passwordHash, credential } = pending;
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
  ];
}

/** Who registers has shown that they hold what they registered. */
function registrationFactors({ scope, data }: Context<"userId">): Factors {
  const { passwordHash, credential } = data.pending;
  const methods: Factors[number]["method"][] = [
    ...(data.emailVerified ? (["passcode"] as const) : []),
    ...(passwordHash ? (["password"] as const) : []),
    ...(credential ? (["passkey"] as const) : []),
  ];
  const at = scope.now.toISOString();
  return (methods.length > 0 ? methods : (["registration"] as const)).map((method) => ({ method, at }));
}
