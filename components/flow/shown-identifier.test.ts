import { expect, test } from "vitest";
import { states } from "../gallery/states.ts";
import { fakeServer } from "./drawing.fixture.tsx";
import { identifierAfterAccountAction } from "./shown-identifier.ts";
import { createFlowStore } from "./use-flow.ts";

const { profile_init: account, login_method_chooser: chooser, passcode_confirmation: code } = states;
const input = { email: "new@example.org" };

test("a re-authentication shows the account owner's identifier, not the typed one", () => {
  expect(identifierAfterAccountAction({ account, action: "email_create", input }, chooser, null)).toBe(
    "ada@example.org",
  );
  expect(
    identifierAfterAccountAction(
      { account, action: "username_update", input: { username: "eve" } },
      code,
      null,
    ),
  ).toBe("ada@example.org");
});

test("without an address the username is shown", () => {
  const payload = { user: { id: "1", username: { username: "ada" } } };
  expect(
    identifierAfterAccountAction(
      { account: { ...account, payload }, action: "password_delete", input: {} },
      states.login_password,
      null,
    ),
  ).toBe("ada");
});

test("an added or verified address is shown where a code was sent to it", () => {
  expect(identifierAfterAccountAction({ account, action: "email_create", input }, code, null)).toBe(
    "new@example.org",
  );
  expect(
    identifierAfterAccountAction({ account, action: "email_verify", input: { email_id: "e1" } }, code, null),
  ).toBe("old@example.org");
});

test("no identifier is shown where the code may have been sent to the owner", () => {
  const { password_update: _, ...actions } = account.actions;
  expect(
    identifierAfterAccountAction(
      { account: { ...account, actions }, action: "email_create", input },
      code,
      null,
    ),
  ).toBeNull();
});

test("the identifier stays for every step of the re-authentication", async () => {
  const store = createFlowStore(fakeServer(chooser, code), "profile", { version: 4, state: account });
  await store.act("email_create", input);
  await store.act("continue_to_passcode_confirmation", {});
  expect(store.view()).toMatchObject({ state: code, subject: "ada@example.org" });
});

test("after a lost answer no identifier is shown", async () => {
  const server = fakeServer(new Error("no answer"), code);
  const store = createFlowStore(server, "profile", { version: 4, state: account }, async () => {});
  await store.act("email_create", input);
  expect(store.view()).toMatchObject({ state: code, subject: null });
});
