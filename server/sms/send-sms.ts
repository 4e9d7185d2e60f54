import { z } from "zod";
import type { Database } from "#db/client";
import { type Language, languageTags } from "#words/language-tags";
import type { Tenant } from "../config/tenant.ts";
import { countryOfNumber } from "../identity/phone/phone-number.ts";
import type { JobKind } from "../jobs/job-kind.ts";
import type { Vault } from "../keys/vault.ts";
import type { MessageRecords, PublishMessage } from "../messages/outcome.ts";
import { sealedCodes } from "../messages/sealed-codes.ts";
import { type Channel, sendMessage } from "../messages/send-message.ts";
import { createSmsTransport } from "./create-transport.ts";
import { SmsAttemptError, SmsRejection } from "./http-transport.ts";
import { type SmsContent, type SmsJob, smsPurposes } from "./sms-job.ts";
import { writeSms } from "./sms-writer.ts";

/** The SMS as stored in the job's row. The code is sealed; the only personal data is the number of its recipient. */
const storedSms = z.object({
  tenantId: z.uuid(),
  to: z.string().nullable(),
  language: z.enum(languageTags).catch("en"),
  withoutWebhooks: z.boolean(),
  sms: z.object({
    type: z.enum(smsPurposes),
    sealedCode: z.base64(),
    ttlSeconds: z.number(),
    validUntil: z.number(),
    host: z.string().nullable(),
  }),
});

type StoredSms = z.output<typeof storedSms>;

/** An SMS for the webhooks that are subscribed to `sms.send`. */
export interface PublishedSms {
  /** E.164. */
  to: string;
  language: Language;
  content: SmsContent;
  text: string;
  /** Seconds since 1970 until which its code is valid. */
  validUntil: number;
  /** Display name of the service. */
  service: string;
  /** Whether the service sends it too. */
  delivered: boolean;
}

/**
 * Attempts after which an SMS that may have been sent is not sent again: the interface of services has no key by which
 * they would recognize a repetition, and each is paid for.
 */
const MAX_UNCERTAIN_ATTEMPTS = 3;

/**
 * The job that sends one SMS in the name of its tenant, and emits its `sms.send` event: beside the SMS, or with
 * `sms_delivery.enabled` off instead of it.
 */
export function sendSms(options: {
  tenants: { byId(id: string): Promise<Tenant | null> };
  vault: Vault;
  publish: PublishMessage<PublishedSms>;
  records: MessageRecords<SmsJob>;
  database: Database;
}): JobKind<SmsJob> {
  const { vault, database } = options;
  const codes = sealedCodes(vault, "send_sms");

  const channel: Channel<SmsJob, StoredSms, PublishedSms> = {
    name: "sms",
    event: "sms.send",
    delivers: (config) => config.sms_delivery.enabled,
    lifetimeSeconds: ({ sms }) => sms.ttlSeconds,
    maxPauseSeconds: () => 30,

    store({ tenantId, to, language, sms, withoutWebhooks = false }, id): StoredSms {
      const { type, ttlSeconds, host } = sms;
      const sealedCode = codes.seal(sms.code, tenantId, id);
      const validUntil = Math.floor(Date.now() / 1000) + ttlSeconds;
      return {
        tenantId,
        to,
        language,
        withoutWebhooks,
        sms: { type, sealedCode, ttlSeconds, validUntil, host },
      };
    },

    read: (stored) => storedSms.safeParse(stored).data,
    typeOf: ({ sms }) => sms.type,

    prepare(tenant, { tenantId, to, language, sms }, { id, number, now }) {
      // The operator may have taken the country of a stored number from the list.
      if (!tenant.config.phone.allowed_countries.some((country) => country === countryOfNumber(to)))
        throw new SmsRejection("its country is not allowed", { concernsService: false });
      const { type, sealedCode, ttlSeconds, validUntil, host } = sms;
      const content = { type, code: codes.unseal(sealedCode, tenantId, id), ttlSeconds, host };
      const { service, words } = tenant.config;
      const text = writeSms(content, language, { service: service.name, words });
      const validSeconds = Math.max(1, Math.round(validUntil - now().getTime() / 1000));
      return {
        published: () => ({
          to,
          language,
          content,
          text,
          validUntil,
          service: service.name,
          delivered: tenant.config.sms_delivery.enabled,
        }),
        async send(signal) {
          try {
            return await createSmsTransport(tenant.config, database).send(
              { id, to, text, validSeconds },
              signal,
            );
          } catch (error) {
            if (!(error instanceof SmsAttemptError) || !error.mayBeSent || number < MAX_UNCERTAIN_ATTEMPTS)
              throw error;
            throw new SmsRejection(`it may have been sent, and is not tried again: ${error.code}`, {
              concernsService: true,
            });
          }
        },
        secrets: [content.code, to.slice(1)],
      };
    },

    isAboutServer: (error) => !(error instanceof SmsRejection) || error.concernsService,
  };
  return sendMessage(channel, options);
}
