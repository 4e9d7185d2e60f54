import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Page } from "@playwright/test";
import type { ConsoleThings } from "./console-data.ts";
import type { Picture, PicturesOf } from "./console-picture.ts";
import { windows } from "./console-windows.ts";

/** The pictures of the console: of each page, of its states, and of each window. */

const root = join(import.meta.dirname, "../app/console");

/** An id of nothing. */
const NOTHING = "00000000-0000-4000-8000-000000000000";

/** The pictures of each page, by its folder. */
const pages: Record<string, PicturesOf> = {
  "": () => [],
  "[...missing]": (home) => [{ name: "not-found", address: `${home}/no-such-page` }],
  confirmed: () => [{ name: "confirmed", address: "confirmed" }],
  refused: () => [
    { name: "refused", address: "refused?reason=no_role" },
    { name: "refused-weak-sign-in", address: "refused?reason=weak_sign_in" },
  ],
  "signed-out": () => [{ name: "signed-out", address: "signed-out" }],
  "[tenant]": (home, { tenant }) => [
    { name: "overview", address: home },
    { name: "overview-by-method", address: `${home}?range=7d`, open: showNumbers },
    { name: "overview-of-new-tenant", address: tenant.id },
    { name: "overview-loading", address: home, waits: true, prepare: withoutAnswer },
  ],
  "[tenant]/sign-ins": (home) => [
    { name: "sign-ins", address: `${home}/sign-ins` },
    { name: "sign-ins-none", address: `${home}/sign-ins?outcome=rejected&number=BCDFGHJK` },
  ],
  "[tenant]/sign-ins/[flow]": (home, { flow }) => [
    { name: "sign-ins-one", address: `${home}/sign-ins/${flow}` },
    { name: "sign-ins-one-ways", address: `${home}/sign-ins/${flow}?ways=all` },
    { name: "sign-ins-one-replayed", address: `${home}/sign-ins/${flow}?replay=changed&changes=${changes}` },
    { name: "sign-ins-one-missing", address: `${home}/sign-ins/${NOTHING}` },
  ],
  "[tenant]/funnel": (home, { tenant }) => [
    { name: "funnel", address: `${home}/funnel` },
    { name: "funnel-compared", address: `${home}/funnel?compare=168` },
    { name: "funnel-none", address: `${tenant.id}/funnel` },
  ],
  "[tenant]/users": (home) => [
    { name: "users", address: `${home}/users` },
    { name: "users-none", address: `${home}/users?q=no-such-user` },
    {
      name: "users-failed-sign-ins",
      address: `${home}/users?q=unknown@example.com&failures=unknown@example.com`,
    },
    { name: "users-filtered", address: `${home}/users?verified=true&method=password` },
    { name: "users-of-auditor", address: `${home}/users`, by: "auditor" },
    {
      name: "users-failing",
      address: `${home}/users`,
      prepare: losing("listUsers"),
    },
  ],
  "[tenant]/users/[user]": (home, { user, colleague }) => [
    ...["", "sign_in", "sessions", "applications", "timeline"].map((tab) => ({
      name: `users-one-${tab || "profile"}`,
      address: `${home}/users/${user}${tab && `?tab=${tab}`}`,
    })),
    { name: "users-one-without-sessions", address: `${home}/users/${colleague}?tab=sessions` },
    { name: "users-one-of-auditor", address: `${home}/users/${user}`, by: "auditor" },
    { name: "users-one-missing", address: `${home}/users/${NOTHING}` },
    // What a page cannot draw is told by the boundary of errors.
    {
      name: "failed",
      address: `${home}/users/${user}`,
      prepare: answering("getUser", () => ({ emails: {} })),
    },
  ],
  "[tenant]/imports": (home, { tenant }) => [
    { name: "imports", address: `${home}/imports` },
    { name: "imports-none", address: `${tenant.id}/imports` },
  ],
  "[tenant]/imports/[import]": (home, { imports }) => [
    { name: "imports-checked", address: `${home}/imports/${imports.checked}` },
    { name: "imports-cut-off", address: `${home}/imports/${imports.cutOff}` },
    {
      name: "imports-running",
      address: `${home}/imports/${imports.checked}`,
      prepare: answering("getImport", underWay),
    },
    { name: "imports-missing", address: `${home}/imports/${NOTHING}` },
  ],
  "[tenant]/messages": (home, { tenant }) => [
    { name: "messages", address: `${home}/messages` },
    { name: "messages-none", address: `${tenant.id}/messages` },
  ],
  "[tenant]/messages/previews": (home) => [
    { name: "messages-previews", address: `${home}/messages/previews` },
    {
      name: "messages-previews-german",
      address: `${home}/messages/previews?message=mail.password_update&language=de`,
    },
  ],
  "[tenant]/audit-log": (home) => [
    { name: "audit-log", address: `${home}/audit-log` },
    { name: "audit-log-none", address: `${home}/audit-log?q=${NOTHING}&to=2001-01-01T00:00:00.000Z` },
  ],
  "[tenant]/webhooks": (home, { tenant }) => [
    { name: "webhooks", address: `${home}/webhooks` },
    { name: "webhooks-none", address: `${tenant.id}/webhooks` },
  ],
  "[tenant]/webhooks/[webhook]": (home, { webhook }) => [
    { name: "webhooks-one", address: `${home}/webhooks/${webhook}` },
    { name: "webhooks-one-missing", address: `${home}/webhooks/${NOTHING}` },
  ],
  "[tenant]/settings": (home, { tenant }) => [
    { name: "settings", address: `${home}/settings` },
    { name: "settings-of-tenant", address: `${tenant.id}/settings?section=password` },
    { name: "settings-found", address: `${tenant.id}/settings?q=lifetime` },
    { name: "settings-none", address: `${tenant.id}/settings?q=no-such-setting` },
  ],
  "[tenant]/settings/history": (home, { tenant }) => [
    { name: "settings-history", address: `${tenant.id}/settings/history` },
    { name: "settings-history-none", address: `${home}/settings/history` },
  ],
  "[tenant]/look": (home, { tenant }) => [
    { name: "look", address: `${home}/look` },
    { name: "look-of-tenant-words", address: `${tenant.id}/look?edit=words` },
    { name: "look-all-states", address: `${tenant.id}/look?view=all&states=login_otp` },
    { name: "look-messages", address: `${tenant.id}/look?view=messages` },
  ],
  "[tenant]/providers": (home, { tenant }) => [
    { name: "providers", address: `${home}/providers` },
    { name: "providers-of-tenant", address: `${tenant.id}/providers` },
  ],
  "[tenant]/providers/[provider]": (_, { tenant }) => [
    { name: "providers-one-oauth", address: `${tenant.id}/providers/${tenant.provider}` },
    { name: "providers-one-saml", address: `${tenant.id}/providers/${tenant.samlProvider}` },
    { name: "providers-one-missing", address: `${tenant.id}/providers/${NOTHING}` },
  ],
  "[tenant]/providers/[provider]/test": (_, { tenant }) => [
    {
      name: "providers-test-gone",
      address: `${tenant.id}/providers/${tenant.provider}/test?id=${NOTHING}`,
    },
  ],
  "[tenant]/applications": (home, { tenant }) => [
    { name: "applications", address: `${home}/applications` },
    { name: "applications-of-tenant", address: `${tenant.id}/applications` },
  ],
  "[tenant]/applications/[application]": (home, { application, unlisted, tenant }) => [
    { name: "applications-one", address: `${tenant.id}/applications/${tenant.application}` },
    { name: "applications-one-users", address: `${home}/applications/${application}?tab=users` },
    { name: "applications-one-logouts", address: `${home}/applications/${application}?tab=logouts` },
    { name: "applications-one-unlisted", address: `${home}/applications/${unlisted}` },
  ],
  "[tenant]/keys": (home, { tenant }) => [
    { name: "keys", address: `${home}/keys` },
    { name: "keys-none", address: `${tenant.id}/keys` },
  ],
  "[tenant]/signing-keys": (home) => [{ name: "signing-keys", address: `${home}/signing-keys` }],
  "[tenant]/roles": (home, { tenant }) => [
    { name: "roles", address: `${home}/roles` },
    { name: "roles-of-tenant", address: `${tenant.id}/roles` },
  ],
  "[tenant]/tenants": (home) => [{ name: "tenants", address: `${home}/tenants` }],
};

