/**
 * Next calls this once per process before it answers anything. Under `npm start` the runtime is there already;
 * under `next start` and on a serverless platform it is made here.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { bootInsideNext } = await import("#server/start/boot-inside-next");
  await bootInsideNext();
}
