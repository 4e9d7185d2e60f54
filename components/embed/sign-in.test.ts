import { expect, test, vi } from "vitest";
import type { FlowResult, SignInOptions } from "../flow/embedding.ts";
import { signInOrOpen } from "./sign-in.ts";

const url = "https://login.example/t/1/";
const codeChallenge = "x".repeat(43);
const redirectTo = "https://app.example/callback?from=header";

/** The browser has a credential that leads to a result, or nothing. */
const atHand = (result: FlowResult | null) => {
  const signInAtOnce = vi.fn(async (options: SignInOptions) => {
    if (result === null) return { begun: null };
    options.onSuccess?.(result);
    return null;
  });
  return { load: vi.fn(async () => ({ signInAtOnce })), signInAtOnce };
};

/** @returns what is to be opened, and the addresses that the page goes to */
async function signIn(options: Partial<SignInOptions>, result: FlowResult | null) {
  const went: string[] = [];
  const onSuccess = vi.fn();
  const { load } = atHand(result);
  const open = await signInOrOpen({ url, onSuccess, ...options }, "en", load, (to) => went.push(to));
  return { open, went, onSuccess };
}

test.each(["component", "frame"] as const)(
  "with nothing at hand the %s is to be opened",
  async (otherwise) => {
    const { open, went } = await signIn({ otherwise }, null);
    expect(open).toEqual({ begun: null });
    expect(went).toEqual([]);
  },
);

test.each(["component", "frame"] as const)(
  "what is at hand is reported instead of the %s",
  async (otherwise) => {
    const { open, went, onSuccess } = await signIn({ otherwise }, { kind: "code", code: "c" });
    expect(open).toBeNull();
    expect(went).toEqual([]);
    expect(onSuccess.mock.calls).toEqual([[{ kind: "code", code: "c" }]]);
  },
);

test("with nothing at hand the browser goes to the page of the tenant, which leads back", async () => {
  const options = { otherwise: "page", redirectTo, codeChallenge, state: "cart 7" } as const;
  const { open, went, onSuccess } = await signIn(options, null);
  expect(open).toBeNull();
  const [address] = went.map((to) => new URL(to));
  expect([address?.origin, address?.pathname, went.length]).toEqual([
    "https://login.example",
    "/t/1/login",
    1,
  ]);
  expect(Object.fromEntries(address?.searchParams ?? [])).toEqual({
    redirect_to: redirectTo,
    code_challenge: codeChallenge,
    state: "cart 7",
  });
  expect(onSuccess).not.toHaveBeenCalled();
});

test.each<[string, FlowResult, string]>([
  ["a code", { kind: "code", code: "c&d" }, `${redirectTo}&code=c%26d&state=7`],
  ["a cookie", { kind: "cookie" }, `${redirectTo}&state=7`],
])("what is at hand and ends with %s leads where the page would", async (_, result, target) => {
  const { went, onSuccess } = await signIn({ otherwise: "page", redirectTo, state: "7" }, result);
  expect(went).toEqual([target]);
  // The code is redeemed once, by the address that it is sent to.
  expect(onSuccess).not.toHaveBeenCalled();
});

test("a session token is never part of an address", async () => {
  const token = { kind: "token", token: "t.o.k", lifetime: 60, retention: "session" } as const;
  const { went } = await signIn({ otherwise: "page", redirectTo }, token);
  expect(went).toEqual([
    `https://login.example/t/1/login?${new URLSearchParams({ redirect_to: redirectTo })}`,
  ]);
});

test("the page leads to another page of the application, so it needs its address and a challenge of the server", async () => {
  const { load } = atHand(null);
  const go = vi.fn();
  for (const options of [{ redirectTo, codeChallenge: true as const }, {}, { redirectTo: "" }])
    await expect(signInOrOpen({ url, otherwise: "page", ...options }, "en", load, go)).rejects.toThrow(
      /page/,
    );
  expect(load).not.toHaveBeenCalled();
  expect(go).not.toHaveBeenCalled();
});

test("where the part with the immediate mode does not load, the other way is open", async () => {
  const load = () => Promise.reject(new TypeError("no connection"));
  const go = vi.fn();
  expect(await signInOrOpen({ url, otherwise: "frame" }, "en", load, go)).toEqual({ begun: null });
  expect(await signInOrOpen({ url, otherwise: "page", redirectTo }, "en", load, go)).toBeNull();
  expect(go).toHaveBeenCalledTimes(1);
});
