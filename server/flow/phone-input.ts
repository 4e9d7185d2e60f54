import { z } from "zod";
import type { FlowData } from "./data.ts";

/** The longest text that a number may be written as, with separators. */
const MAX_PHONE_CHARACTERS = 64;

/** The input of a phone number, as its user writes it. */
export const phoneField = () =>
  z.string().trim().min(3).max(MAX_PHONE_CHARACTERS).meta({ input: "tel", preserve: true });

export const phoneInput = z.strictObject({ phone: phoneField() });

/**
 * Returns the code that verifies a number. To a number that is taken nothing is sent, and no code is accepted, so that
 * the states do not tell.
 */
export function numberVerification(
  number: string,
  taken: boolean,
  { enrols = false }: { enrols?: boolean } = {},
): NonNullable<FlowData["sms"]> {
  return {
    purpose: "phone_verification",
    recipient: number,
    decoy: taken,
    ...(enrols ? { enrols } : {}),
  };
}
