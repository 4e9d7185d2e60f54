import { expect, test } from "vitest";
import { judgeCallback } from "./callback-address.ts";

const reasonOf = (text: string, allowPrivate = false) => {
  const judged = judgeCallback(text, { allowPrivate });
  return judged.ok ? null : judged.reason;
};

test.each([
  "https://app.example.com/events",
  "https://app.example.com:8443/events?source=stile",
  "https://1.1.1.1/",
  "https://[2606:4700::1111]/",
  "https://app.example.com./",
])("accepts %s", (text) => expect(reasonOf(text)).toBeNull());

test.each([
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://0177.0.0.1/",
  "https://0/",
  "https://0.0.0.0/",
  "https://10.1.2.3/",
  "https://172.16.9.9/",
  "https://192.168.0.1/",
  "https://169.254.169.254/latest/meta-data/",
  "https://100.64.0.1/",
  "https://255.255.255.255/",
  "https://[::1]/",
  "https://[::]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[fc00::1]/",
  "https://[fe80::1]/",
  "https://[2002:7f00:1::]/",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://localhost./",
  "https://app.localhost/",
  "https://metadata.google.internal/",
  "https://printer.local/",
  "https://router/",
  "https://nas.home.arpa/",
  "https://%31%32%37.0.0.1/",
])("A81 rejects %s, which is not public", (text) =>
  expect(reasonOf(text)).toBe("leads to an address that is not public"),
);

test.each([
  ["http://app.example.com/", "must begin with https://, unless webhooks.allow_private_targets is set"],
  ["file:///etc/passwd", "must begin with https://"],
  ["gopher://app.example.com/", "must begin with https://"],
  ["javascript:alert(1)", "must begin with https://"],
  ["https://anna@app.example.com/", "must not contain a user or password"],
  ["https://anna:secret@app.example.com/", "must not contain a user or password"],
  ["https://app.example.com/#part", "must not contain a fragment"],
  ["https://app.example.com/#", "must not contain a fragment"],
  ["https://app.example.com:22/", "has a port that is not allowed"],
  ["https://app.example.com:25/", "has a port that is not allowed"],
  ["https://app.example.com:0/", "has a port that is not allowed"],
  ["https://app.example.com:6667/", "has a port that is not allowed"],
  ["/events", "is not an address"],
  ["", "is not an address"],
  ["https://app.example.com/a b", "is not an address"],
  ["https://app.example.com/\r\nX-Header: 1", "is not an address"],
  ["https://127。0。0。1/", "is not an address"],
  [`https://app.example.com/${"a".repeat(2048)}`, "is too long"],
])("A81 rejects %s", (text, reason) => expect(reasonOf(text)).toBe(reason));

test.each(["http://localhost:3001/events", "http://127.0.0.1:3001/", "https://10.0.0.1/"])(
  "accepts %s where private targets are allowed",
  (text) => expect(reasonOf(text, true)).toBeNull(),
);

test.each(["file:///etc/passwd", "http://localhost:25/", "http://anna@localhost/"])(
  "A81 rejects %s even there",
  (text) => expect(reasonOf(text, true)).not.toBeNull(),
);
