import { describe, expect, test } from "vitest";
import { accountOf } from "../../account/account.ts";
import { type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, newAddress, newName, password, people } from "../../testing/people.ts";

const runtime = await runtimeForTests({
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  STILE_MFA_ENABLED: "false",
  STILE_USERNAME_ENABLED: "true",
  STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
});

const { begin, signIn } = people();

async function signInByCode(identifier: string, mailbox = identifier) {
  const flow = await begin(runtime, "login", {});
  await flow.act("continue_with_login_identifier", { identifier });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeFor(runtime, mailbox) });
  return flow;
}

const emailsOf = async ({ userId }: AccountOwner) => {
  const account = await accountOf(runtime.database.read, runtime.tenant, userId, new Date());
  return account?.profile.emails?.map(({ address, is_primary }) => [address, is_primary]);
};

describe("an unverified address", () => {
  test("A42 does not sign its owner in to another account that added it, and is released", async () => {
    const victim = newAddress();
    const stranger = await accountOwner(runtime, { password: true, unverified: victim });
    const flow = await signInByCode(victim);
    expect(flow.state).toMatchObject({
      name: "passcode_confirmation",
      status: 400,
      error: { code: "flow_discontinuity_error" },
    });
    expect(await emailsOf(stranger)).toEqual([[stranger.addresses[0], true]]);

    const own = await begin(runtime, "registration", {});
    await own.act("register_login_identifier", { email: victim });
    await own.act("register_password", { new_password: password });
    expect(own.state.name).toBe("success");
    expect((own.state.payload.user as { id: string }).id).not.toBe(stranger.userId);
  });

  test("gives the owner of the mailbox no access to the account if it was mistyped", async () => {
    const owner = await accountOwner(runtime, { password: true, unverified: newAddress() });
    const [, mistyped = ""] = (await emailsOf(owner))?.map(([address]) => String(address)) ?? [];
    await signInByCode(mistyped);
    const [address = ""] = owner.addresses;
    expect((await signIn(runtime, { identifier: address })).state.name).toBe("success");
    expect((await signInByCode(address)).state.name).toBe("success");
  });

  test("is replaced by a verified address if it is the primary one", async () => {
    const username = newName();
    const owner = await accountOwner(runtime, {
      emails: 0,
      username,
      unverified: newAddress(),
      password: true,
    });
    const [[primary = ""] = []] = ((await emailsOf(owner)) ?? []) as [string, boolean][];
    const manages = await owner.manage();
    const added = newAddress();
    await manages.act("email_create", { email: added });
    const { emails } = manages.state.payload.user as { emails: { id: string; address: string }[] };
    await manages.act("email_verify", { email_id: emails.find((email) => email.address === added)?.id });
    await manages.act("verify_passcode", { code: codeFor(runtime, added) });
    expect((await signInByCode(username, primary)).state.error?.code).toBe("flow_discontinuity_error");
    expect(await emailsOf(owner)).toEqual([[added, true]]);
    expect((await signInByCode(username, added)).state.name).toBe("success");
  });

  test("signs its owner in to an account without any verified address", async () => {
    const address = newAddress();
    await accountOwner(runtime, { emails: 0, unverified: address, password: true });
    const flow = await signInByCode(address);
    expect(flow.state.error).toBeUndefined();
    expect(flow.state.name).not.toBe("passcode_confirmation");
  });
});
