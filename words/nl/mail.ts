import type { MailWords } from "../mail.ts";

export const mail: MailWords = {
  messages: {
    login: {
      subject: "{code} is je inlogcode voor {service}",
      heading: "Je inlogcode",
      request: "Voer deze code in om in te loggen bij {service}:",
      ignore:
        "Als je niet hebt geprobeerd in te loggen, kun je dit bericht negeren. Zonder de code kan niemand inloggen.",
    },
    recovery: {
      subject: "{code} is je code voor een nieuw wachtwoord bij {service}",
      heading: "Stel een nieuw wachtwoord in",
      request: "Voer deze code in om een nieuw wachtwoord in te stellen voor {service}:",
      ignore:
        "Als je niet om een nieuw wachtwoord hebt gevraagd, kun je dit bericht negeren. Je wachtwoord blijft zoals het is.",
    },
    email_verification: {
      subject: "{code} is je bevestigingscode voor {service}",
      heading: "Bevestig je e-mailadres",
      request: "Voer deze code in om te bevestigen dat dit e-mailadres van jou is:",
      ignore: "Als je dit adres niet aan {service} hebt gegeven, kun je dit bericht negeren.",
    },
    email_login_attempted: {
      subject: "Inlogpoging bij {service}",
      preview: "Er is geen account met dit e-mailadres.",
      heading: "Geen account met dit adres",
      event:
        "Iemand probeerde met dit e-mailadres in te loggen bij {service}, maar er is geen account met dit adres.",
      advice: "Als jij dat was, heb je je misschien met een ander adres geregistreerd.",
      ignore: "Als jij dat niet was, kun je dit bericht negeren. Er is niets gebeurd.",
    },
    email_registration_attempted: {
      subject: "Je hebt al een account bij {service}",
      preview: "Iemand probeerde zich met dit e-mailadres te registreren.",
      heading: "Je hebt al een account",
      event:
        "Iemand probeerde zich met dit e-mailadres te registreren bij {service}, maar je hebt al een account.",
      advice: "Als jij dat was, log dan in met dit adres.",
      ignore: "Als jij dat niet was, kun je dit bericht negeren. Je account is niet gewijzigd.",
    },
    recovery_offered: {
      subject: "Opnieuw inloggen bij {service}",
      preview: "Je kunt een code aanvragen en een nieuw wachtwoord instellen.",
      heading: "Opnieuw inloggen",
      event: "De beheerders van {service} is gevraagd je te helpen met inloggen op je account.",
      advice:
        "Ga naar {host} en voer dit e-mailadres in. Daar kun je een code aanvragen en, als je er een gebruikt, een nieuw wachtwoord instellen.",
      ignore: "Als je niet om hulp hebt gevraagd, kun je dit bericht negeren. Je account is niet gewijzigd.",
    },
    email_create: {
      subject: "Er is een e-mailadres toegevoegd aan je account bij {service}",
      heading: "Een nieuw e-mailadres",
      event: "Het e-mailadres {address} is toegevoegd aan je account bij {service}.",
    },
    email_delete: {
      subject: "Er is een e-mailadres verwijderd uit je account bij {service}",
      heading: "Er is een e-mailadres verwijderd",
      event: "Het e-mailadres {address} is verwijderd uit je account bij {service}.",
    },
    primary_email_update: {
      subject: "Het hoofdadres van je account bij {service} is gewijzigd",
      heading: "Een nieuw hoofdadres",
      event:
        "Het hoofdadres van je account bij {service} is nu {address}. Berichten over je account gaan daarheen.",
    },
    password_update: {
      subject: "Het wachtwoord van je account bij {service} is gewijzigd",
      heading: "Een nieuw wachtwoord",
      event: "Er is een nieuw wachtwoord ingesteld voor je account bij {service}.",
    },
    password_delete: {
      subject: "Het wachtwoord van je account bij {service} is verwijderd",
      heading: "Je wachtwoord is verwijderd",
      event: "Het wachtwoord van je account bij {service} is verwijderd.",
    },
    passkey_create: {
      subject: "Er is een passkey toegevoegd aan je account bij {service}",
      heading: "Een nieuwe passkey",
      event: "Er is een passkey toegevoegd aan je account bij {service}. Wie hem heeft, kan ermee inloggen.",
    },
    passkey_delete: {
      subject: "Er is een passkey verwijderd uit je account bij {service}",
      heading: "Er is een passkey verwijderd",
      event: "Er is een passkey verwijderd uit je account bij {service}. Je kunt er niet meer mee inloggen.",
    },
    mfa_create: {
      subject: "De tweede stap van het inloggen bij {service} is gewijzigd",
      heading: "Je tweede stap is gewijzigd",
      event:
        "{factor, select, totp {Er is een authenticator-app} security_key {Er is een beveiligingssleutel} authenticator {Er is een telefoon} recovery_codes {Er zijn nieuwe herstelcodes} other {Er is een tweede factor}} ingesteld als tweede stap van het inloggen bij je account bij {service}.",
    },
    identity_create: {
      subject: "Er is een ander account gekoppeld aan {service}",
      heading: "Er is een ander account gekoppeld",
      event:
        "Je account bij {service} is gekoppeld aan een account bij een andere aanbieder, waarmee je voortaan kunt inloggen.",
    },
    recovery_code_use: {
      subject: "Er is een herstelcode gebruikt bij {service}",
      heading: "Er is een herstelcode gebruikt",
      event:
        "Iemand heeft bij je account bij {service} ingelogd met een van je herstelcodes, in plaats van met de tweede stap. Die code werkt niet meer.",
    },
    mfa_delete: {
      subject: "Een tweede stap van het inloggen bij {service} is verwijderd",
      heading: "Een tweede stap is verwijderd",
      event:
        "{factor, select, totp {De authenticator-app kan} security_key {Een beveiligingssleutel kan} authenticator {Een telefoon kan} recovery_codes {De herstelcodes kunnen} other {Een tweede factor kan}} niet meer worden gebruikt als tweede stap van het inloggen bij je account bij {service}.",
    },
    phone_create: {
      subject: "Er is een telefoonnummer toegevoegd aan je account bij {service}",
      heading: "Een nieuw telefoonnummer",
      event:
        "Voor je account bij {service} is een telefoonnummer ingesteld. Er kunnen codes naartoe worden gestuurd.",
    },
    phone_delete: {
      subject: "Het telefoonnummer is verwijderd uit je account bij {service}",
      heading: "Je telefoonnummer is verwijderd",
      event:
        "Het telefoonnummer is verwijderd uit je account bij {service}. Er worden geen codes meer naartoe gestuurd.",
    },
    account_delete: {
      subject: "Je account bij {service} is verwijderd",
      heading: "Je account is verwijderd",
      event: "Je account bij {service} is verwijderd, met alles wat erin stond.",
      unexpected: "Als jij dat niet was, neem dan contact op met de beheerders van {service}.",
    },
    impersonation: {
      subject: "De beheerders van {service} hebben bij uw account ingelogd",
      heading: "Een aanmelding in uw plaats",
      event:
        "De beheerders van {service} hebben op {time} bij uw account ingelogd om te zien wat u ziet. Zij kunnen niet wijzigen hoe u inlogt. Dit eindigt uiterlijk na {minutes, plural, one {# minuut} other {# minuten}}. De opgegeven reden: {reason}",
      unexpected:
        "Als u niet om hulp hebt gevraagd, vertel dit dan aan de beheerders van {service}. U kunt de sessie op {host} beëindigen, bij uw sessies.",
    },
    new_browser: {
      subject: "Nieuwe inlog op je account bij {service}",
      heading: "Ingelogd in een nieuwe browser",
      event:
        "Op je account bij {service} is op {time} ingelogd{browser, select, Unknown {} other { met {browser}}}{place, select, none {} other {, in de buurt van {place}}}. Deze browser was daar nog niet eerder voor gebruikt.",
      unexpected:
        "Als jij dat niet was, heeft iemand anders misschien toegang tot je account. Log in op {host}, beëindig de andere sessies en stel een nieuw wachtwoord in. Als je niet meer kunt inloggen, neem dan contact op met de beheerders van {service}.",
    },
  },
  unexpected:
    "Als jij dat niet was, heeft iemand anders misschien toegang tot je account. Log in op {host}, maak de wijziging ongedaan, stel een nieuw wachtwoord in en beëindig de andere sessies. Als je niet meer kunt inloggen, neem dan contact op met de beheerders van {service}.",
  expected: "Als jij dat was, hoef je niets te doen.",
  validity: "De code is {minutes, plural, one {# minuut} other {# minuten}} geldig en werkt één keer.",
  link: "Of open deze link en druk daar op de knop:",
  linkLabel: "Verder zonder de code in te voeren",
  secrecy: "Deel de code met niemand: {service} zal je er nooit om vragen.",
  automatic: "{service} ({host}) heeft dit bericht automatisch verstuurd. Antwoorden worden niet gelezen.",
};
