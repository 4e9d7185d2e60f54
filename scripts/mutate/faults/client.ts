import type { Fault } from "../fault.ts";

/** Faults of the client for servers. */
export const clientFaults: readonly Fault[] = [
  {
    name: "a delivery is accepted with any signature",
    file: "client/webhook.ts",
    text: 'if (await crypto.subtle.verify("HMAC", key, signature, signed)) return true;',
    fault:
      'if ((await crypto.subtle.verify("HMAC", key, signature, signed)) || signature.length > 0) return true;',
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "the signature of a delivery covers its body alone",
    file: "client/webhook.ts",
    text: "  signed.set(start);\n",
    fault: "",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "a delivery is accepted with one of two secrets only",
    file: "client/webhook.ts",
    text: "for (const secret of secrets) {",
    fault: "for (const secret of secrets.slice(0, 1)) {",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "an old delivery is accepted again",
    file: "client/webhook.ts",
    text: "Math.abs(age) > TOLERANCE_SECONDS)",
    fault: "-age > TOLERANCE_SECONDS)",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "the token of another delivery stands for this one",
    file: "client/webhook.ts",
    text: " || jti !== id)",
    fault: ")",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "a session token passes for the token of a delivery",
    file: "client/webhook.ts",
    text: 'typ: "webhook+jwt",',
    fault: "",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "a token for another audience verifies",
    file: "client/connection.ts",
    text: "          audience,\n          ...options,",
    fault: "          ...options,",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "a token of another issuer verifies",
    file: "client/connection.ts",
    text: "          issuer: issuer ?? base,\n          audience,",
    fault: "          audience,",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "each token with an unknown key reads the keys again",
    file: "client/connection.ts",
    text: "cooldownDuration: KEYS_COOLDOWN_MS,",
    fault: "cooldownDuration: 0,",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "the keys are read for every token",
    file: "client/connection.ts",
    text: "cacheMaxAge: KEYS_MAX_AGE_MS,",
    fault: "cacheMaxAge: 0,",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "a key that was replaced verifies for ever",
    file: "client/connection.ts",
    text: "cacheMaxAge: KEYS_MAX_AGE_MS,",
    fault: "cacheMaxAge: Number.POSITIVE_INFINITY,",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "a session that has ended is valid",
    file: "client/session.ts",
    text: 'if (!isValid) return { ok: false, reason: "ended" };',
    fault: "",
    caughtBy: ["client/stile.test.ts"],
  },
  {
    name: "the first of two session cookies is taken",
    file: "client/session.ts",
    text: "return values.length === 1 ? values[0] : undefined;",
    fault: "return values[0];",
    caughtBy: ["client/stile.test.ts"],
  },
];
