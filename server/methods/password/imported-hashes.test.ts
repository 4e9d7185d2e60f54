import { pbkdf2Sync, scryptSync } from "node:crypto";
import bcryptjs from "bcryptjs";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { acceptableHashes } from "./acceptable-hash.ts";
import { importedHashText, parseImportedHash, verifyImportedHash } from "./imported-hashes.ts";
import { createPasswordHasher } from "./password-hasher.ts";

const { password: settings } = loadConfig({}, "/nonexistent");
const hasher = createPasswordHasher({ ...settings, hash: { ...settings.hash, memory: 8, passes: 1 } });

/** The parameters and the user of the test vector that Firebase publishes with its scrypt. */
const firebase = {
  key: "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
  separator: "Bw==",
  salt: "42xEC+ixf3L2lw==",
  hash: "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
};

const fbscrypt = ({ key, separator, salt, hash }: typeof firebase) =>
  `$fbscrypt$v=1,n=14,r=8,p=1,ss=${separator},sk=${key}$${salt}$${hash}`;

/** Hashes that other implementations made: published test vectors and documentation. */
const vectors: [string, string, string][] = [
  ["bcrypt 2a of jBCrypt", "abc", "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"],
  ["bcrypt 2y of PHP", "rasmuslerdorf", "$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq"],
  ["bcrypt 2b of bcryptjs", "correct horse", bcryptjs.hashSync("correct horse", 4)],
  ["bcrypt of Django", "correct horse", `bcrypt$${bcryptjs.hashSync("correct horse", 4)}`],
  [
    "scrypt of passlib",
    "password",
    "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
  ],
  [
    "scrypt of Werkzeug",
    "correct horse",
    `scrypt:1024:8:1$saltsalt$${scryptSync("correct horse", "saltsalt", 64, { N: 1024 }).toString("hex")}`,
  ],
  ["scrypt of Firebase", "user1password", fbscrypt(firebase)],
  [
    "PBKDF2 with SHA-256 of passlib",
    "password",
    "$pbkdf2-sha256$6400$0ZrzXitFSGltTQnBWOsdAw$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M",
  ],
  [
    "PBKDF2 with SHA-1 of RFC 6070",
    "password",
    `$pbkdf2$4096$${btoa("salt")}$${Buffer.from("4b007901b765489abead49d926f721d065a429c1", "hex").toString("base64")}`,
  ],
  ["PBKDF2 of Django", "lètmein", "pbkdf2_sha256$30000$seasalt$VrX+V8drCGo68wlvy6rfu8i1d1pfkdeXA4LJkRGJodY="],
  [
    "PBKDF2 with SHA-512, as a PHC string",
    "correct horse",
    `$pbkdf2-sha512$i=1000,l=64$c2FsdHNhbHQ$${pbkdf2Sync("correct horse", "saltsalt", 1000, 64, "sha512").toString("base64").replace(/=+$/, "")}`,
  ],
  [
    "PBKDF2 of Flask",
    "correct horse",
    `pbkdf2:sha1:1000$saltsalt$${pbkdf2Sync("correct horse", "saltsalt", 1000, 20, "sha1").toString("hex")}`,
  ],
];

describe.each(vectors)("a hash of %s", (_, password, stored) => {
  test("verifies its password alone, and is renewed", async () => {
    expect(await hasher.verify(password, stored)).toEqual({ ok: true, outdated: true });
    for (const wrong of [`${password}.`, password.slice(1), "", `${password}\0`])
      expect((await hasher.verify(wrong, stored)).ok).toBe(false);
  });

  test("has a canonical text, which stays as it is", async () => {
    const parsed = parseImportedHash(stored, "import");
    if (!parsed.ok) throw new Error(parsed.reason);
    const text = importedHashText(parsed.hash);
    expect(text).not.toMatch(/=$/);
    expect(parseImportedHash(text, "storage")).toEqual(parsed);
    expect((await hasher.verify(password, text)).ok).toBe(true);
  });
});

