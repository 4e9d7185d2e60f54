import { type AuthenticatorApp, authenticatorApp } from "../server/testing/authenticator-app.ts";

/** The codes of an authenticator app, each of which is valid once. */
export interface Codes {
  app: AuthenticatorApp;
  /** The next unused code; waits for it when there is none. */
  next(): Promise<string>;
}

const STEP_MS = 30_000;

/** @param secret as the page shows it, in groups or not */
export function codesOf(secret: string): Codes {
  const app = authenticatorApp(secret.replace(/\s/g, ""));
  let last = 0;
  return {
    app,
    async next() {
      const current = () => Math.floor(Date.now() / STEP_MS);
      // The previous code is valid too, if there is time to enter it.
      const earliest = Date.now() % STEP_MS < 20_000 ? current() - 1 : current();
      const step = Math.max(earliest, last + 1);
      while (step > current() + 1) await new Promise((resolve) => setTimeout(resolve, 250));
      last = step;
      return app.code(step * STEP_MS);
    },
  };
}
