import type { Answer } from "./connection.ts";
import { passkeySigner } from "./passkey-signer.ts";
import { addressOf, importedPeople } from "./people.ts";
import type { Setting } from "./setting.ts";
import type { Way, WayName } from "./ways.ts";

/** Every code that better-auth makes where it sends none. */
export const PEER_CODE = "482913";

/**
 * The ways in which better-auth does the tasks that name it in `tasks.ts`, by its own requests.
 *
 * @param nextCode returns the next code that is mailed to an address; null if none is
 */
export function makePeerWays(
  setting: Setting,
  nextCode: ((address: string) => Promise<string>) | null,
): Partial<Record<WayName, Way>> {
  const { assertionOf } = passkeySigner(setting);
  const people = importedPeople();
  const origin = `origin: ${setting.origin}\r\n`;
  const password = { password: setting.password };
  const enter = (email: string) =>
    ["POST", "/api/auth/sign-in/email", { email, ...password }, origin] as const;
  /** The cookie of one session, as a header line: its hash would take longer than the checks. */
  let session: Promise<string> | undefined;
  const sessionIn = ({ head }: Answer) =>
    `cookie: ${/\r\nset-cookie: *([^;\r]+)/i.exec(head)?.[1] ?? ""}\r\n`;

  return {
    sessionCheck: async (visit) => {
      session ??= visit.call(...enter(addressOf("password", 0))).then(sessionIn);
      const cookie = await session;
      visit.forget();
      return () => visit.call("GET", "/api/auth/get-session", undefined, cookie);
    },
    passkeyLogin: async (visit) => async () => {
      visit.forget();
      const { body } = await visit.call("GET", "/api/auth/passkey/generate-authenticate-options");
      const { challenge } = JSON.parse(body) as { challenge: string };
      const response = assertionOf(challenge, people.passkey());
      await visit.call("POST", "/api/auth/passkey/verify-authentication", { response }, origin);
    },
    codeLogin: async (visit) => async () => {
      visit.forget();
      const email = people.address("code");
      const code = nextCode?.(email) ?? PEER_CODE;
      const asked = { email, type: "sign-in" };
      await visit.call("POST", "/api/auth/email-otp/send-verification-otp", asked, origin);
      await visit.call("POST", "/api/auth/sign-in/email-otp", { email, otp: await code }, origin);
    },
    passwordLogin: async (visit) => async () => {
      visit.forget();
      await visit.call(...enter(people.address("password")));
    },
  };
}
