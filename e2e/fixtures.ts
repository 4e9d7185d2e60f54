import { test as base, expect } from "@playwright/test";
import { type RunningServer, startServer } from "../server/testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { type Account, signUp } from "./account.ts";
import { type VirtualAuthenticator, virtualAuthenticator } from "./authenticator.ts";
import { type Complaints, watch } from "./page-errors.ts";

interface OfTest {
  /** Everything the browser or the server complained of; what a test did not `expect` fails it. */
  complaints: Complaints;
  /** The browser's own authenticator, a phone's or a laptop's, which nobody touches until told. */
  authenticator: VirtualAuthenticator;
  /** A security key, which nobody touches until told. */
  securityKey: VirtualAuthenticator;
  /** An account with an address, a password and nothing else. */
  account: Account;
  /** An address that nobody has used yet. */
  address: string;
}

interface OfWorker {
  /** Environment of the server; `test.use({ settings })` at the top of a file gives it one of its own. */
  settings: Record<string, string>;
  mailbox: SmtpCatcher;
  server: RunningServer;
}

/**
 * What most tests are not about: rate limits, because every test comes from one address, and passkeys that browsers
 * create by themselves, because a virtual authenticator asks for a touch where a password manager does not.
 */
const usual = { STILE_RATE_LIMITER_ENABLED: "false", STILE_PASSKEY_CONDITIONAL_CREATE: "false" };

/**
 * The real built server, a real mail server, a real browser with a virtual authenticator. A file that is about what
 * is switched off here turns it on.
 */
export const test = base.extend<OfTest, OfWorker>({
  settings: [{}, { scope: "worker", option: true }],

  mailbox: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const mailbox = await startSmtp();
      await use(mailbox);
      await mailbox.close();
    },
    { scope: "worker" },
  ],

  server: [
    async ({ mailbox, settings }, use) => {
      const server = await startServer({ env: { SMTP_URL: mailbox.url, ...usual, ...settings } });
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],

  baseURL: async ({ server }, use) => use(server.url),

  complaints: [
    async ({ context, server }, use) => {
      const complaints = await watch(context, server);
      await use(complaints);
      expect(complaints.unexpected()).toEqual([]);
    },
    { auto: true },
  ],

  authenticator: async ({ context, page }, use) => use(await virtualAuthenticator(context, page)),

  securityKey: async ({ context, page }, use) => use(await virtualAuthenticator(context, page, "key")),

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
  address: async ({}, use) => use(`${crypto.randomUUID()}@example.com`),

  account: async ({ server, mailbox, address }, use) => use(await signUp(server.url, mailbox, address)),
});

export { expect };
