/** Payloads as the server sends them: options of ceremonies, codes to scan, and an account with something of everything. */

export const requestOptions = {
  publicKey: {
    challenge: "ZE5PUGVYRlRYWnR5b3VzdGlsZWNoYWxsZW5nZQ",
    timeout: 300_000,
    rpId: "localhost",
    userVerification: "preferred",
  },
};

export const securityKeyRequest = {
  publicKey: {
    ...requestOptions.publicKey,
    userVerification: "discouraged",
    allowCredentials: [{ type: "public-key", id: "a2V5", transports: ["usb"] }],
  },
};

export const creationOptions = {
  publicKey: {
    rp: { name: "Stile", id: "localhost" },
    user: { name: "ada@example.org", displayName: "ada@example.org", id: "9HrBC1jMQ3KlZw4CssPUeQ" },
    challenge: "ZE5PUGVYRlRYWnR5b3VzdGlsZWNoYWxsZW5nZQ",
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    timeout: 300_000,
    authenticatorSelection: {
      requireResidentKey: true,
      residentKey: "required",
      userVerification: "preferred",
    },
    attestation: "none",
  },
};

export const securityKeyCreation = {
  publicKey: {
    ...creationOptions.publicKey,
    authenticatorSelection: {
      requireResidentKey: false,
      residentKey: "discouraged",
      userVerification: "discouraged",
      authenticatorAttachment: "cross-platform",
    },
  },
};

/** One pixel. */
const picture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

export const ada = {
  id: "0d3f9c1e-8f8e-4a55-9b8e-3a8a36d0b9a1",
  user_id: "0d3f9c1e-8f8e-4a55-9b8e-3a8a36d0b9a1",
  emails: [
    { id: "e2", address: "ada@example.org", is_primary: true, is_verified: true },
    { id: "e1", address: "old@example.org", is_primary: false, is_verified: false },
    { id: "e3", address: "third@example.org", is_primary: false, is_verified: true },
  ],
  username: {
    id: "u1",
    username: "ada",
    created_at: "2026-01-02T03:04:05Z",
    updated_at: "2026-01-02T03:04:05Z",
  },
  phone_number: "+4915112345678",
  phone_number_verified: true,
  mfa_config: { auth_app_set_up: true, totp_enabled: true, security_keys_enabled: true },
};

const passkey = (id: string, more: Record<string, unknown>) => ({
  id,
  public_key: "pQECAyYgASFYIA",
  attestation_type: "none",
  aaguid: "00000000-0000-0000-0000-000000000000",
  created_at: "2026-03-04T05:06:07Z",
  transports: ["internal"],
  backup_eligible: true,
  backup_state: true,
  mfa_only: false,
  ...more,
});

export const profile = {
  recovery_codes_left: 7,
  metadata_editor: true,
  credential_uses: {
    cGsx: { authenticator: "iCloud Keychain", user_agent: "iOS (Safari)", ip_address: "192.0.2.x" },
    cGsy: { authenticator: "Windows Hello" },
    cGsz: { authenticator: "Windows Hello" },
  },
  phones: [
    {
      id: "p1",
      name: "Ada's Pixel",
      model: "Google Pixel 9",
      created_at: "2026-05-06T08:00:00Z",
      last_used_at: "2026-11-17T08:00:00Z",
    },
  ],
  trusted_browsers: [
    {
      id: "b1",
      user_agent: "Windows (Firefox)",
      ip_address: "198.51.100.x",
      last_used_at: "2026-11-16T08:00:00Z",
      expires_at: "2026-12-16T08:00:00Z",
    },
  ],
  applications: [
    {
      id: "reader",
      name: "The library reader",
      scopes: ["openid", "email", "groups"],
      texts: { groups: { en: "see which reading groups you are in" } },
      since: "2026-11-02T08:00:00Z",
    },
    { id: "shop", name: "The shop", scopes: [], since: "2026-11-10T08:00:00Z" },
  ],
  sign_ins: [
    {
      id: "l3",
      at: "2026-11-19T08:00:00Z",
      user_agent: "Linux (Chrome)",
      ip_address: "203.0.113.x",
      outcome: "success",
      methods: ["password", "totp"],
      location: { country: "Germany", region: "Bavaria" },
    },
    {
      id: "l2",
      at: "2026-11-18T08:00:00Z",
      user_agent: "Windows (Edge)",
      ip_address: "2001:db8:1:…",
      outcome: "failure",
      methods: ["passcode"],
    },
    { id: "l1", at: "2026-11-01T08:00:00Z" },
  ],
  picture_path: "/users/pictures/p1",
  user: {
    ...ada,
    name: "Ada Lovelace",
    picture: "https://login.example/users/pictures/p1",
    given_name: "Ada",
    passkeys: [
      passkey("cGsx", { name: "Ada's iPhone", last_used_at: "2026-10-11T12:13:14Z" }),
      passkey("cGsy", { backup_state: false }),
      passkey("cGsz", { backup_state: false }),
    ],
    security_keys: [passkey("c2sx", { name: "YubiKey 5", mfa_only: true, backup_state: false })],
    identities: [{ id: "4711", provider: "GitHub", identity_id: "i1" }],
  },
  session_locations: { s1: { country: "Germany", region: "Berlin", city: "Berlin" } },
  sessions: [
    {
      id: "s1",
      user_agent: "macOS (Safari)",
      ip_address: "192.0.2.7",
      current: true,
      device_bound: true,
      created_at: "2026-11-19T08:00:00Z",
      last_used: "2026-11-20T08:00:00Z",
    },
    {
      id: "s2",
      user_agent: "Android (Chrome)",
      user_agent_raw:
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
      current: false,
      created_by_administrator: true,
      created_at: "2026-11-01T08:00:00Z",
      last_used: "2026-11-18T08:00:00Z",
    },
  ],
};