/** Made by the package firebase-scrypt 2.2.0. */
test.each([
  [
    "correct horse",
    "ZKICzw/aMHw8vdjGxgsJzoU1Y63uykdiPEEVnt50NNfmdvLO6km/CMVwKr/d6tK9Px7we7sL5mhO3XjodX2HlA==",
  ],
  ["Grüße", "7wiVr/Lae8PPV8IOp7fSywD6TxTJc3gSR/WVFs7JXoUjGCMcOsChCYSGQuABOBgE4D60nlYA94F+Lf9WxDvS2g=="],
  ["日本", "nvk6TQaMHJbBQZzBkh2dCQLaLMu7At3XSdoHAzFyYcwDn+DEP7qqUtLZ/u55q2wb8lIRtZy7G2lWRJ0mnSMUsA=="],
])("a hash of Firebase for %j is verified in either alphabet of base64", async (password, hash) => {
  expect((await hasher.verify(password, fbscrypt({ ...firebase, hash }))).ok).toBe(true);
  const urlSafe = hash.replaceAll("+", "-").replaceAll("/", "_");
  expect((await hasher.verify(password, fbscrypt({ ...firebase, hash: urlSafe }))).ok).toBe(true);
  expect((await hasher.verify("wrong", fbscrypt({ ...firebase, hash }))).ok).toBe(false);
});

describe("bcrypt", () => {
  const long = "p".repeat(72);
  const stored = bcryptjs.hashSync(long, 4);

  test("covers 72 bytes: a longer password matches by these, and does not replace the hash", async () => {
    expect(await hasher.verify(long, stored)).toEqual({ ok: true, outdated: true });
    expect(await hasher.verify(`${long} and more`, stored)).toEqual({ ok: true, outdated: false });
    expect((await hasher.verify(long.slice(1), stored)).ok).toBe(false);
    // 73 bytes in 72 characters.
    expect(await hasher.verify(`${"p".repeat(71)}ä`, bcryptjs.hashSync(`${"p".repeat(71)}ä`, 4))).toEqual({
      ok: true,
      outdated: false,
    });
  });

  test("does not match a NUL or a lone surrogate", async () => {
    expect((await hasher.verify(`${"p".repeat(8)}\0`, bcryptjs.hashSync("p".repeat(8), 4))).ok).toBe(false);
    expect((await hasher.verify("\ud800", bcryptjs.hashSync("\ufffd", 4))).ok).toBe(false);
  });
});

test.each([
  ["unknown", "5f4dcc3b5aa765d61d8327deb882cf99"],
  ["unknown", "$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/"],
  ["unknown", "$2x$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"],
  ["unknown", "password"],
  ["invalid", "$2b$03$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"],
  ["invalid", "$scrypt$ln=0,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA"],
  ["invalid", "$scrypt$ln=16,r=1,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA"],
  ["invalid", "$scrypt$ln=15,r=8,p=1$c2FsdA$AAAA"],
  ["invalid", `scrypt:1000:8:1$salt$${"ab".repeat(32)}`],
  ["invalid", "$pbkdf2-sha256$i=0$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA"],
  ["invalid", `$pbkdf2-sha256$i=1$${"A".repeat(400)}$AAAAAAAAAAAAAAAAAAAAAA`],
  ["invalid", fbscrypt({ ...firebase, key: "AAAA" })],
])("A95 a hash that is %s is not accepted: %s", async (reason, stored) => {
  expect(parseImportedHash(stored, "storage")).toEqual({ ok: false, reason });
  expect((await acceptableHashes(settings))(stored).ok).toBe(false);
  // Stored all the same, for example by hand, it is not computed.
  expect(await hasher.verify("password", stored)).toEqual({ ok: false, outdated: false });
});

const digest = (bytes: number) => Buffer.alloc(bytes).toString("base64").replace(/=+$/, "");
const bcryptOf = (cost: number) => `$2b$${cost}$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i`;
const scryptOf = (ln: number, r: number, p: number) => `$scrypt$ln=${ln},r=${r},p=${p}$c2FsdA$${digest(16)}`;
const pbkdf2Of = (name: string, iterations: number, bytes: number) =>
  `$pbkdf2-${name}$i=${iterations}$c2FsdA$${digest(bytes)}`;
