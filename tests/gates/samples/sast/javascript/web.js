app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.xss-response
  res.send("<b>" + value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.xss-response
  res.send("<b>" + escapeHtml(value));
});

// ruleid: swarmgate.javascript.xss-dom
element.innerHTML = location.hash;

// ok: swarmgate.javascript.xss-dom
element.textContent = location.hash;

function show1(name) {
  // ruleid: swarmgate.javascript.inner-html-built
  element.innerHTML = `<b>${name}</b>`;
}

function show2(name) {
  // ok: swarmgate.javascript.inner-html-built
  element.innerHTML = `<b>${escapeHtml(name)}</b>`;
}

// ruleid: swarmgate.javascript.react-dangerous-html
const props1 = { __html: text };

// ok: swarmgate.javascript.react-dangerous-html
const props2 = { __html: DOMPurify.sanitize(text) };

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.open-redirect
  res.redirect(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.open-redirect
  res.redirect("/users/" + value);
});

const next = new URLSearchParams(window.location.search).get("next");
// ruleid: swarmgate.javascript.open-redirect-dom
window.location.href = next;

// ok: swarmgate.javascript.open-redirect-dom
window.location.href = "/home";

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.path-traversal
  fs.readFile(path.join("data", value), done);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.path-traversal
  fs.readFile(path.join("data", path.basename(value)), done);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.ssrf
  axios.get(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.ssrf
  axios.get(`https://api.invalid/${value}`);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.deserialization
  serialize.unserialize(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.deserialization
  JSON.parse(value);
});

// ruleid: swarmgate.javascript.xml-external-entities
libxmljs.parseXml(text, { noent: true });

// ok: swarmgate.javascript.xml-external-entities
libxmljs.parseXml(text, { noent: false });

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.prototype-pollution
  _.merge(settings, req.body);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.prototype-pollution
  _.merge(settings, { name: "a" });
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.trust-boundary
  req.session.role = value;
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.trust-boundary
  req.session.count = parseInt(value);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.dynamic-method-call
  actions[value]();
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.dynamic-method-call
  ACTIONS[KNOWN[value]]();
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ruleid: swarmgate.javascript.mass-assignment
  User.create(req.body);
});

app.get("/x", (req, res) => {
  const value = req.query.v;
  // ok: swarmgate.javascript.mass-assignment
  User.create({ name: req.body.name });
});

// ruleid: swarmgate.javascript.cookie-not-secure
res.cookie("a", "b", { secure: false });

// ok: swarmgate.javascript.cookie-not-secure
res.cookie("a", "b", { secure: true });

// ruleid: swarmgate.javascript.cookie-readable-by-scripts
res.cookie("c", "d", { httpOnly: false });

// ok: swarmgate.javascript.cookie-readable-by-scripts
res.cookie("c", "d", { httpOnly: true });

// ruleid: swarmgate.javascript.cors-any-origin-with-credentials
cors({ origin: true, credentials: true });

// ok: swarmgate.javascript.cors-any-origin-with-credentials
cors({ origin: "https://a.invalid", credentials: true });

// ruleid: swarmgate.javascript.post-message-to-anyone
window.parent.postMessage(text, "*");

// ok: swarmgate.javascript.post-message-to-anyone
window.parent.postMessage(text, "https://a.invalid");

// ruleid: swarmgate.javascript.helmet-protection-off
helmet({ contentSecurityPolicy: false });

// ok: swarmgate.javascript.helmet-protection-off
helmet();

// ruleid: swarmgate.javascript.electron-node-in-page
new BrowserWindow({ webPreferences: { nodeIntegration: true } });

// ok: swarmgate.javascript.electron-node-in-page
new BrowserWindow({ webPreferences: { nodeIntegration: false } });

function goesHome(target, domain) {
  const url = new URL(target);
  // ruleid: swarmgate.javascript.host-compared-by-part
  if (url.hostname.includes(domain)) return true;
  // ok: swarmgate.javascript.host-compared-by-part
  if (url.hostname.endsWith("." + domain)) return true;
  // ok: swarmgate.javascript.host-compared-by-part
  if (url.host.includes(":")) return false;
  return url.hostname === domain;
}

function greeting(name, visits) {
  // ruleid: swarmgate.javascript.page-built
  const page = `<html><body>Hello ${name}</body></html>`;
  // ok: swarmgate.javascript.page-built
  return page + `<h1>Hello ${escapeHtml(name)}</h1>`;
}
