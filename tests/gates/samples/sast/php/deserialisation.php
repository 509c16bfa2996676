<?php

function cart(): array
{
    // ruleid: swarmgate.php.untrusted-unserialize
    $cart = unserialize($_COOKIE['cart']);
    // ruleid: swarmgate.php.untrusted-unserialize
    $old = unserialize(base64_decode($_POST['old']));
    // ok: swarmgate.php.untrusted-unserialize
    $plain = unserialize($_COOKIE['plain'], ['allowed_classes' => false]);
    // ok: swarmgate.php.untrusted-unserialize
    return json_decode($_COOKIE['cart'], true);
}

function import(string $text): DOMDocument
{
    $document = new DOMDocument();
    // ruleid: swarmgate.php.xxe
    $document->loadXML($text, LIBXML_NOENT | LIBXML_DTDLOAD);
    // ruleid: swarmgate.php.xxe
    simplexml_load_string($text, 'SimpleXMLElement', LIBXML_NOENT);
    // ok: swarmgate.php.xxe
    $document->loadXML($text, LIBXML_NONET);
    // ok: swarmgate.php.xxe
    $document->loadXML($text);
    return $document;
}