const argon2Of = (cost: string, type = "id") =>
  `$argon2${type}$v=19$${cost}$${"A".repeat(22)}$${"A".repeat(43)}`;

/** By parameter: a hash at the bound, the next costlier one, and one far beyond. */
const costs: [parameter: RegExp, atBound: string, beyond: string, farBeyond: string][] = [
  [/cost of bcrypt/, bcryptOf(13), bcryptOf(14), bcryptOf(31)],
  [/N \+ 4\) of scrypt/, scryptOf(17, 8, 1), scryptOf(18, 8, 1), scryptOf(30, 8, 1)],
  [/N \+ 4\) of scrypt/, scryptOf(14, 8, 9), scryptOf(14, 8, 11), scryptOf(14, 8, 9_999)],
  // Little memory, and much of what surrounds it.
  [/N \+ 4\) of scrypt/, scryptOf(1, 9_999, 21), scryptOf(1, 9_999, 22), scryptOf(1, 9_999, 200)],
  [/iterations .* sha1/, pbkdf2Of("sha1", 1e6, 40), pbkdf2Of("sha1", 1e6 + 1, 40), pbkdf2Of("sha1", 1e8, 20)],
  [
    /iterations .* sha256/,
    pbkdf2Of("sha256", 2e6, 32),
    pbkdf2Of("sha256", 2e6 + 1, 32),
    pbkdf2Of("sha256", 2e8, 32),
  ],
  [
    /iterations .* sha512/,
    pbkdf2Of("sha512", 5e5, 128),
    pbkdf2Of("sha512", 5e5 + 1, 128),
    pbkdf2Of("sha512", 1e8, 64),
  ],
  [
    /: m of argon2/,
    argon2Of("m=262144,t=4,p=1"),
    argon2Of("m=262145,t=1,p=1"),
    argon2Of("m=9999999,t=1,p=1"),
  ],
  [/m times t/, argon2Of("m=65536,t=16,p=1"), argon2Of("m=65537,t=16,p=1"), argon2Of("m=262144,t=64,p=1")],
  [/: t of argon2/, argon2Of("m=8,t=64,p=1"), argon2Of("m=8,t=65,p=1"), argon2Of("m=8,t=99,p=1")],
  [/: p of argon2/, argon2Of("m=999,t=1,p=16"), argon2Of("m=999,t=1,p=17"), argon2Of("m=999,t=1,p=99")],
];

test.each(costs)(
  "A145 a hash at the bound of memory and time is accepted, a costlier one is not: %s",
  async (parameter, atBound, ...costlier) => {
    const accept = await acceptableHashes(settings);
    expect(accept(atBound)).toEqual({ ok: true, stored: atBound });
    const reason = expect.stringMatching(parameter);
    for (const stored of costlier) {
      expect(accept(stored)).toEqual({ ok: false, reason });
      expect(JSON.stringify(accept(stored))).toMatch(
        /exceeds the cost that this server allows: .* is at most|are at most/,
      );
    }
  },
);

describe("A145 a hash that a former version stored", () => {
  test.each([
    [18, 8, 1],
    [18, 8, 2],
    [14, 8, 32],
  ])("is verified up to the former bound of scrypt, and replaced: ln=%i, r=%i, p=%i", async (ln, r, p) => {
    const hash = scryptSync("correct horse", "salt", 16, { N: 2 ** ln, r, p, maxmem: 2 ** 30 });
    const stored = `$scrypt$ln=${ln},r=${r},p=${p}$c2FsdA$${hash.toString("base64").replace(/=+$/, "")}`;
    expect((await acceptableHashes(settings))(stored).ok).toBe(false);
    expect(await hasher.verify("correct horse", stored)).toEqual({ ok: true, outdated: true });
    expect(await hasher.verify("wrong", stored)).toMatchObject({ ok: false });
  });

  test("matches no password beyond that, and is not computed", async () => {
    const hasher = createPasswordHasher({ ...settings, hash: { ...settings.hash, memory: 8, passes: 1 } });
    const beyond = [
      bcryptOf(15),
      scryptOf(1, 9_999, 200),
      pbkdf2Of("sha1", 999_999_999, 128),
      argon2Of("m=9999999,t=99,p=1"),
    ];
    for (const stored of beyond)
      expect(await hasher.verify("password", stored)).toEqual({
        ok: false,
        outdated: false,
        tooCostly: expect.stringMatching(/at most \d+$/),
      });
  });
});

