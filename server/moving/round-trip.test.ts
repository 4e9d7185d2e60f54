import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutMetadata } from "../lib/jpeg.ts";
import { replaceRecoveryCodes, verifyRecoveryCode } from "../methods/recovery-code/recovery-codes.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { jpegPicture } from "../testing/jpeg-pictures.ts";
import { exportAll, importRecords } from "../testing/moving.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import { legacyUserHandle } from "../webauthn/user-handle.ts";
import type { UserRecord } from "./user-record.ts";

const runtime = await runtimeForTests({ STILE_PHONE_ENABLED: "true", STILE_PHONE_ALLOWED_COUNTRIES: "DE" });

const newTenant = () => createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

const authenticator = softwareAuthenticator();
const publicKeys = Array.from({ length: 3 }, () => {
  authenticator.create(
    {
      rp: { id: "localhost", name: "Elsewhere" },
      user: { id: Buffer.from(randomUUID()).toString("base64url"), name: "ada", displayName: "ada" },
      challenge: "AAAA",
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { residentKey: "required" },
    },
    { origin: "http://localhost:3000" },
  );
  return authenticator.credentials.at(-1)?.key.cose.toString("base64url") ?? "";
});

const bytes = (minLength: number, maxLength = minLength) => fc.uint8Array({ minLength, maxLength });
const base64url = (min: number, max: number) =>
  bytes(min, max).map((array) => Buffer.from(array).toString("base64url"));
const base64 = (size: number) =>
  bytes(size).map((array) => Buffer.from(array).toString("base64").replace(/=+$/, ""));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const moment = fc
  .date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString());

const characters = "abcdefghijklmnopqrstuvwxyz0123456789_";
const word = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength });

/** Text that PostgreSQL can store: no NUL, no lone surrogate. */
const text = (maxLength: number) =>
  fc
    .string({ unit: "binary", minLength: 1, maxLength })
    .map((value) => value.replaceAll("\0", "?"))
    .filter((value) => value.isWellFormed() && value.length <= maxLength);

const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).map(
  // PostgreSQL keeps no negative zero, and JavaScript no number beyond its precision.
  (value) => JSON.parse(JSON.stringify(value).replaceAll("\\u0000", "?").replaceAll("-0", "0")) as unknown,
);
const metadata = fc
  .dictionary(text(10), json, { maxKeys: 4 })
  .filter((value) => JSON.stringify(value).length < 2_000);

const argon2 = fc.tuple(fc.constantFrom("id", "i", "d"), base64(16), base64(32));
const hash = fc.oneof(
  argon2.map(([type, salt, key]) => `$argon2${type}$v=19$m=19456,t=2,p=1$${salt}$${key}`),
  fc
    .tuple(
      fc.constantFrom("a", "b", "y"),
      fc.string({ unit: fc.constantFrom(..."./ABCxyz019"), minLength: 53, maxLength: 53 }),
    )
    .map(([version, body]) => `$2${version}$10$${body}`),
  fc.tuple(base64(16), base64(32)).map(([salt, key]) => `$scrypt$ln=15,r=8,p=1$${salt}$${key}`),
  fc
    .tuple(base64(10), base64(64), base64(64))
    .map(([salt, signer, key]) => `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw,sk=${signer}$${salt}$${key}`),
  fc
    .tuple(fc.constantFrom("sha1", "sha256", "sha512"), base64(16), base64(32))
    .map(([digest, salt, key]) => `$pbkdf2-${digest}$i=1000$${salt}$${key}`),
);

const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const totp = fc.record({
  secret: fc.string({ unit: fc.constantFrom(...base32), minLength: 32, maxLength: 32 }),
  last_step: fc.nat(),
  created_at: moment,
});

const passkey = fc.record({
  public_key: fc.constantFrom(...publicKeys),
  user_handle: optional(base64url(1, 64)),
  sign_count: fc.integer({ min: 0, max: 0xffff_ffff }),
  aaguid: fc.uuid(),
  attestation_type: fc.constantFrom("none", "packed", "apple"),
  transports: fc.array(fc.constantFrom("internal", "hybrid", "usb"), { maxLength: 3 }),
  backup_eligible: fc.boolean(),
  backup_state: fc.boolean(),
  user_verified: fc.boolean(),
  mfa_only: fc.boolean(),
  name: optional(text(50)),
  last_used_at: optional(moment),
  created_at: moment,
});

const pictureFile = withoutMetadata(jpegPicture("square"))?.bytes.toString("base64url") ?? "";

