import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { readPng, readSvg } from "../../testing/qr-reading.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
const application = await authenticatorApplication(runtime);

const requests = "/v1/uaf/requests";

async function newRequest(from = application) {
  const made = await from.create("REG", `user ${randomUUID()}`);
  const link = made.links.find(({ rel }: { rel: string }) => rel === "qrcode").href as string;
  return { made, link };
}

describe("A79 the QR code", () => {
  test("contains only the authenticator's link, for callers with its link or a key", async () => {
    const { made, link } = await newRequest();
    const byLink = await application.fetch(link);
    const headers = { authorization: `secret ${application.key}` };
    const byKey = await application.fetch(`${requests}/${made.id}/qrcode`, { headers });
    const [first, second] = [readPng(await byLink.bytes()), readPng(await byKey.bytes())];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ width: 256, height: 256, colours: ["000000", "ffffff"] });
    expect(first.text).toMatch(
      new RegExp(`^https://login\\.example/authenticator${requests}/${made.id}\\?token=[\\w-]{43}$`),
    );
    expect(Object.fromEntries(byLink.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "cross-origin",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      vary: "Accept",
    });
  });

  test("has the link format that the operator configured", async () => {
    const template = "acme://scan?r={id}&t={token}&u={url}";
    const own = await authenticatorApplication(
      runtime.configured({ STILE_AUTHENTICATOR_QR_CODE_TEMPLATE: template }),
    );
    const { made, link } = await newRequest(own);
    const { text } = readPng(await (await own.fetch(`${link}&width=512`)).bytes());
    const [, id, token, url] = /^acme:\/\/scan\?r=(\w+)&t=([\w-]+)&u=(.+)$/.exec(text ?? "") ?? [];
    expect(id).toBe(made.id);
    expect(url).toBe(`https://login.example/authenticator${requests}/${id}?token=${token}`);
  });

  test.each([
    ["image/svg+xml", "svg"],
    ["image/svg+xml, image/png;q=0.9", "svg"],
    ["image/png;q=0.2, image/*;q=0.9", "svg"],
    ["image/png", "png"],
    ["image/png, image/svg+xml", "png"],
    // The Accept header of browsers for images.
    ["image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "png"],
    ["*/*", "png"],
    ["text/html", "png"],
    ["image/svg+xml;q=x", "png"],
  ])("for Accept %s is %s", async (accept, kind) => {
    const { made, link } = await newRequest();
    const response = await application.fetch(link, { headers: { accept } });
    expect(response.headers.get("content-type")).toBe(kind === "svg" ? "image/svg+xml" : "image/png");
    const text = kind === "svg" ? readSvg(await response.text()) : readPng(await response.bytes()).text;
    expect(text).toContain(made.id);
  });

  test.each([
    ["width=400&height=300", { width: 400, height: 300 }],
    ["width=300", { width: 300, height: 300 }],
    ["height=1024", { width: 1024, height: 1024 }],
    // The query of a published client.
    ["width=200&height=200&fg=0&bg=ffffff", { width: 200, colours: ["000000", "ffffff"] }],
    ["fg=ff&bg=fFeEdD", { colours: ["0000ff", "ffeedd"] }],
    ["width=0400", { width: 400 }],
  ])("has the size and colours of %s", async (query, expected) => {
    const { link } = await newRequest();
    const response = await application.fetch(`${link}&${query}`);
    expect([query, response.status]).toEqual([query, 200]);
    expect(readPng(await response.bytes())).toMatchObject(expected);
  });

  test.each([
    "width=0",
    "width=-1",
    "width=31",
    "width=1025",
    "width=1e9",
    "width=1e2",
    "width=NaN",
    "width=",
    "width=64.5",
    "height=99999999999999999999",
    "width=400&width=400",
    "fg=%3Csvg%20onload%3Dalert(1)%3E",
    "fg=%23000000",
    "fg=12345g",
    "bg=1234567",
    "fg=",
    "fg=ffffff",
    "fg=fefefe&bg=ffffff",
    "fg=000000&bg=000",
    "fg=808080&bg=909090",
  ])("rejects %s without echoing it", async (query) => {
    const { link } = await newRequest();
    for (const accept of ["image/png", "image/svg+xml"]) {
      const response = await application.fetch(`${link}&${query}`, { headers: { accept } });
      expect([query, response.status]).toEqual([query, 400]);
      expect(await response.json()).toEqual({
        code: 400,
        message: expect.stringMatching(/^(width|height|fg) (and|may) [\w ,#]+\.$/),
      });
    }
  });

  test("names the minimum size if the requested one is unreadable", async () => {
    const { link } = await newRequest();
    const response = await application.fetch(`${link}&width=32`);
    expect(response.status).toBe(400);
    const [, least] = /at least (\d+) pixels/.exec((await response.json()).message) ?? [];
    expect((await application.fetch(`${link}&width=${least}`)).status).toBe(200);
  });

  test("exists only while the request is pending", async () => {
    const answered = await newRequest();
    const uafResponse = application.answerOf(createUafAuthenticator(), answered.made);
    await application.answer(answered.made, uafResponse);
    const cancelled = await newRequest();
    await application.call("DELETE", `${requests}/${cancelled.made.id}`);
    const expired = await newRequest();
    runtime.advanceClock(120);
    for (const { link } of [answered, cancelled, expired]) {
      const response = await application.fetch(link);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 404, messsage: "Not Found." });
    }
  });
});
