import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./fixtures.ts";

for (const [scheme, width] of [
  ["light", 390],
  ["dark", 1280],
] as const)
  test(`assistive software can read the page of the interface, ${width} pixels wide, with a ${scheme} background`, async ({
    page,
    server,
  }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`${server.url}/docs/api`);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, help, nodes }) => `${id}, ${help}: ${nodes.map(({ html }) => html).join(" ")}`),
    ).toEqual([]);
  });
