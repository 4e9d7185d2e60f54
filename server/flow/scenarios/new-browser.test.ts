import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailsTo, newAddress } from "../../testing/people.ts";
import { password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** The mail after a sign-in in a browser that the account has not used before. */

const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0";

const runtime = await runtimeForTests({ STILE_PASSKEY_ENABLED: "false" });

async function signIn(email: string, browser: Visitor, at = runtime): Promise<void> {
  const walk = await restWalk(at, "login", browser);
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email });
  if (walk.state.name !== "login_password") await walk.act("continue_to_password_login");
  await walk.act("password_login", { password });
  expect(walk.state.name).toBe("success");
}

const notices = (email: string) => mailsTo(runtime, email).filter((type) => type === "new_browser").length;

test("tells of each new browser once, of the registration never, and when and with what", async () => {
  const email = newAddress();
  const registered = await restRegistration(runtime, email);
  expect(notices(email)).toBe(0);
  await signIn(email, registered.visitor);
  expect(notices(email)).toBe(0);

  const other = visitor(runtime);
  const request = other.request;
  const named: Visitor = {
    ...other,
    post: (path, body, headers) => other.post(path, body, { ...headers, "user-agent": firefox }),
    request,
  };
  await signIn(email, named);
  expect(notices(email)).toBe(1);
  const { mail } = runtime.enqueued.findLast(({ to }) => to === email) ?? {};
  expect(mail).toEqual({
    type: "new_browser",
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    browser: "Windows (Firefox)",
    place: null,
  });
  await signIn(email, named);
  expect(notices(email)).toBe(1);
  await signIn(email, visitor(runtime));
  expect(notices(email)).toBe(2);
});

test("does not tell of a failed sign-in, nor where the service does not want it", async () => {
  const email = newAddress();
  await restRegistration(runtime, email);
  const walk = await restWalk(runtime, "login");
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email });
  await walk.act("continue_to_password_login");
  await walk.act("password_login", { password: "not this one at all" });
  expect(notices(email)).toBe(0);
  const quiet = runtime.configured({
    STILE_PASSKEY_ENABLED: "false",
    STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_NEW_BROWSER_ENABLED: "false",
  });
  await signIn(email, visitor(quiet), quiet);
  expect(mailsTo(quiet, email)).not.toContain("new_browser");
});

test("names the place where a location database is set", async () => {
  const email = newAddress();
  await restRegistration(runtime, email);
  const located = Object.assign(runtime.configured({ STILE_PASSKEY_ENABLED: "false" }), {
    locations: { find: () => ({ city: "Lisbon", country: "Portugal" }) },
  });
  await signIn(email, visitor(located), located);
  const { mail } = located.enqueued.findLast(({ to }) => to === email) ?? {};
  expect(mail).toMatchObject({ type: "new_browser", place: "Lisbon, Portugal" });
});

test("a deletion by the owner is told to the address of the account", async () => {
  const email = newAddress();
  const at = runtime.configured({
    STILE_PASSKEY_ENABLED: "false",
    STILE_ACCOUNT_ALLOW_DELETION: "true",
  });
  const { visitor: browser } = await restRegistration(at, email);
  const walk = await restWalk(at, "profile", browser);
  await walk.act("register_client_capabilities");
  await walk.act("account_delete");
  expect(walk.state.name).toBe("account_deleted");
  expect(mailsTo(at, email).at(-1)).toBe("account_delete");
});
