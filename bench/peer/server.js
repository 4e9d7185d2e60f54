import { createServer } from "node:http";
import { passkey } from "@better-auth/passkey";
import { betterAuth } from "better-auth";
import { hashPassword } from "better-auth/crypto";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { emailOTP } from "better-auth/plugins";
import { createTransport } from "nodemailer";
import pg from "pg";

/**
 * better-auth with passkeys, codes by mail and passwords, as its documentation sets it up, in a process of its own. It
 * takes its settings from its parent (`PeerSettings` of `bench/start-peer.ts`), makes its tables and users, and sends its
 * port. Its limits are off. Its codes are sent to the mail server that it gets; without one, nothing is sent, and the load
 * generator knows the code.
 */
process.once("message", async ({ databaseUrl, origin, code, smtp, password, publicKey, users }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();

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
  const options = {
    baseURL: `http://localhost:${port}`,
    secret: "a secret of the benchmark alone, which needs to be long",
    database: pool,
    trustedOrigins: [origin],
    rateLimit: { enabled: false },
    logger: { level: "error" },
    telemetry: { enabled: false },
    emailAndPassword: { enabled: true },
    plugins: [passkey({ rpID: "localhost", rpName: "Bench", origin }), emailOTP(codes)],
  };
  const migrations = await getMigrations(options);
  await migrations.runMigrations();
  const auth = betterAuth(options);

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
  await pool.query("analyze");

  server.keepAliveTimeout = 60_000;
  server.on("request", toNodeHandler(auth));
  process.send({ port });
});
process.on("disconnect", () => process.exit(0));
