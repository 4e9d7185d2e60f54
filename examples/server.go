// Session check and webhooks of Stile, with the standard library of Go alone: go run server.go
package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	keysMaxAge   = 10 * time.Minute
	keysCooldown = 30 * time.Second
	keysRetry    = time.Second
	keysMaxStale = 24 * time.Hour
	maxBodyBytes = 1 << 20
	tolerance    = 5 * time.Minute
)

var (
	stileURL = strings.TrimRight(os.Getenv("STILE_URL"), "/")
	audience = host(stileURL)
	secret   = webhookSecret()
	client   = &http.Client{Timeout: 5 * time.Second}
	keys     = &keySet{}
)

func host(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		log.Fatal(err)
	}
	return parsed.Hostname()
}

func webhookSecret() []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("STILE_WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("STILE_WEBHOOK_SECRET is whsec_ and base64")
	}
	return key
}

// keySet holds the public keys of the service: for ten minutes, and they are read again for an unknown key at most
// every 30 seconds. While they cannot be read, the last ones verify for a day.
type keySet struct {
	// Held while the keys are read, by one request; those that need the result wait for it.
	reading sync.Mutex
	mutex   sync.RWMutex
	keys    map[string]*publicKey
	readAt  time.Time
	// Of the last attempt; guarded by reading.
	nextReadAt time.Time
	failed     error
}

func (set *keySet) get(kid string) (*publicKey, time.Duration) {
	set.mutex.RLock()
	defer set.mutex.RUnlock()
	return set.keys[kid], time.Since(set.readAt)
}

func (set *keySet) find(kid string) (*publicKey, error) {
	if key, age := set.get(kid); key != nil && age < keysMaxAge {
		return key, nil
	}
	set.reading.Lock()
	defer set.reading.Unlock()
	if key, age := set.get(kid); (key == nil || age >= keysMaxAge) && time.Now().After(set.nextReadAt) {
		set.read()
	}
	key, age := set.get(kid)
	if set.failed != nil && (key == nil || age > keysMaxStale) {
		return nil, set.failed
	}
	if key == nil {
		return nil, errors.New("unknown key")
	}
	return key, nil
}

func (set *keySet) read() {
	found, err := readKeys()
	set.failed = err
	set.mutex.Lock()
	defer set.mutex.Unlock()
	if err == nil {
		set.keys, set.readAt = found, time.Now()
	}
	wait := keysRetry
	if len(set.keys) > 0 {
		wait = keysCooldown
	}
	set.nextReadAt = time.Now().Add(wait)
}

// errUnavailable: Stile does not answer, so nothing is known of the token.
var errUnavailable = errors.New("Stile does not answer")

func status(err error, otherwise int) int {
	if errors.Is(err, errUnavailable) {
		return http.StatusServiceUnavailable
	}
	return otherwise
}

func readKeys() (map[string]*publicKey, error) {
	answer, err := client.Get(stileURL + "/.well-known/jwks.json")
	if err != nil {
		return nil, errUnavailable
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, errUnavailable
	}
	var set struct {
		Keys []jwk
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxBodyBytes)).Decode(&set); err != nil {
		return nil, errUnavailable
	}
	found := map[string]*publicKey{}
	for _, key := range set.Keys {
		if imported := key.imported(); imported != nil {
			found[key.Kid] = imported
		}
	}
	return found, nil
}

// publicKey verifies by one algorithm (RFC 8725, 3.1).
type publicKey struct {
	algorithm string
	verifies  func(signed, signature []byte) bool
}

type jwk struct{ Kty, Crv, Kid, N, E, X, Y string }

