import { passkey } from "@better-auth/passkey";
import { hashPassword } from "better-auth/crypto";
import { emailOTP } from "better-auth/plugins";
import { createTransport } from "nodemailer";
import { serve } from "./serve.js";

/**
 * better-auth with passkeys, codes by mail and passwords, as its documentation sets it up, in a process of its own. It
 * takes its settings from its parent (`PeerSettings` of `bench/start-peer.ts`), makes its tables and users, and sends its
 * port. Its limits are off. Its codes are sent to the mail server that it gets; without one, nothing is sent, and the load
 * generator knows the code.
 */
process.once("message", async ({ databaseUrl, origin, code, smtp, password, publicKey, users }) => {
  const transport = smtp && createTransport({ url: smtp, pool: true });
  const codes = transport
    ? {
        // Not awaited, as its documentation recommends.
        sendVerificationOTP: async ({ email, otp }) => {
          void transport.sendMail({
            from: "Bench <noreply@localhost.localdomain>",
            to: email,
            subject: `${otp} is your code`,
            text: `Your code is ${otp}.`,
          });
        },
      }
    : { generateOTP: () => code, sendVerificationOTP: async () => {} };
  const plugins = [passkey({ rpID: "localhost", rpName: "Bench", origin }), emailOTP(codes)];

  await serve(databaseUrl, { trustedOrigins: [origin], plugins }, async (_, pool) => {
    const ids = users.map(({ email }) => `id-${email}`);
    const emails = users.map(({ email }) => email);
    await pool.query(
      `insert into "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
       select id, email, email, true, now(), now() from unnest($1::text[], $2::text[]) as u (id, email)`,
      [ids, emails],
    );
    await pool.query(
      `insert into account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
       select 'account-' || id, id, 'credential', id, $2, now(), now() from unnest($1::text[]) as u (id)`,
      [ids, await hashPassword(password)],
    );
    await pool.query(
      `insert into passkey (id, name, "publicKey", "userId", "credentialID", counter, "deviceType", "backedUp", transports, "createdAt")
       select 'passkey-' || id, 'Bench', $3, id, credential, 0, 'multiDevice', true, 'internal', now()
       from unnest($1::text[], $2::text[]) as u (id, credential) where credential is not null`,
      [ids, users.map(({ credentialId }) => credentialId), publicKey],
    );
  });
});
