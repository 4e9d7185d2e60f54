import { act, render } from "@testing-library/react";
import axe from "axe-core";
import { expect, test } from "vitest";
import { flow as en } from "#words/en/flow";
import { gallery } from "../gallery/gallery.ts";
import { stillServer } from "../gallery/still-server.ts";
import { Login } from "./login.tsx";

// Colours and layout are tested in a real browser; see `e2e/accessibility.spec.ts`.
const rules = { "color-contrast": { enabled: false }, "target-size": { enabled: false } };

test.each(gallery.map((drawing) => [drawing.name, drawing] as const))(
  "assistive software can read %s",
  async (_, drawing) => {
    const { flow, state, version, redirectTo, providerReturn = null } = drawing;
    const { container } = render(
      <Login
        type={flow}
        initial={{ version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) }}
        service="Stile"
        signup
        words={en}
        language="en"
        address="https://login.example/"
        providerReturn={providerReturn}
        server={stillServer(drawing)}
        navigate={() => {}}
      />,
    );
    await act(async () => {});
    for (const disclosure of container.querySelectorAll("details")) disclosure.open = true;
    document.documentElement.lang = "en";
    const { violations } = await axe.run(document, { rules });
    expect(
      violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`),
    ).toEqual([]);
  },
);
