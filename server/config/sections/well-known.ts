import { z } from "zod";
import { listOf, section } from "./leaves.ts";

/** What clients and people find under `/.well-known` of a host (RFC 8615). */

/** Entries of a list: the answers are public, and each entry costs their bytes. */
const MAX_ENTRIES = 20;

/** A line of security.txt: without a line break it cannot become two (RFC 9116, 2.2). */
const uri = (kinds: RegExp, message: string) =>
  z
    .string()
    .max(255)
    .regex(/^[\x21-\x7e]*$/, "must be a URI, without spaces and line breaks")
    .regex(kinds, message);

const webAddress = () => uri(/^https:\/\/[^/]/, "must begin with https://");

const contact = () =>
  uri(
    /^(?:https:\/\/[^/]|mailto:[^@\s]+@[^@\s]+$|tel:\+?[0-9-]+$)/,
    "must be a URI: https://…, mailto:security@example.com or tel:+1-201-555-0123",
  );

/** An identifier of Apple's associated domains: team and bundle. */
const appleApp = () =>
  z
    .string()
    .max(255)
    .regex(
      /^[A-Z0-9]{10}\.[A-Za-z0-9][A-Za-z0-9.-]*$/,
      "must be a team and a bundle, like A1B2C3D4E5.com.example.app",
    );

const androidApp = z.strictObject({
  package_name: z
    .string()
    .max(255)
    .regex(/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/, "must be a package like com.example.app"),
  sha256_cert_fingerprints: listOf(
    z
      .string()
      .max(95)
      .regex(
        /^(?:[0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}$/,
        "must be a SHA-256 fingerprint: 32 bytes in hex, with colons between them",
      ),
    MAX_ENTRIES,
  ).min(1),
  opens_links: z.boolean().default(false),
});

export const wellKnown = section({
  security_txt: section({
    contact: listOf(contact(), MAX_ENTRIES)
      .default([])
      .describe(
        "Where vulnerabilities are reported, the preferred one first: https, mailto or tel URIs. Without one, /.well-known/security.txt does not exist.",
      ),
    expires: z.iso
      .datetime({ offset: true, error: "must be a time such as 2027-01-31T12:00:00Z" })
      .max(40)
      .optional()
      .describe(
        "Time from which the file is stale, less than a year ahead (RFC 9116, 2.5.5); from then on it does not exist. Without it, contact is rejected.",
      ),
    policy: webAddress()
      .optional()
      .describe("Address of the policy for reports. Without it, the file names none."),
    encryption: uri(/^(?:https:\/\/[^/]|dns:|openpgp4fpr:)/, "must be an https, dns or openpgp4fpr URI")
      .optional()
      .describe("Where the key to encrypt reports with is. Without it, the file names none."),
    acknowledgments: webAddress()
      .optional()
      .describe("Address of the page that thanks those who reported. Without it, the file names none."),
    hiring: webAddress()
      .optional()
      .describe("Address of vacancies in security. Without it, the file names none."),
    preferred_languages: listOf(
      z
        .string()
        .max(35)
        .regex(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/, "must be tags like en or pt-BR"),
      MAX_ENTRIES,
    )
      .default([])
      .describe("Languages of reports (RFC 5646)."),
  }),
  apple_apps: listOf(appleApp(), MAX_ENTRIES)
    .default([])
    .describe(
      "Applications for iOS and macOS that may use passkeys and passwords of this host, by team and bundle: A1B2C3D4E5.com.example.app. Without one, /.well-known/apple-app-site-association does not exist.",
    ),
  android_apps: listOf(androidApp, MAX_ENTRIES)
    .default([])
    .describe(
      "Applications for Android that may use passkeys and passwords of this host: package_name and sha256_cert_fingerprints of their signing keys; with opens_links they also open its addresses. Their passkey ceremonies are accepted. Without one, /.well-known/assetlinks.json does not exist.",
    ),
});
