import type { Page } from "@playwright/test";
import { button, field, inDialog } from "./console.ts";
import type { Picture, PicturesOf } from "./console-picture.ts";

/** The pictures of windows, by the file of the application that opens them. */
export const windows: Record<string, PicturesOf> = {
  "_shell/account-menu.tsx": (home) => [{ name: "window-account", address: home, open: pressing("Account") }],
  "_shell/shell.tsx": (home) => [
    { name: "window-navigation", address: home, width: 390, open: pressing("Main navigation") },
  ],
  "_shell/tenant-choice.tsx": (home) => [
    {
      name: "window-tenants",
      address: home,
      open: (page) => page.getByRole("combobox", { name: "Tenant" }).click(),
    },
  ],
  "_shell/palette.tsx": (home) => [
    { name: "window-palette", address: home, open: openPalette },
    {
      name: "window-palette-found",
      address: home,
      async open(page) {
        await openPalette(page);
        await page.getByRole("textbox", { name: "Search or jump to…" }).fill("lovelace");
        await page.getByText("lovelace@example.com").waitFor();
      },
    },
  ],
  "_shell/sign-in-again.tsx": (home, { user }) => [
    {
      name: "window-sign-in-again",
      address: `${home}/users/${user}`,
      by: "stale",
      waits: true,
      async open(page) {
        await button(page, "Send recovery mail").click();
        await inDialog(page, "Sign in").waitFor();
      },
    },
  ],
  "_parts/filters.tsx": (home) => [
    {
      name: "window-time-of-filter",
      address: `${home}/audit-log`,
      open: (page) => page.getByLabel("From", { exact: true }).click(),
    },
    {
      name: "window-options-of-filter",
      address: `${home}/audit-log`,
      open: (page) => page.getByRole("combobox", { name: "Types" }).click(),
    },
  ],
  "_parts/change.tsx": (home, { colleague, user }) => [
    {
      name: "window-said",
      address: `${home}/users/${colleague}`,
      async open(page) {
        await button(page, "Send recovery mail").click();
        // It stays for as long as the pointer is on it.
        await page.getByText("The mail is queued.").hover();
      },
    },
    {
      name: "window-said-with-undo",
      address: `${home}/users/${colleague}`,
      async open(page) {
        await field(page, "Family name").fill(`Hopper ${crypto.randomUUID().slice(0, 4)}`);
        await page.getByRole("region", { name: "Profile" }).getByRole("button", { name: "Save" }).click();
        await button(page, "Undo").hover();
      },
    },
    {
      name: "window-refused",
      address: `${home}/users/${user}`,
      async open(page) {
        await field(page, "New address").fill("not an address");
        await button(page, "Add").click();
        await page.getByText("must be an email address").hover();
      },
    },
    // The question of a button.
    { name: "window-block", address: `${home}/users/${user}`, open: pressing("Block") },
  ],
  "_parts/lock-out.tsx": (_, { tenant }) => [
    {
      name: "window-lock-out",
      address: `${tenant.id}/providers`,
      async open(page) {
        await button(page, "New SAML provider").click();
        await fillSaml(page, tenant.domain);
        await inDialog(page, "Create").click();
        await page.getByText("This locks accounts of the console out").waitFor();
      },
    },
  ],
  "[tenant]/funnel/state-drawer.tsx": (home) => [
    { name: "funnel-window-state", address: `${home}/funnel?state=login_password` },
  ],
  "[tenant]/sign-ins/[flow]/replay.tsx": (home, { flow }) => [
    {
      name: "sign-ins-window-against",
      address: `${home}/sign-ins/${flow}`,
      open: (page) => page.getByRole("combobox", { name: "Against" }).click(),
    },
  ],
  "[tenant]/users/user-filters.tsx": (home) => [
    { name: "users-window-filters", address: `${home}/users`, open: pressing("Filters") },
  ],
  "[tenant]/users/users.tsx": (home) => [
    { name: "users-window-export", address: `${home}/users`, open: pressing("Export") },
    { name: "users-window-columns", address: `${home}/users`, open: pressing("Columns") },
  ],
  "[tenant]/users/create-user.tsx": (home) => [
    { name: "users-window-create", address: `${home}/users`, open: pressing("Create a user") },
    {
      name: "users-window-create-refused",
      address: `${home}/users`,
      async open(page) {
        await button(page, "Create a user").click();
        await page.getByRole("dialog").getByLabel("Email addresses").fill("not an address");
        await inDialog(page, "Create a user").click();
        await page.getByText("must be an email address").waitFor();
      },
    },
  ],
  "[tenant]/users/selected.tsx": (home) => [
    { name: "users-selected", address: `${home}/users`, open: selectTwo },
    {
      name: "users-window-delete-several",
      address: `${home}/users`,
      async open(page) {
        await selectTwo(page);
        await button(page, "Delete").click();
      },
    },
    {
      name: "users-window-outcome",
      address: `${home}/users`,
      async open(page) {
        await selectTwo(page);
        await button(page, "Sign out").click();
        await inDialog(page, "Sign out").click();
        await page.getByText("2 users were changed.").waitFor();
      },
    },
  ],
  "[tenant]/users/[user]/emails.tsx": (home, { user }) => [
    { name: "users-window-verify", address: `${home}/users/${user}`, open: pressing(/^Mark as verified/) },
    {
      name: "users-window-remove-address",
      address: `${home}/users/${user}`,
      open: pressing(/^Remove countess/),
    },
  ],
  "[tenant]/users/[user]/username.tsx": (home, { user }) => [
    {
      name: "users-window-remove-username",
      address: `${home}/users/${user}`,
      open: pressing("Remove Username"),
    },
  ],
  "[tenant]/users/[user]/phone-number.tsx": (home, { user }) => [
    {
      name: "users-window-remove-phone",
      address: `${home}/users/${user}`,
      open: pressing("Remove Phone number"),
    },
  ],
  "[tenant]/users/[user]/metadata.tsx": (home, { user }) => [
    {
      name: "users-metadata-wrong",
      address: `${home}/users/${user}`,
      open: (page) => page.getByRole("textbox", { name: "Public" }).fill('{"plan": null}'),
    },
  ],
  "[tenant]/users/[user]/user-actions.tsx": (home, { user }) => [
    { name: "users-window-block", address: `${home}/users/${user}?tab=sign_in`, open: pressing("Block") },
    {
      name: "users-window-delete",
      address: `${home}/users/${user}`,
      async open(page) {
        await button(page, "Delete").click();
        await page.getByRole("dialog").getByText("The account itself: 1").waitFor();
      },
    },
  ],
  "[tenant]/users/[user]/sign-in-as.tsx": (home, { user }) => [
    { name: "users-window-sign-in-as", address: `${home}/users/${user}`, open: pressing("Sign in as") },
  ],
  "[tenant]/users/[user]/console-role.tsx": (home, { colleague }) => [
    { name: "users-window-take-role", address: `${home}/users/${colleague}`, open: pressing("Take away") },
  ],
  "[tenant]/users/[user]/credentials.tsx": (home, { user }) => [
    {
      name: "users-window-remove-credential",
      address: `${home}/users/${user}?tab=sign_in`,
      open: pressing("Remove Password"),
    },
  ],
  "[tenant]/users/[user]/trusted-browsers.tsx": (home, { user }) => [
    {
      name: "users-window-end-trust",
      address: `${home}/users/${user}?tab=sign_in`,
      open: pressing(/^End trust [0-9a-f]/),
    },
    {
      name: "users-window-end-trust-all",
      address: `${home}/users/${user}?tab=sign_in`,
      open: pressing("End trust in all"),
    },
  ],
  "[tenant]/users/[user]/sessions.tsx": (home, { user }) => [
    {
      name: "users-window-end-session",
      address: `${home}/users/${user}?tab=sessions`,
      open: pressing(/^End (?!all)/),
    },
    {
      name: "users-window-end-sessions",
      address: `${home}/users/${user}?tab=sessions`,
      open: pressing("End all sessions"),
    },
  ],
  "[tenant]/users/[user]/applications.tsx": (home, { user }) => [
    {
      name: "users-window-end-access",
      address: `${home}/users/${user}?tab=applications`,
      open: pressing(/^End access/),
    },
  ],
  "[tenant]/imports/[import]/import.tsx": (home, { imports }) => [
    {
      name: "imports-window-import",
      address: `${home}/imports/${imports.checked}`,
      open: pressing(/^Import \d+ users/),
    },
    {
      name: "imports-window-cancel",
      address: `${home}/imports/${imports.checked}`,
      open: pressing("Cancel import"),
    },
  ],
  "[tenant]/imports/new-import.tsx": (home) => [
    { name: "imports-options", address: `${home}/imports`, open: pressing("Options") },
    {
      name: "imports-upload-cut-off",
      address: `${home}/imports`,
      prepare: (page) => page.route("**/api/console/trpc/putImportPiece**", (route) => route.abort()),
      async open(page) {
        const chooser = page.waitForEvent("filechooser");
        await button(page, "Choose a file").click();
        const file = { name: "users.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from("{}\n") };
        await (await chooser).setFiles(file);
        await button(page, "Go on").waitFor();
      },
    },
  ],
  "[tenant]/webhooks/webhooks.tsx": (home) => [
    {
      name: "webhooks-window-secret",
      address: `${home}/webhooks`,
      async open(page) {
        await button(page, "New webhook").click();
        await field(page, "Address").fill("https://receiver.invalid/sessions");
        await field(page, "Events").fill("session");
        await page.getByRole("option", { name: "session.create", exact: true }).click();
        await page.keyboard.press("Tab");
        await inDialog(page, "Save").click();
        await button(page, "I have copied it").waitFor();
      },
    },
  ],
  "[tenant]/webhooks/webhook-form.tsx": (home, { webhook }) => [
    { name: "webhooks-window-create", address: `${home}/webhooks`, open: pressing("New webhook") },
    { name: "webhooks-window-edit", address: `${home}/webhooks/${webhook}`, open: pressing("Edit") },
  ],
  "[tenant]/webhooks/[webhook]/deliveries.tsx": (home, { webhook }) => [
    {
      name: "webhooks-window-range",
      address: `${home}/webhooks/${webhook}`,
      open: pressing("Deliver a range again"),
    },
  ],
  "[tenant]/webhooks/[webhook]/delivery.tsx": (home, { webhook }) => [
    {
      name: "webhooks-window-delivery",
      address: `${home}/webhooks/${webhook}`,
      async open(page) {
        await page.getByRole("table", { name: "Deliveries" }).getByRole("button").first().click();
        await page.getByText("Data of the event").waitFor();
      },
    },
  ],
  "[tenant]/webhooks/[webhook]/webhook.tsx": (home, { webhook }) => [
    { name: "webhooks-window-rotate", address: `${home}/webhooks/${webhook}`, open: pressing("New secret") },
    {
      name: "webhooks-window-rotated",
      address: `${home}/webhooks/${webhook}`,
      async open(page) {
        await button(page, "New secret").click();
        await inDialog(page, "New secret").click();
        await button(page, "I have copied it").waitFor();
      },
    },
    { name: "webhooks-window-delete", address: `${home}/webhooks/${webhook}`, open: pressing("Delete") },
  ],
  "[tenant]/settings/save-bar.tsx": (_, { tenant }) => [
    {
      name: "settings-changed",
      address: `${tenant.id}/settings?section=password`,
      open: (page) => field(page, "password.min_length").fill("16"),
    },
    {
      name: "settings-contradicting",
      address: `${tenant.id}/settings?section=password`,
      async open(page) {
        await field(page, "password.min_length").fill("300");
        await page.getByText("Cannot be saved: password.min_length").waitFor();
      },
    },
    {
      name: "settings-window-review",
      address: `${tenant.id}/settings?section=password`,
      open: (page) => review(page, "password.min_length", "16"),
    },
    {
      name: "settings-window-locks-out",
      address: `${tenant.id}/settings?q=email.use_for`,
      async open(page) {
        await page
          .getByRole("radiogroup", { name: "email.use_for_authentication" })
          .getByText("Off", { exact: true })
          .click();
        await button(page, "Review and save").click();
        await page
          .getByRole("dialog")
          .getByText(/can no longer sign in/)
          .first()
          .waitFor();
      },
    },
    {
      name: "settings-window-conflict",
      address: `${tenant.id}/settings?section=password`,
      async open(page) {
        await review(page, "password.min_length", "16");
        await tenant.changeMeanwhile();
        await inDialog(page, "Save").click();
        await page.getByText("These settings were changed meanwhile").waitFor();
      },
    },
  ],
  "[tenant]/settings/history/history.tsx": (_, { tenant }) => [
    { name: "settings-window-restore", address: `${tenant.id}/settings/history`, open: pressing(/^Restore/) },
  ],
  "[tenant]/look/look.tsx": (_, { tenant }) => [
    {
      name: "look-changed",
      // On a phone the fields and the preview are not beside each other.
      width: 1280,
      address: `${tenant.id}/look`,
      async open(page) {
        await page.getByLabel("Accent", { exact: true }).first().fill("#ffe066");
        await page
          .getByText(/has a contrast of/)
          .first()
          .waitFor();
      },
    },
    {
      name: "look-window-review",
      address: `${tenant.id}/look`,
      async open(page) {
        await page.getByLabel("Accent", { exact: true }).first().fill("#7a1f5b");
        await button(page, "Review and save").click();
        await page.getByText(/None is affected|not affected/).waitFor();
      },
    },
  ],
  "[tenant]/providers/create-provider.tsx": (_, { tenant }) => [
    {
      name: "providers-window-create-oauth",
      address: `${tenant.id}/providers`,
      open: pressing("New OpenID provider"),
    },
    {
      name: "providers-window-create-saml",
      address: `${tenant.id}/providers`,
      open: pressing("New SAML provider"),
    },
    {
      name: "providers-window-checked",
      address: `${tenant.id}/providers`,
      async open(page) {
        await button(page, "New SAML provider").click();
        await fillSaml(page, "elsewhere.example");
        await inDialog(page, "Check").click();
        await page
          .getByRole("dialog")
          .getByText(/\d+ errors?, \d+ warnings?/)
          .waitFor();
      },
    },
  ],
  "[tenant]/providers/provider-check.tsx": (_, { tenant }) => [
    {
      name: "providers-one-checked",
      address: `${tenant.id}/providers/${tenant.provider}`,
      async open(page) {
        await button(page, "Check").click();
        await page.getByText(/\d+ errors?, \d+ warnings?/).waitFor();
      },
    },
  ],
  "[tenant]/providers/[provider]/oauth-provider.tsx": (_, { tenant }) => [
    {
      name: "providers-window-delete-oauth",
      address: `${tenant.id}/providers/${tenant.provider}`,
      open: pressing("Delete"),
    },
    {
      name: "providers-one-changed",
      address: `${tenant.id}/providers/${tenant.provider}`,
      open: (page) => field(page, "Client id").fill("other"),
    },
  ],
  "[tenant]/providers/[provider]/saml-provider.tsx": (_, { tenant }) => [
    {
      name: "providers-window-delete-saml",
      address: `${tenant.id}/providers/${tenant.samlProvider}`,
      open: pressing("Delete"),
    },
  ],
  "[tenant]/applications/applications.tsx": (_, { tenant }) => [
    {
      name: "applications-window-create",
      address: `${tenant.id}/applications`,
      open: pressing("New application"),
    },
  ],
  "[tenant]/applications/[application]/application.tsx": (_, { tenant }) => [
    {
      name: "applications-window-renew",
      address: `${tenant.id}/applications/${tenant.application}`,
      open: pressing("New secret"),
    },
    {
      name: "applications-window-secret",
      address: `${tenant.id}/applications/${tenant.application}`,
      async open(page) {
        await button(page, "New secret").click();
        await inDialog(page, "New secret").click();
        await button(page, "I have copied it").waitFor();
      },
    },
    {
      name: "applications-window-delete",
      address: `${tenant.id}/applications/${tenant.application}`,
      open: pressing("Delete"),
    },
  ],
  "[tenant]/keys/keys.tsx": (home) => [
    { name: "keys-window-create", address: `${home}/keys`, open: pressing("New key") },
    { name: "keys-window-delete", address: `${home}/keys`, open: pressing(/^Delete/) },
    {
      name: "keys-window-key",
      address: `${home}/keys`,
      async open(page) {
        await button(page, "New key").click();
        await inDialog(page, "New key").click();
        await button(page, "I have copied it").waitFor();
      },
    },
  ],
  "[tenant]/signing-keys/signing-keys.tsx": (home) => [
    { name: "signing-keys-window-rotate", address: `${home}/signing-keys`, open: pressing(/^Rotate/) },
  ],
  "[tenant]/signing-keys/sealing-keys.tsx": (home) => [
    { name: "signing-keys-window-reseal", address: `${home}/signing-keys`, open: pressing("Move values") },
    {
      name: "signing-keys-resealed",
      address: `${home}/signing-keys`,
      async open(page) {
        await button(page, "Move values").click();
        await inDialog(page, "Move values").click();
        await page.getByText("The last move is finished").waitFor();
      },
    },
  ],
  "[tenant]/roles/roles.tsx": (home) => [
    { name: "roles-window-give", address: `${home}/roles`, open: pressing("Give a role") },
    { name: "roles-window-take-away", address: `${home}/roles`, open: pressing(/^Take away /) },
  ],
  "[tenant]/tenants/tenants.tsx": (home) => [
    { name: "tenants-window-create", address: `${home}/tenants`, open: pressing("New tenant") },
    { name: "tenants-window-edit", address: `${home}/tenants`, open: pressing(/^Edit/) },
    { name: "tenants-window-delete", address: `${home}/tenants`, open: pressing(/^Delete/) },
  ],
};

/** Presses the first button of a name. */
function pressing(name: string | RegExp): NonNullable<Picture["open"]> {
  return (page) =>
    page
      .getByRole("button", { name, exact: typeof name === "string" })
      .first()
      .click();
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("textbox", { name: "Search or jump to…" }).waitFor();
}

async function selectTwo(page: Page): Promise<void> {
  for (const name of ["Select hedy@example.com", "Select barbara@example.com"])
    await page.getByRole("checkbox", { name }).check();
}

async function review(page: Page, setting: string, value: string): Promise<void> {
  await field(page, setting).fill(value);
  await button(page, "Review and save").click();
  await page
    .getByRole("dialog")
    .getByText(/were judged|was judged/)
    .waitFor();
}

async function fillSaml(page: Page, domain: string): Promise<void> {
  await field(page, "Name").fill("Harbour staff");
  await field(page, "Domains").fill(domain);
  await page.keyboard.press("Enter");
  await field(page, "Metadata URL").fill("https://id.harbour.invalid/metadata");
}
