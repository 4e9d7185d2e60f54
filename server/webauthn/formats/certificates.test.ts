import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Certificate, makeAuthority, makeCertificate } from "../../lib/certificates.ts";
import { bitString, integer, objectId, sequence, time } from "../../lib/der-encoding.ts";
import { smallOrderPoints } from "../../testing/small-order-points.ts";
import { leadsToRoot } from "./certificates.ts";

const now = new Date();
const day = 86_400_000;
const root = makeAuthority();
const stranger = makeAuthority("Stranger");
const roots = [new X509Certificate(root.der)];
const x509 = (...chain: Certificate[]) => chain.map(({ der }) => new X509Certificate(der));

const ed25519 = sequence(objectId("1.3.101.112"));
const spkiOf = (algorithm: Buffer, key: Buffer) => sequence(algorithm, bitString(key));
const keyAt = (point: Buffer) =>
  createPublicKey({ key: spkiOf(ed25519, point), format: "der", type: "spki" });

/** A certificate with a signature of Ed25519 that verifies under the point of order 1, for any content. */
function forgedUnder(issuer: Certificate): X509Certificate {
  const identity = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
  const signed = sequence(
    integer(1),
    ed25519,
    issuer.subject,
    sequence(time(new Date(now.getTime() - day)), time(new Date(now.getTime() + day))),
    sequence(),
    stranger.publicKey.export({ format: "der", type: "spki" }),
  );
  return new X509Certificate(
    sequence(signed, ed25519, bitString(Buffer.concat([identity, Buffer.alloc(32)]))),
  );
}

describe("a chain to a root", () => {
  const authorityOf = (publicKey: KeyObject) =>
    makeCertificate({ subject: { CN: "Intermediate" }, issuer: root, ca: true, publicKey });

  test("is one of any length, and of keys of any known algorithm", () => {
    const intermediate = makeCertificate({ subject: { CN: "Intermediate" }, issuer: root, ca: true });
    const leaf = makeCertificate({ subject: { CN: "Leaf" }, issuer: intermediate });
    expect(leadsToRoot(x509(leaf, intermediate), roots, now)).toBe(true);
    expect(leadsToRoot(x509(leaf), roots, now)).toBe(false);
  });

  test.each(smallOrderPoints.map((point) => [point.toString("hex"), point]))(
    "A132 has no certificate of an Ed25519 key of small order: %s",
    (_, point) => {
      const weak = authorityOf(keyAt(point));
      expect(leadsToRoot(x509(weak), roots, now)).toBe(false);
      expect(leadsToRoot([forgedUnder(weak), ...x509(weak)], roots, now)).toBe(false);
      expect(leadsToRoot(x509(weak), x509(weak), now)).toBe(false);
    },
  );

  test("has no certificate of a key of an unknown algorithm", () => {
    const unknown = spkiOf(sequence(objectId("1.2.3.4")), Buffer.alloc(32, 7));
    const issuer = authorityOf({ export: () => unknown } as unknown as KeyObject);
    const leaf = makeCertificate({
      subject: { CN: "Leaf" },
      issuer: { ...issuer, privateKey: stranger.privateKey as KeyObject },
    });
    expect(leadsToRoot(x509(issuer), roots, now)).toBe(false);
    expect(leadsToRoot(x509(leaf, issuer), roots, now)).toBe(false);
  });
});
