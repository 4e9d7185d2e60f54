import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { readPng, readSvg } from "../../testing/qr-reading.ts";
import { callAt, startAuthenticatorService } from "../../testing/uaf-service.ts";
import { applicationOf, linkOf, type RequestResource, requests } from "../../testing/uaf-walk.ts";

/** The QR code and the page that shows it and waits, against a running server over HTTP. */

const service = await openForTests(startAuthenticatorService());
const application = applicationOf(service);

describe("the QR code", () => {
  const picture = async (id: string, query = "", headers = {}) => {
    const answered = await fetch(`${service.base}${requests}/${id}/qrcode${query}`, {
      headers: { authorization: `secret ${service.key}`, ...headers },
    });
    return {
      status: answered.status,
      type: answered.headers.get("content-type"),
      bytes: await answered.bytes(),
    };
  };

  test("contains the request's link with the device token, as PNG and as SVG", async () => {
    const { id } = await application.register("drawn");
    const png = await picture(id);
    const { text } = readPng(png.bytes);
    expect(text).toMatch(new RegExp(`^${service.base}${requests}/${id}\\?token=[A-Za-z0-9_-]{43}$`));
    const svg = await picture(id, "", { accept: "image/svg+xml" });
    expect([svg.status, svg.type]).toEqual([200, expect.stringMatching(/^image\/svg\+xml/)]);
    expect(readSvg(new TextDecoder().decode(svg.bytes))).toBe(text);
  });

  test("has the requested size and colours, short colours padded", async () => {
    const { id } = await application.register("coloured");
    const { bytes } = await picture(id, "?width=400&height=400&fg=0&bg=ffEEdd");
    const { width, height, colours, text } = readPng(bytes);
    expect({ width, height, colours }).toEqual({ width: 400, height: 400, colours: ["000000", "ffeedd"] });
    expect(text).toContain(id);
  });

  test("A79 rejects other sizes and unreadable colours", async () => {
    const { id } = await application.register("badly drawn");
    for (const query of [
      "?width=0",
      "?width=-1",
      "?width=1e9",
      "?width=NaN",
      "?height=x",
      "?fg=%3Csvg%20onload%3D1%3E",
      "?fg=12345g",
      "?bg=1234567",
      "?fg=ffffff&bg=ffffff",
    ]) {
      const { status } = await picture(id, query);
      expect([query, status]).toEqual([query, 400]);
    }
    expect((await picture(id, "?width=100000&height=100000")).status).toBe(400);
  });
});

describe("a waiting page", () => {
  const eventsOf = (request: RequestResource) => linkOf(request, "events").href;

  /** Parses the events of a stream as a browser does (HTML standard, 9.2.6). */
  async function* eventsAt(href: string): AsyncGenerator<{ event: string; data: RequestResource }> {
    const stream = await fetch(href, { headers: { accept: "text/event-stream" } });
    expect([stream.status, stream.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream/),
    ]);
    let waiting = "";
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      waiting += chunk;
      const blocks = waiting.split("\n\n");
      waiting = blocks.pop() ?? "";
      for (const block of blocks) {
        const of = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
        const data = of("data");
        if (data !== undefined) yield { event: of("event") ?? "message", data: JSON.parse(data) };
      }
    }
  }

  test("gets the answer over one connection, which then closes", async () => {
    const { authenticator } = await application.enrolled("listening");
    const made = await application.ask("listening");
    const heard = [];
    for await (const { event, data } of eventsAt(eventsOf(made))) {
      heard.push([event, data.status]);
      if (heard.length === 1) await application.answer(made, authenticator);
    }
    expect(heard).toEqual([
      ["status", "PENDING"],
      ["status", "OK"],
    ]);
  });

  test("gets the cancellation of a request, and its invalidation by a newer one", async () => {
    await application.enrolled("listening twice");
    for (const end of [
      (id: string) => service.call("DELETE", `${requests}/${id}`),
      () => application.ask("listening twice"),
    ]) {
      const made = await application.ask("listening twice");
      const statuses = [];
      for await (const { data } of eventsAt(eventsOf(made))) {
        statuses.push(data.status);
        if (statuses.length === 1) await end(made.id);
      }
      expect(statuses).toEqual(["PENDING", expect.stringMatching(/^(FAILED|INVALIDATED)$/)]);
    }
  });

  test("may use long polling, and gets the answer as soon as it arrives", async () => {
    const { authenticator } = await application.enrolled("polling");
    const made = await application.ask("polling");
    const at = new URL(eventsOf(made));
    at.searchParams.set("wait", "0");
    expect((await callAt(at.href, "GET")).body).toMatchObject({ id: made.id, status: "PENDING" });
    at.searchParams.set("wait", "25");
    const waiting = callAt(at.href, "GET");
    await application.answer(made, authenticator);
    expect((await waiting).body).toMatchObject({ id: made.id, status: "OK" });
    const later = await callAt(eventsOf(made), "GET");
    expect(later.body.status).toBe("OK");
    at.searchParams.set("wait", "soon");
    expect((await callAt(at.href, "GET")).status).toBe(400);
    const asApplication = await service.call("GET", `${requests}/${made.id}?wait=25`);
    expect(asApplication.body.status).toBe("OK");
  });

  test("may have any origin, which can read nothing else", async () => {
    await application.enrolled("embedded");
    const made = await application.ask("embedded");
    const origin = "https://shop.example";
    const allowed = async (href: string, headers: Record<string, string>) =>
      (await callAt(href, "GET", { headers: { origin, ...headers } })).headers.get(
        "access-control-allow-origin",
      );
    expect(await allowed(`${linkOf(made, "events").href}&wait=0`, {})).toBe("*");
    const { href } = linkOf(made, "status");
    expect(await allowed(href, { authorization: `secret ${service.key}` })).toBeNull();
  });

  test("sees nothing about the user, and cannot change the request", async () => {
    await application.enrolled("watched");
    const made = await application.ask("watched", { transaction: "Pay 5 €?" });
    const token = new URL(eventsOf(made)).searchParams.get("token") ?? "";
    const { text } = await callAt(`${eventsOf(made)}&wait=0`, "GET");
    for (const hidden of ["watched", "Pay 5", "challenge", "qrcode"]) expect(text).not.toContain(hidden);
    const address = `${service.base}${requests}/${made.id}`;
    const uafResponse = "[]";
    for (const authorization of [`device ${token}`, `secret ${token}`, `Bearer ${token}`, null]) {
      const query = authorization === null ? `?token=${token}` : "";
      expect((await callAt(address + query, "PUT", { authorization, body: { uafResponse } })).status).toBe(
        401,
      );
      expect((await callAt(address + query, "DELETE", { authorization })).status).toBe(401);
      expect((await callAt(`${address}/qrcode${query}`, "GET", { authorization })).status).toBe(401);
    }
    const other = await application.ask("watched");
    expect((await callAt(`${service.base}${requests}/${other.id}/events?token=${token}`, "GET")).status).toBe(
      401,
    );
    expect((await callAt(`${address}/events`, "GET")).status).toBe(401);
    expect(await application.statusOf(made.id)).toBe("INVALIDATED");
  });
});
