import { afterEach, describe, expect, test, vi } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import {
  chooseMethod,
  mailedCode,
  password,
  type RestWalk,
  restRegistration,
  restWalk,
} from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests({ STILE_RATE_LIMITER_ENABLED: "true", STILE_PASSKEY_ENABLED: "false" });

afterEach(() => vi.useRealTimers());

type Purpose = "login" | "recovery" | "registration";

/** The flow up to the state that awaits the code. */
async function requestCode(purpose: Purpose, email: string, as: Visitor): Promise<RestWalk> {
  const flow = await restWalk(runtime, purpose === "registration" ? "registration" : "login", as);
  await flow.act("register_client_capabilities");
  if (purpose === "registration") {
    await flow.act("register_login_identifier", { email });
    return flow;
  }
  await flow.act("continue_with_login_identifier", { email });
  if (purpose === "login") await chooseMethod(flow, "continue_to_passcode_confirmation");
  else {
    await chooseMethod(flow, "continue_to_password_login");
    await flow.act("continue_to_passcode_confirmation_recovery");
  }
  return flow;
}

const stranger = (index: number) => visitor(runtime, `203.0.113.${index + 1}`);

const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

/** Fifty strangers each ask for a code and enter ten codes, which are wrong. */
async function attack(purpose: Purpose, email: string, wrong: string): Promise<void> {
  const attacks = Array.from({ length: 50 }, async (_, index) => {
    const flow = await requestCode(purpose, email, stranger(index));
    for (let tries = 0; tries < 10; tries += 1) await flow.act("verify_passcode", { code: wrong });
  });
  await Promise.all(attacks);
}

const mailsTo = (email: string) =>
  runtime.enqueued.filter(({ to, mail }) => to === email && mail.type !== "new_browser").length;

const afterTheCode = {
  login: "success",
  recovery: "login_password_recovery",
  registration: "password_creation",
} as const;

async function addressFor(purpose: Purpose): Promise<string> {
  const email = newAddress();
  if (purpose !== "registration") await restRegistration(runtime, email);
  return email;
}

