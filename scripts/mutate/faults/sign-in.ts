import type { Fault } from "../fault.ts";

/** Faults of flows, sessions, identity providers and limits. */
export const signInFaults: readonly Fault[] = [
  {
    name: "the owner of a blocked account goes on to a new password",
    file: "server/flow/judge.ts",
    text: "if (!facts.blocked || type ===",
    fault: "if (facts.blocked || !facts.blocked || type ===",
    caughtBy: ["server/flow/scenarios/blocked-account.test.ts"],
  },
  {
    name: "strangers at a source keep failures of its signed-in users out of the audit log",
    file: "server/flow/login-failure.ts",
    text: 'if (!userId || (type !== "profile" && factors.length === 0)) return { source };',
    fault: "if (!userId || factors.length >= 0) return { source };",
    caughtBy: ["server/http/flow/steps-without-end.test.ts"],
  },
  {
    name: "expired sessions are kept",
    file: "server/sessions/expired-sessions.ts",
    text: "sql`s.expires_at < now()`",
    fault: "sql`s.expires_at < now() - interval '1 year'`",
    caughtBy: ["server/sessions/expired-sessions.test.ts"],
  },
  {
    name: "the token of a step is not part of its claim",
    file: "server/flow/store.ts",
    text: "where tenant_id = $3 and id = $4 and type = $5 and token_hash = $6",
    fault: "where tenant_id = $3 and id = $4 and type = $5 and $6::bytea is not null",
    caughtBy: ["server/flow/claims.test.ts"],
  },
  {
    name: "the holder of a stolen session uses up the steps with which the owner recovers the account",
    file: "server/flow/store.ts",
    text: "$11::int from flow where type = 'profile'),",
    fault: "$11::int from flow where user_id is not null),",
    caughtBy: ["server/http/flow/steps-without-end.test.ts"],
  },
  {
    name: "the steps of one tenant use up the budget of another",
    file: "server/flow/store.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source code
    text: "sha256(`${tenantId}/${charge.source}`)",
    fault: "sha256(charge.source)",
    caughtBy: ["server/flow/claims.test.ts"],
  },
  {
    name: "an action that the state does not offer is performed",
    file: "server/flow/judge.ts",
    text: "if (!found?.action.when(view)) return null;",
    fault: "if (!found) return null;",
    caughtBy: ["server/flow/engine.test.ts", "server/flow/scenarios/profile.test.ts"],
  },
  {
    name: "the first address needs no verification",
    file: "server/flow/plan.ts",
    text: "return data.email !== undefined && config.email.require_verification && !data.emailVerified;",
    fault:
      "return data.email !== undefined && config.email.require_verification && data.emailVerified === false;",
    caughtBy: ["server/flow/plan.test.ts"],
  },
  {
    name: "trusted devices survive the removal of the password",
    file: "server/flow/profile/password.ts",
    text: 'audit(request, "password_deleted", {}, id),\n          (tx) => revokeDevices(tx, request.tenant.id, id),',
    fault: 'audit(request, "password_deleted", {}, id),',
    caughtBy: ["server/flow/scenarios/profile.test.ts"],
  },
  {
    name: "a hundred and first failure in a row is judged",
    file: "server/limits/failure-counters.ts",
    text: "where counter.consecutive <",
    fault: "where counter.consecutive <=",
    caughtBy: ["server/limits/failure-counters.test.ts"],
  },
  {
    name: "the limits of one tenant are those of every tenant",
    file: "server/limits/rate-limits.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source code
    text: "return `${tenantId}/${subject}`;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source code
    fault: "return `${tenantId.length}/${subject}`;",
    caughtBy: ["server/limits/rate-limits.test.ts"],
  },
  {
    name: "an authorization code is redeemed after its time",
    file: "server/sessions/authorization-codes.ts",
    text: "if (!redeemed?.inTime || ",
    fault: "if (!redeemed || ",
    caughtBy: ["server/sessions/authorization-codes.test.ts"],
  },
  {
    name: "the claims of a session name the account of another tenant",
    file: "server/sessions/claim-template.ts",
    text: '.where(and(eq(users.tenantId, sql.placeholder("tenantId")), eq(users.id, sql.placeholder("id")))),',
    fault: '.where(eq(users.id, sql.placeholder("id"))),',
    caughtBy: ["server/sessions/claim-template.test.ts"],
  },
  {
    name: "text that a user has chosen decides the type of a claim",
    file: "server/sessions/claim-template.ts",
    text: 'return hasValues || !template.includes("{{") ? text : typed(text);',
    fault: 'return template.includes("{{") ? typed(text) : text;',
    caughtBy: ["server/sessions/claim-template.test.ts"],
  },
  {
    name: "two valid sessions are not ambiguous",
    file: "server/sessions/verify-session.ts",
    text: 'return { ok: false, reason: "ambiguous_session" };',
    fault: "void 0;",
    caughtBy: ["server/sessions/verify-session.test.ts"],
  },
  {
    name: "an unverified address of a provider signs in to an account",
    file: "server/thirdparty/account-decision.ts",
    text: "facts.emailVerified && accountWithSameEmail.verified && allowLinking",
    fault: "accountWithSameEmail.verified && allowLinking",
    caughtBy: ["server/thirdparty/account-decision.test.ts"],
  },
  {
    name: "a SAML assertion is accepted twice",
    file: "server/thirdparty/saml/replay-cache.ts",
    text: "return made.length > 0;",
    fault: "return made.length >= 0;",
    caughtBy: ["server/thirdparty/saml/sign-in.test.ts"],
  },
];
