import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { text } from "node:stream/consumers";

/** Sends a request, as a POST if it has a body, and returns the body of the answer. */
export function request(address: string, options: RequestOptions, body?: string): Promise<string> {
  const send = options.agent instanceof Agent ? httpsRequest : httpRequest;
  const headers = { ...options.headers, "content-length": Buffer.byteLength(body ?? "") };
  return new Promise((resolve, reject) => {
    send(address, { ...options, method: body === undefined ? "GET" : "POST", headers }, (response) =>
      text(response).then(resolve, reject),
    )
      .once("error", reject)
      .end(body);
  });
}
