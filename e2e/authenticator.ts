import type { BrowserContext, Page } from "@playwright/test";
import type { softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";

/** The authenticator built into the device the browser runs on. */
export interface VirtualAuthenticator {
  /**
   * From now on the person confirms whatever the browser asks. What it asked before stays unanswered, so autofill
   * that waits on a page goes on waiting.
   */
  willConfirm(): Promise<void>;
  /** From now on nobody reacts. */
  willWait(): Promise<void>;
  /** From now on the person is not recognised. */
  willFail(): Promise<void>;
  count(): Promise<number>;
  /** Puts the newest passkey of a software authenticator into this one. */
  take(from: ReturnType<typeof softwareAuthenticator>): Promise<void>;
}

/** What kinds there are: one that is built into the device and knows its person, and a key to plug in that does not. */
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

/** Adds an authenticator to a page's browser over the DevTools protocol (WebAuthn, section 11.2). */
export async function virtualAuthenticator(
  context: BrowserContext,
  page: Page,
  kind: keyof typeof kinds = "built in",
): Promise<VirtualAuthenticator> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable", { enableUI: false });
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...kinds[kind], automaticPresenceSimulation: false },
  });
  const confirms = (enabled: boolean) =>
    devtools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  return {
    willConfirm: async () => void (await confirms(true)),
    willWait: async () => void (await confirms(false)),
    async willFail() {
      await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
      await confirms(true);
    },
    async count() {
      const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId });
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
