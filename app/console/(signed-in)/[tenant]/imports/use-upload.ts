"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { useTenant } from "../../../_shell/me.tsx";

/** Characters of a piece: six times as many bytes fit into one call of the console. */
const PIECE_CHARACTERS = 150_000;

/** A file that is being sent. */
interface Upload {
  file: File;
  /** Pieces that were taken, and all of them. */
  done: number;
  all: number;
  /** Why it does not go on; null while it does. */
  error: { message: string } | null;
}

/**
 * Sends a file in pieces and has it checked. A piece that was taken before is taken again without effect, so that a file whose
 * upload was cut off is sent from its beginning, and a changed one is noticed.
 *
 * @param onChecked is called with the import once its check is started
 */
export function useUpload(onChecked: (id: string) => void) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const put = useMutation(trpc.putImportPiece.mutationOptions());
  const start = useMutation(trpc.startImport.mutationOptions());
  const [upload, setUpload] = useState<Upload | null>(null);

  /** @param open makes the import, or names the one that is to be continued */
  async function send(file: File, open: () => Promise<string>): Promise<void> {
    setUpload({ file, done: 0, all: 1, error: null });
    try {
      const pieces = piecesOf(await file.text());
      const id = await open();
      for (const [index, data] of pieces.entries()) {
        setUpload({ file, done: index, all: pieces.length, error: null });
        await put.mutateAsync({ tenant, id, number: String(index + 1), body: { data } });
      }
      await start.mutateAsync({ tenant, id, body: { check: true, pieces: pieces.length } });
      setUpload(null);
      onChecked(id);
    } catch (error) {
      setUpload((at) => at && { ...at, error: error instanceof Error ? error : new Error(String(error)) });
    }
    await queries.invalidateQueries();
  }

  return { upload, send };
}

/** Cuts a text into pieces, between whole characters. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = Math.min(text.length, from + PIECE_CHARACTERS);
    const cutsPair = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
    const to = cutsPair ? end - 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
