<?php

use GuzzleHttp\Client;

function orders(mysqli $db, PDO $pdo): void
{
    $id = $_GET['id'];
    $sql = "SELECT total FROM orders WHERE id = '" . $id . "'";
    // ruleid: swarmgate.php.sql-injection
    $rows = $db->query($sql);
    // ruleid: swarmgate.php.sql-injection
    mysqli_query($db, "DELETE FROM carts WHERE tenant = '{$_POST['tenant']}'");
    // ok: swarmgate.php.sql-injection
    $statement = $pdo->prepare('SELECT total FROM orders WHERE id = ?');
    $statement->execute([$id]);
    $number = (int) $_GET['number'];
    // ok: swarmgate.php.sql-injection
    $db->query("SELECT total FROM orders WHERE number = $number");
    $name = mysqli_real_escape_string($db, $_GET['name']);
    // ok: swarmgate.php.sql-injection
    mysqli_query($db, "SELECT total FROM orders WHERE name = '$name'");
}

function convert(): void
{
    $format = $_REQUEST['format'];
    // ruleid: swarmgate.php.command-injection
    exec('convert in.png out.' . $format);
    // ruleid: swarmgate.php.command-injection
    $listing = `ls -l $format`;
    // ok: swarmgate.php.command-injection
    exec('convert in.png ' . escapeshellarg('out.' . $format));
    // ok: swarmgate.php.command-injection
    echo shell_exec('uptime');
}

function page(): void
{
    // ruleid: swarmgate.php.file-inclusion
    include 'pages/' . $_GET['page'] . '.php';
    $pages = ['home' => 'home.php', 'help' => 'help.php'];
    // ok: swarmgate.php.file-inclusion
    require __DIR__ . '/pages/home.php';
}

function download(string $folder): void
{
    // ruleid: swarmgate.php.path-traversal
    readfile($folder . '/' . $_GET['file']);
    // ok: swarmgate.php.path-traversal
    readfile($folder . '/' . basename($_GET['file']));
    // ruleid: swarmgate.php.path-traversal
    move_uploaded_file($_FILES['photo']['tmp_name'], $folder . '/' . $_FILES['photo']['name']);
    // ok: swarmgate.php.path-traversal
    move_uploaded_file($_FILES['photo']['tmp_name'], $folder . '/' . bin2hex(random_bytes(8)));
}

function compute(array $actions): void
{
    // ruleid: swarmgate.php.code-injection
    eval('$x = ' . $_POST['formula'] . ';');
    // ruleid: swarmgate.php.code-injection
    call_user_func($_GET['action'], 1);
    // ok: swarmgate.php.code-injection
    call_user_func('strtolower', $_GET['action']);
}

function greet(): void
{
    $name = $_GET['name'] ?? 'you';
    // ruleid: swarmgate.php.cross-site-scripting
    echo '<h1>Hello ' . $name . '</h1>';
    // ruleid: swarmgate.php.cross-site-scripting
    print("<p>$name</p>");
    // ok: swarmgate.php.cross-site-scripting
    echo '<h1>Hello ' . htmlspecialchars($name, ENT_QUOTES) . '</h1>';
    // ok: swarmgate.php.cross-site-scripting
    echo json_encode(['name' => $name]);
}

function leave(): void
{
    // ruleid: swarmgate.php.open-redirect
    header('Location: ' . $_GET['next']);
    // ok: swarmgate.php.open-redirect
    header('Location: /login?next=' . urlencode($_GET['next']));
    // ok: swarmgate.php.open-redirect
    header('Content-Type: text/html');
}

function preview(Client $client): void
{
    $curl = curl_init();
    // ruleid: swarmgate.php.ssrf
    curl_setopt($curl, CURLOPT_URL, $_POST['url']);
    // ruleid: swarmgate.php.ssrf
    $client->request('GET', $_GET['feed']);
    // ok: swarmgate.php.ssrf
    curl_setopt($curl, CURLOPT_URL, 'https://search.internal/?q=' . rawurlencode($_POST['q']));
}

function person($ldap): void
{
    $user = $_GET['user'];
    // ruleid: swarmgate.php.ldap-injection
    ldap_search($ldap, 'ou=people', "(uid=$user)");
    // ok: swarmgate.php.ldap-injection
    ldap_search($ldap, 'ou=people', '(uid=' . ldap_escape($user, '', LDAP_ESCAPE_FILTER) . ')');
}

function price(SimpleXMLElement $items): array
{
    // ok: swarmgate.php.xpath-injection
    $all = $items->xpath('//item/price');
    // ruleid: swarmgate.php.xpath-injection
    return $items->xpath("//item[@name='" . $_GET['name'] . "']/price");
}

function render(Twig\Environment $twig): string
{
    // ok: swarmgate.php.template-injection
    echo $twig->createTemplate('Hello {{ name }}')->getTemplateName();
    // ruleid: swarmgate.php.template-injection
    return $twig->createTemplate($_POST['body'])->render([]);
}

function form(array $row): void
{
    // ruleid: swarmgate.php.request-to-variables
    extract($_POST);
    // ok: swarmgate.php.request-to-variables
    extract($row, EXTR_SKIP);
    // ok: swarmgate.php.request-to-variables
    parse_str('a=1', $fields);
}

function away(string $base): void
{
    $to = $_GET['to'];
    // ruleid: swarmgate.php.open-redirect
    header("Location: $to", true, 302);
    // ok: swarmgate.php.open-redirect
    header("Location: $base/home");
}
