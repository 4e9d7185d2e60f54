import { describe, expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, newAddress, newName, password, people } from "../../testing/people.ts";

const { begin, register, signIn } = people();

const base = await runtimeForTests();

const configured = (settings: Record<string, string> = {}) => base.configured(settings);

describe("concurrent flows of one account", () => {
  const withoutAddress = {
    STILE_USERNAME_ENABLED: "true",
    STILE_EMAIL_OPTIONAL: "true",
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  };

  test("succeed if all of them add an address", async () => {
    const runtime = configured(withoutAddress);
    const username = newName();
    const registered = await begin(runtime, "registration", {});
    await registered.act("register_login_identifier", { username });
    await registered.act("register_password", { new_password: password });
    const flows = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const flow = await signIn(runtime, { identifier: username });
        return flow;
      }),
    );
    await Promise.all(flows.map((flow) => flow.act("email_address_set", { email: newAddress() })));
    for (const flow of flows) {
      if (flow.state.name === "onboarding_email")
        await flow.act("email_address_set", { email: newAddress() });
      expect(flow.state.name).toBe("success");
    }
  });

  test("keep the username that the first one set", async () => {
    const { email } = await register(configured());
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const signInAgain = () => signIn(runtime, { identifier: email });
    const [one, other] = [await signInAgain(), await signInAgain()];
    const username = newName();
    await one.act("username_set", { username });
    expect(await other.act("username_set", { username: newName() })).toMatchObject({
      name: "success",
      payload: { user: { username: { username } } },
    });
  });

  test("are rejected after the account was deleted", async () => {
    const { email } = await register(configured());
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const flow = await signIn(runtime, { identifier: email });
    await runtime.database.write.$client.query(
      "delete from users u using emails e where e.user_id = u.id and e.address = $1",
      [email],
    );
    expect(await flow.act("username_set", { username: newName() })).toMatchObject({
      name: "error",
      error: { code: "operation_not_permitted_error" },
    });
  });
});

describe("concurrent registrations of one address, each with its verified code", () => {
  test("make one account; the others show that the address is taken, and write nothing", async () => {
    const runtime = configured();
    const email = newAddress();
    const flows = [];
    for (let index = 0; index < 4; index += 1) {
      const flow = await begin(runtime, "registration", {});
      await flow.act("register_login_identifier", { email });
      await flow.act("verify_passcode", { code: codeFor(runtime, email) });
      flows.push(flow);
    }
    const counts = async () => {
      const { rows } = await runtime.database.read.$client.query(
        "select (select count(*) from users)::int as users, (select count(*) from sessions)::int as sessions",
      );
      return rows[0];
    };
    const { users, sessions } = await counts();
    await Promise.all(flows.map((flow) => flow.act("register_password", { new_password: password })));
    expect(await counts()).toEqual({ users: users + 1, sessions: sessions + 1 });
    const losers = flows.filter((flow) => flow.state.name !== "success");
    expect(losers).toHaveLength(3);
    for (const loser of losers) {
      expect(loser.state).toMatchObject({ name: "registration_init", status: 400 });
      expect(loser.errors()).toEqual(["email_already_exists"]);
    }
    // The code was consumed, and another address has to be verified anew.
    const other = newAddress();
    const [again] = losers;
    await again?.act("register_login_identifier", { email: other });
    expect(again?.state.name).toBe("passcode_confirmation");
    await again?.act("verify_passcode", { code: codeFor(runtime, other) });
    await again?.act("register_password", { new_password: password });
    expect(again?.state.name).toBe("success");
  });
});
