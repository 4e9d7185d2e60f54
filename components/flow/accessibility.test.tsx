import axe from "axe-core";
import { expect, test } from "vitest";
import { draw } from "./drawing.fixture.tsx";
import { type StateFixture, states } from "./states.fixture.ts";

// Colours and layout are tested in a real browser; see `e2e/accessibility.spec.ts`.
const rules = { "color-contrast": { enabled: false }, "target-size": { enabled: false } };

test.each(Object.keys(states) as StateFixture[])("assistive software can read %s", async (name) => {
  const { container } = draw(states[name]);
  for (const disclosure of container.querySelectorAll("details")) disclosure.open = true;
  document.documentElement.lang = "en";
  const { violations } = await axe.run(document, { rules });
  expect(
    violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`),
  ).toEqual([]);
});
