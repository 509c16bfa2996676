"""Sample for the rules of the file of this name."""

import os
import subprocess
from flask import request, redirect, session, make_response, render_template_string


@app.route("/x")
def handler_23():
    value = request.args.get("v")
    # ruleid: swarmgate.python.xss
    return "<b>" + value

@app.route("/x")
def handler_24():
    value = request.args.get("v")
    # ok: swarmgate.python.xss
    return "<b>" + escape(value)

@app.route("/x")
def handler_25():
    value = request.args.get("v")
    # ruleid: swarmgate.python.open-redirect
    return redirect(value)

@app.route("/x")
def handler_26():
    value = request.args.get("v")
    parts = urlparse(value)
    if parts.netloc not in HOSTS:
        return "no"
    # ok: swarmgate.python.open-redirect
    return redirect(value)

@app.route("/x")
def handler_27():
    value = request.args.get("v")
    name = os.path.join("data", value)
    # ruleid: swarmgate.python.path-traversal
    open(name)

@app.route("/x")
def handler_28():
    value = request.args.get("v")
    name = os.path.realpath(os.path.join("data", value))
    if not name.startswith("/srv/data/"):
        return "no"
    # ok: swarmgate.python.path-traversal
    open(name)

import requests
@app.route("/x")
def handler_29():
    value = request.args.get("v")
    # ruleid: swarmgate.python.ssrf
    requests.get("http://" + value)

@app.route("/x")
def handler_30():
    value = request.args.get("v")
    # ok: swarmgate.python.ssrf
    requests.get(f"https://api.invalid/{value}")

@app.route("/x")
def handler_31():
    value = request.args.get("v")
    # ruleid: swarmgate.python.trust-boundary
    session["role"] = value

@app.route("/x")
def handler_32():
    value = request.args.get("v")
    # ok: swarmgate.python.trust-boundary
    session["role"] = int(value)

def cookie_1(r):
    # ruleid: swarmgate.python.insecure-cookie
    r.set_cookie("a", "b", secure=False, httponly=True)

def cookie_2(r):
    # ok: swarmgate.python.insecure-cookie
    r.set_cookie("a", "b", secure=True, httponly=True)

def cookie_3(r):
    # ruleid: swarmgate.python.cookie-without-secure
    r.set_cookie("a", "b")

def cookie_4(r):
    # ok: swarmgate.python.cookie-without-secure
    r.set_cookie("a", "b", secure=True)

def cookie_5(r):
    # ruleid: swarmgate.python.cookie-readable-by-scripts
    r.set_cookie("sid", "b", secure=True, httponly=False)

def cookie_6(r):
    # ok: swarmgate.python.cookie-readable-by-scripts
    r.set_cookie("theme", "b", secure=True, httponly=False)

def mark_1(name):
    # ruleid: swarmgate.python.mark-safe-of-built-text
    return mark_safe(f"<b>{name}</b>")

def mark_2(name):
    # ok: swarmgate.python.mark-safe-of-built-text
    return format_html("<b>{}</b>", name)

import jinja2
# ruleid: swarmgate.python.template-without-autoescape
env_1 = jinja2.Environment(autoescape=False)

# ok: swarmgate.python.template-without-autoescape
env_2 = jinja2.Environment(autoescape=True)

# ruleid: swarmgate.python.csrf-switched-off
app.config["WTF_CSRF_ENABLED"] = False

# ok: swarmgate.python.csrf-switched-off
app.config["WTF_CSRF_ENABLED"] = True

# ruleid: swarmgate.python.cors-any-origin-with-credentials
CORS(app, origins="*", supports_credentials=True)

# ok: swarmgate.python.cors-any-origin-with-credentials
CORS(app, origins=["https://a.invalid"], supports_credentials=True)

# ruleid: swarmgate.python.debug-server
app.run(debug=True)

# ok: swarmgate.python.debug-server
app.run(debug=DEBUG)

# ruleid: swarmgate.python.django-any-host
ALLOWED_HOSTS = ["*"]

# ok: swarmgate.python.django-any-host
ALLOWED_HOSTS = ["a.invalid"]

def make_1(request):
    # ruleid: swarmgate.python.mass-assignment
    User.objects.create(**request.POST)

def make_2(request):
    # ok: swarmgate.python.mass-assignment
    User.objects.create(name=request.POST["name"])

@app.route("/x")
def handler_33():
    value = request.args.get("v")
    # ruleid: swarmgate.python.attribute-from-outside
    setattr(config, value, 1)

@app.route("/x")
def handler_34():
    value = request.args.get("v")
    # ok: swarmgate.python.attribute-from-outside
    setattr(config, NAMES[value], 1)

import traceback
@app.route("/x")
def handler_35():
    # ruleid: swarmgate.python.stack-trace-to-client
    return traceback.format_exc()

@app.route("/x")
def handler_36():
    log.error(traceback.format_exc())
    # ok: swarmgate.python.stack-trace-to-client
    return "failed"

@app.route("/x")
def handler_probe_1():
    value = request.args.get("v")
    # ruleid: swarmgate.python.path-probe
    return str(os.path.exists("/srv/data/" + value))

@app.route("/x")
def handler_probe_2():
    value = os.path.basename(request.args.get("v"))
    # ok: swarmgate.python.path-probe
    return str(os.path.exists("/srv/data/" + value))


def goes_home(target, domain):
    parts = urlparse(target)
    # ruleid: swarmgate.python.host-compared-by-part
    if parts.netloc.endswith(domain):
        return True
    # ok: swarmgate.python.host-compared-by-part
    if parts.hostname.endswith("." + domain):
        return True
    # ok: swarmgate.python.host-compared-by-part
    if "@" in parts.netloc:
        return False
    # ok: swarmgate.python.host-compared-by-part
    return parts.hostname == domain


site = Flask(__name__)
# ruleid: swarmgate.python.debug-server
site.run(host="0.0.0.0", debug=True)

# ok: swarmgate.python.debug-server
asyncio.run(main(), debug=True)


@app.route("/answers")
def keep_answer():
    # ok: swarmgate.python.xss
    answer = Response(survey=3, response=request.args["text"])
    db.session.add(answer)
    return redirect("/")


def greeting(name: str, visits: int) -> str:
    # ruleid: swarmgate.python.page-built
    page = f"<html><body>Hello {name}</body></html>"
    # ok: swarmgate.python.page-built
    return page + f"<h1>Hello {escape(name)}, {visits}</h1>"


def greeting_escaped(name: str) -> str:
    name = escape(name)
    # ok: swarmgate.python.page-built
    return f"<html><body>Hello {name}</body></html>"

@app.route("/card")
def card_1():
    # ok: swarmgate.python.xss
    return render_template_string("<p>{{ name }}</p>", name=request.args["name"])
