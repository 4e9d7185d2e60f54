import { expect, it } from "vitest";
import { sessionObject, sessionObjectSchema } from "./session-object.ts";

it("converts a session to the shape that the schema describes", () => {
  const at = new Date("2030-01-01T12:00:00.000Z");
  const session = {
    id: "00000000-0000-4000-8000-000000000001",
    userId: "00000000-0000-4000-8000-000000000002",
    userAgent: null,
    ipAddress: "192.0.2.1",
    createdAt: at,
    lastUsedAt: new Date("2030-01-01T13:00:00.000Z"),
    expiresAt: new Date("2030-01-02T00:00:00.000Z"),
    boundAt: null,
  };

  const shown = sessionObject(session);

  expect(sessionObjectSchema.parse(shown)).toEqual(shown);
  expect(shown).toMatchObject({ id: session.id, user_id: session.userId, user_agent: null });
  expect(shown).toMatchObject({ last_used: "2030-01-01T13:00:00.000Z", updated_at: shown.last_used });
  expect(shown).not.toHaveProperty("device_bound");
  expect(sessionObject({ ...session, boundAt: at }).device_bound).toBe(true);
});
