import { z } from "zod";
import { type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { Vault } from "../keys/vault.ts";
import { languages } from "../lib/languages.ts";
import type { Job } from "../runtime.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { NoticeMail, PasscodeMail } from "./mail-job.ts";
import type { TenantMail } from "./tenant-mail.ts";

type SendMail = Extract<Job, { name: "send_mail" }>;

const passcodeMails = ["login", "recovery", "email_verification"] as const satisfies PasscodeMail[];
const noticeMails = ["email_login_attempted", "email_registration_attempted"] as const satisfies NoticeMail[];
const addressMails = ["email_create", "email_delete", "primary_email_update"] as const;
const factorMails = ["mfa_create", "mfa_delete"] as const;
const changeMails = [
  "password_update",
  "password_delete",
  "passkey_create",
  "passkey_delete",
  "identity_create",
  "recovery_code_use",
] as const;

/** A mail as it lies in the job's row. The code is sealed; everything else is addresses of its reader. */
const storedMail = z.object({
  tenantId: z.uuid(),
  to: z.string().nullable(),
  language: z.enum(languages).catch("en"),
  mail: z.discriminatedUnion("type", [
    z.object({ type: z.enum(passcodeMails), sealedCode: z.base64(), ttlSeconds: z.number() }),
    z.object({ type: z.enum(noticeMails) }),
    z.object({ type: z.enum(addressMails), address: z.string() }),
    z.object({
      type: z.enum(factorMails),
      factor: z.enum(["totp", "security_key", "authenticator", "recovery_codes"]).exactOptional(),
    }),
    z.object({ type: z.enum(changeMails) }),
  ]),
});

type StoredMail = z.output<typeof storedMail>;

/** How long a mail without a code is worth sending, in seconds. */
const NOTICE_LIFETIME = 86_400;

/** The job that sends one mail, in its tenant's name. */
export function sendMail(options: {
  tenants: Pick<Tenants, "byId">;
  vault: Vault;
  mail: TenantMail;
}): JobKind<SendMail> {
  const { tenants, vault, mail: tenantMail } = options;
  // Bound to its row: a sealed code that is copied into another row does not open.
  const sealContext = (tenantId: string, jobId: string) => `job/send_mail/${tenantId}/${jobId}`;

  return {
    // As many as a transport keeps connections.
    concurrency: 5,
    lifetimeSeconds: ({ mail }) => ("code" in mail ? mail.ttlSeconds : NOTICE_LIFETIME),
    longestPauseSeconds: ({ mail }) => ("code" in mail ? 30 : 3_600),

    store({ tenantId, to, language, mail }, id): StoredMail {
      if (!("code" in mail)) return { tenantId, to, language, mail };
      const sealedCode = vault.seal(Buffer.from(mail.code), sealContext(tenantId, id)).toString("base64");
      return { tenantId, to, language, mail: { type: mail.type, sealedCode, ttlSeconds: mail.ttlSeconds } };
    },

    describe(stored) {
      const { data } = storedMail.safeParse(stored);
      return data ? { mail: data.mail.type, language: data.language, tenantId: data.tenantId } : {};
    },

    recipient: (stored) => storedMail.safeParse(stored).data?.to ?? undefined,

    async run(stored, { id, signal }) {
      const parsed = storedMail.safeParse(stored);
      if (!parsed.success) throw new PermanentFailure("the stored mail cannot be read");
      const { tenantId, to, language, mail } = parsed.data;
      if (to === null) return;
      const tenant = await tenants.byId(tenantId);
      if (!tenant) throw new PermanentFailure("the tenant is gone");
      const { write, transport } = tenantMail.of(tenant);
      const letter =
        "sealedCode" in mail
          ? write(
              {
                type: mail.type,
                code: vault
                  .unseal(Buffer.from(mail.sealedCode, "base64"), sealContext(tenantId, id))
                  .toString(),
                ttlSeconds: mail.ttlSeconds,
              },
              language,
            )
          : write(mail, language);
      await transport.send({ id, to, ...letter }, signal);
    },
  };
}
