import { button, consoleSettings, expectAccessible, field, inDialog, openConsole } from "./console.ts";
import { expect, test } from "./fixtures.ts";
import { stile } from "./stile.ts";

test.use({ settings: consoleSettings });

test("an operator whose settings were changed meanwhile sees what was changed, and saves by a second decision @next", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  // The first call is made before the sign-in; a change of an older version conflicts.
  pageErrors.expect(/40(1|9) \((Unauthorized|Conflict)\)/);
  pageErrors.expect(/favicon\.ico/);
  const home = await openConsole(page, server, account);
  const key = (await stile(server, ["keys", "create", "--interface", "admin"])).trim();
  const admin = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${server.url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect(answer.status).toBeLessThan(300);
    return answer.json();
  };
  const { id } = await admin("POST", "/tenants", { name: "Acme" });
  const settings = home.replace(/[^/]+$/, `${id}/settings?section=password`);
  await page.goto(settings);
  await field(page, "password.min_length").fill("16");
  await admin("PATCH", `/tenants/${id}`, { config: { password: { recovery: false } } });
  await button(page, "Review and save").click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText(/judged/)).toBeVisible();

  await admin("PATCH", `/tenants/${id}`, { config: { password: { min_length: 12 } } });
  await inDialog(page, "Save").click();
  const told = dialog.getByRole("alert").filter({ hasText: "These settings were changed meanwhile" });
  await expect(told).toContainText("password.recovery: not set → false");
  await expect(told).toContainText("password.min_length: not set → 12");
  await expect(dialog.getByRole("row", { name: "password.min_length 12 16" })).toBeVisible();
  await expectAccessible(page);
  const read = async () => (await admin("GET", `/tenants/${id}`)).config.password;
  expect(await read()).toEqual({ recovery: false, min_length: 12 });

  // A new name changes no setting that could be shown.
  await admin("PATCH", `/tenants/${id}`, { name: "Acme Limited" });
  await inDialog(page, "Save").click();
  await expect(page.getByRole("alert").filter({ hasText: /The tenant was changed at/i })).toBeVisible();
  await inDialog(page, "Save").click();
  await expect(page.getByText("The settings are saved.")).toBeVisible();
  expect(await read()).toEqual({ recovery: false, min_length: 16 });
});
