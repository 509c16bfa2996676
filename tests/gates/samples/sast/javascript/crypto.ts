// ruleid: swarmgate.javascript.weak-hash
crypto.createHash("md5");

// ok: swarmgate.javascript.weak-hash
crypto.createHash("sha256");

// ruleid: swarmgate.javascript.weak-cipher
crypto.createCipheriv("des-cbc", key, vector);

// ok: swarmgate.javascript.weak-cipher
crypto.createCipheriv("aes-256-gcm", key, vector);

// ruleid: swarmgate.javascript.cipher-without-vector
crypto.createCipher("aes-256-cbc", word);

// ok: swarmgate.javascript.cipher-without-vector
crypto.createCipheriv("aes-256-cbc", key, vector);

// ruleid: swarmgate.javascript.predictable-secret
const token = Math.random().toString(36);

// ok: swarmgate.javascript.predictable-secret
const angle = Math.random() * 360;

// ruleid: swarmgate.javascript.certificate-not-checked
const agent1 = new https.Agent({ rejectUnauthorized: false });

// ok: swarmgate.javascript.certificate-not-checked
const agent2 = new https.Agent({ ca: authority });

// ruleid: swarmgate.javascript.old-tls
const tls1 = { minVersion: "TLSv1" };

// ok: swarmgate.javascript.old-tls
const tls2 = { minVersion: "TLSv1.3" };

// ruleid: swarmgate.javascript.jwt-not-verified
jwt.verify(text, key, { algorithms: ["none"] });

// ok: swarmgate.javascript.jwt-not-verified
jwt.verify(text, key, { algorithms: ["HS256"] });

// ruleid: swarmgate.javascript.jwt-fixed-key
jwt.sign({ a: 1 }, "k");

// ok: swarmgate.javascript.jwt-fixed-key
jwt.sign({ a: 1 }, key);

// ruleid: swarmgate.javascript.short-key
crypto.generateKeyPairSync("rsa", { modulusLength: 1024 });

// ok: swarmgate.javascript.short-key
crypto.generateKeyPairSync("rsa", { modulusLength: 3072 });

// ruleid: swarmgate.javascript.few-hash-rounds
bcrypt.hashSync(word, 4);

// ok: swarmgate.javascript.few-hash-rounds
bcrypt.hashSync(word, 12);

// ruleid: swarmgate.javascript.fixed-initialisation-vector
crypto.createCipheriv("aes-256-cbc", key, "0123456789abcdef");

// ok: swarmgate.javascript.fixed-initialisation-vector
crypto.createCipheriv("aes-256-cbc", key, crypto.randomBytes(16));

// ruleid: swarmgate.javascript.world-writable
fs.chmodSync("a", 0o666);

// ok: swarmgate.javascript.world-writable
fs.chmodSync("a", 0o640);

// ruleid: swarmgate.javascript.short-key
generateKeyPairSync("dsa", { modulusLength: 1024 });

// ok: swarmgate.javascript.short-key
new NodeRSA({ b: 3072 });

// ruleid: swarmgate.javascript.fast-hash-of-password
crypto.createHash("sha256").update(user.password).digest("hex");

// ok: swarmgate.javascript.fast-hash-of-password
crypto.createHash("sha256").update(content).digest("hex");

function stretched(password: string) {
  const fixed = Buffer.from("00112233", "hex");
  // ruleid: swarmgate.javascript.fixed-salt
  const weak = crypto.scryptSync(password, fixed, 32);
  const salt = crypto.randomBytes(16);
  // ok: swarmgate.javascript.fixed-salt
  return [weak, crypto.scryptSync(password, salt, 32)];
}

function sealed(key: Buffer) {
  const iv = Buffer.alloc(16);
  crypto.randomFillSync(iv);
  // ok: swarmgate.javascript.fixed-initialisation-vector
  return crypto.createCipheriv("aes-256-cbc", key, iv);
}

function saveSecret(path: string, text: string) {
  // ruleid: swarmgate.javascript.secret-readable-by-others
  fs.writeFileSync(path, text, { mode: 0o644 });
  // ok: swarmgate.javascript.secret-readable-by-others
  fs.writeFileSync(path, text, { mode: 0o600 });
}
