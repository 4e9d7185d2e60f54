import { readNow } from "#db/clock";
import type { Config } from "../../config/schema.ts";
import { requestSeconds } from "../../thirdparty/authorization-requests.ts";
import { parseReturnAddress, withError } from "../../thirdparty/redirect-urls.ts";
import { openSamlRequest, samlDefaultAddress } from "../../thirdparty/saml/authn-request.ts";
import { settingsForDomain } from "../../thirdparty/saml/identity-providers.ts";
import { samlKey } from "../../thirdparty/saml/saml-keys.ts";
import { serviceProviderMetadata } from "../../thirdparty/saml/service-provider-metadata.ts";
import { ThirdPartyError } from "../../thirdparty/third-party-error.ts";
import { thirdPartyStateCookie } from "../cookies.ts";
import type { Handler } from "../handler-context.ts";
import { plainError, type Reply, redirect } from "../reply.ts";
import { failureOf, logFailure, redirectWithError } from "./provider-return.ts";

/** The addresses of SAML 2.0, beside the one where answers come in; see `saml-callback.ts`. */

/** What every address of SAML answers while it is switched off. */
export function samlIsOff({ saml }: Config): Reply | null {
  return saml.enabled ? null : plainError(403, "SAML is not enabled here (saml.enabled).");
}

/**
 * `GET /saml/metadata?domain=`: what the provider of that mail domain has to know of us. With `cert_only`, the
 * certificate of the key that signs our requests alone, or, with `cert_only=encryption`, of the one to encrypt for.
 */
export const samlMetadataHandler: Handler = async ({ runtime, tenant, url }) => {
  const off = samlIsOff(tenant.config);
  if (off) return off;
  const domains = url.searchParams.getAll("domain");
  if (domains.length !== 1 || !settingsForDomain(tenant.config, domains[0] ?? ""))
    return plainError(404, "No SAML provider has this domain.");
  const signing = await samlKey({ runtime, tenant }, "saml_signing");
  const encryption = await samlKey({ runtime, tenant }, "saml_encryption");
  const wanted = url.searchParams.get("cert_only") ?? "false";
  if (wanted === "false")
    return file(
      serviceProviderMetadata(tenant.config, { signing, encryption }),
      "application/samlmetadata+xml; charset=utf-8",
      "metadata.xml",
    );
  const { certificate } = wanted === "encryption" ? encryption : signing;
  return file(certificate, "application/x-pem-file", "service-provider.pem");
};

/**
 * `GET /saml/auth?domain=&redirect_to=`: sends a person to the provider of a mail domain. No flow waits for them: what
 * they bring back to `redirect_to` is for one that begins with it, at `POST /token_exchange`.
 */
export const samlAuthHandler: Handler = async (context) => {
  const { runtime, tenant, client, request, url } = context;
  const { config } = tenant;
  const off = samlIsOff(config);
  if (off) return off;
  // Previews of links ask like this, and must not begin anything.
  if (request.method === "HEAD") return { status: 204 };
  // As a picture of any page it would cost its visitors their starts, and the cookie of a journey that is under way.
  if ((request.headers.get("sec-fetch-dest") ?? "document") !== "document")
    return plainError(403, "A browser has to be sent here itself.");
  const target = returnAddress(url.searchParams, config);
  if (!target)
    return redirectWithError(
      context,
      new ThirdPartyError("invalid_request", "redirect_to is not an allowed address.", "redirect_to"),
    );
  const rate = await runtime.rates.consume("flow_start", `${tenant.id}/${client.source}`);
  if (!rate.ok) {
    const description = "Too many sign-ins were begun. Wait a while and try again.";
    return redirect(303, withError(target, "rate_limit_exceeded", description), {
      headers: { "Retry-After": String(rate.retryAfterSeconds) },
    });
  }
  const domains = url.searchParams.getAll("domain");
  const settings = domains.length === 1 ? settingsForDomain(config, domains[0] ?? "") : null;
  if (!settings)
    return redirect(303, withError(target, "invalid_request", "No SAML provider has this domain."));
  try {
    const now = await readNow(runtime.database.read, runtime.platform.clockShift());
    const { redirectUrl, state, write } = await openSamlRequest({ runtime, tenant, now }, settings, {
      flowId: null,
      redirectTo: target.href,
    });
    await runtime.database.write.transaction(write);
    return redirect(307, redirectUrl, { cookies: [thirdPartyStateCookie(config, state, requestSeconds)] });
  } catch (error) {
    const failure = failureOf(error);
    logFailure(context, settings.name, failure);
    return redirect(303, withError(target, failure.code, failure.message));
  }
};

/** Where people may come back to from SAML providers, beside our own pages. */
export function samlReturnAddresses({ saml, cors }: Config): string[] {
  const { allowed_redirect_urls, default_redirect_url } = saml;
  // A page that may use this service may have its people back; see `samlReturnAddress`.
  const origins = cors.allow_origins.map((origin) => `${origin}/`);
  return [...allowed_redirect_urls, ...origins, ...(default_redirect_url ? [default_redirect_url] : [])];
}

function returnAddress(query: URLSearchParams, config: Config): URL | null {
  const asked = query.getAll("redirect_to");
  if (asked.length > 1) return null;
  return parseReturnAddress(asked[0] ?? samlDefaultAddress(config), config, samlReturnAddresses(config));
}

function file(body: string, contentType: string, name: string): Reply {
  return {
    status: 200,
    body,
    headers: { "Content-Type": contentType, "Content-Disposition": `attachment; filename="${name}"` },
  };
}
