/** Media type of a list of trusted facets. */
export const trustedFacetsType = "application/fido.trusted-apps+json";

/** FIDO AppID and Facet Specification 1.1, dictionaries TrustedFacetList and TrustedFacets. */
export interface TrustedFacets {
  trustedFacets: { version: { major: number; minor: number }; ids: readonly string[] }[];
}

/**
 * Builds the list of an application's facets, the same for both versions: the published Android client reads the entry
 * for 1.0, whatever the version of the message.
 *
 * @param ids `https://host`, `android:apk-key-hash:…`, `ios:bundle-id:…`
 */
export function trustedFacets(ids: readonly string[]): TrustedFacets {
  return {
    trustedFacets: [
      { version: { major: 1, minor: 0 }, ids },
      { version: { major: 1, minor: 1 }, ids },
    ],
  };
}
