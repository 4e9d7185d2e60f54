import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { answerPage } from "../../../hosted/answer.ts";
import type { FlowType } from "../../flow/names.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "./page-answer.ts";
import { pageState } from "./page-state.ts";

const runtime = await runtimeForTests({
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_MFA_DEVICE_TRUST_POLICY: "never",
  STILE_PASSKEY_ENABLED: "false",
});

const cookiesOf = (browser: Visitor) =>
  [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");

const displayed = (browser: Visitor, type: FlowType) =>
  pageState(runtime, runtime.tenant, cookiesOf(browser), type);

async function call(browser: Visitor, procedure: string, input: object): Promise<PageAnswer> {
  return (await (await browser.mutate(`flow.${procedure}`, input)).json()).result.data;
}

/** Registers up to the last action, which enrols an app and creates recovery codes. */
async function beforeCodes(browser: Visitor) {
  const type = "registration";
  const email = `${randomUUID()}@example.com`;
  const act = (version: number, action: string, input: object = {}) =>
    call(browser, "act", { type, version, action, input });
  await act(0, "register_client_capabilities");
  await act(2, "register_login_identifier", { email });
  await act(3, "verify_passcode", { code: mailedCode(runtime, email) });
  await act(4, "register_password", { new_password: password });
  const { state } = await act(5, "continue_to_otp_secret_creation");
  const otp_code = authenticatorApp(String(state.payload.otp_secret)).code(Date.now());
  return { finish: () => act(6, "otp_code_verify", { otp_code }), otp_code };
}

/** Expects that no later answer and no row contains the codes. */
async function expectGone(browser: Visitor, type: FlowType, codes: unknown): Promise<void> {
  expect(codes).toHaveLength(10);
  const secondTab = visitor(runtime);
  for (const [name, value] of browser.cookies) secondTab.cookies.set(name, value);
  const answers = [
    await displayed(browser, type),
    await displayed(secondTab, type),
    await call(browser, "current", { type }),
    await call(browser, "current", { type }),
    await displayed(browser, type),
  ];
  expect(answers.map(({ state }) => state.status)).toEqual([200, 200, 200, 200, 200]);
  const text = JSON.stringify(answers);
  for (const code of codes as string[]) expect(text).not.toContain(code);
}

describe("A131 recovery codes", () => {
  test("are in the answer that creates them at the end of a registration, and in no other", async () => {
    const browser = visitor(runtime);
    const { state } = await (await beforeCodes(browser)).finish();
    expect(state.name).toBe("success");
    await expectGone(browser, "registration", state.payload.recovery_codes);
  });

  test("of the account page are in the answer that creates them, and in no other", async () => {
    const browser = visitor(runtime);
    await (await beforeCodes(browser)).finish();
    const act = (version: number, action: string) =>
      call(browser, "act", { type: "profile", version, action, input: {} });
    await act(0, "register_client_capabilities");
    const { state } = await act(2, "recovery_codes_create");
    expect(state.name).toBe("profile_init");
    await expectGone(browser, "profile", state.payload.recovery_codes);
  });

  test("are displayed once without a script, from a cookie that the page removes", async () => {
    const browser = visitor(runtime);
    const { otp_code } = await beforeCodes(browser);
    const form = { flow: "registration", action: "otp_code_verify", version: "6", otp_code };
    expect((await browser.submit("/step", form)).status).toBe(303);
    const cookie = browser.setCookies.find((line) => line.startsWith("stile-codes-")) ?? "";
    expect(cookie).toMatch(/=Fe26[^;]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax$/);
    const { recovery_codes: codes } = (await displayed(browser, "registration")).state.payload;
    const page = await answerPage(
      new Request("http://localhost:3000/?flow=registration", {
        headers: { host: "localhost:3000", cookie: cookiesOf(browser) },
      }),
      { address: "192.0.2.1", requestId: "request-1" },
      runtime,
    );
    const text = await page.text();
    expect((codes as string[]).filter((code) => !text.includes(code))).toEqual([]);
    const name = cookie.slice(0, cookie.indexOf("="));
    expect(page.headers.getSetCookie()).toEqual([`${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`]);
    browser.cookies.delete(name);
    await expectGone(browser, "registration", codes);
  });

  test("are stored as hashes only", async () => {
    const browser = visitor(runtime);
    const { state } = await (await beforeCodes(browser)).finish();
    expect(state.payload.recovery_codes).toHaveLength(10);
    const { rows } = await runtime.database.read.$client.query(
      "select sealed_payload from flows where state = 'success' and type = 'registration'",
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ sealed_payload }) => sealed_payload !== null)).toEqual([]);
  });
});
