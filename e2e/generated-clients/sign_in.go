// Makes a user with the generated client, and signs it in. Arguments: base address, administration key.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"

	client "client.test/stile/generated"
)

const (
	email    = "go@example.com"
	password = "a passphrase of a gopher"
)

// What every state of a flow has.
type shownState struct {
	Name      string         `json:"name"`
	CsrfToken string         `json:"csrf_token"`
	Payload   map[string]any `json:"payload"`
	Actions   map[string]struct {
		Href string `json:"href"`
	} `json:"actions"`
}

func main() {
	base, key := os.Args[1], os.Args[2]
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: base}}
	api := client.NewAPIClient(configuration)
	userId := makeUser(api, context.WithValue(context.Background(), client.ContextAccessToken, key))
	session := signIn(api)
	validation, _, err := api.SessionsAPI.ValidateToken(context.Background()).
		ValidateTokenRequest(*client.NewValidateTokenRequest(session.SessionToken)).Execute()
	check(err)
	if !validation.IsValid || validation.GetUserId() != userId {
		check(fmt.Errorf("the session is not that of %s", userId))
	}
	fmt.Printf("Go: signed in as %s\n", userId)
}

func makeUser(api *client.APIClient, asOperator context.Context) string {
	address := client.NewCreateUserRequestEmailsInner(email)
	address.SetIsPrimary(true)
	address.SetIsVerified(true)
	wanted := client.NewCreateUserRequest()
	wanted.SetEmails([]client.CreateUserRequestEmailsInner{*address})
	user, _, err := api.AdminUsersAPI.CreateUser(asOperator).CreateUserRequest(*wanted).Execute()
	check(err)
	_, _, err = api.AdminUsersAPI.CreateUserPassword(asOperator, user.Id).
		UpdateUserPasswordRequest(*client.NewUpdateUserPasswordRequest(password)).Execute()
	check(err)
	return user.Id
}

// Begins a login with an address, performs its other actions, and redeems its authorization code.
func signIn(api *client.APIClient) *client.RedeemedSession {
	random := make([]byte, 48)
	_, err := rand.Read(random)
	check(err)
	verifier := base64.RawURLEncoding.EncodeToString(random)
	digest := sha256.Sum256([]byte(verifier))
	anonymous := context.Background()
	capabilities := client.NewLoginStartRequestCapabilities()
	capabilities.SetWebauthnAvailable(false)
	start := client.NewLoginStartRequest()
	start.SetCapabilities(*capabilities)
	start.SetAction("continue_with_login_identifier")
	start.SetInput(client.LoginInput{ContinueWithLoginIdentifierInput: client.NewContinueWithLoginIdentifierInput(email)})
	answer, _, err := api.FlowAPI.Login(anonymous).
		CodeChallenge(base64.RawURLEncoding.EncodeToString(digest[:])).CodeChallengeMethod("S256").
		LoginRequest(client.LoginRequest{LoginStartRequest: start}).Execute()
	check(err)
	inputs := []struct {
		action string
		input  client.LoginInput
	}{
		{"password_login", client.LoginInput{PasswordLoginInput: client.NewPasswordLoginInput(password)}},
		{"continue_to_password_login", client.LoginInput{MapmapOfStringAny: &map[string]any{}}},
		{"skip", client.LoginInput{MapmapOfStringAny: &map[string]any{}}},
	}
	state := shown(answer)
	for state.Name != "success" {
		performed := false
		for _, one := range inputs {
			offered, is := state.Actions[one.action]
			if !is {
				continue
			}
			href, err := url.Parse(offered.Href)
			check(err)
			request := client.NewLoginActionRequest()
			request.SetCsrfToken(state.CsrfToken)
			request.SetInputData(one.input)
			answer, _, err = api.FlowAPI.Login(anonymous).
				Action(href.Query().Get("action")).LoginRequest(client.LoginRequest{LoginActionRequest: request}).Execute()
			check(err)
			state = shown(answer)
			performed = true
			break
		}
		if !performed {
			check(fmt.Errorf("no way on from %s", state.Name))
		}
	}
	redemption := client.NewRedeemCodeRequest(state.Payload["authorization_code"].(string), verifier)
	session, _, err := api.SessionsAPI.RedeemCode(anonymous).RedeemCodeRequest(*redemption).Execute()
	check(err)
	return session
}

func shown(answer *client.LoginFlowState) (state shownState) {
	text, err := json.Marshal(answer)
	check(err)
	check(json.Unmarshal(text, &state))
	return state
}

func check(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	if refused, is := err.(*client.GenericOpenAPIError); is {
		fmt.Fprintln(os.Stderr, string(refused.Body()))
	}
	os.Exit(1)
}
