import { isText, recordOf } from "./payload-readers.ts";

/** The city, else the region, and the country, as the operator's database names them. */
export function placeText(location: unknown): string {
  const { city, region, country } = recordOf(location);
  return [isText(city) ? city : region, country].filter(isText).join(", ");
}
