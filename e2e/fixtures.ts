import { test as base, expect } from "@playwright/test";
import {
  type VirtualAuthenticator,
  virtualAuthenticator,
} from "../server/testing/kit/virtual-authenticator.ts";
import { copyTemplate } from "../server/testing/postgres-cluster.ts";
import { type RunningServer, startServer, type Under } from "../server/testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { type Account, signUp } from "./account.ts";
import { collectPageErrors, type PageErrors } from "./page-errors.ts";
import { testCluster } from "./postgres.ts";

interface OfTest {
  /** Errors that the browser or the server reported; those that a test did not `expect` fail it. */
  pageErrors: PageErrors;
  /** The browser's built-in authenticator, which leaves prompts unanswered until told otherwise. */
  authenticator: VirtualAuthenticator;
  /** A security key, which leaves prompts unanswered until told otherwise. */
  securityKey: VirtualAuthenticator;
  /** An account with an address, a password and nothing else. */
  account: Account;
  /** An unused address. */
  address: string;
}

export interface OfWorker {
  /** What answers requests; a project of `playwright.config.ts` names it. */
  under: Under;
  /** Environment of the server; `test.use({ settings })` at the top of a file replaces it. */
  settings: Record<string, string>;
  /** Whether the server runs the embedded database; `test.use({ embedded: true })` for tests about that. */
  embedded: boolean;
  /** Address of the server's database; null for the embedded one. */
  database: string | null;
  mailbox: SmtpCatcher;
  server: RunningServer;
}

/**
 * Switched off for most tests: rate limits, because every test comes from one address, passkeys without a prompt, because
 * a virtual authenticator asks for a touch where a password manager does not, and mails about a new browser, because every
 * test is one. Registrations offer a second factor, so that accounts can begin with one.
 */
const usual = {
  STILE_RATE_LIMITER_ENABLED: "false",
  STILE_PASSKEY_CONDITIONAL_CREATE: "false",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_NEW_BROWSER_ENABLED: "false",
};

/**
 * The real built server, a real mail server, a real browser with a virtual authenticator. A test file about a
 * feature that is switched off here turns it on.
 */
export const test = base.extend<OfTest, OfWorker>({
  under: ["stile", { scope: "worker", option: true }],

  settings: [{}, { scope: "worker", option: true }],

  embedded: [false, { scope: "worker", option: true }],

  database: [
    async ({ embedded }, use) => {
      if (embedded) return use(null);
      const { url, drop } = await copyTemplate(testCluster());
      await use(url);
      await drop();
    },
    { scope: "worker" },
  ],

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
    async ({ database, mailbox, settings, under }, use) => {
      const shared = database ? { DATABASE_URL: database } : {};
      const env = { SMTP_URL: mailbox.url, ...shared, ...usual, ...settings };
      const server = await startServer({ under, env });
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 300_000 },
  ],

  baseURL: async ({ server }, use) => use(server.url),

  pageErrors: [
    async ({ context, server }, use) => {
      const pageErrors = await collectPageErrors(context, server);
      await use(pageErrors);
      expect(pageErrors.unexpected()).toEqual([]);
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
