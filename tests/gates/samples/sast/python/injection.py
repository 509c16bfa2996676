"""Sample for the rules of the file of this name."""

import os
import subprocess
from flask import request, redirect, session, make_response, render_template_string


@app.route("/x")
def handler_1():
    value = request.args.get("v")
    # ruleid: swarmgate.python.sql-injection
    cursor.execute(f"SELECT * FROM t WHERE a = '{value}'")

@app.route("/x")
def handler_2():
    value = request.args.get("v")
    # ok: swarmgate.python.sql-injection
    cursor.execute("SELECT * FROM t WHERE a = ?", (value,))

def find_1(conn, name):
    # ruleid: swarmgate.python.sql-value-in-string
    conn.execute(f"SELECT id FROM t WHERE name = '{name}'")

def find_2(conn, table):
    # ok: swarmgate.python.sql-value-in-string
    conn.execute(f"DELETE FROM {table}")

@app.route("/x")
def handler_3():
    # ruleid: swarmgate.python.nosql-injection
    coll.find_one(request.json)

@app.route("/x")
def handler_4():
    # ok: swarmgate.python.nosql-injection
    coll.find_one({"name": str(request.json["name"])})

@app.route("/x")
def handler_5():
    value = request.args.get("v")
    args = ["sh"]
    args.append("-c")
    args.append("ls " + value)
    # ruleid: swarmgate.python.command-injection
    subprocess.run(args)

@app.route("/x")
def handler_6():
    value = request.args.get("v")
    # ok: swarmgate.python.command-injection
    subprocess.run(["ls", value])

def pack_1(name):
    # ruleid: swarmgate.python.shell-command-built
    subprocess.run(f"tar xf {name}", shell=True)

def pack_2(name):
    # ok: swarmgate.python.shell-command-built
    subprocess.run(["tar", "xf", name])

@app.route("/x")
def handler_7():
    value = request.args.get("v")
    # ruleid: swarmgate.python.code-injection
    eval(value)

@app.route("/x")
def handler_8():
    value = request.args.get("v")
    if value not in ("1", "2"):
        return "no"
    # ok: swarmgate.python.code-injection
    eval(value)

@app.route("/x")
def handler_9():
    value = request.args.get("v")
    # ruleid: swarmgate.python.ldap-injection
    conn.search("dc=x", f"(uid={value})")

@app.route("/x")
def handler_10():
    value = request.args.get("v")
    # ok: swarmgate.python.ldap-injection
    conn.search("dc=x", "(uid=%s)" % escape_filter_chars(value))

@app.route("/x")
def handler_11():
    value = request.args.get("v")
    # ruleid: swarmgate.python.xpath-injection
    tree.xpath("//a[@b='" + value + "']")

@app.route("/x")
def handler_12():
    value = request.args.get("v")
    # ok: swarmgate.python.xpath-injection
    tree.xpath("//a[@b=$v]", v=value)

@app.route("/x")
def handler_13():
    value = request.args.get("v")
    # ruleid: swarmgate.python.template-injection
    render_template_string("<b>" + value)

@app.route("/x")
def handler_14():
    value = request.args.get("v")
    # ok: swarmgate.python.template-injection
    render_template_string("<b>{{ v }}", v=value)

@app.route("/x")
def handler_15():
    value = request.args.get("v")
    # ruleid: swarmgate.python.header-injection
    response.headers["X-Name"] = value

@app.route("/x")
def handler_16():
    value = request.args.get("v")
    # ok: swarmgate.python.header-injection
    response.headers["X-Name"] = value.replace("\n", "")

@app.route("/x")
def handler_17():
    value = request.args.get("v")
    # ruleid: swarmgate.python.log-injection
    logger.info("seen " + value)

@app.route("/x")
def handler_18():
    value = request.args.get("v")
    # ok: swarmgate.python.log-injection
    logger.info("seen " + repr(value))

import re
@app.route("/x")
def handler_19():
    value = request.args.get("v")
    # ruleid: swarmgate.python.regex-injection
    re.search(value, "text")

import re
@app.route("/x")
def handler_20():
    value = request.args.get("v")
    # ok: swarmgate.python.regex-injection
    re.search(re.escape(value), "text")

@app.route("/x")
def handler_21():
    value = request.args.get("v")
    # ruleid: swarmgate.python.format-string-injection
    value.format(user=1)

@app.route("/x")
def handler_22():
    value = request.args.get("v")
    # ok: swarmgate.python.format-string-injection
    "{}".format(value)

def ranked(queryset, name):
    # ruleid: swarmgate.python.raw-sql-formatted
    queryset.annotate(rank=RawSQL(f"SELECT rank FROM t WHERE name = '{name}'", []))
    # ruleid: swarmgate.python.raw-sql-formatted
    queryset.annotate(rank=RawSQL("SELECT rank FROM t WHERE name = '%s'" % name, []))
    # ok: swarmgate.python.raw-sql-formatted
    return queryset.annotate(rank=RawSQL("SELECT rank FROM t WHERE name = %s", [name]))


def rows(model):
    # ok: swarmgate.python.raw-sql-formatted
    return model.objects.raw(f"SELECT * FROM {model._meta.db_table}")


@app.route("/session")
def renew():
    answer = make_response("ok")
    # ok: swarmgate.python.header-injection
    answer.headers["X-Auth-Token"] = issue_token(request.args["user"])
    return answer


def named(tree, name):
    # ruleid: swarmgate.python.xpath-built
    found = tree.xpath(f"//user[name='{name}']")
    # ok: swarmgate.python.xpath-built
    return found + tree.xpath("//user[name=$name]", name=name)

def users_1(table, name):
    # ruleid: swarmgate.python.dynamodb-expression-built
    return table.scan(FilterExpression=name + " = :u", ExpressionAttributeValues={":u": name})

def users_2(table, name):
    # ok: swarmgate.python.dynamodb-expression-built
    return table.scan(FilterExpression="username = :u", ExpressionAttributeValues={":u": name})

async def orders_1(pool, customer):
    # ruleid: swarmgate.python.sql-value-in-string
    return await pool.fetch(f"SELECT * FROM orders WHERE customer = '{customer}'")

async def orders_2(pool, customer):
    # ok: swarmgate.python.sql-value-in-string
    return await pool.fetch("SELECT * FROM orders WHERE customer = $1", customer)
