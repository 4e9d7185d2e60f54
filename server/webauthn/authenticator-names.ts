/**
 * Names of well-known authenticator models by AAGUID (WebAuthn Level 3 section 6.5.1). The AAGUID is self-asserted, so
 * it names a credential for its owner and has no effect on security.
 */
const modelsByName: Record<string, readonly string[]> = {
  // Platforms and browsers.
  "iCloud Keychain": ["fbfc3007-154e-4ecc-8c0b-6e020557d7bd", "dd4ec289-e01d-41c9-bb89-70fa845d4bf2"],
  "Google Password Manager": ["ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4"],
  "Windows Hello": [
    "08987058-cadc-4b81-b6e1-30de50dcbe96",
    "9ddd1817-af5a-4672-a2b9-3e3dd95000a9",
    "6028b017-b1d4-4c02-b4b3-afcdafc96bb2",
  ],
  "Microsoft Password Manager": ["d3452668-01fd-4c12-926c-83a4204853aa"],
  "Microsoft Authenticator": ["de1e552d-db1d-4423-a619-566b625cdc84", "90a3ccdf-635c-4729-a248-9b709135078f"],
  "Samsung Pass": ["53414d53-554e-4700-0000-000000000000"],
  "Android Authenticator": ["b93fd961-f2e6-462f-b122-82002247de78"],
  "Chrome on Mac": ["adce0002-35bc-c60a-648b-0b25f1f05503"],
  "Edge on Mac": ["771b48fd-d3d4-4f74-9232-fc157ab0507a"],
  Chromium: ["b5397666-4885-aa6b-cebf-e52262a439a2"],

  // Password managers and other apps.
  "1Password": ["bada5566-a7aa-401f-bd96-45619a55120d"],
  Bitwarden: ["d548826e-79b4-db40-a3d8-11116f7e8349"],
  Dashlane: ["531126d6-e717-415c-9320-3d9aa6981239"],
  Enpass: ["f3809540-7f14-49c1-a8b3-8f813b225541"],
  IDmelon: ["39a5647e-1853-446c-a1f6-a79bae9f5bc7"],
  "Kaspersky Password Manager": ["a10c6dd9-465e-4226-8198-c7c44b91c555"],
  KeePassDX: ["eaecdef2-1c31-5634-8639-f1cbd9c00a08"],
  KeePassXC: ["fdb141b2-5d84-443e-8a35-4698c205a502"],
  Keeper: ["0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6"],
  LastPass: ["b78a0a55-6ef8-d246-a042-ba0f6d55050c"],
  LogMeOnce: ["22248c4c-7a12-46e2-9a41-44291b373a4d"],
  NordPass: ["b84e4048-15dc-4dd0-8640-f4f60813c8af"],
  "Norton Password Manager": ["fa37f553-f9b6-4adb-ac53-8bbb57ebdf0d"],
  "Proton Pass": ["50726f74-6f6e-5061-7373-50726f746f6e"],
  ToothPic: ["cc45f64e-52a2-451b-831a-4edd8022a202"],
  "Zoho Vault": ["b35a26b2-8f6e-4697-ab1d-d44db4da28c6"],

  // Security keys.
  "YubiKey 5": [
    "cb69481e-8ff7-4039-93ec-0a2729a154a8",
    "ee882879-721c-4913-9775-3dfcce97072a",
    "19083c3d-8383-4b18-bc03-8f1c9ab2fd1b",
    "ff4dac45-ede8-4ec2-aced-cf66103f4335",
    "20ac7a17-c814-4833-93fe-539f0d5e3389",
    "4599062e-6926-4fe7-9566-9e8fb1aedaa0",
  ],
  "YubiKey 5 NFC": [
    "fa2b99dc-9e39-4257-8f92-4a30d23c4118",
    "2fc0579f-8113-47ea-b116-bb5a8db9202a",
    "a25342c0-3cdc-4414-8e46-f4807fca511c",
    "d7781e5d-e353-46aa-afe2-3ca49f13332a",
    "1ac71f64-468d-4fe0-bef1-0e5f2f551f18",
    "662ef48a-95e2-4aaa-a6c1-5b9c40375824",
  ],
  "YubiKey 5Ci": [
    "c5ef55ff-ad9a-4b9f-b580-adebafe026d0",
    "a02167b9-ae71-4ac7-9a07-06432ebb6f1c",
    "24673149-6c86-42e7-98d9-433fb5b73296",
    "b90e7dc1-316e-4fee-a25a-56a666a670fe",
    "3b24bf49-1d45-4484-a917-13175df0867b",
  ],
  "YubiKey 5 FIPS": [
    "73bb0cd4-e502-49b8-9c6f-b59445bf720b",
    "c1f9a0bc-1dd2-404a-b27f-8e29047a43fd",
    "85203421-48f9-4355-9bc8-8a53846e5083",
    "fcc0118f-cd45-435b-8da1-9782b2da0715",
    "79f3c8ba-9e35-484b-8f47-53a5a0f5c630",
    "57f7de54-c807-4eab-b1c6-1c9be7984e92",
    "905b4cb4-ed6f-4da9-92fc-45e0d4e9b5c7",
    "7b96457d-e3cd-432b-9ceb-c9fdd7ef7432",
    "3a662962-c6d4-4023-bebb-98ae92e78e20",
  ],
  "YubiKey Bio": [
    "d8522d9f-575b-4866-88a9-ba99fa02f35b",
    "83c47309-aabb-4108-8470-8be838b573cb",
    "dd86a2da-86a0-4cbe-b462-4bd31f57bc6f",
    "7409272d-1ff9-4e10-9fc9-ac0019c124fd",
    "8c39ee86-7f9a-4a95-9ba3-f6b097e5c2ee",
    "ad08c78a-4e41-49b9-86a2-ac15b06899e2",
    "7d1351a6-e097-4852-b8bf-c9ac5c9ce4a3",
    "90636e1f-ef82-43bf-bdcf-5255f139d12f",
    "34744913-4f57-4e6e-a527-e9ec3c4b94e6",
    "97e6a830-c952-4740-95fc-7c78dc97ce47",
    "6ec5cff2-a0f9-4169-945b-f33b563f7b99",
  ],
  "Security Key by Yubico": ["f8a011f3-8c0a-4d15-8006-17111f9edc7d", "b92c3f9a-c014-4056-887f-140a2501163b"],
  "Security Key NFC by Yubico": [
    "6d44ba9b-f6ec-2e49-b930-0c8fe920cb73",
    "149a2021-8ef6-4133-96b8-81f8d5b7f1f5",
    "a4e9fc6d-4cbe-4758-b8ba-37598bb5bbaa",
    "e77e3c64-05e3-428b-8824-0cbeb04b829d",
    "b7d3f68e-88a6-471e-9ecf-2df26d041ede",
    "0bb43545-fd2c-4185-87dd-feb0b2916ace",
    "47ab2fb4-66ac-4184-9ae1-86be814012d5",
    "ed042a3a-4b22-4455-bb69-a267b652ae7e",
    "9ff4cc65-6154-4fff-ba09-9e2af7882ad2",
    "72c6b72d-8512-4c66-8359-9d3d10d9222f",
  ],
  "Google Titan Security Key": ["42b4fb4a-2866-43b2-9bf7-6c6669c2e5d3"],
  "Nitrokey 3": ["2cd2f727-f6ca-44da-8f48-5c2e5da000a2"],
  "Feitian ePass": ["833b721a-ff5f-4d00-bb2e-bdda3ec01e29", "ee041bce-25e5-4cdb-8f86-897fd6418464"],
  "Feitian BioPass": [
    "77010bd7-212a-4fc9-b236-d2ca5e9d4084",
    "b6ede29c-3772-412c-8a78-539c1f4c62d2",
    "4c0cf95d-2f40-43b5-ba42-4c83a11c04ba",
  ],
  "Feitian AllinOne": ["12ded745-4bed-47d4-abaa-e713f51d6393"],
  Solo: ["8876631b-d4a0-427f-5773-0ec71c9e0279", "8976631b-d4a0-427f-5773-0ec71c9e0279"],
};

const namesByModel = new Map(
  Object.entries(modelsByName).flatMap(([name, models]) => models.map((model) => [model, name] as const)),
);

/**
 * The name of an authenticator model.
 *
 * @param aaguid UUID in lower case
 * @returns null if the model is unknown or the AAGUID is zero
 */
export function authenticatorName(aaguid: string): string | null {
  return namesByModel.get(aaguid) ?? null;
}
