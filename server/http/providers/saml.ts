import type { Config } from "../../config/schema.ts";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { THIRD_PARTY_REQUEST_SECONDS } from "../../thirdparty/authorization-requests.ts";
import { parseReturnUrl, withError } from "../../thirdparty/redirect-urls.ts";
import {
  beginSamlSignOn,
  samlDefaultReturnUrl,
  samlReturnAddresses,
} from "../../thirdparty/saml/authn-request.ts";
import { settingsForDomain } from "../../thirdparty/saml/identity-providers.ts";
import { samlKey } from "../../thirdparty/saml/saml-keys.ts";
import { serviceProviderMetadata } from "../../thirdparty/saml/service-provider-metadata.ts";
import { logSignInFailure } from "../../thirdparty/sign-in-failure.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { thirdPartyStateCookie } from "../request/cookies.ts";
import type { Handler } from "../table/handler-context.ts";
import { redirectWithError, toThirdPartyError } from "./provider-return.ts";

/** SAML 2.0: metadata and the authentication request. `saml-callback.ts` receives the response. */

/** @returns the error of every SAML address while SAML is disabled; null while it is enabled */
export function samlDisabledError({ saml }: Config): Reply | null {
  return saml.enabled ? null : plainError(403, "SAML is not enabled (saml.enabled).");
}

/**
 * `GET /saml/metadata?domain=`: the service provider metadata for the identity provider of a mail domain. With
 * `cert_only`, only the certificate that verifies our requests; with `cert_only=encryption`, only the certificate to
 * encrypt for.
 */
export const samlMetadataHandler: Handler = async ({ runtime, tenant, url }) => {
  const disabled = samlDisabledError(tenant.config);
  if (disabled) return disabled;
  const domains = url.searchParams.getAll("domain");
  const settings = domains.length === 1 ? settingsForDomain(tenant.config, domains[0] ?? "") : null;
  if (!settings) return plainError(404, "No SAML provider is configured for this domain.");
  const certOnly = url.searchParams.get("cert_only") ?? "false";
  const wantsEncryption = tenant.config.saml.options.encrypt_assertions;
  if (certOnly === "encryption" && !wantsEncryption)
    return plainError(404, "No encryption is wanted (saml.options.encrypt_assertions).");
  const signing = await samlKey({ runtime, tenant }, "saml_signing");
  const encryption = wantsEncryption ? await samlKey({ runtime, tenant }, "saml_encryption") : null;
  if (certOnly === "false")
    return attachment(
      serviceProviderMetadata(tenant.config, { signing, encryption }, settings),
      "application/samlmetadata+xml; charset=utf-8",
      "metadata.xml",
    );
  const { certificate } = certOnly === "encryption" && encryption ? encryption : signing;
  return attachment(certificate, "application/x-pem-file", "service-provider.pem");
};

/**
 * `GET /saml/auth?domain=&redirect_to=`: redirects to the identity provider of a mail domain. No flow waits for the
 * user: the token that they bring to `redirect_to` starts one at `POST /token_exchange`.
 */
export const samlAuthHandler: Handler = async (context) => {
  const { runtime, tenant, client, request, url } = context;
  const { config } = tenant;
  const disabled = samlDisabledError(config);
  if (disabled) return disabled;
  // Link previews send HEAD, and must not start a sign-in.
  if (request.method === "HEAD") return { status: 204 };
  // Embedded as an image, this address would use up a visitor's rate and replace the cookie of a running sign-in.
  if ((request.headers.get("sec-fetch-dest") ?? "document") !== "document")
    return plainError(403, "Only top-level navigations are allowed.");
  const target = returnAddress(url.searchParams, config);
  if (!target)
    return redirectWithError(
      context,
      new ThirdPartyError("invalid_request", "redirect_to is not an allowed address.", "redirect_to"),
    );
  const rate = await runtime.rates.consume(tenant.id, "flow_start", client.source);
  if (!rate.ok) {
    const description = "Too many sign-ins were started. Wait a while and try again.";
    return redirect(303, withError(target, "rate_limit_exceeded", description), {
      headers: { "Retry-After": String(rate.retryAfterSeconds) },
    });
  }
  const domains = url.searchParams.getAll("domain");
  const settings = domains.length === 1 ? settingsForDomain(config, domains[0] ?? "") : null;
  if (!settings)
    return redirect(
      303,
      withError(target, "invalid_request", "No SAML provider is configured for this domain."),
    );
  try {
    const { redirectUrl, state } = await beginSamlSignOn({ runtime, tenant }, settings, target.href);
    return redirect(307, redirectUrl, {
      cookies: [thirdPartyStateCookie(config, state, THIRD_PARTY_REQUEST_SECONDS)],
    });
  } catch (cause) {
    const error = toThirdPartyError(cause);
    logSignInFailure(context, settings.name, error);
    return redirect(303, withError(target, error.code, error.message));
  }
};

function returnAddress(query: URLSearchParams, config: Config): URL | null {
  const requested = query.getAll("redirect_to");
  if (requested.length > 1) return null;
  return parseReturnUrl(requested[0] ?? samlDefaultReturnUrl(config), config, samlReturnAddresses(config));
}

function attachment(body: string, contentType: string, name: string): Reply {
  return {
    status: 200,
    body,
    headers: { "Content-Type": contentType, "Content-Disposition": `attachment; filename="${name}"` },
  };
}
