"""Session check and webhooks of Stile, with the standard library of Python alone."""

import base64
import hashlib
import hmac
import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse

STILE_URL = os.environ["STILE_URL"].rstrip("/")
AUDIENCE = os.environ.get("STILE_AUDIENCE") or urlparse(STILE_URL).hostname
SECRET = base64.b64decode(os.environ["STILE_WEBHOOK_SECRET"].removeprefix("whsec_"))

KEYS_MAX_AGE = 600
KEYS_COOLDOWN = 30
KEYS_MAX_STALE = 86400
MAX_BODY_BYTES = 1024 * 1024
# DigestInfo of SHA-256 (RFC 8017, 9.2).
SHA256_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")


class Invalid(Exception):
    pass


class Unavailable(Exception):
    """Stile does not answer: nothing is known of the token."""


def call(request):
    """Returns the JSON that Stile answers with."""
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError) as error:
        raise Unavailable("Stile does not answer") from error


class Keys:
    """The public keys of the service: kept for ten minutes, and read again for an unknown key at most every 30 s.

    While they cannot be read, the last ones verify for a day.
    """

    def __init__(self):
        self.reading = threading.Lock()
        # Replaced as a whole, so that it is read without a lock.
        self.known, self.read_at = {}, float("-inf")
        self.next_read_at = float("-inf")
        self.failed = False

    def find(self, kid):
        """Returns None for a key that Stile does not publish."""
        known, age = self.known, time.monotonic() - self.read_at
        if kid in known and age < KEYS_MAX_AGE:
            return known[kid]
        # One reads, and those that need the result wait for it.
        with self.reading:
            age = time.monotonic() - self.read_at
            if (kid not in self.known or age > KEYS_MAX_AGE) and time.monotonic() > self.next_read_at:
                self.read()
        if self.failed and (kid not in self.known or time.monotonic() - self.read_at > KEYS_MAX_STALE):
            raise Unavailable("Stile does not answer")
        return self.known.get(kid)

    def read(self):
        try:
            found = call(STILE_URL + "/.well-known/jwks.json")["keys"]
            self.known = {key["kid"]: key for key in found if key["kty"] == "RSA"}
            self.read_at, self.failed = time.monotonic(), False
        except Unavailable:
            self.failed = True
        self.next_read_at = time.monotonic() + (KEYS_COOLDOWN if self.known else 1)


keys = Keys()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def verify_token(token, typ):
    """Verifies a JWT (RS256): signature, type, issuer, audience and times. Returns its claims."""
    try:
        head, payload, signature = token.split(".")
        header = json.loads(decode(head))
        if header["alg"] != "RS256" or header["typ"] != typ or not isinstance(header["kid"], str):
            raise Invalid("header")
        key = keys.find(header["kid"])
        if key is None:
            raise Invalid("key")
        n = int.from_bytes(decode(key["n"]), "big")
        e = int.from_bytes(decode(key["e"]), "big")
        size = (n.bit_length() + 7) // 8
        given = decode(signature)
        if len(given) != size:
            raise Invalid("signature")
        # RSASSA-PKCS1-v1_5 (RFC 8017, 8.2.2): the whole encoded message is compared, so no padding is parsed.
        digest = SHA256_PREFIX + hashlib.sha256(f"{head}.{payload}".encode()).digest()
        expected = b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest
        if not hmac.compare_digest(pow(int.from_bytes(given, "big"), e, n).to_bytes(size, "big"), expected):
            raise Invalid("signature")
        claims = json.loads(decode(payload))
        now = time.time()
        if claims["iss"] != STILE_URL or AUDIENCE not in claims["aud"]:
            raise Invalid("issuer or audience")
        if claims["exp"] <= now or claims.get("nbf", 0) > now:
            raise Invalid("time")
        return claims
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Invalid("form") from error


def verify_session(token):
    """Verifies a session token, then the session itself: it may have ended before its token expires."""
    claims = verify_token(token, "JWT")
    request = urllib.request.Request(
        STILE_URL + "/sessions/validate",
        data=json.dumps({"session_token": token}).encode(),
        headers={"Content-Type": "application/json"},
    )
    if call(request).get("is_valid") is not True:
        raise Invalid("ended")
    return claims


def verify_webhook(headers, body):
    """Verifies a delivery (Standard Webhooks 1.0) and its token. Returns id, name and data of the event."""
    delivery, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    signed = f"{delivery}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in given):
        raise Invalid("signature")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        raise Invalid("time")
    message = json.loads(body)
    claims = verify_token(message["token"], "webhook+jwt")
    if claims["sub"] != "hanko webhooks" or claims["evt"] != message["event"] or claims["jti"] != delivery:
        raise Invalid("event")
    return claims["jti"], claims["evt"], claims["data"]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if self.path != "/api/me" or scheme.lower() != "bearer":
            return self.answer(401 if self.path == "/api/me" else 404)
        try:
            self.answer(200, {"userId": verify_session(token)["sub"]})
        except Invalid as error:
            self.answer(401, {"error": str(error)})
        except Unavailable:
            self.answer(503)

    def do_POST(self):
        if self.path != "/webhooks/stile":
            return self.answer(404)
        announced = self.headers.get("Content-Length", "")
        # A negative length would read until the sender stops.
        if not (announced.isascii() and announced.isdecimal()):
            return self.answer(411)
        if len(announced) > 9 or int(announced) > MAX_BODY_BYTES:
            return self.answer(413)
        try:
            event, name, data = verify_webhook(self.headers, self.rfile.read(int(announced)))
        except (Invalid, ValueError, KeyError, TypeError, RecursionError):
            return self.answer(400)
        except Unavailable:
            return self.answer(503)
        print(json.dumps({"id": event, "name": name, "user": data.get("id")}), flush=True)
        self.answer(204)

    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
