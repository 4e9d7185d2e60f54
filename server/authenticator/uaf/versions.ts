/** A version of the UAF protocol. */
export interface Version {
  major: number;
  minor: number;
}

/**
 * Versions that requests are made for, and answers taken of: a client takes the message of the version that it knows,
 * 1.1 before 1.0. What is signed, and how, is the same in both.
 */
export const offeredVersions: readonly Version[] = [
  { major: 1, minor: 1 },
  { major: 1, minor: 0 },
];

export function isOffered({ major, minor }: Version): boolean {
  return offeredVersions.some((offered) => offered.major === major && offered.minor === minor);
}
