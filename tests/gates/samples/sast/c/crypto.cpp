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
