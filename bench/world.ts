import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { SMTPServer } from "smtp-server";
import { makeCertificate } from "../server/lib/certificates.ts";
import { provider } from "./people.ts";

/** Addresses of the servers around the measured one. */
export interface WorldAddresses {
  smtp: string;
  /** Speaks TLS, as Stile demands of providers, with this certificate in PEM. */
  provider: string;
  certificate: string;
  /** Base of the addresses of webhooks; any path is accepted. */
  receivers: string;
  /** Takes what OpenTelemetry sends. */
  telemetry: string;
}

/** What surrounds the measured server, in the process of the benchmark. */
export interface World {
  addresses: WorldAddresses;
  /** Waits for the next mail to an address and returns its code. Call it before the mail is asked for. */
  nextCode(address: string): Promise<string>;
  /** Waits for so many deliveries of events of a user. */
  deliveries(userId: string, count: number): Promise<void>;
}

/** Starts a mail server, an OpenID Connect provider and a receiver of webhooks on free ports. */
export async function startWorld(): Promise<World> {
  const mails = new Map<string, (code: string) => void>();
  /** Deliveries by user: how many have arrived, and who waits for how many. */
  const arrivals = new Map<string, { arrived: number; awaited?: { count: number; done(): void } }>();
  const arrivalsOf = (userId: string) => {
    const known = arrivals.get(userId) ?? { arrived: 0 };
    arrivals.set(userId, known);
    return known;
  };
  const settle = (userId: string) => {
    const { arrived, awaited } = arrivalsOf(userId);
    if (!awaited || arrived < awaited.count) return;
    arrivals.delete(userId);
    awaited.done();
  };

  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    async onData(stream, { envelope }, accept) {
      const mail = await buffer(stream);
      accept();
      const code = /^Subject: (\d{6})/m.exec(mail.toString("latin1", 0, 2000))?.[1] ?? "";
      for (const { address } of envelope.rcptTo) {
        const waiting = mails.get(address);
        mails.delete(address);
        waiting?.(code);
      }
    },
  });
  smtp.on("error", () => {});
  smtp.listen(0, "127.0.0.1");
  await once(smtp.server, "listening");
  smtp.server.unref();

  const receivers = await serve(async (request, response) => {
    const { token = "" } = JSON.parse(await text(request)) as { token?: string };
    response.writeHead(204).end();
    const claims = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
    const [, userId = ""] = /"data":\{[^}]*?"(?:user_id|id)":"([^"]+)"/.exec(claims) ?? [];
    arrivalsOf(userId).arrived += 1;
    settle(userId);
  });

  return {
    addresses: {
      smtp: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
      ...(await startProvider()),
      receivers,
      telemetry: await serve(async (request, response) => {
        await buffer(request);
        response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
      }),
    },
    nextCode: (address) => new Promise((resolve) => mails.set(address, resolve)),
    deliveries: (userId, count) =>
      new Promise((done) => {
        arrivalsOf(userId).awaited = { count, done };
        settle(userId);
      }),
  };
}

/** The authorization code of a person at the provider: what its token says. */
export const authorizationCode = (claims: { sub: string; nonce: string | undefined }) =>
  Buffer.from(JSON.stringify(claims)).toString("base64url");

/** An OpenID Connect provider whose codes are made by `authorizationCode`, without a page of its own. */
async function startProvider(): Promise<{ provider: string; certificate: string }> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), alg: "ES256", use: "sig", kid: "bench" };
  const answers: Record<string, (form: URLSearchParams) => object | Promise<object>> = {
    "/.well-known/openid-configuration": () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    }),
    "/jwks": () => ({ keys: [jwk] }),
    "/token": async (form) => {
      const claims = JSON.parse(Buffer.from(form.get("code") ?? "", "base64url").toString()) as object;
      const idToken = await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "bench" })
        .setIssuer(issuer)
        .setAudience(provider.client)
        .setIssuedAt()
        .setExpirationTime("1m")
        .sign(privateKey);
      return { access_token: "bench", token_type: "Bearer", id_token: idToken };
    },
  };
  const { der, privateKey: key } = makeCertificate({
    subject: { O: "Bench" },
    extensions: [{ id: "2.5.29.17", value: LOOPBACK_NAMES }],
  });
  const certificate = `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
  const tls = { cert: certificate, key: String(key?.export({ format: "pem", type: "pkcs8" })) };
  const issuer: string = await serve(async (request, response) => {
    const answer = answers[(request.url ?? "").split("?")[0] ?? ""];
    if (!answer) return void response.writeHead(404).end();
    const body = JSON.stringify(await answer(new URLSearchParams(await text(request))));
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  }, tls);
  return { provider: issuer, certificate };
}

/** GeneralNames (RFC 5280, 4.2.1.6): the address 127.0.0.1. */
const LOOPBACK_NAMES = Buffer.from("300687047f000001", "hex");

async function serve(listener: RequestListener, tls?: { cert: string; key: string }): Promise<string> {
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return `${tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
