/**
 * Next calls this once per process before the first request. Under `npm start` the runtime exists already; under
 * `next start` and on serverless platforms it is made here.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { bootInsideNext } = await import("#server/start/boot-inside-next");
  await bootInsideNext();
}
