import { z } from "zod";
import type { Database } from "#db/client";
import { countryOfNumber } from "../identity/phone/phone-number.ts";
import type { JobKind } from "../jobs/job-kind.ts";
import { type SendingOptions, sendMessage } from "../messages/send-message.ts";
import { sealedCode } from "../messages/stored-content.ts";
import { createSmsTransport } from "./create-transport.ts";
import { SmsAttemptError, SmsRejection } from "./http-transport.ts";
import { type SmsContent, type SmsJob, smsPurposes } from "./sms-job.ts";
import { writeSms } from "./sms-writer.ts";

/** An SMS as stored in the job's row. The only personal data in the clear is the number of its recipient. */
const storedSms = z.object({ type: z.enum(smsPurposes), host: z.string().nullable(), ...sealedCode });

/**
 * Attempts after which an SMS that may have been sent is not sent again: the interface of services has no key by which
 * they would recognize a repetition, and each is paid for.
 */
const MAX_UNCERTAIN_ATTEMPTS = 3;

/** The job that sends SMS. */
export function sendSms(
  options: SendingOptions<"sms", SmsContent, string> & { database: Database },
): JobKind<SmsJob> {
  return sendMessage(
    {
      name: "sms",
      queue: "send_sms",
      concurrency: 5,
      stored: storedSms,

      render({ config }, { to, language, content }) {
        // The operator may have taken the country of a stored number from the list.
        if (!config.phone.allowed_countries.some((country) => country === countryOfNumber(to)))
          throw new SmsRejection("its country is not allowed", { concernsService: false });
        return writeSms(content, language, { service: config.service.name, words: config.words });
      },

      async send({ config }, text, { to, validUntil }, { id, number, now, signal }) {
        const validSeconds = Math.max(1, Math.round(validUntil - now().getTime() / 1000));
        try {
          const transport = createSmsTransport(config, options.database);
          return await transport.send({ id, to, text, validSeconds }, signal);
        } catch (error) {
          if (!(error instanceof SmsAttemptError) || !error.mayBeSent || number < MAX_UNCERTAIN_ATTEMPTS)
            throw error;
          throw new SmsRejection(`it may have been sent, and is not tried again: ${error.code}`, {
            concernsService: true,
          });
        }
      },

      secretsOf: ({ to }) => [to.slice(1)],

      isAboutServer: (error) => !(error instanceof SmsRejection) || error.concernsService,
    },
    options,
  );
}
