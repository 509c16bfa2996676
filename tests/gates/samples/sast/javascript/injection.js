app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.sql-injection
  db.query("SELECT * FROM t WHERE a = " + value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.sql-injection
  db.query("SELECT * FROM t WHERE a = ?", [value]);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.nosql-injection
  users.findOne({ name: req.body.name });
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.nosql-injection
  users.findOne({ name: String(req.body.name) });
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.command-injection
  child_process.exec(`ls ${value}`);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.command-injection
  child_process.execFile("ls", [value]);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.code-injection
  eval(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.code-injection
  JSON.parse(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.ldap-injection
  client.search("dc=x", { filter: `(uid=${value})` });
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.ldap-injection
  client.search("dc=x", { filter: `(uid=${parseInt(value)})` });
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.xpath-injection
  xpath.select("//a[@b='" + value + "']", doc);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.xpath-injection
  xpath.select("//a[@b='1']", doc);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.template-injection
  ejs.render("<b>" + value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.template-injection
  ejs.render("<b><%= v %>", { v: value });
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.regex-injection
  new RegExp(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.regex-injection
  new RegExp(escapeRegExp(value));
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.header-injection
  res.setHeader("X-Name", value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.header-injection
  res.setHeader("X-Name", encodeURIComponent(value));
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.log-injection
  console.log("seen " + value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.log-injection
  console.log("seen", { value });
});

function listing(folder, depth) {
  // ruleid: swarmgate.javascript.shell-command-built
  execSync(`ls -l ${folder}`);
  // ok: swarmgate.javascript.shell-command-built
  execSync(`find . -maxdepth ${Number(depth)}`);
  // ok: swarmgate.javascript.shell-command-built
  execSync("ls -l " + shellQuote(folder));
  // ok: swarmgate.javascript.shell-command-built
  return execFileSync("ls", ["-l", folder]);
}

function accountOf(db, name, table) {
  // ruleid: swarmgate.javascript.sql-built-from-strings
  db.query(`SELECT id FROM accounts WHERE name = '${name}'`);
  // ok: swarmgate.javascript.sql-built-from-strings
  db.query(`SELECT id FROM ${table} WHERE name = ?`, [name]);
  // ok: swarmgate.javascript.sql-built-from-strings
  return db.query("SELECT id FROM accounts WHERE name = " + db.escape(name));
}

function named(document, name) {
  // ruleid: swarmgate.javascript.xpath-built
  const found = xpath.select(`//user[name='${name}']`, document);
  // ok: swarmgate.javascript.xpath-built
  return found.concat(xpath.select("//user[@active]", document));
}
