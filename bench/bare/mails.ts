import { createTransport, type Transporter } from "nodemailer";
import type { Bare } from "./settings.ts";
import { others } from "./statements.ts";

let transport: Transporter | undefined;

/** Sends a code and deletes its job, which another process would take over if this one were killed. */
export async function sendCode(
  bare: Bare,
  jobId: string,
  { to, code }: { to: string; code: string },
): Promise<void> {
  const withCode = (template: string) => template.replaceAll("{{code}}", code);
  transport ??= createTransport({ url: bare.smtp, pool: true, maxConnections: 5 });
  await transport.sendMail({
    from: "Bench <noreply@localhost.localdomain>",
    to,
    subject: withCode(bare.mail.subject),
    text: withCode(bare.mail.text),
    html: withCode(bare.mail.html),
  });
  await bare.query(others.jobDone, { job: jobId });
}
