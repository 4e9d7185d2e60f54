import { DrizzleQueryError } from "drizzle-orm";
import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { describeError } from "./describe-error.ts";

const databaseError = (code: string, message: string) =>
  Object.assign(new DatabaseError(message, message.length, "error"), {
    code,
    detail: "Key (address)=(secret@example.com) already exists.",
    constraint: "emails_address_unique",
  });

describe("describeError", () => {
  it("returns type, message and stack", () => {
    const description = describeError(new TypeError("not found"));
    expect(description).toMatchObject({ type: "TypeError", message: "not found" });
    expect(description.stack?.[0]).toMatch(/^at /);
  });

  it("A110 omits the parameters of a failed query and the values that violated a constraint", () => {
    const cause = databaseError("23505", "duplicate key value violates unique constraint");
    const error = new DrizzleQueryError("insert into emails values ($1)", ["secret@example.com"], cause);
    expect(describeError(error)).toMatchObject({
      type: "DrizzleQueryError",
      message: "Failed query: insert into emails values ($1)",
      cause: { code: "23505", constraint: "emails_address_unique" },
    });
    expect(JSON.stringify(describeError(error))).not.toContain("secret");
  });

  it("A110 omits messages that quote input", () => {
    expect(
      JSON.stringify(describeError(databaseError("22P02", 'invalid input syntax: "secret"'))),
    ).not.toContain("secret");
    const parse = () => JSON.parse('{"password": secret}');
    try {
      parse();
    } catch (error) {
      expect((error as Error).message).toContain("secret");
      expect(JSON.stringify(describeError(error))).not.toContain("secret");
    }
    expect.assertions(3);
  });

  it("returns only the type of a value that is not an error", () => {
    expect(describeError("secret")).toEqual({ type: "string" });
    expect(describeError({ password: "secret" })).toEqual({ type: "object" });
  });

  it("limits a cyclic chain of causes", () => {
    const error = new Error("round");
    error.cause = error;
    expect(JSON.stringify(describeError(error)).length).toBeLessThan(20_000);
  });
});
