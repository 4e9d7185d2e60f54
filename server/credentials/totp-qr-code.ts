import { generateURI } from "otplib";
import { qrCodeDataUrl } from "../lib/qr-code.ts";

/** What an authenticator app is pointed at. */

/** Width and height, in pixels. */
const pictureSize = 200;
/** Characters of the service's name that a QR code takes, whatever they are. */
const longestService = 64;

/**
 * The address that apps read from a QR code: `otpauth://totp/<service>:<account>?secret=…&issuer=<service>`. Neither
 * name may hold a colon, which parts them; and an operator may have named the service at greater length than fits.
 */
export function totpUri({
  service,
  account,
  secret,
}: {
  service: string;
  account: string;
  secret: string;
}): string {
  const issuer = withoutColon([...service].slice(0, longestService).join(""));
  return generateURI({ issuer, label: withoutColon(account), secret });
}

/**
 * Draws an address as a QR code.
 *
 * @returns a PNG of 200 by 200 pixels as a data URL (RFC 2397)
 */
export async function totpQrCode(uri: string): Promise<string> {
  // Screens are not torn or stained: the lowest error correction leaves the largest modules.
  return qrCodeDataUrl(uri, { size: pictureSize, errorCorrection: "L" });
}

function withoutColon(text: string): string {
  return text.toWellFormed().replaceAll(":", " ").trim();
}
