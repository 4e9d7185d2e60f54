import { openDatabase } from "#db/client";
import { testJobs } from "./jobs.ts";

/**
 * A process for tests to kill: enqueues twenty mails in twenty transactions, of which it rolls back every other one,
 * prints `committed`, and waits. The third parameter decides whether it also sends.
 *
 *     jobs-process.ts <database url> <smtp url> <worker: true or false>
 */
const [url = "", smtpUrl = "", worker] = process.argv.slice(2);
const database = openDatabase(url, 3, () => {});
const jobs = testJobs({ database }, { SMTP_URL: smtpUrl });
await jobs.start({ worker: worker === "true" });

for (let number = 0; number < 20; number += 1) {
  const committed = number % 2 === 0;
  await database.write
    .transaction(async (tx) => {
      const job = {
        name: "send_mail",
        tenantId: "00000000-0000-4000-8000-000000000001",
        to: `${committed ? "committed" : "rolled-back"}-${number}@example.com`,
        language: "en",
        mail: { type: "login", code: "482913", ttlSeconds: 300 },
      } as const;
      await jobs.enqueue(tx, job, null);
      if (!committed) throw new Error("rolled back");
    })
    .catch((error: Error) => {
      if (error.message !== "rolled back") throw error;
    });
}
jobs.wake([{ name: "send_mail" }]);
process.stdout.write("committed\n");
setInterval(() => {}, 60_000);
