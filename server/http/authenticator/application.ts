import { applicationOf } from "../../authenticator/application.ts";
import { trustedFacets, trustedFacetsType } from "../../authenticator/uaf/facets.ts";
import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";
import { rejectWithoutKey } from "./caller.ts";

/** `GET /authenticator/hello`: whether a key is good. */
export const helloHandler: Handler = async (context) => {
  const { tenant } = context;
  return (
    (await rejectWithoutKey(context)) ?? json(200, { message: `Hello from ${tenant.config.service.name}` })
  );
};

/**
 * `GET /authenticator/facets`: who may act for the AppID (FIDO AppID and Facet Specification 1.1, section 3.1). Public,
 * like everything in it.
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