test("A95 hashes of argon2 of each type are accepted, and none with impossible parameters", async () => {
  const accept = await acceptableHashes(settings);
  for (const stored of [
    argon2Of("m=65536,t=3,p=4"),
    argon2Of("m=19456,t=2,p=1", "i"),
    argon2Of("m=8,t=1,p=1", "d"),
  ])
    expect(accept(stored)).toEqual({ ok: true, stored });
  for (const broken of ["m=8,t=1,p=4", "m=8,t=0,p=1", "m=8,t=1,p=0"])
    expect(accept(argon2Of(broken))).toEqual({ ok: false, reason: "has invalid parameters" });
});

test.each([
  ["m=8,t=1,p=1", "A".repeat(13), "A".repeat(43)],
  ["m=8,t=1,p=1", `${"A".repeat(21)}B`, "A".repeat(43)],
  ["m=8,t=1,p=1", "A".repeat(22), `${"A".repeat(42)}B`],
  ["m=0000008,t=01,p=01", "A".repeat(22), "A".repeat(43)],
])(
  "A95 a damaged hash of argon2 is not accepted, and matches no password: %s %s %s",
  async (cost, salt, hash) => {
    const stored = `$argon2id$v=19$${cost}$${salt}$${hash}`;
    expect((await acceptableHashes(settings))(stored)).toEqual({
      ok: false,
      reason: "has invalid parameters",
    });
    expect(await hasher.verify("password", stored)).toEqual({ ok: false, outdated: false });
  },
);

/** Resolves after the call has its turn, and before a thread can have computed the hash. */
async function afterTheTurnIsTaken(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await null;
}

describe("A2 a wrong password", () => {
  /** A hasher whose clock stands still, except while it computes a bcrypt hash. */
  function timed(bcryptMs: () => number) {
    let now = 0;
    const waits: number[] = [];
    const time = {
      now: () => now,
      wait: async (milliseconds: number) => void waits.push(milliseconds),
    };
    const own = createPasswordHasher({ ...settings, hash: { ...settings.hash, memory: 8, passes: 1 } }, time);
    return {
      waits,
      async wrong(stored: string | null) {
        const passing = stored?.startsWith("$2")
          ? afterTheTurnIsTaken().then(() => (now += bcryptMs()))
          : null;
        waits.length = 0;
        expect((await own.verify("wrong", stored)).ok).toBe(false);
        await passing;
        return waits.reduce((sum, one) => sum + one, 0);
      },
      own,
    };
  }
  const bcrypt = bcryptjs.hashSync("correct horse", 4);

  test("takes as long for an unknown account as for a slow imported hash", async () => {
    const { wrong, own, waits } = timed(() => 400);
    expect(await wrong(null)).toBe(0);
    await wrong(bcrypt);
    expect(await wrong(null)).toBe(400);
    expect(await wrong(await own.hash("correct horse"))).toBe(400);
    expect(await wrong(bcrypt)).toBe(0);
    waits.length = 0;
    expect((await own.verify("correct horse", await own.hash("correct horse"))).ok).toBe(true);
    expect(waits).toEqual([]);
  });

  test("is not delayed by more than three seconds", async () => {
    const { wrong } = timed(() => 60_000);
    await wrong(bcrypt);
    expect(await wrong(null)).toBe(3_000);
  });
});

test("verifies hashes in the thread pool, while the process goes on", async () => {
  const parsed = parseImportedHash("$scrypt$ln=14,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "import");
  if (!parsed.ok) throw new Error(parsed.reason);
  let settled = false;
  const verified = verifyImportedHash(parsed.hash, "password").finally(() => (settled = true));
  await new Promise(setImmediate);
  expect(settled).toBe(false);
  expect(await verified).toEqual({ ok: false, whole: true });
});
