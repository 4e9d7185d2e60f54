import { expect, test } from "vitest";
import type { Connection } from "./connection.ts";
import { visit } from "./visit.ts";
import { type WalkName, walks } from "./walks.ts";

const capabilities = { webauthn_available: true };
const options = { publicKey: { challenge: "abc" } };

/** The requests of a walk to the first action, with the challenge that it got. */
async function walked(name: WalkName): Promise<{ sent: unknown[]; options: unknown }> {
  const sent: unknown[] = [];
  const actions = Object.fromEntries(
    ["register_client_capabilities", "sign_in"].map((action) => [action, { action, href: `/${action}` }]),
  );
  const body = JSON.stringify({
    name: "login_init",
    payload: { request_options: options },
    csrf_token: "token",
    actions,
    request_options: options,
  });
  const connection: Connection = {
    async send(method, path, text) {
      sent.push([method, path, ...(text === undefined ? [] : [JSON.parse(String(text))])]);
      return { status: 200, head: "", body };
    },
    close() {},
  };
  const { payload, act } = await walks[name].begin(visit(connection), "login", capabilities);
  await act("sign_in", { secret: 1 });
  return { sent, options: payload.request_options };
}

test("our page asks for a challenge, and begins with the action", async () => {
  expect(await walked("page")).toEqual({
    sent: [
      ["GET", "/login/request_options"],
      ["POST", "/login", { capabilities, action: "sign_in", input: { secret: 1 } }],
    ],
    options,
  });
});

test("published clients start, and report what the browser can do", async () => {
  expect(await walked("clients")).toEqual({
    sent: [
      ["POST", "/login"],
      ["POST", "/register_client_capabilities", { input_data: capabilities, csrf_token: "token" }],
      ["POST", "/sign_in", { input_data: { secret: 1 }, csrf_token: "token" }],
    ],
    options,
  });
});
