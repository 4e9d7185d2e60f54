import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { startAuthenticatorService } from "../../testing/uaf-service.ts";
import { applicationOf } from "../../testing/uaf-walk.ts";

/** The authenticator that development simulates, against a running server. */

const service = await openForTests(startAuthenticatorService());
const application = applicationOf(service);

describe("the played authenticator", () => {
  const address = () => `${service.server.url}/dev/authenticator`;
  const press = async (fields: Record<string, string>) => {
    const pressed = await fetch(address(), {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
    expect(pressed.status).toBe(303);
    const shown = await fetch(new URL(pressed.headers.get("location") ?? "", service.server.url));
    return { outcome: shown.url.split("outcome=")[1], text: await shown.text() };
  };

  test("registers, signs in, confirms, and keeps its key across a restart", async () => {
    const added = await application.register("player");
    expect(await (await fetch(address())).text()).toContain(added.id);
    expect((await press({ do: "approve", request: added.id })).outcome).toBe("approved");
    expect(await application.statusOf(added.id)).toBe("OK");

    await service.server.restart();
    const transaction = "Pay <5 €>?";
    const asked = await application.ask("player", { transaction });
    expect(await (await fetch(address())).text()).toContain("Pay &lt;5 €&gt;?");
    expect((await press({ do: "approve", request: asked.id })).outcome).toBe("approved");
    expect(await application.statusOf(asked.id)).toBe("OK");
  });

  test("accepts the link of a QR code, declines without a message, and forgets its keys", async () => {
    const asked = await application.ask("player");
    const { href, device } = await application.scan(asked);
    await press({ do: "decline", request: asked.id });
    expect(await application.statusOf(asked.id)).toBe("PENDING");
    expect(await (await fetch(address())).text()).not.toContain(asked.id);
    const link = `${href}?token=${device.split(" ")[1]}`;
    expect((await press({ do: "approve", link })).outcome).toBe("approved");
    expect((await press({ do: "approve", link })).outcome).toBe("over");

    expect((await press({ do: "forget", key: "all" })).text).toContain("None yet.");
    const again = await application.ask("player");
    expect((await press({ do: "approve", request: again.id })).outcome).toMatch(/^unsuitable/);
    expect(await application.statusOf(again.id)).toBe("PENDING");
  });
});
