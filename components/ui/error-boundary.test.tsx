import { render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { ErrorBoundary } from "./error-boundary.tsx";

const words = { title: "It broke", sentence: "Not your fault.", reload: "Load it again" };

function Broken(): never {
  throw new Error("secret detail");
}

test("a page whose rendering failed is replaced by words that reveal nothing", () => {
  const onCaughtError = vi.fn();
  const { container } = render(
    <ErrorBoundary {...words}>
      <Broken />
    </ErrorBoundary>,
    { onCaughtError },
  );
  expect(onCaughtError).toHaveBeenCalledTimes(1);
  expect(screen.getByRole("heading").textContent).toBe("It broke");
  expect(screen.getByRole("alert").textContent).toBe("Not your fault.");
  expect(screen.getByRole("button", { name: "Load it again" })).toBeDefined();
  expect(container.textContent).not.toContain("secret");
});

test("a page that renders is not changed", () => {
  render(
    <ErrorBoundary {...words}>
      <p>All is well</p>
    </ErrorBoundary>,
  );
  expect(screen.getByText("All is well")).toBeDefined();
  expect(screen.queryByRole("alert")).toBeNull();
});
