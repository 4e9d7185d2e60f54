import { expect, test } from "vitest";
import { addresses, findRoute, loggablePath } from "./addresses.ts";

test("no method of an address is listed twice", () => {
  const names = addresses.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(names).size).toBe(names.length);
});

test.each(["/login", "/api/trpc/flow.act", "/users/3f2504e0", "/.well-known/jwks.json"])(
  "finds %s",
  (path) => {
    expect(findRoute(path)).toMatchObject({ route: { methods: expect.any(Map) } });
  },
);

test.each([
  "/login/",
  "/login/x",
  "/api",
  "/api/trpc",
  "/api/trpc/a/b",
  "/users",
  "/users/",
  "/users/a/b",
  "/health",
  "/dev",
])("reports %s as an unknown path of the API", (path) => {
  expect(findRoute(path)).toEqual({ unknown: "plain" });
});

test.each(["/", "/embed", "/favicon.ico", "/Login", "//login", "/loginx"])(
  "does not claim %s for the API",
  (path) => {
    expect(findRoute(path)).toBeNull();
  },
);

test("passes on decoded parameters by name", () => {
  expect(findRoute("/users/a%2Fb")).toMatchObject({ params: { id: "a/b" } });
});

test("distinguishes a user id from an equal fixed segment by the method", () => {
  const [asked, opened] = ["GET", "POST"].map((method) =>
    findRoute("/passkeys/x/transaction/initialize", method),
  );
  expect(asked).toMatchObject({ params: { user_id: "initialize" } });
  expect(opened).toMatchObject({ params: { tenant_id: "x" } });
  expect(opened).not.toHaveProperty("params.user_id");
  expect(findRoute("/passkeys/x/transaction/initialize", "PUT")).toEqual(opened);
});

test("does not match a segment that cannot be decoded", () => {
  expect(findRoute("/users/%E0%A4%A")).toEqual({ unknown: "plain" });
});

test.each([
  ["GET", "/passkeys/T/transaction/ada%40example.com", "/passkeys/T/transaction/{user_id}"],
  ["HEAD", "/passkeys/T/transaction/ada", "/passkeys/T/transaction/{user_id}"],
  ["POST", "/passkeys/T/transaction/initialize", "/passkeys/T/transaction/initialize"],
  ["GET", "/authenticator/mgmt/v1/registrations/ada", "/authenticator/mgmt/v1/registrations/{user_id}"],
  [
    "GET",
    "/t/T/authenticator/mgmt/v1/registrations/ada",
    "/t/T/authenticator/mgmt/v1/registrations/{user_id}",
  ],
  ["GET", "/users/3f2504e0", "/users/3f2504e0"],
  ["GET", "/unknown/ada", "/unknown/ada"],
  ["GET", "", ""],
])("A110 logs %s %s as %s", (method, path, logged) => {
  expect(loggablePath(method, path)).toBe(logged);
});