/** Settings that a recorded sign-in by password differs under. */
const changes = encodeURIComponent('{"password": {"enabled": false}}');

/** The requests that call a procedure, with or without others. */
const calls = (procedure: string) => new RegExp(`/api/console/trpc/[^?]*\\b${procedure}\\b`);

/** Has calls of a procedure fail as they do when the connection is lost. */
const losing = (procedure: string) => (page: Page) => page.route(calls(procedure), (route) => route.abort());

/** Leaves a page without any answer. */
const withoutAnswer = (page: Page) => page.route("**/api/console/trpc/**", () => {});

/** Changes what a procedure answers. */
const answering = (procedure: string, change: (data: object) => object) => (page: Page) =>
  page.route(calls(procedure), async (route) => {
    const response = await route.fetch();
    const names = new URL(route.request().url()).pathname.split("/").at(-1)?.split(",") ?? [];
    const answers = (await response.json()) as { result: { data: object } }[];
    const json = answers.map((answer, index) =>
      names[index] === procedure ? { result: { data: change(answer.result.data) } } : answer,
    );
    await route.fulfill({ response, json });
  });

/** Half of an import, which takes less than the time of a picture. */
const underWay = (imported: object) => ({
  ...imported,
  state: "running",
  check: false,
  records: 5_200,
  expected: 12_000,
  imported: 5_190,
  refused: 10,
});

