<?php

use GuzzleHttp\Client;

function clients(string $ca): array
{
    $curl = curl_init('https://api.internal');
    // ruleid: swarmgate.php.tls-verification-off
    curl_setopt($curl, CURLOPT_SSL_VERIFYPEER, false);
    // ok: swarmgate.php.tls-verification-off
    curl_setopt($curl, CURLOPT_SSL_VERIFYHOST, 2);
    return [
        // ruleid: swarmgate.php.tls-verification-off
        new Client(['timeout' => 5, 'verify' => false]),
        // ok: swarmgate.php.tls-verification-off
        new Client(['timeout' => 5, 'verify' => $ca]),
    ];
}

function remember(string $id): void
{
    // ruleid: swarmgate.php.cookie-flags-off
    setcookie('session', $id, ['secure' => true, 'httponly' => false]);
    // ok: swarmgate.php.cookie-flags-off
    setcookie('session', $id, ['secure' => true, 'httponly' => true]);
}
