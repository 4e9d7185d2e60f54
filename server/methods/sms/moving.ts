import { z } from "zod";
import { isoTime } from "#db/iso-time";
import { parsePhoneNumber } from "../../identity/phone/phone-number.ts";
import { movedTime } from "../moved-values.ts";
import { exportedValue, movingAs } from "../moving.ts";

/** The phone number of an account. It is accepted by an import as it is by a registration. */
export const smsMoving = movingAs({
  table: "phone_numbers",
  shape: {
    phone_number: z.string().max(64).nullish(),
    /** Absent: its owner has not confirmed it. */
    phone_number_verified_at: movedTime.nullish(),
  },
  exported: {
    phone_number: exportedValue("phone_numbers", "o.number"),
    phone_number_verified_at: exportedValue("phone_numbers", isoTime("o.verified_at")),
  },
  columns: { id: "uuid", number: "text", verified_at: "timestamptz" },
  key: { kind: "phone", columns: ["number"], taken: "the phone number is in use" },
  rows({ phone_number, phone_number_verified_at }, { tenant, platform, createdAt }) {
    if (!phone_number) return { ok: true, rows: [] };
    const parsed = parsePhoneNumber(phone_number, tenant.config);
    if (!parsed.ok)
      return { ok: false, reason: "phone_number is not a mobile number of an allowed country (E.164)" };
    const verifiedAt = phone_number_verified_at ?? null;
    return {
      ok: true,
      rows: [{ id: platform.uuid(), number: parsed.value, verified_at: verifiedAt, created_at: createdAt }],
    };
  },
});