const user = fc.record({
  id: fc.uuid(),
  name: optional(text(100)),
  given_name: optional(text(100)),
  family_name: optional(text(100)),
  picture: optional(fc.webUrl()),
  picture_file: optional(fc.constant(pictureFile)),
  emails: fc.array(fc.record({ verified_at: optional(moment), created_at: moment }), { maxLength: 3 }),
  username: optional(word(3, 12)),
  hasPhone: fc.boolean(),
  phone_number_verified_at: optional(moment),
  password_hash: optional(hash),
  password_set_at: moment,
  public_metadata: metadata,
  private_metadata: metadata,
  unsafe_metadata: metadata,
  passkeys: fc.array(passkey, { maxLength: 3 }),
  totp: optional(totp),
  identities: fc.array(
    fc.record({
      provider: fc.constantFrom("google", "custom_acme"),
      subject: text(30),
      email: optional(text(30)),
      created_at: moment,
    }),
    { maxLength: 3 },
  ),
  language: optional(fc.constantFrom("de", "pt-BR")),
  blocked_at: optional(moment),
  created_at: moment,
  updated_at: moment,
});

/** Users of which none has a key of another: each has its place in its keys. */
const someUsers = fc.array(user, { minLength: 1, maxLength: 12 }).map((drafts) =>
  drafts.map(({ hasPhone, ...draft }, place) => {
    const of = (index: number) => `${place}_${index}`;
    return {
      ...draft,
      picture: draft.picture_file === null ? draft.picture : null,
      id: `${draft.id.slice(0, -4)}${String(place).padStart(4, "0")}`,
      emails: draft.emails.map((email, index) => ({
        ...email,
        address: `a${of(index)}@example.com`,
        is_primary: index === 0,
        is_verified: email.verified_at !== null,
      })),
      username: draft.emails.length > 0 ? draft.username && `${draft.username}_${place}` : `user_${place}`,
      phone_number: hasPhone ? `+491511${String(place).padStart(7, "0")}` : null,
      phone_number_verified_at: hasPhone ? draft.phone_number_verified_at : null,
      password_set_at: draft.password_hash === null ? null : draft.password_set_at,
      passkeys: draft.passkeys.map((one, index) => ({
        ...one,
        id: Buffer.from(`id ${of(index)}`).toString("base64url"),
      })),
      identities: draft.identities.map((one, index) => ({ ...one, subject: `${of(index)}${one.subject}` })),
    };
  }),
);

/** Lists in one order, because an export has them by their times. */
const ordered = (records: readonly Partial<UserRecord>[]) =>
  records
    .map((record) => ({
      ...record,
      emails: record.emails?.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
      passkeys: record.passkeys?.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      identities: record.identities?.toSorted((a, b) => (a.subject < b.subject ? -1 : 1)),
    }))
    .toSorted((a, b) => ((a.id ?? "") < (b.id ?? "") ? -1 : 1));

describe("an export", () => {
  test("of imported users is these users, and its import the same again", async () => {
    await fc.assert(
      fc.asyncProperty(someUsers, async (records) => {
        const [first, second] = [await newTenant(), await newTenant()];
        expect(await importRecords(runtime, first, records)).toMatchObject({
          imported: records.length,
          refusals: [],
          omitted: {},
        });
        const exported = await exportAll(runtime, first);
        expect(ordered(exported)).toEqual(
          ordered(
            records.map(({ totp: secret, ...record }) => ({
              ...(record as unknown as UserRecord),
              passkeys: record.passkeys.map((one) => ({
                ...one,
                // A missing handle is the id of the user.
                user_handle: one.user_handle ?? legacyUserHandle(record.id).toString("base64url"),
              })) as unknown as UserRecord["passkeys"],
              recovery_codes: null,
              ...(secret ? { totp: secret } : {}),
            })),
          ),
        );
        expect(await importRecords(runtime, second, exported)).toMatchObject({ imported: records.length });
        expect(await exportAll(runtime, second)).toEqual(exported);
      }),
      { numRuns: 40 },
    );
  });

  test("brings recovery codes back to their tenant, and reports them elsewhere", async () => {
    const context = requestContext(runtime);
    const userId = randomUUID();
    await importRecords(runtime, runtime.tenant, [{ id: userId, emails: [{ address: "ada@example.com" }] }]);
    const { codes, write } = replaceRecoveryCodes(context, userId);
    await runtime.database.write.transaction(write);
    const exported = await exportAll(runtime, runtime.tenant);
    await runtime.database.write.$client.query("delete from users where id = $1", [userId]);
    expect(await importRecords(runtime, runtime.tenant, exported)).toMatchObject({
      imported: 1,
      omitted: {},
    });
    const [code = ""] = codes;
    expect(await verifyRecoveryCode(requestContext(runtime), { userId, code })).toMatchObject({ ok: true });
    const other = await newTenant();
    expect(await importRecords(runtime, other, exported)).toMatchObject({
      imported: 1,
      omitted: { "recovery_codes (of another tenant, user or secret key)": 1 },
    });
  });
});
