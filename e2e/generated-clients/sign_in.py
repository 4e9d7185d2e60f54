"""Makes a user with the generated client, and signs it in. Arguments: base address, administration key."""

import base64
import hashlib
import secrets
import sys
from urllib.parse import parse_qs, urlsplit

import stile_client
from stile_client import models

base, key = sys.argv[1:3]
EMAIL, PASSWORD = "python@example.com", "a passphrase of a snake"


def make_user() -> str:
    with stile_client.ApiClient(stile_client.Configuration(host=base, access_token=key)) as client:
        users = stile_client.AdminUsersApi(client)
        email = {"address": EMAIL, "is_primary": True, "is_verified": True}
        user = users.create_user(models.CreateUserRequest.from_dict({"emails": [email]}))
        users.create_user_password(user.id, {"password": PASSWORD})
        return str(user.id)


def sign_in() -> models.RedeemedSession:
    """Begins a login with an address, performs its other actions, and redeems its authorization code."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    with stile_client.ApiClient(stile_client.Configuration(host=base)) as client:
        flow = stile_client.FlowApi(client)
        start = models.LoginStartRequest.from_dict(
            {
                "capabilities": {"webauthn_available": False},
                "action": "continue_with_login_identifier",
                "input": {"email": EMAIL},
            }
        )
        state = flow.login(
            code_challenge=challenge,
            code_challenge_method="S256",
            login_request=models.LoginRequest(start),
        ).actual_instance
        inputs = {
            "password_login": models.PasswordLoginInput(password=PASSWORD),
            "continue_to_password_login": {},
            "skip": {},
        }
        while state.name != "success":
            offered = [name for name in inputs if getattr(state.actions, name, None)]
            assert offered, f"no way on from {state.name}"
            descriptor = getattr(state.actions, offered[0])
            [action] = parse_qs(urlsplit(descriptor.href).query)["action"]
            request = models.LoginActionRequest(
                csrf_token=state.csrf_token, input_data=models.LoginInput(inputs[offered[0]])
            )
            state = flow.login(action=action, login_request=models.LoginRequest(request)).actual_instance
        redemption = {"code": state.payload["authorization_code"], "code_verifier": verifier}
        return stile_client.SessionsApi(client).redeem_code(models.RedeemCodeRequest.from_dict(redemption))


def user_of(token: str) -> str:
    """The user whose session the token is, as the service says."""
    with stile_client.ApiClient(stile_client.Configuration(host=base)) as client:
        request = models.ValidateTokenRequest(session_token=token)
        validation = stile_client.SessionsApi(client).validate_token(request)
        assert validation.is_valid, "the session is not valid"
        return str(validation.user_id)


user_id = make_user()
assert user_of(sign_in().session_token) == user_id
print(f"Python: signed in as {user_id}")
