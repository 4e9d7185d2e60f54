import { render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Trouble } from "./error-boundary.tsx";

const words = { title: "It broke", sentence: "Not your fault.", reload: "Load it again" };

function Broken(): never {
  throw new Error("secret detail");
}

test("a page whose rendering failed is replaced by words that reveal nothing", () => {
  const onCaughtError = vi.fn();
  const { container } = render(
    <Trouble {...words}>
      <Broken />
    </Trouble>,
    { onCaughtError },
  );
  expect(onCaughtError).toHaveBeenCalledTimes(1);
  expect(screen.getByRole("heading").textContent).toBe("It broke");
  expect(screen.getByRole("alert").textContent).toBe("Not your fault.");
  expect(screen.getByRole("button", { name: "Load it again" })).toBeDefined();
  expect(container.textContent).not.toContain("secret");
});

test("a page that renders is left alone", () => {
  render(
    <Trouble {...words}>
      <p>All is well</p>
    </Trouble>,
  );
  expect(screen.getByText("All is well")).toBeDefined();
  expect(screen.queryByRole("alert")).toBeNull();
});
