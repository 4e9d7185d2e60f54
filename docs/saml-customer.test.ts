import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { flowClient } from "../server/testing/flow-client.ts";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { startSamlProvider } from "../server/testing/saml-provider-server.ts";
import { startServer } from "../server/testing/server.ts";
import { runCommandsOf } from "./page-commands.ts";

const database = await openForTests(testDatabase());
const server = await openForTests(startServer({ env: { DATABASE_URL: database.url } }));
const provider = await openForTests(
  startSamlProvider({ nameId: "u-1", attributes: { mail: "ada@acme.example" } }),
);

test.skipIf(process.platform === "win32")(
  "the tour gives a customer a tenant and its provider, by which an employee signs in",
  async () => {
    const root = join(import.meta.dirname, "..");
    const { code, out, err } = await runCommandsOf("saml-customer.md", server, root, {
      METADATA: provider.metadataUrl,
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [findings = "", stored = "", ...rest] = out.trim().split("\n");
    expect(JSON.parse(findings).filter(({ outcome }: { outcome: string }) => outcome === "error")).toEqual(
      [],
    );
    expect(JSON.parse(stored)).toMatchObject({ name: "Acme", domains: ["acme.example"], enabled: true });
    expect(rest.slice(0, -1).join("\n")).toContain("AssertionConsumerService");
    const address = new URL(rest.at(-1) ?? "");

    const client = flowClient(`${address.origin}${address.pathname.replace(/\/$/, "")}`);
    await client.start("login", { capabilities: {} });
    await client.act("continue_with_login_identifier", { email: "ada@acme.example" });
    const page = await (await fetch(String(client.state.payload.redirect_url))).text();
    const fields = [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, ...pair]) => pair);
    const returned = await client.request("/saml/callback", {
      method: "POST",
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
    const token = new URL(returned.headers.get("location") ?? "").searchParams.get("hanko_token");
    await client.act("exchange_token", { token });
    while (client.state.actions.skip) await client.act("skip");
    expect(client.state.name).toBe("success");
    const { emails } = await (await client.request("/me")).json();
    expect(emails).toMatchObject([{ address: "ada@acme.example", is_verified: true }]);
  },
);
