import { nextHeavyRead } from "../../database/heavy-reads.ts";
import type { HandlerContext } from "../table/handler-context.ts";

/**
 * Answers with lines of JSON, as an attachment. The next batch is read when the client has taken the one before, and when it
 * is its turn among heavy reads.
 *
 * @param batches rows as they are read
 * @param file its name; `line`: makes the object of a line
 */
export function jsonLines<Row>(
  context: HandlerContext,
  batches: AsyncGenerator<Row[], void>,
  { file, line }: { file: string; line: (row: Row) => object },
): Response {
  return new Response(context.request.method === "HEAD" ? null : linesOf(context, batches, { file, line }), {
    headers: {
      "Content-Type": "application/jsonl; charset=utf-8",
      "Content-Disposition": `attachment; filename="${file}"`,
    },
  });
}

function linesOf<Row>(
  { runtime, client }: HandlerContext,
  batches: AsyncGenerator<Row[], void>,
  { file, line }: { file: string; line: (row: Row) => object },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const cancelled = new AbortController();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await nextHeavyRead(
            runtime.database.read,
            () => batches.next(),
            cancelled.signal,
          );
          if (done) return controller.close();
          controller.enqueue(encoder.encode(value.map((row) => `${JSON.stringify(line(row))}\n`).join("")));
        } catch (error) {
          if (cancelled.signal.aborted) return;
          // The status is sent, so that only the end of the connection tells of it.
          runtime.log.error({ err: error, request_id: client.requestId, file }, "an export failed");
          controller.error(error);
        }
      },
      async cancel() {
        cancelled.abort();
        await batches.return();
      },
    },
    { highWaterMark: 0 },
  );
}
