import type { Authenticator } from "../webauthn-authenticator.ts";

/** A session of the DevTools protocol, as Playwright's `CDPSession` is one. */
interface DevTools {
  send(method: "WebAuthn.enable", parameters: object): Promise<unknown>;
}

/** What a browser context of Playwright is used for; Chromium alone has it. */
export interface DevToolsContext<Page> {
  newCDPSession(page: Page): Promise<DevTools>;
}

/** The authenticator built into the device the browser runs on. */
export interface VirtualAuthenticator {
  /** Confirms every later prompt, with user verification if it has any. Earlier prompts stay open, so a pending autofill request stays pending. */
  willConfirm(): Promise<void>;
  /** Leaves later prompts unanswered. */
  willWait(): Promise<void>;
  /** Fails user verification from now on. */
  willFail(): Promise<void>;
  count(): Promise<number>;
  /** Copies the newest passkey of a software authenticator into this one. */
  take(from: Pick<Authenticator, "credentials">): Promise<void>;
}

/** The kinds of authenticator: a built-in one with user verification, and a security key without it. */
const kinds = {
  "built in": {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  },
  key: { protocol: "ctap2", transport: "usb", hasResidentKey: false, hasUserVerification: false },
} as const;

/**
 * Adds an authenticator to a page's browser over the DevTools protocol (WebAuthn, section 11.2). It leaves prompts
 * unanswered until it is told otherwise.
 *
 * @param context the browser context of the page, of Chromium
 */
export async function virtualAuthenticator<Page>(
  context: DevToolsContext<Page>,
  page: Page,
  kind: keyof typeof kinds = "built in",
): Promise<VirtualAuthenticator> {
  const session = await context.newCDPSession(page);
  const devtools = session as unknown as {
    send<Answer>(method: string, parameters: object): Promise<Answer>;
  };
  await devtools.send("WebAuthn.enable", { enableUI: false });
  const { authenticatorId } = await devtools.send<{ authenticatorId: string }>(
    "WebAuthn.addVirtualAuthenticator",
    {
      options: { ...kinds[kind], automaticPresenceSimulation: false },
    },
  );
  const confirms = (enabled: boolean) =>
    devtools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  const verifies = (isUserVerified: boolean) =>
    devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
  return {
    async willConfirm() {
      if (kinds[kind].hasUserVerification) await verifies(true);
      await confirms(true);
    },
    willWait: async () => void (await confirms(false)),
    async willFail() {
      await verifies(false);
      await confirms(true);
    },
    async count() {
      const { credentials } = await devtools.send<{ credentials: unknown[] }>("WebAuthn.getCredentials", {
        authenticatorId,
      });
      return credentials.length;
    },
    async take({ credentials }) {
      const credential = credentials.at(-1);
      if (!credential) throw new Error("there is no passkey to take");
      await devtools.send("WebAuthn.addCredential", {
        authenticatorId,
        credential: {
          credentialId: credential.id.toString("base64"),
          isResidentCredential: true,
          rpId: credential.rpId,
          userHandle: credential.userHandle.toString("base64"),
          privateKey: credential.key.privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"),
          signCount: credential.signCount,
          backupEligibility: true,
          backupState: true,
        },
      });
    },
  };
}