describe.each(["login", "recovery", "registration"] as const)("A128 at %s, under attack", (purpose) => {
  test("the owner's correct code is accepted, in the flow that asked for it", async () => {
    const email = await addressFor(purpose);
    const owner = await requestCode(purpose, email, visitor(runtime, "192.0.2.77"));
    const code = mailedCode(runtime, email);
    await attack(purpose, email, wrongOf(code));
    await owner.act("verify_passcode", { code: wrongOf(code) });
    expect((await owner.act("verify_passcode", { code })).name).toBe(afterTheCode[purpose]);
  });

  test("the owner has three attempts, and no fourth", async () => {
    const email = await addressFor(purpose);
    const owner = await requestCode(purpose, email, visitor(runtime, "192.0.2.78"));
    const code = mailedCode(runtime, email);
    const attempts = [wrongOf(code), wrongOf(code), wrongOf(code), code];
    const errors = [];
    for (const attempt of attempts)
      errors.push((await owner.act("verify_passcode", { code: attempt })).error?.code);
    const spent = "passcode_max_attempts_reached";
    expect(errors).toEqual(["form_data_invalid_error", "form_data_invalid_error", spent, spent]);
  });

  test("an address gets at most ten mails in an hour, from all strangers together", async () => {
    const email = await addressFor(purpose);
    const before = mailsTo(email);
    await attack(purpose, email, "000000");
    expect(mailsTo(email) - before).toBeGreaterThan(5);
    expect(mailsTo(email)).toBeLessThanOrEqual(10);
  });

  test("one source gets half of them, and the owner a code", async () => {
    const email = await addressFor(purpose);
    vi.useFakeTimers({ toFake: ["Date"] });
    const statuses = [];
    for (let minute = 0; minute < 8; minute += 1) {
      vi.setSystemTime(Date.now() + 61_000);
      statuses.push((await requestCode(purpose, email, stranger(60))).state.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const owner = await requestCode(purpose, email, visitor(runtime, "192.0.2.79"));
    const state = await owner.act("verify_passcode", { code: mailedCode(runtime, email) });
    expect(state.name).toBe(afterTheCode[purpose]);
  });
});

describe("A128 a browser that has signed in to the account", () => {
  /** Signs in by password, as an owner does long before the attack. */
  async function signedInBefore(email: string, peer: string): Promise<Visitor> {
    const browser = visitor(runtime, peer);
    const flow = await restWalk(runtime, "login", browser);
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    await chooseMethod(flow, "continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("success");
    return browser;
  }

  test.each(["login", "recovery"] as const)(
    "gets a code at %s that strangers cannot use up",
    async (purpose) => {
      const email = newAddress();
      await restRegistration(runtime, email);
      const browser = await signedInBefore(email, "192.0.2.80");
      await attack(purpose, email, "000000");
      const other = await requestCode(purpose, email, visitor(runtime, "192.0.2.81"));
      expect(other.state).toMatchObject({ name: "passcode_confirmation", status: 429 });

      const owner = await requestCode(purpose, email, browser);
      expect(owner.state.status).toBe(200);
      const state = await owner.act("verify_passcode", { code: mailedCode(runtime, email) });
      expect(state.name).toBe(afterTheCode[purpose]);
    },
  );

  test("gets no more than the reserve, so that guesses stay below a hundred in a day", async () => {
    const email = newAddress();
    await restRegistration(runtime, email);
    const browser = await signedInBefore(email, "192.0.2.82");
    vi.useFakeTimers({ toFake: ["Date"] });
    for (let hour = 0; hour < 23; hour += 1) {
      for (const as of [stranger(2 * hour), stranger(2 * hour + 1), browser]) {
        await requestCode("login", email, as);
        await requestCode("recovery", email, as);
      }
      vi.setSystemTime(Date.now() + 3_600_000);
    }
    // 24 codes, one of them for the registration, and 8 of the reserve.
    expect(3 * mailsTo(email)).toBe(96);
  });

  test("has no advantage at another account, nor with a forged cookie", async () => {
    const [email, another] = [newAddress(), newAddress()];
    await restRegistration(runtime, email);
    await restRegistration(runtime, another);
    const browser = await signedInBefore(another, "192.0.2.83");
    await attack("login", email, "000000");
    const refused = await requestCode("login", email, browser);
    expect(refused.state.status).toBe(429);
    const [name = "", value = ""] =
      [...browser.cookies].find(([cookie]) => cookie.includes("stile-marks")) ?? [];
    expect(value).not.toBe("");
    for (const forged of [`A${value.slice(1)}`, value.slice(0, -2), "", "x".repeat(5000)]) {
      browser.cookies.set(name, forged);
      expect((await requestCode("login", email, browser)).state.status).toBe(429);
    }
  });
});

/** Adds an address to the account of a signed-in browser; returns the state that awaits its code. */
async function addAddress(browser: Visitor, address: string): Promise<RestWalk> {
  const flow = await restWalk(runtime, "profile", browser);
  await flow.act("register_client_capabilities");
  await flow.act("email_create", { email: address });
  return flow;
}

/** A browser at another source, with the same cookies. */
function elsewhere(browser: Visitor, peer: string): Visitor {
  const other = visitor(runtime, peer);
  for (const [name, value] of browser.cookies) other.cookies.set(name, value);
  return other;
}

test("A21 an address is mailed no more codes for being added to many accounts", async () => {
  const victim = newAddress();
  for (let account = 0; account < 3; account += 1) {
    const { visitor: browser } = await restRegistration(runtime, newAddress());
    for (let source = 0; source < 10; source += 1)
      await addAddress(elsewhere(browser, `203.0.113.${150 + source}`), victim);
  }
  expect(mailsTo(victim)).toBe(10);
});

test("A128 one source gets half of an account's codes, whichever of its addresses it enters", async () => {
  const [first, second] = [newAddress(), newAddress()];
  const { visitor: browser } = await restRegistration(runtime, first);
  const added = await addAddress(browser, second);
  await added.act("verify_passcode", { code: mailedCode(runtime, second) });
  expect(added.state.name).toBe("profile_init");
  vi.useFakeTimers({ toFake: ["Date"] });
  const before = mailsTo(first) + mailsTo(second);
  for (let request = 0; request < 15; request += 1) {
    for (const email of [first, second]) await requestCode("login", email, stranger(70));
    vi.setSystemTime(Date.now() + 720_000);
  }
  expect(mailsTo(first) + mailsTo(second) - before).toBe(12);
  const owner = await requestCode("login", first, visitor(runtime, "192.0.2.84"));
  const state = await owner.act("verify_passcode", { code: mailedCode(runtime, first) });
  expect(state.name).toBe("success");
});

describe("A20 A128 after a hundred wrong passwords of strangers", () => {
  async function tryPassword(email: string, as: Visitor, tried: string): Promise<string> {
    const flow = await restWalk(runtime, "login", as);
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    await chooseMethod(flow, "continue_to_password_login");
    return (await flow.act("password_login", { password: tried })).name;
  }

  /** An account whose password strangers have locked, and the browser that registered it. */
  async function lockedAccount(): Promise<{ email: string; browser: Visitor }> {
    const email = newAddress();
    const { visitor: browser } = await restRegistration(runtime, email);
    for (let source = 0; source < 25; source += 1)
      for (let attempt = 0; attempt < 4; attempt += 1) await tryPassword(email, stranger(source), "wrong");
    return { email, browser };
  }

  test("the password is accepted from browsers that have signed in before, and locked for others", async () => {
    const { email, browser } = await lockedAccount();
    expect(await tryPassword(email, visitor(runtime, "192.0.2.85"), password)).toBe("login_password");
    expect(await tryPassword(email, browser, password)).toBe("success");
  });

  test("browsers that have signed in before have a hundred attempts in a row of their own", async () => {
    const { email, browser } = await lockedAccount();
    for (let source = 0; source < 25; source += 1) {
      const as = elsewhere(browser, `203.0.113.${100 + source}`);
      for (let attempt = 0; attempt < 4; attempt += 1) await tryPassword(email, as, "wrong");
    }
    expect(await tryPassword(email, browser, password)).toBe("login_password");
  });

  test("the password is accepted again once strangers have used up the codes too", async () => {
    const { email } = await lockedAccount();
    await attack("login", email, "000000");
    const owner = visitor(runtime, "192.0.2.86");
    expect((await requestCode("login", email, owner)).state.status).toBe(429);
    expect(await tryPassword(email, owner, password)).toBe("success");
  });
});

test("A128 A5 an unknown address is limited exactly like a known one", async () => {
  const [known, unknown] = [newAddress(), newAddress()];
  await restRegistration(runtime, known);
  // The registration of the known address has used one code, for verification.
  await requestCode("registration", unknown, visitor(runtime));
  const seen = [];
  for (const email of [known, unknown]) {
    vi.useFakeTimers({ toFake: ["Date"] });
    const answers = [];
    for (let index = 0; index < 14; index += 1) {
      const flow = await requestCode("login", email, stranger(100 + (index % 3)));
      answers.push([flow.state.status, flow.state.error?.code]);
      await flow.act("verify_passcode", { code: "000000" });
      answers.push([flow.state.status, flow.state.error?.code]);
      vi.setSystemTime(Date.now() + 61_000);
    }
    vi.useRealTimers();
    seen.push(answers);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]?.flat()).toContain(429);
});

describe("the cookie of account marks", () => {
  const lineOf = (as: Visitor) => as.setCookies.find((line) => line.includes("stile-marks")) ?? "";

  test("is out of reach of scripts and lasts a year", async () => {
    const { visitor: browser } = await restRegistration(runtime, newAddress());
    expect(lineOf(browser)).toMatch(
      /^stile-marks-[0-9a-f-]{36}=[\w-]+; Path=\/; Max-Age=31536000; HttpOnly; Secure; SameSite=None$/,
    );
  });

  test("is bound to the host over https", async () => {
    const secure = runtime.configured({ BASE_URL: "https://login.example.com" });
    const { visitor: browser } = await restRegistration(secure, newAddress());
    expect(lineOf(browser)).toMatch(
      /^__Host-stile-marks-[0-9a-f-]{36}=[\w-]+; Path=\/; Max-Age=31536000; HttpOnly; Secure; SameSite=None$/,
    );
  });

  test("names no account, and does not grow without bound", async () => {
    const browser = visitor(runtime, "192.0.2.90");
    const sizes = [];
    for (let account = 0; account < 10; account += 1) {
      const email = newAddress();
      const flow = await restWalk(runtime, "registration", browser);
      await flow.act("register_client_capabilities");
      await flow.act("register_login_identifier", { email });
      await flow.act("verify_passcode", { code: mailedCode(runtime, email) });
      await flow.act("register_password", { new_password: password });
      expect(flow.state.name).toBe("success");
      const { user_id } = (flow.state.payload as { user: { user_id: string } }).user;
      expect(Buffer.from(lineOf(browser), "base64url").toString("latin1")).not.toContain(user_id);
      expect(lineOf(browser)).not.toContain(user_id);
      sizes.push(lineOf(browser).length);
    }
    expect(sizes.at(-1)).toBe(sizes.at(-2));
    expect(Math.max(...sizes)).toBeLessThan(1024);
  });
});
