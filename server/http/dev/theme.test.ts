import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests();

const addresses = ["/dev/theme", "/dev/theme/style.css", "/dev/theme/settings.json"];

test("shows every state in a theme, with its warnings and its configuration", async () => {
  const page = await visitor(runtime, "127.0.0.1").request("/dev/theme?preset=slate&light.accent=%23ffe066");
  const text = await page.text();
  expect(page.status).toBe(200);
  for (const picture of [
    "login_init",
    "login_password_wrong",
    "profile_init_opened",
    "success_with_codes",
    "confirmation_question",
    "missing_page",
    "failed_drawing",
    "frame_refused",
    "frame_covered",
    "frame_without_cookies",
    "frame_window_open",
    "window_failed",
    "message_refused_destination",
  ])
    expect(text).toContain(`<h2>${picture}</h2>`);
  const [style = ""] = text.match(/\/assets\/pages-\w+\.css/) ?? [];
  expect((await visitor(runtime, "127.0.0.1").request(style)).status).toBe(200);
  expect(text).toContain("theme.light.accent #ffe066 has a contrast of 1.");
  expect(text).toContain("&quot;accent&quot;: &quot;#ffe066&quot;");
});

test("A102 a setting becomes neither markup nor a rule, and the page runs its own script alone", async () => {
  const query = new URLSearchParams({
    preset: "slate",
    "light.accent": "#ffffff;}</style><script>alert(1)</script>",
  });
  const { request } = visitor(runtime, "127.0.0.1");
  const page = await request(`/dev/theme?${query}`);
  expect(page.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'self' 'sha256-[^']+' 'sha256-[^']+';/,
  );
  expect((await page.text()).match(/<script/g)).toHaveLength(1);
  const style = await (await request(`/dev/theme/style.css?${query}`)).text();
  expect(style).not.toContain("script");
  const said = await (await request(`/dev/theme/settings.json?${query}`)).json();
  expect(said.faults).toEqual(["theme.light.accent: must be a colour like #1f5b43"]);
});

test.each(addresses)("%s is not found by other machines or in production", async (address) => {
  const production = runtime.configured({ NODE_ENV: "production", SECRET_KEYS: "a key for tests alone" });
  for (const browser of [visitor(runtime), visitor(production, "127.0.0.1")])
    expect((await browser.request(address)).status).toBe(404);
});
