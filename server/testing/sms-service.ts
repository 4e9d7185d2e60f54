import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a fake service of SMS has received. */
export interface ReceivedSms {
  method: string;
  path: string;
  /** User and password of Basic authentication, joined by a colon. */
  credentials: string;
  contentType: string;
  form: Record<string, string>;
}

/** A service with Twilio's Messages resource, in this process. */
export interface SmsService {
  url: string;
  /** Received requests, oldest first. */
  received: ReceivedSms[];
  /** Settings that make it the service of a configuration. */
  settings: Record<string, string>;
  close(): Promise<void>;
}

/** Answers a request in another way than by accepting the SMS. */
export type SmsBehaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers with JSON. */
export function answering(status: number, body: unknown, headers: Record<string, string> = {}): SmsBehaviour {
  return (response) =>
    void response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body));
}

/** What Twilio answers about an SMS that it has taken. */
export const acceptedSms = { sid: "SM00000000000000000000000000000001", status: "queued", error_code: null };

/** @param behave one for each request, in their order; the last one stays. Default: every SMS is accepted. */
export async function startSmsCatcher(
  behave: readonly SmsBehaviour[] = [answering(201, acceptedSms)],
): Promise<SmsService> {
  const received: ReceivedSms[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { authorization = "", "content-type": contentType = "" } = request.headers;
    received.push({
      method: request.method ?? "",
      path: request.url ?? "",
      credentials: Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString(),
      contentType,
      form: Object.fromEntries(new URLSearchParams(body)),
    });
    (behave[received.length - 1] ?? behave.at(-1))?.(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    received,
    settings: {
      STILE_PHONE_ENABLED: "true",
      STILE_PHONE_ALLOWED_COUNTRIES: "DE",
      STILE_SMS_DELIVERY_URL: url,
      STILE_SMS_DELIVERY_ACCOUNT_SID: "AC0123",
      STILE_SMS_DELIVERY_AUTH_TOKEN: "hush",
      STILE_SMS_DELIVERY_FROM: "+4915100000000",
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
