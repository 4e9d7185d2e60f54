import fc from "fast-check";
import { getCountries } from "libphonenumber-js/max";
import { describe, expect, test } from "vitest";
import { countryOfNumber, parsePhoneNumber } from "./phone-number.ts";

const everywhere = { phone: { allowed_countries: getCountries() } } as unknown as Parameters<
  typeof parsePhoneNumber
>[1];
const within = (...countries: string[]) =>
  ({ phone: { allowed_countries: countries } }) as unknown as Parameters<typeof parsePhoneNumber>[1];

const accepted = (number: string) => ({ ok: true, value: number });
const invalid = { ok: false, reason: "value_invalid_error" };
const notAllowed = { ok: false, reason: "phone_number_not_allowed" };

describe("a mobile number of an allowed country is brought to E.164", () => {
  test.each([
    ["+49 1511 2345678", "+4915112345678"],
    ["0049 (1511) 234-5678", "+4915112345678"],
    ["+44 (0) 7400 123456", "+447400123456"],
    ["+1 (201) 555-0123", "+12015550123"],
    ["+33.6.12.34.56.78", "+33612345678"],
    ["+39 312 345 6789", "+393123456789"],
    ["+34 612 345 678", "+34612345678"],
    ["+41 79 123 45 67", "+41791234567"],
    ["+31 6 12345678", "+31612345678"],
    ["+880 1812-345678", "+8801812345678"],
    ["+86 131 2345 6789", "+8613123456789"],
    ["+91 98765 43210", "+919876543210"],
    ["+55 11 96123-4567", "+5511961234567"],
    ["+7 771 000 9998", "+77710009998"],
    ["+1 876 210 1234", "+18762101234"],
    ["＋４９１５１１２３４５６７８", "+4915112345678"],
    ["+৮৮০ ১৮১২-৩৪৫৬৭৮", "+8801812345678"],
    ["\u202a+49 1511 2345678\u202c", "+4915112345678"],
    ["+49\u00a01511\u20112345678", "+4915112345678"],
  ])("reads %j as %s", (text, number) => {
    expect(parsePhoneNumber(text, everywhere)).toEqual(accepted(number));
  });

  test("a canonical number stays the same", () => {
    for (const number of ["+4915112345678", "+12015550123", "+8801812345678"])
      expect(parsePhoneNumber(number, everywhere)).toEqual(accepted(number));
  });
});

describe("A170 a number that is dear to send to, or receives no SMS, is rejected in every country", () => {
  test.each([
    ["premium, United States", "+19002345678"],
    ["premium, United Kingdom", "+449098790000"],
    ["premium, France", "+33899123456"],
    ["premium, Spain", "+34806123456"],
    ["premium, Switzerland", "+41900123456"],
    ["premium, Austria", "+43900123456"],
    ["premium, Netherlands", "+31909123456"],
    ["premium, Latvia", "+37190012345"],
    ["premium, Australia", "+611900123456"],
    ["shared cost, Germany", "+491801234567"],
    ["personal number, United Kingdom", "+447012345678"],
    ["personal number, Germany", "+4970012345678"],
    ["pager, United Kingdom", "+447640123456"],
    ["internet telephony, United Kingdom", "+445600123456"],
    ["free, United States", "+18005551234"],
    ["free, Germany", "+498001234567"],
    ["free, Italy", "+39800123456"],
    ["fixed line, Germany", "+493012345678"],
    ["fixed line, Japan", "+81312345678"],
    ["fixed line, China", "+861062345678"],
    ["fixed line, Brazil", "+551123456789"],
    ["satellite, +881", "+8816312345678"],
    ["satellite, +870", "+870773111632"],
    ["international networks, +883", "+883510001234567"],
    ["international freephone, +800", "+80012345678"],
    ["international premium, +979", "+979123456789"],
  ])("%s", (_, number) => {
    expect(parsePhoneNumber(number, everywhere)).toEqual(notAllowed);
  });
});

describe("a text that is no number is rejected", () => {
  test.each([
    "",
    "+",
    "00",
    "112",
    "+4911",
    "+49900312345",
    "+3706123456",
    "+999123456789",
    "+0015112345678",
    "++4915112345678",
    "+49+15112345678",
    "+49 1511 2345678 ext. 5",
    "+4915112345678;ext=5",
    "tel:+4915112345678",
    "+49 1511 CALLNOW",
    "+4915112345678,+12015550123",
    "+4915112345678\0",
    "user@example.com",
    "+49151123456781511234567815112345678",
  ])("%j", (text) => {
    expect(parsePhoneNumber(text, everywhere)).toEqual(invalid);
  });

  test("a text of any length", () => {
    expect(parsePhoneNumber("+".padEnd(1_000_000, "4915112345678"), everywhere)).toEqual(invalid);
  });

  test("any text gives an answer, and an accepted number is E.164 and canonical", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^(\+|00)?[0-9 ().-]{3,20}$/),
      fc.constantFrom("+49", "+1", "+44").chain((code) => fc.nat().map((rest) => `${code}${rest}`)),
      // Most texts of the others are no numbers; of these most are.
      fc.integer({ min: 10_000_000, max: 99_999_999 }).map((rest) => `+49 151 ${rest}`),
    );
    fc.assert(
      fc.property(text, (input) => {
        const parsed = parsePhoneNumber(input, everywhere);
        if (!parsed.ok) {
          expect(["value_invalid_error", "phone_number_not_allowed"]).toContain(parsed.reason);
          return;
        }
        expect(parsed.value).toMatch(/^\+[1-9]\d{6,14}$/);
        expect(parsePhoneNumber(parsed.value, everywhere)).toEqual(parsed);
      }),
    );
  });
});

describe("countries", () => {
  test("none is allowed until one is set", () => {
    expect(parsePhoneNumber("+4915112345678", within())).toEqual(notAllowed);
    expect(parsePhoneNumber("01511 2345678", within())).toEqual(invalid);
  });

  test("one that shares its calling code with an allowed one is not allowed with it", () => {
    expect(parsePhoneNumber("+18762101234", within("US"))).toEqual(notAllowed);
    expect(parsePhoneNumber("+12015550123", within("US"))).toEqual(accepted("+12015550123"));
    expect(parsePhoneNumber("+77710009998", within("RU"))).toEqual(notAllowed);
    expect(parsePhoneNumber("+447400123456", within("GG"))).toEqual(notAllowed);
  });

  test("the national form is read if exactly one is allowed", () => {
    expect(parsePhoneNumber("01511 2345678", within("DE"))).toEqual(accepted("+4915112345678"));
    expect(parsePhoneNumber("(201) 555-0123", within("US"))).toEqual(accepted("+12015550123"));
    expect(parsePhoneNumber("312 345 6789", within("IT"))).toEqual(accepted("+393123456789"));
    expect(parsePhoneNumber("01511 2345678", within("DE", "AT"))).toEqual(invalid);
    expect(parsePhoneNumber("0900 123456", within("AT"))).toEqual(notAllowed);
    expect(parsePhoneNumber("112", within("DE"))).toEqual(invalid);
  });

  test("a number names its country, or its calling code if it has none", () => {
    expect(countryOfNumber("+4915112345678")).toBe("DE");
    expect(countryOfNumber("+18762101234")).toBe("JM");
    expect(countryOfNumber("+8816312345678")).toBe("+881");
  });
});
