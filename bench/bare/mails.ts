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
  transport ??= createTransport({ url: bare.smtp, pool: true, maxConnections: 5 });
  await transport.sendMail({
    from: "Bench <noreply@localhost.localdomain>",
    to,
    subject: `${code} is your sign-in code`,
    text: `${code}\n`,
    html: `<p>${code}</p>`,
  });
  await bare.query("job_done", others.jobDone, [jobId]);
}
