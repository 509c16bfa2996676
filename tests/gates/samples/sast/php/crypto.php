<?php

function store(string $password, string $salt, string $body): array
{
    // ruleid: swarmgate.php.password-fast-hash, swarmgate.php.weak-hash
    $old = md5($password . $salt);
    // ruleid: swarmgate.php.weak-hash
    $etag = sha1($body);
    // ok: swarmgate.php.weak-hash, swarmgate.php.password-fast-hash
    $digest = hash('sha256', $body);
    // ok: swarmgate.php.password-fast-hash
    $new = password_hash($password, PASSWORD_DEFAULT);
    return [$old, $etag, $digest, $new];
}

function check(string $body, string $key, string $given): bool
{
    // ruleid: swarmgate.php.loose-hash-comparison
    if (hash_hmac('sha256', $body, $key) == $given) {
        return true;
    }
    // ok: swarmgate.php.loose-hash-comparison
    return hash_equals(hash_hmac('sha256', $body, $key), $given);
}

function newResetToken(): string
{
    // ruleid: swarmgate.php.predictable-secret
    $number = mt_rand();
    // ok: swarmgate.php.predictable-secret
    return $number . bin2hex(random_bytes(16));
}

function dice(): int
{
    // ok: swarmgate.php.predictable-secret
    return mt_rand(1, 6);
}

function seal(string $text, string $key, string $iv): string
{
    // ruleid: swarmgate.php.broken-cipher
    $old = openssl_encrypt($text, 'aes-128-ecb', $key);
    // ok: swarmgate.php.broken-cipher
    return openssl_encrypt($text, 'aes-256-gcm', $key, 0, $iv, $tag);
}
