import type { Write } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { chooseAccount as ChooseAccount } from "./account-choice.ts";
import type { answerDevice as AnswerDevice, WaitingDevice } from "./device-codes.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider-messages.ts";
import type { OpenidProcess, TenantProvider } from "./tenant-provider.ts";
import type { WaitingAuthorization } from "./waiting-authorization.ts";

/** The most tenants whose provider a process keeps. One is made in milliseconds. */
const MAX_PROVIDERS = 200;

export type OpenidProviders = ReturnType<typeof createOpenidProviders>;

/** Creates the OpenID providers of a process, one for each tenant. Nothing is loaded before the first request. */
export function createOpenidProviders(runtime: OpenidProcess) {
  const made = new Map<Tenant, TenantProvider>();
  // A module that is imported again is looked up again, at each request.
  let loading: Promise<typeof import("./tenant-provider.ts")> | undefined;
  return {
    /** Reads a request that waits for the consent of a user; null if it does not. */
    async waitingAuthorization(
      tenant: Tenant,
      request: string,
      userId: string,
    ): Promise<WaitingAuthorization | null> {
      if (!tenant.config.openid.enabled) return null;
      const { findWaitingAuthorization } = await import("./waiting-request.ts");
      return findWaitingAuthorization({ runtime, tenant }, request, userId);
    },
    /** The origins of the redirect addresses of a client that is not the operator's own; none for one that is. */
    async originsOfClient(tenant: Tenant, clientId: string): Promise<string[]> {
      const { originsOfClient } = await import("./origins-of-client.ts");
      return originsOfClient({ runtime, tenant }, clientId);
    },
    /** Finds the device that shows a code which a user has entered; null if none does. */
    async waitingDevice(tenant: Tenant, code: string, userId: string): Promise<WaitingDevice | null> {
      const { findWaitingDevice } = await import("./device-codes.ts");
      return findWaitingDevice({ runtime, tenant }, code, userId);
    },
    /** Prepares the write of a user's answer to a device; null if it does not wait any more. */
    async answerDevice(...answer: Parameters<typeof AnswerDevice>): Promise<Write | null> {
      const { answerDevice } = await import("./device-codes.ts");
      return answerDevice(...answer);
    },
    /** Whether a request waits for its user to choose an account. */
    async awaitsChoice(tenant: Tenant, request: string): Promise<boolean> {
      if (!tenant.config.openid.enabled) return false;
      const { awaitsChoice } = await import("./account-choice.ts");
      return awaitsChoice({ runtime, tenant }, request);
    },
    /** Prepares the write by which a user goes on with the account that is signed in; null if no request waits for that. */
    async chooseAccount(...choice: Parameters<typeof ChooseAccount>): Promise<Write | null> {
      if (!choice[0].tenant.config.openid.enabled) return null;
      const { chooseAccount } = await import("./account-choice.ts");
      return chooseAccount(...choice);
    },
    /** Answers a request to the provider of a tenant. A tenant whose configuration has changed is another object. */
    async answer(tenant: Tenant, request: ProviderRequest): Promise<ProviderAnswer> {
      loading ??= import("./tenant-provider.ts");
      const { makeTenantProvider, signingKeysOf } = await loading;
      const keys = await signingKeysOf({ runtime, tenant });
      const known = made.get(tenant);
      const current = known?.hasKeys(keys) ? known : makeTenantProvider({ runtime, tenant }, keys);
      // The one that was used last is evicted last.
      made.delete(tenant);
      const [oldest] = made.size >= MAX_PROVIDERS ? made.keys() : [];
      if (oldest) made.delete(oldest);
      made.set(tenant, current);
      return current.answer(request);
    },
  };
}

/** What answers for the OpenID providers of tenants. */
export interface OpenidAnswers {
  openid: OpenidProviders;
}
