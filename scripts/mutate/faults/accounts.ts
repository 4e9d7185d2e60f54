import type { Fault } from "../fault.ts";

/** Faults of accounts, credentials and what changes them. */
export const accountFaults: readonly Fault[] = [
  {
    name: "a wrong password for an unknown account is answered before one for a slow imported hash",
    file: "server/methods/password/password-hasher.ts",
    text: "if (!verified.ok && milliseconds < evenMs)",
    fault: "if (!verified.ok && milliseconds < evenMs && stored !== null)",
    caughtBy: ["server/methods/password/imported-hashes.test.ts"],
  },
  {
    name: "a password beyond the 72 bytes of bcrypt replaces the hash unproved",
    file: "server/methods/password/imported-hashes.ts",
    text: "const whole = Buffer.byteLength(password) <= MAX_BCRYPT_BYTES;",
    fault: "const whole = password.length <= MAX_BCRYPT_BYTES;",
    caughtBy: ["server/methods/password/imported-hashes.test.ts"],
  },
  {
    name: "the blocks around scrypt's mixing cost nothing",
    file: "server/methods/password/imported-hashes.ts",
    text: "(2 ** ln + 4)",
    fault: "2 ** ln",
    caughtBy: ["server/methods/password/imported-hashes.test.ts"],
  },
  {
    name: "the deletion of an account is told to no webhook",
    file: "server/account/deletion.ts",
    text: 'if (deleted) await emit(context, "user.delete", deleted.user)(tx);',
    fault: "void deleted;",
    caughtBy: ["server/flow/scenarios/events.test.ts", "server/events/emit.test.ts"],
  },
  {
    name: "the user handle of an account outlives it",
    file: "db/tables.ts",
    text: 'deletionWith(owner, key.reference().foreignTable) !== "statement"',
    fault: "key.reference().foreignTable !== table",
    caughtBy: ["db/tables.test.ts", "server/flow/scenarios/deleted-rows.test.ts"],
  },
  {
    name: "an account without a way to sign in may remove its last credential",
    file: "server/methods/ways-in.ts",
    text: "isEnabled(config) && has(facts) && (identifies || hasIdentifier)",
    fault: "isEnabled(config) && (identifies || hasIdentifier)",
    caughtBy: ["server/account/reachability.test.ts"],
  },
  {
    name: "an operator ends a session that the user does not have, and is told that it ended",
    file: "server/admin/user-sessions.ts",
    text: "if (!ended) return notFound;",
    fault: "",
    caughtBy: ["server/http/admin/sessions.test.ts"],
  },
  {
    name: "a sign-in that is written after a block of its account gets a session",
    file: "server/sessions/sessions.ts",
    text: "when (select blocked_at from session_account) is not null then 'account_blocked' end",
    fault: "end",
    caughtBy: ["server/flow/scenarios/blocked-account.test.ts"],
  },
  {
    name: "an operator ends the trust of another user's browser",
    file: "server/sessions/trusted-devices.ts",
    text: `        eq(trustedDevices.userId, userId),
        eq(trustedDevices.id, id),
      ),
    )
    .returning({ id: trustedDevices.id });
  return revoked`,
    fault: `        eq(trustedDevices.id, id),
      ),
    )
    .returning({ id: trustedDevices.id });
  return revoked`,
    caughtBy: ["server/http/admin/every-user-operation.test.ts"],
  },
  {
    name: "a TOTP code is accepted twice",
    file: "server/methods/totp/totp.ts",
    text: "if (step <= stored.lastStep)",
    fault: "if (step < stored.lastStep)",
    caughtBy: ["server/methods/totp/totp.test.ts"],
  },
  {
    name: "a recovery code consumed concurrently succeeds twice",
    file: "server/methods/recovery-code/recovery-codes.ts",
    text: 'if (consumed.length === 0) throw new ConflictError("recovery_code");',
    fault: "",
    caughtBy: ["server/methods/recovery-code/recovery-codes.test.ts"],
  },
  {
    name: "the device cookie of another account is accepted",
    file: "server/sessions/trusted-devices.ts",
    text: "parseDeviceCookie(cookie).find((candidate) => candidate.userId === userId)",
    fault: "parseDeviceCookie(cookie).at(0)",
    caughtBy: ["server/sessions/trusted-devices.test.ts"],
  },
  {
    name: "each account mails any address codes of its reserve",
    file: "server/methods/passcode/passcodes.ts",
    text: 'if (userId && proofOf(about) !== "recipient" && hasSignedInBefore',
    fault: "if (userId && proofOf(about) && hasSignedInBefore",
    caughtBy: ["server/http/flow/mailed-codes-under-attack.test.ts"],
  },
  {
    name: "an address with a display name is accepted",
    file: "server/identity/email/email-address.ts",
    text: "local.length > MAX_LOCAL_PART_CHARACTERS || !localPart.test(local)",
    fault: "local.length > MAX_LOCAL_PART_CHARACTERS",
    caughtBy: ["server/identity/email/email-address.test.ts"],
  },
];
