import { expect, test } from "vitest";
import { createTenant, updateTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { consoleAccount } from "../../testing/console-account.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";

/** Previews of pages and messages. They need `npm run build`, which makes the pages. */

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);
const own = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }),
);

const pages = (body: object, as = own) => as.call("POST", "/pages/previews", body);
const messages = (body: object, as = own) => as.call("POST", "/messages/previews", body);

const titled = (title: string) => ({ words: { en: { "states.login_init.title": title } } });

test("lists every picture with its state, and draws those that are asked for", async () => {
  const { body: listed } = await own.call("GET", "/pages/previews");
  expect(listed).toContainEqual({ name: "login_password_wrong", state: "login_password" });
  expect(listed).toContainEqual({ name: "missing_page", state: null });
  const { body } = await pages({ pictures: ["missing_page", "login_password_wrong"], language: "de" });
  expect(body.pictures.map(({ name }: { name: string }) => name)).toEqual([
    "missing_page",
    "login_password_wrong",
  ]);
  expect(body.pictures[1].markup).toMatch(
    /<main class="stile-page" lang="de" dir="ltr">.*Acme.*class="stile-fault"/s,
  );
});

test("draws the settings in force, and those that are tried, which are not stored", async () => {
  await updateTenant(runtime, own.tenant.id, {
    settings: () => ({ theme: { light: { accent: "#7a1fa2" } }, ...titled("Welcome back") }),
  });
  runtime.tenants.forget();
  const picture = { pictures: ["login_init"] };
  const { body: saved } = await pages(picture);
  expect(saved.style.light).toContain("--stile-accent: #7a1fa2");
  expect(saved.pictures[0].markup).toContain("Welcome back");
  const config = { theme: { preset: "slate", light: { accent: "#1d4ed8" } }, ...titled("Come in") };
  const { body: tried } = await pages({ ...picture, config });
  expect(tried.style.light).toContain("--stile-accent: #1d4ed8");
  expect(tried.style.light).toContain("color-scheme: light;");
  expect(tried.style.dark).toContain("color-scheme: dark;");
  expect(tried.pictures[0].markup).toContain("Come in");
  expect((await pages(picture)).body).toEqual(saved);
});

test("a theme with one colour scheme has it whatever the system of the visitor", async () => {
  const { body } = await pages({ config: { theme: { color_scheme: "dark" } } });
  expect(body.style.light).toBe(body.style.dark);
  expect(body.style.light).toContain("color-scheme: dark;");
});