async function showNumbers(page: Page): Promise<void> {
  await page.getByText("Sign-ins by method", { exact: true }).click();
  await page.getByText("The numbers as a table").click();
}

/** The files of the application, by the parts of their paths. */
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) =>
  path.split(sep).filter((part) => !/^\(.*\)$/.test(part)),
);

/** What opens a window: components of the library, and those of the console that draw them. */
const opens =
  /<(?:Modal|Drawer|Menu|Popover|Spotlight|FormModal|ConfirmedButton|ShownOnce)[\s>]|notifications\.show\(/g;

/** Files whose window is that of the files that draw their component. */
const shared = ["_parts/form-modal.tsx", "_parts/shown-once.tsx"];

/** The number of places that open a window, by the file of the application. */
function windowPlaces(): Map<string, number> {
  const read = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".tsx"))
    .map((path): [string, number] => [
      path
        .split(sep)
        .filter((part) => !/^\(.*\)$/.test(part))
        .join("/"),
      readFileSync(join(root, path), "utf8").match(opens)?.length ?? 0,
    ]);
  return new Map(read.filter(([file, count]) => count > 0 && !shared.includes(file)));
}

/**
 * All pictures: those of pages, then those of windows, which may leave something behind.
 *
 * @param home the id of the tenant whose pages are shown
 */
export function picturesOf(home: string, things: ConsoleThings): Picture[] {
  return [...Object.values(pages), ...Object.values(windows)].flatMap((of) => of(home, things));
}

/** Says which pages and windows have no picture, and which pictures are of nothing. Empty if all is well. */
export function missingPictures(things: ConsoleThings): string[] {
  const withPage = files
    .filter((parts) => parts.at(-1) === "page.tsx")
    .map((parts) => parts.slice(0, -1).join("/"));
  const places = windowPlaces();
  const paths = files.map((parts) => parts.join("/"));
  return [
    ...withPage
      .filter((page) => !Object.hasOwn(pages, page))
      .map((page) => `page without a picture: ${page}`),
    ...Object.keys(pages)
      .filter((page) => !withPage.includes(page))
      .map((page) => `picture without a page: ${page}`),
    ...[...places]
      .map(([file, count]) => ({ file, count, taken: windows[file]?.("", things).length ?? 0 }))
      .filter(({ count, taken }) => taken < count)
      .map(({ file, count, taken }) => `${file} opens windows in ${count} places, and has ${taken} pictures`),
    ...Object.keys(windows)
      .filter((file) => !paths.includes(file))
      .map((file) => `picture without a file: ${file}`),
  ];
}
