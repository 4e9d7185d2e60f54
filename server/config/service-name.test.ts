import { describe, expect, test } from "vitest";
import { loadConfig } from "./load.ts";
import { serviceNameFault } from "./service-name.ts";

const nameOf = (name: string) => loadConfig({ STILE_SERVICE_NAME: name }, "/nowhere").service.name;

describe("a service name", () => {
  test.each([
    ..."Stile|Acme & Sons|St. Mary's (North)|U.S. Bank|Café 24|銀行|Банк|नमस्ते\u200dबैंक|👩‍💻 Club|7-Eleven|AT&T 5G".split(
      "|",
    ),
    "x".repeat(64),
  ])("may be %s", (name) => {
    expect(serviceNameFault(name)).toBeNull();
    expect(nameOf(name)).toBe(name);
  });

  test.each([
    ["nothing but space", " "],
    ["65 characters", "x".repeat(65)],
    ["50 000 characters", "x".repeat(50_000)],
    ["a line break", "Acme\nBcc: x"],
    ["a carriage return", "Acme\r\nX"],
    ["a line separator", "Acme\u2028X"],
    ["NUL", "Acme\0"],
    ["an override of direction", "Acme \u202eelpmaxe"],
    ["an isolate", "Acme \u2067x"],
    ["an invisible character", "Ac\u200bme"],
    ["half of a character", "Acme \ud800"],
    ["an address", "Your account is locked. Unlock it at https://evil.example"],
    ["a scheme", "x://y"],
    ["www.", "Go to WWW.evil"],
    ["a host name", "evil.example"],
    ["a host name with a path", "evil.example/unlock"],
    ["a host name of another script", "пример.рф"],
    ["a host name with a full-width dot", "evil．example"],
    ["a host name with an ideographic full stop", "evil。example"],
    ["a host name after a sign that is not seen", "Unlock at evil\ufe0f.example/x"],
    ["a host name with a joiner of graphemes", "Unlock at evil.\u034fexample/x"],
    ["a scheme with a joiner of graphemes", "http:/\u034f/evil"],
    ["a host name with a low line", "evil_.com"],
    ["a mail address", "help@evil"],
    ["an IP address", "see 192.0.2.1"],
    ["a host name with a mark, which SMS leave out", "evil.c\u0332om"],
    ["a scheme with a mark", "http:\u0332//evil"],
    ["a telephone number with marks", "Tel +4\u03329\u03321512345678"],
    ["a telephone number", "Call +1 (900) 123-4567 now"],
  ])("A142 is no text with %s", (_, name) => {
    expect(serviceNameFault(name)).not.toBeNull();
    expect(nameOf(name)).toBe("Stile");
  });
});
