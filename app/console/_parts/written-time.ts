/** Times as the console writes them: on a clock of 24 hours, and with the year where it is not this one. */

const day = { day: "numeric", month: "short" } as const;
const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

/** Pairs of formats: within this year, and with the year. */
function inYearOrNot(options: Intl.DateTimeFormatOptions) {
  const [within, full] = [options, { ...options, year: "numeric" } as const].map(
    (one) => new Intl.DateTimeFormat("en", one),
  );
  return (at: Date): string => {
    const format = at.getFullYear() === new Date().getFullYear() ? within : full;
    return format?.format(at) ?? "";
  };
}

/** Writes a time of the zone of the viewer: "Nov 27, 18:00". */
export const writtenTime = inYearOrNot({ ...day, ...clock });

/** Writes a day of UTC, which has another date in half of all zones: "Nov 27". */
export const writtenUtcDay = inYearOrNot({ ...day, timeZone: "UTC" });

const exact = new Intl.DateTimeFormat("en", { ...day, ...clock, year: "numeric", second: "2-digit" });

/** Writes a time of the zone of the viewer to the second, with its year. */
export const exactTime = (at: Date): string => exact.format(at);
