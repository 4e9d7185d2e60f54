/** A version of the UAF protocol. */
export interface Version {
  major: number;
  minor: number;
}

/**
 * Protocol versions of requests and responses, in order of preference: a client answers the first that it knows. Signed
 * data are the same in both.
 */
export const supportedVersions: readonly Version[] = [
  { major: 1, minor: 1 },
  { major: 1, minor: 0 },
];

export function isSupportedVersion({ major, minor }: Version): boolean {
  return supportedVersions.some((offered) => offered.major === major && offered.minor === minor);
}
