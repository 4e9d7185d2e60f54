import { readPng } from "./qr-reading.ts";
import { createUafAuthenticator, type UafAuthenticator } from "./uaf-authenticator/authenticator.ts";
import type { Overrides, UafSettings } from "./uaf-authenticator/call.ts";
import { type ApiResponse, type AuthenticatorService, callAt } from "./uaf-service.ts";

/** The resource of a request. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any response.
export type RequestResource = any;

export const requests = "/v1/uaf/requests";

/** The URL of a request for the authenticator, and its credential. */
export interface Scanned {
  href: string;
  /** Value of the header `Authorization`. */
  device: string;
  /** Content of the QR code. */
  link: string;
}

/** An application that uses the authenticator interface of a running server, and the authenticators of its users. */
export interface Application {
  /** Creates a request. Throws if it is rejected. */
  create(body: Record<string, unknown>): Promise<RequestResource>;
  register(userId: string): Promise<RequestResource>;
  ask(userId: string, more?: object): Promise<RequestResource>;
  statusOf(id: string): Promise<string>;
  /** Sends a UAF response with the application's key. */
  put(id: string, uafResponse: string): Promise<ApiResponse>;
  /** Decodes the QR code of a request. */
  scan(request: RequestResource): Promise<Scanned>;
  /** Scans and fetches the request, and sends the response of the authenticator. */
  answer(
    request: RequestResource,
    authenticator: UafAuthenticator,
    overrides?: Overrides,
    info?: object,
  ): Promise<ApiResponse>;
  /** Registers a new authenticator for a user. */
  enrolled(
    userId: string,
    settings?: UafSettings,
  ): Promise<{ authenticator: UafAuthenticator; deviceId: string }>;
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
    authenticator: UafAuthenticator,
    overrides: Overrides = {},
    deviceKeyInfo?: object,
  ): Promise<ApiResponse> {
    const { href, device } = await scan(request);
    const { body: seen } = await callAt(href, "GET", { authorization: device });
    const sign = seen.operation === "REG" ? authenticator.register : authenticator.authenticate;
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
      const authenticator = createUafAuthenticator(settings);
      const { body, text } = await answer(await register(userId), authenticator);
      if (body.status !== "OK") throw new Error(text);
      return { authenticator, deviceId: body.deviceID };
    },
  };
}

/** Finds a link of a request by its relation. */
export const linkOf = (
  request: RequestResource,
  rel: string,
): { rel: string; method: string; href: string } =>
  request.links.find((link: { rel: string }) => link.rel === rel);
