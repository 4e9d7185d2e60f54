import { createHmac } from "node:crypto";

/**
 * A TOTP authenticator app (RFC 6238) with the usual parameters: SHA-1, six digits, 30 seconds. It shares no code with
 * the verifier.
 */
export interface AuthenticatorApp {
  /**
   * @param now milliseconds since 1970
   * @param steps offset of the time step from now
   */
  code(now: number, steps?: number): string;
  /** Six digits that differ from the codes of the two steps before and after. */
  wrongCode(now: number): string;
}

/** @param secret base 32 (RFC 4648 section 6) without padding */
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

const BASE_32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Encodes bytes in base 32 (RFC 4648 section 6) without padding. */
export function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE_32.charAt(Number.parseInt(group.padEnd(5, "0"), 2))).join("");
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((sign) => BASE_32.indexOf(sign).toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
