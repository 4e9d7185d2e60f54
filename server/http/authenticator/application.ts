import { applicationOf } from "../../authenticator/application.ts";
import { trustedFacets, trustedFacetsType } from "../../authenticator/uaf/facets.ts";
import { json } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";
import { requireKey } from "./caller.ts";

/** `GET /authenticator/hello`: whether an API key is valid. */
export const helloHandler = requireKey(({ tenant }) =>
  json(200, { message: `Hello from ${tenant.config.service.name}` }),
);

/**
 * `GET /authenticator/facets`: the trusted facets of the AppID (FIDO AppID and Facet Specification 1.1, section 3.1).
 * Public.
 */
export const facetsHandler: Handler = ({ tenant }) =>
  json(200, trustedFacets(applicationOf(tenant.config).facets), {
    headers: {
      "Content-Type": trustedFacetsType,
      "Cache-Control": "public, max-age=600",
      "Access-Control-Allow-Origin": "*",
      "Cross-Origin-Resource-Policy": "cross-origin",
    },
  });
