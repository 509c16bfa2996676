"""Sample for the rules of the file of this name."""

import os
import subprocess
from flask import request, redirect, session, make_response, render_template_string

import ftplib
import hashlib
import random
import secrets
import ssl
import jwt
import paramiko
import requests
from OpenSSL import SSL


# ruleid: swarmgate.python.weak-hash
hashlib.md5(b"x")

# ok: swarmgate.python.weak-hash
hashlib.md5(b"x", usedforsecurity=False)

def hash_1(password):
    # ruleid: swarmgate.python.fast-hash-of-password
    return hashlib.sha256(password.encode()).hexdigest()

def hash_2(content):
    # ok: swarmgate.python.fast-hash-of-password
    return hashlib.sha256(content.encode()).hexdigest()

# ruleid: swarmgate.python.few-hash-rounds
hashlib.pbkdf2_hmac("sha256", word, salt, 1000)

# ok: swarmgate.python.few-hash-rounds
hashlib.pbkdf2_hmac("sha256", word, salt, 600000)

# ruleid: swarmgate.python.weak-cipher
cipher_1 = DES.new(key, DES.MODE_CBC, vector)

# ok: swarmgate.python.weak-cipher
cipher_2 = AES.new(key, AES.MODE_GCM)

# ruleid: swarmgate.python.ecb-mode
cipher_3 = AES.new(key, AES.MODE_ECB)

# ok: swarmgate.python.ecb-mode
cipher_4 = AES.new(key, AES.MODE_GCM)

# ruleid: swarmgate.python.fixed-initialisation-vector
mode_1 = modes.CBC(b"0123456789abcdef")

# ok: swarmgate.python.fixed-initialisation-vector
mode_2 = modes.CBC(os.urandom(16))

# ruleid: swarmgate.python.short-key
rsa.generate_private_key(public_exponent=65537, key_size=1024)

# ok: swarmgate.python.short-key
rsa.generate_private_key(public_exponent=65537, key_size=3072)

token_value = 1
# ruleid: swarmgate.python.predictable-secret
reset_token = str(random.random())

# ok: swarmgate.python.predictable-secret
colour = random.choice(["red", "blue"])

@app.route("/x")
def handler_41():
    # ruleid: swarmgate.python.random-in-web-code
    return str(random.randint(1, 6))

@app.route("/x")
def handler_42():
    # ok: swarmgate.python.random-in-web-code
    return str(secrets.randbelow(6))

# ruleid: swarmgate.python.certificate-not-checked
requests.get("https://a.invalid", verify=False)

# ok: swarmgate.python.certificate-not-checked
requests.get("https://a.invalid", verify="ca.pem")

# ruleid: swarmgate.python.old-tls
version_1 = ssl.PROTOCOL_TLSv1

# ok: swarmgate.python.old-tls
version_2 = ssl.PROTOCOL_TLS_CLIENT

# ruleid: swarmgate.python.host-key-not-checked
client.set_missing_host_key_policy(paramiko.AutoAddPolicy())

# ok: swarmgate.python.host-key-not-checked
client.set_missing_host_key_policy(paramiko.RejectPolicy())

# ruleid: swarmgate.python.jwt-not-verified
jwt.decode(text, options={"verify_signature": False})

# ok: swarmgate.python.jwt-not-verified
jwt.decode(text, key, algorithms=["HS256"])

# ruleid: swarmgate.python.jwt-fixed-key
jwt.encode({}, "k", algorithm="HS256")

# ok: swarmgate.python.jwt-fixed-key
jwt.encode({}, key, algorithm="HS256")

import hmac


def same_1(mac, given):
    # ruleid: swarmgate.python.secret-compared-by-time
    return mac.hexdigest() == given

def same_2(mac, given):
    # ok: swarmgate.python.secret-compared-by-time
    return hmac.compare_digest(mac.hexdigest(), given)

# ruleid: swarmgate.python.plain-text-protocol
link_1 = ftplib.FTP("a.invalid")

# ok: swarmgate.python.plain-text-protocol
link_2 = ftplib.FTP_TLS("a.invalid")


def generate_reset_token():
    # ruleid: swarmgate.python.predictable-secret-made
    return "".join(random.choice(LETTERS) for _ in range(20))


def make_sample_rows():
    # ok: swarmgate.python.predictable-secret-made
    return [random.randint(0, 9) for _ in range(20)]


def seal(key):
    vector = b"x" * 16
    # ruleid: swarmgate.python.fixed-initialisation-vector
    return Cipher(algorithms.AES(key), modes.CBC(vector))


def seal_well(key):
    vector = os.urandom(16)
    # ok: swarmgate.python.fixed-initialisation-vector
    return Cipher(algorithms.AES(key), modes.CBC(vector))


def fetch(host, user, password):
    ftp = ftplib.FTP(host)
    # ruleid: swarmgate.python.password-in-clear
    ftp.login(user, password)
    public = ftplib.FTP(host)
    # ok: swarmgate.python.password-in-clear
    public.login()


def send(host, user, password):
    with smtplib.SMTP(host) as mail:
        mail.starttls()
        # ok: swarmgate.python.password-in-clear
        mail.login(user, password)

# ruleid: swarmgate.python.fixed-salt
hashlib.pbkdf2_hmac("sha256", word, b"D8VxSmTZt2E2YV454mkqAY5e", 600000)

# ok: swarmgate.python.fixed-salt
hashlib.pbkdf2_hmac("sha256", word, salt, 600000)

def context_1():
    # ruleid: swarmgate.python.openssl-context-unverified
    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    return context

def context_2():
    # ok: swarmgate.python.openssl-context-unverified
    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    context.set_verify(SSL.VERIFY_PEER, check)
    return context

def may_enter(user, password):
    # ruleid: swarmgate.python.password-in-comparison
    return password == "letmein99"

def may_post(request):
    # ruleid: swarmgate.python.password-in-comparison
    if request.form["password"] == "hunter22":
        return True

def is_kept(password):
    # ok: swarmgate.python.password-in-comparison
    if password == "changeme":
        raise ValueError("choose a password")
    # ok: swarmgate.python.password-in-comparison
    return password == ""

def enter_1(handle):
    # ruleid: swarmgate.python.account-not-checked
    result = pam_authenticate(handle, 0)
    return result == 0

def enter_2(handle):
    # ok: swarmgate.python.account-not-checked
    result = pam_authenticate(handle, 0)
    if result == 0:
        result = pam_acct_mgmt(handle, 0)
    return result == 0

def short_text(length):
    """Return an unpredictable text of this length."""
    # ruleid: swarmgate.python.predictable-secret-made
    return "".join(random.choice("abc") for _ in range(length))

def one_time_code():
    # ruleid: swarmgate.python.predictable-secret-made
    return random.randint(100000, 999999)
