import { z } from "zod";
import { isoTime } from "#db/iso-time";
import { movedTime } from "../moved-values.ts";
import { exportedValue, movingAs } from "../moving.ts";

/** A password hash leaves as it is stored, and enters in a scheme that this server verifies: see `imported-hashes.ts`. */
export const passwordMoving = movingAs({
  table: "passwords",
  shape: {
    /** argon2 as a PHC string, bcrypt, scrypt, PBKDF2: see `imported-hashes.ts`. */
    password_hash: z.string().max(1_024).nullish(),
    password_set_at: movedTime.nullish(),
  },
  exported: {
    password_hash: exportedValue("passwords", "o.hash"),
    password_set_at: exportedValue("passwords", isoTime("o.updated_at")),
  },
  columns: { hash: "text" },
  rows({ password_hash, password_set_at }, { acceptHash, createdAt }) {
    if (!password_hash) return { ok: true, rows: [] };
    const hash = acceptHash(password_hash);
    if (!hash.ok) return { ok: false, reason: `password_hash ${hash.reason}` };
    return { ok: true, rows: [{ hash: hash.stored, created_at: password_set_at ?? createdAt }] };
  },
});
