#include <cstdlib>
#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string>

std::string new_session_token() {
    std::string out;
    for (int i = 0; i < 16; i++) {
        // ruleid: swarmgate.c.predictable-secret
        out += static_cast<char>('a' + std::rand() % 26);
    }
    return out;
}

int dice() {
    // ok: swarmgate.c.predictable-secret
    return 1 + std::rand() % 6;
}

const EVP_CIPHER *cipher(bool old) {
    if (old) {
        // ruleid: swarmgate.c.broken-cipher
        return EVP_des_ede3_cbc();
    }
    // ok: swarmgate.c.broken-cipher
    return EVP_aes_256_gcm();
}

const EVP_MD *digest(bool old) {
    if (old) {
        // ruleid: swarmgate.c.weak-hash
        return EVP_md5();
    }
    // ok: swarmgate.c.weak-hash
    return EVP_sha256();
}

void configure(CURL *curl) {
    // ruleid: swarmgate.c.tls-verification-off
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    // ok: swarmgate.c.tls-verification-off
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
}

int run(const std::string &format) {
    const char *tool = std::getenv("TOOL");
    // ruleid: swarmgate.c.command-injection
    std::system(tool);
    // ok: swarmgate.c.command-injection
    return std::system("sync");
}

void keys(RSA *rsa, BIGNUM *e, EVP_PKEY_CTX *context) {
    // ruleid: swarmgate.c.short-key
    RSA_generate_key_ex(rsa, 1024, e, nullptr);
    // ok: swarmgate.c.short-key
    RSA_generate_key_ex(rsa, 3072, e, nullptr);
    int bits = 512;
    // ruleid: swarmgate.c.short-key
    EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits);
    // ruleid: swarmgate.c.short-key
    std::system("openssl genrsa -out key.pem 1024");
    // ok: swarmgate.c.short-key
    std::system("openssl req -x509 -days 1024 -newkey rsa:4096");
}

void stored(const char *password, unsigned char *out) {
    unsigned char salt[16];
    memset(salt, 0, sizeof salt);
    // ruleid: swarmgate.c.fixed-salt
    PKCS5_PBKDF2_HMAC(password, -1, salt, 16, 600000, EVP_sha256(), 32, out);
}

void stored_well(const char *password, unsigned char *out) {
    unsigned char salt[16];
    memset(salt, 0, sizeof salt);
    RAND_bytes(salt, sizeof salt);
    // ok: swarmgate.c.fixed-salt
    PKCS5_PBKDF2_HMAC(password, -1, salt, 16, 600000, EVP_sha256(), 32, out);
}

void sealed(EVP_CIPHER_CTX *context, const unsigned char *key) {
    unsigned char iv[12] = {0};
    // ruleid: swarmgate.c.fixed-iv
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, key, iv);
}

void sealed_well(EVP_CIPHER_CTX *context, const unsigned char *key) {
    unsigned char iv[12] = {0};
    if (RAND_bytes(iv, sizeof iv) != 1) {
        return;
    }
    // ok: swarmgate.c.fixed-iv
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, key, iv);
}
