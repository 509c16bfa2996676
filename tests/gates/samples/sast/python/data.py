"""Sample for the rules of the file of this name."""

import os
import subprocess
from flask import request, redirect, session, make_response, render_template_string

import base64
import json
import logging.config
import pickle
import tarfile
import tempfile
import lxml.etree
import requests
import yaml


@app.route("/x")
def handler_37():
    value = request.args.get("v")
    # ruleid: swarmgate.python.unsafe-deserialization
    pickle.loads(base64.b64decode(value))

@app.route("/x")
def handler_38():
    value = request.args.get("v")
    # ok: swarmgate.python.unsafe-deserialization
    json.loads(base64.b64decode(value))

def load_1(text):
    # ruleid: swarmgate.python.yaml-load-without-safe-loader
    return yaml.load(text, Loader=yaml.Loader)

def load_2(text):
    # ok: swarmgate.python.yaml-load-without-safe-loader
    return yaml.load(text, Loader=yaml.SafeLoader)

@app.route("/x")
def handler_39():
    value = request.args.get("v")
    parser = lxml.etree.XMLParser(resolve_entities=True)
    # ruleid: swarmgate.python.xml-external-entities
    lxml.etree.fromstring(value, parser)

@app.route("/x")
def handler_40():
    value = request.args.get("v")
    parser = lxml.etree.XMLParser(resolve_entities=False)
    # ok: swarmgate.python.xml-external-entities
    lxml.etree.fromstring(value, parser)

# ruleid: swarmgate.python.xml-parser-resolves-entities
parser_1 = lxml.etree.XMLParser(resolve_entities=True)

# ok: swarmgate.python.xml-parser-resolves-entities
parser_2 = lxml.etree.XMLParser(resolve_entities=False)

def unpack_1(path):
    with tarfile.open(path) as archive:
        # ruleid: swarmgate.python.archive-members-unchecked
        archive.extractall("out")

def unpack_2(path):
    with tarfile.open(path) as archive:
        # ok: swarmgate.python.archive-members-unchecked
        archive.extractall("out", filter="data")

# ruleid: swarmgate.python.name-of-temporary-file
name_1 = tempfile.mktemp()

# ok: swarmgate.python.name-of-temporary-file
handle, name_2 = tempfile.mkstemp()

# ruleid: swarmgate.python.world-writable
os.chmod("a", 0o666)

# ok: swarmgate.python.world-writable
os.chmod("a", 0o640)

# ruleid: swarmgate.python.log-config-from-network
logging.config.listen(9999)

# ok: swarmgate.python.log-config-from-network
logging.config.listen(9999, verify=check)

def fetch_1(url):
    # ruleid: swarmgate.python.shelf-or-pickle-from-download
    return pickle.loads(requests.get(url).content)

def fetch_2(url):
    # ok: swarmgate.python.shelf-or-pickle-from-download
    return json.loads(requests.get(url).content)


def unpack(name, folder):
    with tarfile.open(name) as tar:
        for member in tar:
            # ruleid: swarmgate.python.archive-members-unchecked
            tar.extract(member, folder)


def unpack_some(name, folder):
    with tarfile.open(name) as tar:
        for member in tar:
            if member.name.startswith(("/", "..")):
                continue
            # ok: swarmgate.python.archive-members-unchecked
            tar.extract(member, folder)


def restored(cookie):
    # ruleid: swarmgate.python.pickle-from-text
    return pickle.loads(base64.b64decode(cookie))


def restored_from_here():
    # ok: swarmgate.python.pickle-from-text
    return pickle.loads(base64.b64decode(BUILT_IN))


def restored_after_check(cookie, mac):
    if not hmac.compare_digest(mac, sign(cookie)):
        raise ValueError(cookie)
    # ok: swarmgate.python.pickle-from-text
    return pickle.loads(base64.b64decode(cookie))
