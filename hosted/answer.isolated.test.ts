import { expect, test, vi } from "vitest";
import { visitor } from "#server/testing/visitor";
import { runtimeForTests } from "../server/testing/open-for-tests.ts";
import { answerPage } from "./answer.ts";

vi.mock("./assets.ts", () => ({
  builtPages: () =>
    Promise.resolve({
      assets: { style: "pages.css", icon: "icon.svg", scripts: {} },
      styles: "",
      draw() {
        throw new TypeError("a component fails");
      },
    }),
}));

const runtime = await runtimeForTests({});

test.each([
  ["/", "login", "/"],
  ["/?flow=registration", "registration", "/?flow=registration"],
])("a state that cannot be drawn can be left for another flow: %s", async (path, flow, leadsTo) => {
  const log = { ...runtime.log, error: vi.fn() } as unknown as typeof runtime.log;
  const answer = await answerPage(
    new Request(`http://localhost:3000${path}`, { headers: { host: "localhost:3000" } }),
    { address: "192.0.2.1", requestId: "request-1" },
    { ...runtime, log },
  );
  const text = await answer.text();
  expect(answer.status).toBe(500);
  expect(answer.headers.get("content-security-policy")).toContain("form-action 'self'");
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value="(\w+)">/g)];
  const form = Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, value]));
  expect(form).toMatchObject({ flow });
  const over = await visitor(runtime).submit(/<form [^>]*action="([^"]*)"/.exec(text)?.[1] ?? "none", form);
  expect([over.status, over.headers.get("location")]).toEqual([303, leadsTo]);
  expect(over.headers.getSetCookie()).toEqual([expect.stringMatching(`^stile-${flow}-.*Max-Age=0`)]);
});
