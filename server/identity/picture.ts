import { and, eq } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import type { Config } from "../config/schema.ts";
import { type Jpeg, withoutMetadata } from "../lib/jpeg.ts";

const { userPictures, users } = schema;

/** Limit of an uploaded picture. Its text in base64url fits a request beside everything else. */
const MAX_PICTURE_BYTES = 24 * 1024;
export const MAX_PICTURE_CHARACTERS = (MAX_PICTURE_BYTES * 4) / 3;

/** Pixels of a side. */
const MIN_PICTURE_SIDE = 32;
const MAX_PICTURE_SIDE = 512;

/** Where uploaded pictures are served, below the address of the tenant. */
const PICTURES = "/users/pictures/";

/**
 * Reads an uploaded picture: a square baseline JPEG of 32 to 512 pixels. What it says beside its pixels is removed.
 *
 * @param text base64url
 * @returns null if it is no such picture
 */
export function readPicture(text: string): Jpeg | null {
  const picture = withoutMetadata(Buffer.from(text, "base64url"));
  if (!picture) return null;
  const { bytes, width, height } = picture;
  const fits = width === height && width >= MIN_PICTURE_SIDE && width <= MAX_PICTURE_SIDE;
  return fits && bytes.length <= MAX_PICTURE_BYTES ? picture : null;
}

/** `users.picture` for an uploaded picture: its path, which is never an address with a scheme. */
export function pathOfPicture(id: string): string {
  return `${PICTURES}${id}`;
}

/** Whether `users.picture` names an uploaded picture. */
export function isUploaded(picture: string | null): picture is string {
  return picture?.startsWith("/") ?? false;
}

/** The address of a picture for applications: that of a provider as it is, that of an uploaded one at this server. */
export function pictureAddress(
  { base_url }: Pick<Config, "base_url">,
  picture: string | null,
): string | null {
  return isUploaded(picture) ? `${base_url}${picture}` : picture;
}

/** Replaces the picture of an account by an uploaded one, which has a new address. */
export async function setUploadedPicture(
  tx: Transaction,
  tenantId: string,
  { userId, id, picture, now }: { userId: string; id: string; picture: Jpeg; now: Date },
): Promise<void> {
  const row = { id, data: picture.bytes, createdAt: now };
  await tx
    .insert(userPictures)
    .values({ tenantId, userId, ...row })
    .onConflictDoUpdate({ target: [userPictures.tenantId, userPictures.userId], set: row });
  await tx
    .update(users)
    .set({ picture: pathOfPicture(id), updatedAt: now })
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
}

/** Deletes the uploaded picture of an account, if there is one. `users.picture` is the caller's. */
export async function deleteUploadedPicture(
  tx: Transaction,
  tenantId: string,
  userId: string,
): Promise<void> {
  await tx
    .delete(userPictures)
    .where(and(eq(userPictures.tenantId, tenantId), eq(userPictures.userId, userId)));
}

/**
 * Whether an address is that of the picture that the user uploaded, as the operator was told it. A statement is made only if
 * it may be one.
 */
export async function isUploadedBy(
  db: ReadOnly,
  { id, config }: { id: string; config: Pick<Config, "base_url"> },
  userId: string,
  address: string | null | undefined,
): Promise<boolean> {
  if (!address?.startsWith(`${config.base_url}${PICTURES}`)) return false;
  const [found] = await db
    .select({ picture: users.picture })
    .from(users)
    .where(and(eq(users.tenantId, id), eq(users.id, userId)));
  return found !== undefined && pictureAddress(config, found.picture) === address;
}

/**
 * Finds an uploaded picture by its id.
 *
 * @returns JPEG, or null if the tenant has no such picture
 */
export async function findPicture(db: ReadOnly, tenantId: string, id: string): Promise<Buffer | null> {
  const [found] = await db
    .select({ data: userPictures.data })
    .from(userPictures)
    .where(and(eq(userPictures.tenantId, tenantId), eq(userPictures.id, id)));
  return found?.data ?? null;
}
