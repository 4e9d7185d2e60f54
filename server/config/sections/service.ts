import { z } from "zod";
import { MAX_SERVICE_NAME_CHARACTERS, serviceNameFault } from "../service-name.ts";
import { type BoundMark, flag, section } from "./leaves.ts";

/** The service as its users know it. */
export const service = section({
  name: z
    .string()
    .superRefine((value, context) => {
      const fault = serviceNameFault(value);
      const params: BoundMark = { bound: true };
      if (fault !== null) context.addIssue({ code: "custom", message: fault, params });
    })
    .meta({ minLength: 1, maxLength: MAX_SERVICE_NAME_CHARACTERS })
    .default("Stile")
    .describe(
      "Name of the service in pages, mails and authenticator apps: one line without anything that mail programs turn into a link.",
    ),
  name_pinned: flag(false).describe(
    "Whether only the operator changes service.name: tenants can then set neither it nor their name.",
  ),
});
