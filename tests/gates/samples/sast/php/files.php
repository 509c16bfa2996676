<?php

function prepare(string $folder): void
{
    // ruleid: swarmgate.php.world-writable
    mkdir($folder . '/cache', 0777, true);
    // ruleid: swarmgate.php.world-writable
    chmod($folder, 0666);
    // ok: swarmgate.php.world-writable
    mkdir($folder . '/cache', 0750, true);
}

function diagnose(): void
{
    // ruleid: swarmgate.php.debug-output
    phpinfo();
    // ok: swarmgate.php.debug-output
    ini_set('display_errors', '0');
}