test("tells of colours with too little contrast, and mirrors a language from right to left", async () => {
  const { body } = await pages({ config: { theme: { light: { accent: "#ffe066" } } }, language: "ar-XB" });
  expect(body.warnings).toEqual([
    expect.stringMatching(/^theme\.light\.accent #ffe066 has a contrast of 1\./),
  ]);
  expect(body.direction).toBe("rtl");
});

test("draws a state with the actions that were offered, the error, and no value of a user", async () => {
  const drawn = async (actions: string[], error?: string, inputs?: string[]) => {
    const shown = {
      flow: "login",
      state: "login_init",
      actions,
      ...(error ? { error } : {}),
      ...(inputs ? { inputs } : {}),
    };
    const { body } = await pages({ pictures: [shown], language: "en" });
    expect(body.pictures[0].name).toBe("login_init");
    return body.pictures[0].markup as string;
  };
  const byProvider = await drawn(["continue_with_login_identifier", "thirdparty_oauth"], "passkey_invalid");
  expect(byProvider).toContain('data-action="thirdparty_oauth"');
  expect(byProvider).toContain("We could not accept this passkey");
  const plain = await drawn(["continue_with_login_identifier"]);
  expect(plain).toContain('data-action="continue_with_login_identifier"');
  expect(plain).not.toContain("thirdparty_oauth");
  expect(plain).not.toContain('role="alert"');
  expect(await drawn([])).not.toContain("<form");
  const refused = await drawn(["continue_with_login_identifier"], "value_invalid_error", ["email"]);
  expect(refused).toMatch(/<input[^>]*aria-invalid="true"[^>]*name="email"/);
  // A flow that a newer version has recorded.
  expect(await drawn(["an_action_of_later"], "an_error_of_later")).toContain("stile-page");
});

test("A349 markup in words and names is drawn as text", async () => {
  const script = "<img src=https://evil.example/x onerror=alert(1)>";
  const config = { service: { name: "Acme </style><script>" }, ...titled(`${script}</main>`) };
  const { body } = await pages({ config, pictures: ["login_init"] });
  expect(body.pictures[0].markup).toContain("&lt;img src=https://evil.example/x onerror=alert(1)&gt;");
  expect(body.pictures[0].markup).not.toMatch(/<img|<script|<\/style/);
  const mails = await messages({ config });
  expect(mails.status).toBe(200);
  expect(mails.text).not.toContain("<img");
});

test.each<[string, object]>([
  ["theme.light.accent", { theme: { light: { accent: "#fff}</style><script>alert(1)</script>" } } }],
  ["theme.dark.ground", { theme: { dark: { ground: "\\75rl(//evil.example/x)" } } }],
  ["theme.font", { theme: { font: "x;background:url(https://evil.example/x)" } }],
  ["theme.radius", { theme: { radius: "1rem}*{background:url(//evil.example)}" } }],
  ["theme.logo.light", { theme: { logo: { light: "https://evil.example/logo.svg" } } }],
  ["theme.favicon", { theme: { favicon: "data:text/html;base64,PHNjcmlwdD4=" } }],
  ["words.en.states.login_init.title", titled("two\nlines")],
  ["words.en.__proto__", { words: JSON.parse('{"en":{"__proto__":"x"}}') }],
])("A349 rejects what is no value of %s, as a change would", async (setting, config) => {
  for (const as of [own, operator])
    for (const preview of [pages, messages]) {
      const answer = await preview({ config }, as);
      expect(answer.status).toBe(400);
      if (!setting.includes("proto")) expect(answer.body.message).toContain(setting);
    }
});

test("A350 a tenant previews its own settings alone, and not those that are an operator's", async () => {
  const { body } = await pages({ pictures: ["login_init"] }, operator);
  expect(body.pictures[0].markup).not.toContain("Acme");
  const texts = { words: { en: { "mail.secrecy": "Send it to me." } } };
  expect((await messages({ config: texts })).status).toBe(403);
  for (const [method, path] of [
    ["GET", "/pages/previews"],
    ["POST", "/pages/previews"],
    ["POST", "/messages/previews"],
  ] as const)
    expect((await own.callWithoutKey(method, path, method === "POST" ? {} : undefined)).status).toBe(401);
});

const framed = { headers: { "sec-fetch-site": "same-origin" } };

test("A350 the document of previews is for accounts with a role, in frames of this origin alone", async () => {
  const auditor = await consoleAccount(runtime, "auditor");
  const answer = await auditor.browser.request("/api/console/preview", framed);
  expect(answer.status).toBe(200);
  const policy = answer.headers.get("content-security-policy");
  expect(policy).toContain("frame-ancestors 'self'");
  expect(policy).toContain("sandbox allow-scripts");
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; img-src data:;/,
  );
  const text = await answer.text();
  expect(text.match(/<script/g)).toHaveLength(1);
  expect(/<link|<img|url\(["']?https?:|@import/.test(text)).toBe(false);
  const withoutRole = await consoleAccount(runtime, null);
  for (const browser of [visitor(runtime), withoutRole.browser])
    expect((await browser.request("/api/console/preview", framed)).status).toBe(401);
  const off = visitor(runtime.configured({ STILE_CONSOLE_ENABLED: "false" }));
  expect((await off.request("/api/console/preview", framed)).status).toBe(404);
  for (const site of ["cross-site", "same-site"])
    expect(
      (await auditor.browser.request("/api/console/preview", { headers: { "sec-fetch-site": site } })).status,
    ).toBe(403);
});

test("A351 bodies, pictures and names have bounds", async () => {
  expect((await pages({ config: { x: "x".repeat(70_000) } })).status).toBe(413);
  const auditor = await consoleAccount(runtime, "auditor");
  const large = { body: { config: { x: "x".repeat(1024 * 1024) } } };
  expect((await auditor.browser.post("/api/console/trpc/previewPages", large, framed.headers)).status).toBe(
    413,
  );
  const state = { flow: "login", state: "login_init", actions: [] };
  for (const body of [
    { pictures: Array(25).fill("login_init") },
    { pictures: ["x".repeat(101)] },
    { pictures: [{ ...state, actions: Array(101).fill("back") }] },
    { pictures: [{ ...state, state: "no_state" }] },
    { pictures: [{ ...state, flow: "no_flow" }] },
    { pictures: [{ ...state, html: "<b>" }] },
    { language: "tlh" },
    { pictures: "login_init" },
    { config: [] },
  ])
    expect((await pages(body)).status).toBe(400);
  const unknown = await pages({ pictures: ["no_picture", "__proto__", "constructor", "login_init"] });
  expect(unknown.body.pictures.map(({ name }: { name: string }) => name)).toEqual(["login_init"]);
});
