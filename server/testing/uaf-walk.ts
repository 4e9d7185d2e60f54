import { createUafAuthenticator, type UafAuthenticator } from "../dev/uaf-authenticator/authenticator.ts";
import type { Overrides, UafSettings } from "../dev/uaf-authenticator/call.ts";
import { readPng } from "./qr-reading.ts";
import { type ApiResponse, type AuthenticatorService, callAt } from "./uaf-service.ts";

/** The resource of a request, as it came. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
export type RequestResource = any;

export const requests = "/v1/uaf/requests";

/** Where a request is for the phone, and what it presents there. */
export interface Scanned {
  href: string;
  /** As the header `Authorization` has it. */
  device: string;
  /** What the QR code says. */
  link: string;
}

/** An application that asks its users' phones through the running server, and those phones. */
export interface Application {
  /** Makes a request, which has to be taken. */
  create(body: Record<string, unknown>): Promise<RequestResource>;
  register(userId: string): Promise<RequestResource>;
  ask(userId: string, more?: object): Promise<RequestResource>;
  statusOf(id: string): Promise<string>;
  /** Hands an answer over by the application's key. */
  put(id: string, uafResponse: string): Promise<ApiResponse>;
  /** What a camera reads off the picture. */
  scan(request: RequestResource): Promise<Scanned>;
  /** The phone scans, fetches, and sends what its authenticator makes of the request. */
  answer(
    request: RequestResource,
    phone: UafAuthenticator,
    overrides?: Overrides,
    info?: object,
  ): Promise<ApiResponse>;
  /** A user with a new phone. */
  enrolled(userId: string, settings?: UafSettings): Promise<{ phone: UafAuthenticator; deviceId: string }>;
}

export function applicationOf(service: AuthenticatorService): Application {
  const { call, server } = service;

  async function create(body: Record<string, unknown>): Promise<RequestResource> {
    const { status, body: made, text } = await call("POST", requests, { body });
    if (status !== 200) throw new Error(`${status} ${text}`);
    return made;
  }

  const register = (userId: string) =>
    create({ operation: "REG", userId, username: `${userId}@example.com` });

  async function scan(request: RequestResource): Promise<Scanned> {
    const picture = await fetch(linkOf(request, "qrcode").href);
    const link = readPng(await picture.bytes()).text ?? "";
    const { origin, pathname, searchParams } = new URL(link);
    return { link, href: origin + pathname, device: `device ${searchParams.get("token")}` };
  }

  async function answer(
    request: RequestResource,
    phone: UafAuthenticator,
    overrides: Overrides = {},
    deviceKeyInfo?: object,
  ): Promise<ApiResponse> {
    const { href, device } = await scan(request);
    const { body: seen } = await callAt(href, "GET", { authorization: device });
    const sign = seen.operation === "REG" ? phone.register : phone.authenticate;
    const uafResponse = sign(seen.request, { facetId: server.url, overrides });
    return callAt(href, "PUT", { authorization: device, body: { uafResponse, deviceKeyInfo } });
  }

  return {
    create,
    register,
    ask: (userId, more = {}) =>
      create({ operation: "AUTH", userId, username: `${userId}@example.com`, ...more }),
    statusOf: async (id) => (await call("GET", `${requests}/${id}`)).body.status,
    put: (id, uafResponse) => call("PUT", `${requests}/${id}`, { body: { uafResponse } }),
    scan,
    answer,
    async enrolled(userId, settings = {}) {
      const phone = createUafAuthenticator(settings);
      const { body, text } = await answer(await register(userId), phone);
      if (body.status !== "OK") throw new Error(text);
      return { phone, deviceId: body.deviceID };
    },
  };
}

/** A link of a request, by its relation. */
export const linkOf = (
  request: RequestResource,
  rel: string,
): { rel: string; method: string; href: string } =>
  request.links.find((link: { rel: string }) => link.rel === rel);
