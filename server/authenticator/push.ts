import { createHmac } from "node:crypto";
import { z } from "zod";
import { type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { Vault } from "../keys/vault.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { PushJob } from "./push-job.ts";

const stored = z.object({
  tenantId: z.uuid(),
  requestId: z.string(),
  operation: z.string(),
  validUntil: z.iso.datetime(),
  /** JSON of the request's URL, which authorizes the answer, and the push tokens. */
  sealed: z.base64(),
});

const sealedPart = z.object({ url: z.string(), pushTokens: z.array(z.string()) });

/**
 * The job that sends a request to `authenticator.push_url`, the push service of an app: a POST of
 * `{requestId, operation, url, pushTokens, validUntil}`, signed as Standard Webhooks if `push_secret` is set. Any 2xx
 * status is success. Redirects are not followed, because the body authorizes its recipient to answer the request.
 */
export function pushAuthenticatorRequest(options: {
  tenants: Pick<Tenants, "byId">;
  vault: Vault;
}): JobKind<PushJob> {
  const { tenants, vault } = options;
  const sealContext = (tenantId: string, jobId: string) =>
    `job/push_authenticator_request/${tenantId}/${jobId}`;

  return {
    concurrency: 5,
    // A user is waiting.
    attemptSeconds: 10,
    lifetimeSeconds: ({ lifetimeSeconds }) => lifetimeSeconds,
    maxPauseSeconds: () => 10,

    store({ tenantId, requestId, operation, validUntil, url, pushTokens }, id) {
      const secret = Buffer.from(JSON.stringify({ url, pushTokens }));
      const sealed = vault.seal(secret, sealContext(tenantId, id)).toString("base64");
      return { tenantId, requestId, operation, validUntil, sealed } satisfies z.output<typeof stored>;
    },

    describe(row) {
      const { data } = stored.safeParse(row);
      return data ? { tenantId: data.tenantId, operation: data.operation } : {};
    },

    recipient: () => undefined,

    async run(row, { id, signal }) {
      const parsed = stored.safeParse(row);
      if (!parsed.success) throw new PermanentFailure("the stored request cannot be read");
      const { tenantId, requestId, operation, validUntil, sealed } = parsed.data;
      const tenant = await tenants.byId(tenantId);
      if (!tenant) throw new PermanentFailure("the tenant no longer exists");
      const { push_url, push_secret } = tenant.config.authenticator;
      if (!push_url) throw new PermanentFailure("authenticator.push_url is no longer set");
      const opened = vault.unseal(Buffer.from(sealed, "base64"), sealContext(tenantId, id)).toString();
      const { url, pushTokens } = sealedPart.parse(JSON.parse(opened));
      const body = JSON.stringify({ requestId, operation, url, pushTokens, validUntil });
      const response = await fetch(push_url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          ...(push_secret ? signatureHeaders(push_secret, id, body) : {}),
        },
        body,
        redirect: "manual",
        signal,
      });
      // The body is not used, and may be long.
      await response.body?.cancel();
      if (!response.ok) throw Object.assign(new Error("push service"), { responseCode: response.status });
      return [];
    },
  };
}

/**
 * Builds the headers of Standard Webhooks: an id that is the same in every attempt, the time in seconds, and `v1,` with
 * the HMAC-SHA-256 over `id.timestamp.body`.
 *
 * @param secret `whsec_` and base64, or any other text, which is the key itself
 */
export function signatureHeaders(
  secret: string,
  id: string,
  body: string,
  seconds = Math.floor(Date.now() / 1000),
): Record<string, string> {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${signature}`,
  };
}
