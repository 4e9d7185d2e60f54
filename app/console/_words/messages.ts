/** Texts of mails and SMS. */
export const messagesWords = {
  messages: {
    sentence: "What became of mails and SMS, newest first.",
    channel: "Channel",
    channels: { mail: "Mail", sms: "SMS" },
    outcome: "Outcome",
    outcomes: { queued: "Queued", accepted: "Accepted", failed: "Failed", withheld: "Withheld" },
    kind: "Kind",
    kindHint: "Such as login",
    recipient: "Recipient",
    recipientHint: "Address or phone number, in full",
    time: "Time",
    user: "Account",
    details: "Details",
    attempts: (count: number) => (count === 1 ? "1 attempt" : `${count} attempts`),
    empty: "No messages",
    emptySentence: "Nothing fits these filters. Entries are kept for as long as `audit_log.retention` says.",
  },
  messagePreviews: {
    open: "Previews",
    title: "Previews of mails and SMS",
    sentence:
      "Every message that can be sent, with examples in place of codes and addresses. Nothing is sent.",
    message: "Message",
    list: "Messages",
    search: "Search messages",
    subject: "Subject",
    frame: (message: string) => `The mail “${message}”`,
    text: "Text",
    textPart: "As plain text",
  },
} as const;
