import { generateURI } from "otplib";
import { qrCodeDataUrl } from "../../lib/qr-code.ts";

/** Width and height of the image. */
const IMAGE_SIZE_PX = 200;
/** A service name of this many characters fits the QR code in any script. */
const MAX_SERVICE_CHARACTERS = 64;

/**
 * Returns the key URI for authenticator apps: `otpauth://totp/<service>:<account>?secret=…&issuer=<service>`. A colon
 * separates the names, so colons inside them are replaced; a long service name is cut to fit the QR code.
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
  const issuer = withoutColon([...service].slice(0, MAX_SERVICE_CHARACTERS).join(""));
  return generateURI({ issuer, label: withoutColon(account), secret });
}

/**
 * Renders a URI as a QR code.
 *
 * @returns a PNG of 200 by 200 pixels as a data URL (RFC 2397)
 */
export async function totpQrCode(uri: string): Promise<string> {
  // Screens are undamaged, so the lowest error correction is enough; it leaves the largest modules.
  return qrCodeDataUrl(uri, { size: IMAGE_SIZE_PX, errorCorrection: "L" });
}

function withoutColon(text: string): string {
  return text.toWellFormed().replaceAll(":", " ").trim();
}
