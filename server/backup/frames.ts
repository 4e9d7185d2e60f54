import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { sha256 } from "../lib/sha256.ts";
import { BackupError } from "./backup-error.ts";
import type { ByteReader } from "./byte-reader.ts";

/**
 * Frames of a backup (decision 94): a word with the length of the body and whether it is the last, the body, and its check.
 * The check of a file without a key is a chain of SHA-256: it finds damage, not forgery. With a key each frame is sealed by
 * AES-256-GCM, with a nonce of its position and of whether it is the last (STREAM, Hoang et al. 2015), so that frames cannot
 * be changed, left out, exchanged or cut off.
 */

/** The longest content of a frame, in bytes. */
export const MAX_CONTENT_BYTES = 524_288;

/** What compression makes of content that cannot be compressed is a little longer. */
const MAX_BODY_BYTES = MAX_CONTENT_BYTES + 1_024;

const LAST = 0x8000_0000;

const DIGEST_BYTES = 32;
const TAG_BYTES = 16;

/** Rows of a database become some four times shorter at a speed near that of a disk. */
const COMPRESSION_LEVEL = 4;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Checks the bodies of frames in their order. */
interface Check {
  bytes: number;
  /** Returns the body as it is stored, and its check. */
  close(word: Buffer, isLast: boolean, body: Buffer): [Buffer, Buffer];
  /** Returns the body; null if its check fails. */
  open(word: Buffer, isLast: boolean, body: Buffer, check: Buffer): Buffer | null;
}

function digestCheck(head: Buffer): Check {
  let previous = sha256(head);
  const next = (word: Buffer, body: Buffer) => sha256(Buffer.concat([previous, word, body]));
  return {
    bytes: DIGEST_BYTES,
    close(word, _, body) {
      previous = next(word, body);
      return [body, previous];
    },
    open(word, _, body, check) {
      previous = next(word, body);
      return previous.equals(check) ? body : null;
    },
  };
}

function sealingCheck(key: Buffer): Check {
  let position = 0;
  const nonceOf = (isLast: boolean) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(position, 7);
    nonce[11] = isLast ? 1 : 0;
    position += 1;
    return nonce;
  };
  return {
    bytes: TAG_BYTES,
    close(word, isLast, body) {
      const cipher = createCipheriv("aes-256-gcm", key, nonceOf(isLast)).setAAD(word);
      const sealed = Buffer.concat([cipher.update(body), cipher.final()]);
      return [sealed, cipher.getAuthTag()];
    },
    open(word, isLast, body, tag) {
      const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(isLast), { authTagLength: TAG_BYTES });
      decipher.setAAD(word).setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]);
      } catch {
        return null;
      }
    },
  };
}

/** How a file is encrypted. */
export interface Encryption {
  /** 32 random bytes, base64. */
  salt: string;
  /** Tells another key from damage: derived from the key beside that of the frames, base64. */
  key_check: string;
}

/** Returns how a file is encrypted under a secret. */
export const encryptionFor = (secret: string, salt: Buffer): Encryption => ({
  salt: salt.toString("base64"),
  key_check: derive(secret, salt, "stile backup: which key").toString("base64"),
});

/** Whether a file is encrypted under a secret. */
export function isKeyOf({ salt, key_check }: Encryption, secret: string): boolean {
  return encryptionFor(secret, Buffer.from(salt, "base64")).key_check === key_check;
}

/** HKDF (RFC 5869) with SHA-256. */
function derive(secret: string, salt: Buffer, purpose: string | Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, purpose, 32));
}

/**
 * How the frames of a file are checked.
 *
 * @param head what stands before the frames: it is checked with each of them
 */
function checkOf(head: Buffer, encryption: Encryption | null, secret: string | undefined): Check {
  if (encryption === null || secret === undefined) return digestCheck(head);
  const purpose = Buffer.concat([Buffer.from("stile backup: frames of "), sha256(head)]);
  return sealingCheck(derive(secret, Buffer.from(encryption.salt, "base64"), purpose));
}

/** Writes the frames of a file. Parameters as of `checkOf`. */
export function frameWriter(...file: Parameters<typeof checkOf>) {
  const check = checkOf(...file);
  /** Returns the bytes of the next frame. */
  return async (content: Buffer, isLast: boolean): Promise<Buffer> => {
    const compressed = await deflate(content, { level: COMPRESSION_LEVEL });
    const word = Buffer.alloc(4);
    word.writeUInt32BE((compressed.length | (isLast ? LAST : 0)) >>> 0);
    return Buffer.concat([word, ...check.close(word, isLast, compressed)]);
  };
}

const DAMAGED = "the file is damaged";

/**
 * Reads the frames of a file up to its end. Parameters as of `checkOf`.
 *
 * @throws BackupError at the first frame that is not as it was written, if the last one is missing, and if anything follows it
 */
export async function* readFrames(
  source: ByteReader,
  ...file: Parameters<typeof checkOf>
): AsyncGenerator<{ content: Buffer; isLast: boolean }> {
  const check = checkOf(...file);
  for (;;) {
    const word = await source.read(4);
    const isLast = word.readUInt32BE() >= LAST;
    const length = word.readUInt32BE() % LAST;
    if (length > MAX_BODY_BYTES) throw new BackupError(DAMAGED);
    const stored = await source.read(length);
    const body = check.open(word, isLast, stored, await source.read(check.bytes));
    if (body === null) throw new BackupError(DAMAGED);
    const content = await inflate(body, { maxOutputLength: MAX_CONTENT_BYTES }).catch(() => {
      throw new BackupError(DAMAGED);
    });
    if (isLast && !(await source.isAtEnd())) throw new BackupError(DAMAGED);
    yield { content, isLast };
    if (isLast) return;
  }
}
