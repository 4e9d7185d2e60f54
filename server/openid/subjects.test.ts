import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { subjectFor } from "./subjects.ts";

const user = "0190a0b0-0000-7000-8000-000000000001";

/** What each client knows the user by, with a salt. */
function named(salt: string) {
  const client = (host: string, subject_type = "pairwise") => ({
    name: host,
    subject_type,
    redirect_uris: [`https://${host}/callback`],
  });
  const clients = {
    shop: client("shop.example.com"),
    till: client("shop.example.com"),
    forum: client("forum.example.com"),
    open: client("shop.example.com", "public"),
  };
  const config = loadConfig(
    { STILE_OPENID_PAIRWISE_SALT: salt, STILE_OPENID_CLIENTS: JSON.stringify(clients) },
    "/nowhere",
  );
  return Object.fromEntries(
    [...Object.keys(clients), "unknown"].map((id) => [id, subjectFor(config, id, user)]),
  );
}

test("clients of one host know a user by one name, those of another host by another", () => {
  const { shop, till, forum } = named("one salt that is as long as it has to be");
  expect(till).toBe(shop);
  expect(forum).not.toBe(shop);
  expect(shop).toMatch(/^[\w-]{43}$/);
});

test("another salt makes other names", () => {
  const [one, other] = [
    named("one salt that is as long as it has to be"),
    named("another salt that is as long as it has to be"),
  ];
  expect(one.shop).not.toBe(other.shop);
});

test("a client without names of its own, and one that is not listed, know the id", () => {
  expect(named("one salt that is as long as it has to be")).toMatchObject({ open: user, unknown: user });
});
