import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { Tenant } from "../../config/tenant.ts";
import { createVault, UnknownKeyError } from "../../keys/vault.ts";
import { messagesOf } from "../../mail/messages.ts";
import { type MailedCode, mailedLink, openMailedLink } from "./mailed-link.ts";

const sealing = { vault: createVault(["a key for tests alone"]) };

const tenantAt = (base_url: string): Tenant => ({
  id: randomUUID(),
  config: { ...loadConfig({}, "/nowhere"), base_url },
});

const tenant = tenantAt("https://login.example.com");

const codeFor = (changes: Partial<MailedCode> = {}): MailedCode => ({
  flowId: randomUUID(),
  purpose: "login",
  recipient: randomBytes(32),
  code: "048213",
  expiresAt: new Date("2030-01-01T12:05:00.000Z"),
  ...changes,
});

const tokenIn = (link: string) => new URL(link).searchParams.get("token") ?? "";

describe("the link of a code", () => {
  test.each(["https://login.example.com", `https://login.example.com/t/${randomUUID()}`])(
    "is at the address %s of its tenant, and fits a line of a mail",
    (base) => {
      const link = mailedLink(sealing, tenantAt(base), codeFor({ purpose: "email_verification" }));
      expect(link.startsWith(`${base}/mailed-link?token=`)).toBe(true);
      // RFC 5322, 2.1.1
      expect(link.length).toBeLessThan(998);
    },
  );

  test.each(messagesOf("passcode"))("opens to the code of the purpose %s", (purpose) => {
    const code = codeFor({ purpose, code: "K7PQ2X" });
    expect(openMailedLink(sealing, tenant, tokenIn(mailedLink(sealing, tenant, code)))).toEqual(code);
  });

  test("shows neither the code nor anything else that it holds", () => {
    const code = codeFor();
    const token = tokenIn(mailedLink(sealing, tenant, code));
    const bytes = Buffer.from(token, "base64url").toString("latin1");
    for (const secret of [code.code, code.flowId, code.recipient.toString("latin1")])
      expect(token + bytes).not.toContain(secret);
    expect(tokenIn(mailedLink(sealing, tenant, code))).not.toBe(token);
  });

  test("opens with a key that is no longer the first", () => {
    const code = codeFor();
    const token = tokenIn(mailedLink(sealing, tenant, code));
    const rotated = { vault: createVault(["a newer key", "a key for tests alone"]) };
    expect(openMailedLink(rotated, tenant, token)).toEqual(code);
  });

  test("A133 cannot be judged without its key, which a client can also have made up", () => {
    const token = tokenIn(mailedLink(sealing, tenant, codeFor()));
    const other = { vault: createVault(["another key"]) };
    const opening = () => openMailedLink(other, tenant, token);
    expect(opening).toThrow(UnknownKeyError);
    expect(opening).toThrow(expect.objectContaining({ presentedBy: "client" }));
  });
});

describe("A168 a token does not open", () => {
  const token = tokenIn(mailedLink(sealing, tenant, codeFor()));

  test("for another tenant", () => {
    expect(openMailedLink(sealing, tenantAt("https://login.example.com"), token)).toBeNull();
  });

  test("when it is cut, at any place", () => {
    for (let length = 0; length < token.length; length++)
      expect(openMailedLink(sealing, tenant, token.slice(0, length))).toBeNull();
  });

  test("when one of its bytes is changed, but for those that name its key", () => {
    const bytes = Buffer.from(token, "base64url");
    for (const [index, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[index] = byte ^ 1;
      const opening = () => openMailedLink(sealing, tenant, changed.toString("base64url"));
      if (index >= 1 && index <= 8) expect(opening).toThrow(UnknownKeyError);
      else expect(opening()).toBeNull();
    }
  });

  test("when it is sealed content of another kind, of this service", () => {
    const sealed = (content: unknown, context = `mailed link/${tenant.id}`) =>
      sealing.vault.seal(Buffer.from(JSON.stringify(content)), context).toString("base64url");
    const { flowId, purpose, recipient, code, expiresAt } = codeFor();
    const right = [flowId, purpose, recipient.toString("base64url"), code, expiresAt.getTime()];
    expect(openMailedLink(sealing, tenant, sealed(right))).not.toBeNull();
    expect(openMailedLink(sealing, tenant, sealed(right, `job/send_mail/${tenant.id}/1`))).toBeNull();
    for (const other of [
      null,
      {},
      right.slice(1),
      right.toSpliced(0, 1, "flow"),
      right.toSpliced(1, 1, "password_update"),
      right.toSpliced(2, 1, randomBytes(31).toString("base64url")),
      right.toSpliced(3, 1, "0482139"),
      right.toSpliced(4, 1, "soon"),
    ])
      expect(openMailedLink(sealing, tenant, sealed(other))).toBeNull();
  });

  test.each([
    "",
    "AAAA",
    "null",
    "../../etc/passwd",
    "ÄÖÜ",
    `${token}=`,
    `${token}\n`,
    `${token}${"A".repeat(512)}`,
    "A".repeat(100_000),
  ])("when it is something else", (other) => {
    expect(openMailedLink(sealing, tenant, other)).toBeNull();
  });
});