// imported returns nil for a key of another kind than session.algorithm knows.
func (key jwk) imported() *publicKey {
	n, e, x, y := number(key.N), number(key.E), number(key.X), number(key.Y)
	switch key.Kty + key.Crv {
	case "RSA":
		public := &rsa.PublicKey{N: n, E: int(e.Int64())}
		return &publicKey{"RS256", func(signed, signature []byte) bool {
			digest := sha256.Sum256(signed)
			return rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], signature) == nil
		}}
	case "ECP-256":
		public := &ecdsa.PublicKey{Curve: elliptic.P256(), X: x, Y: y}
		if _, err := public.ECDH(); err != nil {
			return nil
		}
		return &publicKey{"ES256", func(signed, signature []byte) bool {
			if len(signature) != 64 {
				return false
			}
			digest := sha256.Sum256(signed)
			r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
			return ecdsa.Verify(public, digest[:], r, s)
		}}
	case "OKPEd25519":
		public, err := base64.RawURLEncoding.DecodeString(key.X)
		if err != nil || len(public) != ed25519.PublicKeySize {
			return nil
		}
		return &publicKey{"EdDSA", func(signed, signature []byte) bool {
			return ed25519.Verify(public, signed, signature)
		}}
	}
	return nil
}

func number(text string) *big.Int {
	decoded, _ := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(decoded)
}

type claims struct {
	Iss, Sub, Jti, Evt string
	SessionID          string `json:"session_id"`
	Aud                []string
	Exp, Nbf           float64
	Data               map[string]any
}

// verifyToken verifies a JWT: signature by the algorithm of its key, type, issuer, audience and times.
func verifyToken(token, typ string) (*claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("no token")
	}
	var header struct{ Alg, Typ, Kid string }
	if err := decode(parts[0], &header); err != nil {
		return nil, err
	}
	if header.Typ != typ {
		return nil, errors.New("another kind of token")
	}
	key, err := keys.find(header.Kid)
	if err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, err
	}
	if header.Alg != key.algorithm || !key.verifies([]byte(parts[0]+"."+parts[1]), signature) {
		return nil, errors.New("another signature")
	}
	var found claims
	if err := decode(parts[1], &found); err != nil {
		return nil, err
	}
	now := float64(time.Now().Unix())
	if found.Iss != stileURL || !contains(found.Aud, audience) || found.Exp <= now || found.Nbf > now {
		return nil, errors.New("another issuer or audience, or expired")
	}
	return &found, nil
}

func decode(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func contains(list []string, wanted string) bool {
	for _, item := range list {
		if item == wanted {
			return true
		}
	}
	return false
}

// verifySession verifies a session token, then the session itself: it may have ended before its token expires.
func verifySession(token string) (*claims, error) {
	found, err := verifyToken(token, "JWT")
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"session_token": token})
	if err != nil {
		return nil, err
	}
	answer, err := client.Post(stileURL+"/sessions/validate", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, errUnavailable
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, errUnavailable
	}
	var validated struct {
		IsValid bool `json:"is_valid"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxBodyBytes)).Decode(&validated); err != nil {
		return nil, errUnavailable
	}
	if !validated.IsValid {
		return nil, errors.New("the session has ended")
	}
	return found, nil
}

// verifyWebhook verifies a delivery (Standard Webhooks 1.0) and its token.
func verifyWebhook(header http.Header, body []byte) (*claims, error) {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.", id, sentAt)
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	signed := false
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		signed = hmac.Equal(expected, []byte(signature)) || signed
	}
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	age := time.Since(time.Unix(seconds, 0))
	if !signed || err != nil || age > tolerance || age < -tolerance {
		return nil, errors.New("signature or time")
	}
	var message struct{ Token, Event string }
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	found, err := verifyToken(message.Token, "webhook+jwt")
	if err != nil {
		return nil, err
	}
	if found.Sub != "hanko webhooks" || found.Evt != message.Event || found.Jti != id {
		return nil, errors.New("another event")
	}
	return found, nil
}

func me(response http.ResponseWriter, request *http.Request) {
	token := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
	found, err := verifySession(token)
	if err != nil {
		http.Error(response, err.Error(), status(err, http.StatusUnauthorized))
		return
	}
	response.Header().Set("Content-Type", "application/json")
	json.NewEncoder(response).Encode(map[string]string{"userId": found.Sub})
}

func webhook(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
	if err != nil {
		http.Error(response, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	found, err := verifyWebhook(request.Header, body)
	if err != nil {
		http.Error(response, err.Error(), status(err, http.StatusBadRequest))
		return
	}
	line, _ := json.Marshal(map[string]any{"id": found.Jti, "name": found.Evt, "user": found.Data["id"]})
	fmt.Println(string(line))
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	http.HandleFunc("/api/me", me)
	http.HandleFunc("/webhooks/stile", webhook)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
