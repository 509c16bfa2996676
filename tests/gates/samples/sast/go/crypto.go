package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"
	"crypto/rsa"
	"crypto/sha256"
	"math/rand"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

func etag(body []byte) [16]byte {
	// ruleid: swarmgate.go.weak-hash
	return md5.Sum(body)
}

func digest(body []byte, password string, bcrypt Hasher) [32]byte {
	// ruleid: swarmgate.go.password-fast-hash
	_ = sha256.Sum256([]byte(password + "pepper"))
	// ok: swarmgate.go.password-fast-hash
	_, _ = bcrypt.GenerateFromPassword([]byte(password), 12)
	// ok: swarmgate.go.weak-hash, swarmgate.go.password-fast-hash
	return sha256.Sum256(body)
}

func blocks(key []byte) cipher.Block {
	// ruleid: swarmgate.go.broken-cipher
	old, _ := des.NewTripleDESCipher(key)
	// ok: swarmgate.go.broken-cipher, swarmgate.go.literal-key
	block, _ := aes.NewCipher(key)
	// ruleid: swarmgate.go.fixed-iv
	_ = cipher.NewCBCEncrypter(block, []byte("0000000000000000"))
	iv := freshIV(block.BlockSize())
	// ok: swarmgate.go.fixed-iv
	_ = cipher.NewCBCEncrypter(block, iv)
	return old
}

func sign(claims jwt.Claims) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	// ok: swarmgate.go.literal-key
	_, _ = token.SignedString([]byte(os.Getenv("SIGNING_KEY")))
	// ruleid: swarmgate.go.literal-key
	return token.SignedString([]byte("not-a-real-key"))
}

func newSessionToken() string {
	letters := []rune("abcdefghijklmnopqrstuvwxyz")
	out := make([]rune, 20)
	for i := range out {
		// ruleid: swarmgate.go.predictable-secret
		out[i] = letters[rand.Intn(len(letters))]
	}
	return string(out)
}

func backoff(attempt int) int {
	// ok: swarmgate.go.predictable-secret
	return rand.Intn(1 << attempt)
}

func keys(random Reader) {
	// ruleid: swarmgate.go.small-rsa-key
	_, _ = rsa.GenerateKey(random, 1024)
	// ok: swarmgate.go.small-rsa-key
	_, _ = rsa.GenerateKey(random, 4096)
}

func claims(raw string, key jwt.Keyfunc) jwt.MapClaims {
	out := jwt.MapClaims{}
	parser := jwt.NewParser()
	// ruleid: swarmgate.go.jwt-not-verified
	_, _, _ = parser.ParseUnverified(raw, out)
	// ok: swarmgate.go.jwt-not-verified
	_, _ = parser.ParseWithClaims(raw, out, key)
	return out
}

func parameters(random Reader) error {
	out := new(dsa.Parameters)
	// ruleid: swarmgate.go.small-rsa-key
	if err := dsa.GenerateParameters(out, random, dsa.L1024N160); err != nil {
		return err
	}
	// ok: swarmgate.go.small-rsa-key
	return dsa.GenerateParameters(out, random, dsa.L3072N256)
}

func stretched(password []byte, random Reader) ([]byte, []byte) {
	fixed := []byte("0123456789abcdef")
	// ruleid: swarmgate.go.fixed-salt
	weak := pbkdf2.Key(password, fixed, 600000, 32, sha256.New)
	salt := make([]byte, 16)
	_, _ = io.ReadFull(random, salt)
	// ok: swarmgate.go.fixed-salt
	return weak, pbkdf2.Key(password, salt, 600000, 32, sha256.New)
}

func chained(block cipher.Block, random Reader) (cipher.BlockMode, cipher.BlockMode) {
	empty := make([]byte, aes.BlockSize)
	// ruleid: swarmgate.go.fixed-iv
	weak := cipher.NewCBCEncrypter(block, empty)
	iv := make([]byte, aes.BlockSize)
	if _, err := io.ReadFull(random, iv); err != nil {
		return nil, nil
	}
	// ok: swarmgate.go.fixed-iv
	return weak, cipher.NewCBCEncrypter(block, iv)
}
