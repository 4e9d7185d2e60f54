import { createHmac } from "node:crypto";

/**
 * An authenticator app, in software, after RFC 6238 with the parameters that every app takes for granted: SHA-1, six
 * digits, 30 seconds. It shares no code with what verifies its codes.
 */
export interface AuthenticatorApp {
  /**
   * @param now milliseconds since 1970, by the phone's clock
   * @param steps how many steps from now the code is of
   */
  code(now: number, steps?: number): string;
  /** Six digits that are no code of this app for a minute before and after. */
  wrongCode(now: number): string;
}

/** @param secret as it is shown to be typed in: base 32 of RFC 4648 section 6, without padding */
export function authenticatorApp(secret: string): AuthenticatorApp {
  const key = fromBase32(secret);
  const code = (now: number, steps = 0) => hotp(key, Math.floor(now / 30_000) + steps);
  return {
    code,
    wrongCode(now) {
      const codes = [-2, -1, 0, 1, 2].map((steps) => code(now, steps));
      return (
        ["000000", "111111", "222222", "333333", "444444", "555555"].find((one) => !codes.includes(one)) ?? ""
      );
    },
  };
}

/** The code of RFC 4226 section 5.3. */
export function hotp(key: Buffer, counter: number, digits = 6): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac("sha1", key).update(message).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits;
  return String(number).padStart(digits, "0");
}

function fromBase32(text: string): Buffer {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...text].map((sign) => alphabet.indexOf(sign).toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
