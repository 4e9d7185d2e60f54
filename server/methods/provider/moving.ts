import { z } from "zod";
import { isoTime } from "#db/iso-time";
import { movedTime } from "../moved-values.ts";
import { exportedRows, movingAs } from "../moving.ts";

/** Both are in one index, whose entries have at most 2704 bytes. */
const atMostBytes = (bytes: number) =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= bytes, `is longer than ${bytes} bytes`);

const identity = z.strictObject({
  provider: atMostBytes(256),
  subject: atMostBytes(1_024),
  email: z.string().max(1_024).nullish(),
  created_at: movedTime.nullish(),
});

/** Identities leave and enter with the names of their providers. */
export const identityMoving = movingAs({
  table: "identities",
  shape: { identities: z.array(identity).max(100).default([]) },
  exported: {
    identities: exportedRows(
      "identities",
      `o.provider, o.subject, o.email, ${isoTime("o.created_at")} as created_at`,
      "o.created_at, o.provider, o.subject",
    ),
  },
  columns: { id: "uuid", provider: "text", subject: "text", email: "text" },
  key: {
    kind: "identity",
    columns: ["provider", "subject"],
    taken: "an identity is in use, or listed twice",
  },
  rows: ({ identities }, { platform, createdAt }) => ({
    ok: true,
    rows: identities.map((identity) => ({
      ...identity,
      id: platform.uuid(),
      created_at: identity.created_at ?? createdAt,
    })),
  }),
});
