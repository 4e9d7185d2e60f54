import { z } from "zod";
import type { Vault } from "../keys/vault.ts";
import type { CodeContent, MessageContent } from "./message.ts";

/** The members of a stored content in place of its code and its link, which are sealed. */
export const sealedCode = {
  sealedCode: z.base64(),
  sealedLink: z.base64().exactOptional(),
  ttlSeconds: z.number(),
  validUntil: z.number().default(0),
};

type SealedCode = z.output<z.ZodObject<typeof sealedCode>>;

/** A content in the row of a job. */
export type StoredContent<Content extends MessageContent> = Content extends CodeContent
  ? Omit<Content, keyof CodeContent> & SealedCode
  : Content;

/**
 * Seals the codes of contents, and unseals them. Each is bound to its row: it cannot be unsealed in another one.
 *
 * @param queue part of the context, so that a code of one kind of jobs cannot be unsealed in another
 */
export function contentSeals<Content extends MessageContent>(
  vault: Pick<Vault, "seal" | "unseal">,
  queue: string,
) {
  const context = (tenantId: string, jobId: string) => `job/${queue}/${tenantId}/${jobId}`;
  return {
    seal(content: Content, tenantId: string, jobId: string): StoredContent<Content> {
      if (!("code" in content)) return content as StoredContent<Content>;
      const { code, link, ...rest } = content as Content & CodeContent;
      const seal = (text: string) =>
        vault.seal(Buffer.from(text), context(tenantId, jobId)).toString("base64");
      const sealed = {
        sealedCode: seal(code),
        ...(link === undefined ? {} : { sealedLink: seal(link) }),
        validUntil: Math.floor(Date.now() / 1000) + rest.ttlSeconds,
      };
      return { ...rest, ...sealed } as unknown as StoredContent<Content>;
    },
    unseal(stored: StoredContent<Content>, tenantId: string, jobId: string): Content {
      if (!("sealedCode" in stored)) return stored as unknown as Content;
      const { sealedCode, sealedLink, validUntil: _, ...rest } = stored as unknown as SealedCode;
      const open = (sealed: string) =>
        vault.unseal(Buffer.from(sealed, "base64"), context(tenantId, jobId)).toString();
      const link = sealedLink === undefined ? {} : { link: open(sealedLink) };
      return { ...rest, code: open(sealedCode), ...link } as unknown as Content;
    },
  };
}
