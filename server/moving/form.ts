import type { AcceptableHash } from "../methods/password/acceptable-hash.ts";
import type { UserRecordInput } from "./user-record.ts";

/** The record of a user in the form of some system: a JSON object, or a CSV row by the names of its columns. */
export type SourceRecord = Record<string, unknown>;

export type Converted =
  /** `omitted`: names of the fields that could not be carried over. */
  | { ok: true; user: UserRecordInput; omitted: readonly string[] }
  /** `reason` contains no data of the record. */
  | { ok: false; reason: string };

/** What the operator knows about a source, beside its file. */
export interface SourceOptions {
  /** Decides whether a hash can be verified here, and returns its canonical text. */
  acceptHash(hash: string): AcceptableHash;
  /** Names of identity providers here, by their names at the source. Adds to the names that a form knows. */
  providers: Readonly<Record<string, string>>;
  /** Parameters of a project's password hashes at Firebase. */
  firebase?: FirebaseHashParameters;
}

/** The hash parameters that the console of Firebase shows for a project. */
export interface FirebaseHashParameters {
  base64_signer_key: string;
  base64_salt_separator: string;
  rounds: number;
  mem_cost: number;
}

/** A form in which users leave another system, or this one. */
export interface Form {
  /** Whether a record has this form, judged by its members. */
  recognizes(record: SourceRecord): boolean;
  convert(record: SourceRecord, options: SourceOptions): Converted;
  /** Whether a user is rejected for a field that could be left out instead. */
  isStrict?: boolean;
}
