import { nextHeavyRead } from "../../database/heavy-reads.ts";
import type { HandlerContext } from "../table/handler-context.ts";

/**
 * Answers with a file whose parts are read from the database one after the other. The next part is read when the client
 * has taken the one before.
 *
 * @param parts each costs one heavy read
 * @param what the export is of, for the log
 */
export function streamed(
  { runtime, client, request }: HandlerContext,
  parts: AsyncGenerator<string, void>,
  { what, file, mediaType }: { what: string; file: string; mediaType: string },
): Response {
  const encoder = new TextEncoder();
  const cancelled = new AbortController();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = () => parts.next();
          const { value, done } = await nextHeavyRead(runtime.database.read, next, cancelled.signal);
          if (done) return controller.close();
          controller.enqueue(encoder.encode(value));
        } catch (error) {
          if (cancelled.signal.aborted) return;
          // The status is sent, so that only the end of the connection tells of it.
          runtime.log.error({ err: error, request_id: client.requestId }, `an export of ${what} failed`);
          controller.error(error);
        }
      },
      async cancel() {
        cancelled.abort();
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(request.method === "HEAD" ? null : body, {
    headers: {
      "Content-Type": `${mediaType}; charset=utf-8`,
      "Content-Disposition": `attachment; filename="${file}"`,
    },
  });
}

/** Rows as lines of JSON, a part for each batch. */
export async function* linesOf<Row>(
  batches: AsyncGenerator<Row[], void>,
  line: (row: Row) => object,
): AsyncGenerator<string, void> {
  for await (const rows of batches) yield rows.map((row) => `${JSON.stringify(line(row))}\n`).join("");
}