export const recoveryCodes = [
  "AB3D-EF5H-JK7M-NP9R",
  "ST2V-WX4Z-BC4D-FG6H",
  "JK8L-MN2P-QR4S-TV6W",
  "XY3Z-AB5C-DE7F-GH9J",
];

/** A request to an authenticator, with the code to scan. */
export const authenticatorRequest = {
  request_id: "Zt5Qp0aW3kXbR8sVnM1cLd7eYf2gHj4iUo6PzTqAeBwC",
  valid_until: "2026-11-20T08:02:00Z",
  qr_image_source: picture,
  events_href: "/authenticator/v1/uaf/requests/Zt5Qp0aW3kXbR8sV/events?token=dmlldw",
};

/** The secret of an app for codes, with the code to scan. */
export const otpSecret = { otp_image_source: picture, otp_secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" };

/** What an application asks for. */
export const consent = {
  identifier: "ada@example.org",
  authorization: {
    client: { id: "shop", name: "The shop", uri: "https://shop.example.com/", origin: "listed" },
    host: "shop.example.com",
    scopes: ["openid", "email"],
    resources: [],
    allowed: [],
  },
};

/** What one asks for that has been allowed something before, and asks for everything. */
export const longAuthorization = {
  client: {
    id: "reader",
    name: "The library reader",
    uri: "https://reader.example.net/",
    policy_uri: "https://reader.example.net/privacy",
    tos_uri: "https://reader.example.net/terms",
    origin: "listed",
  },
  host: "reader.example.net",
  scopes: ["openid", "profile", "email", "phone", "groups", "offline_access"],
  texts: {
    groups: { en: "see which reading groups you are in", de: "sehen, in welchen Lesekreisen Sie sind" },
  },
  resources: [
    { address: "https://api.example.com/orders", scopes: ["orders:read", "orders:write"] },
    {
      address: "https://api.example.com/loans",
      name: "Loans",
      scopes: ["loans:read", "loans:renew", "loans:x"],
      texts: {
        "loans:read": { en: "see which books you have", de: "sehen, welche Bücher Sie haben" },
        "loans:renew": { en: "renew your loans" },
      },
    },
  ],
  allowed: ["openid", "email"],
};

/** What a device without a browser asks for. */
export const deviceAuthorization = {
  client: { id: "tv", name: "The shop on TV", origin: "listed" },
  host: "",
  scopes: ["openid", "profile", "offline_access"],
  resources: [],
  allowed: [],
  device: {
    code: "WDJB-MJHT",
    user_agent: "Android (Chrome)",
    ip_address: "203.0.113.*",
    location: { city: "Lisbon", country: "Portugal" },
  },
};

/** What a program on the device asks for that describes itself by a document. */
export const unlistedAuthorization = {
  client: {
    id: "https://agent.example.org/client.json",
    name: "An agent",
    uri: "https://agent.example.org/",
    origin: "document",
  },
  host: "",
  scopes: ["openid"],
  resources: [
    { address: "https://api.example.com/orders", scopes: ["orders:read"] },
    { address: "https://api.example.com/mcp", scopes: [] },
  ],
  allowed: [],
  lifetime: 90 * 86_400,
};
