"""Tests the detection of fake implementations, and of functions that are rightly constant."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from swarmgate.gates.adapters import placeholders
from swarmgate.gates.project.files import language_of, traits_of
from swarmgate.gates.source.file import SourceFile

TUNED = {
    "py": [
        'def validate_token(token):\n    """Validate the token."""\n    return True\n',
        "def calculate_shipping(order, country):\n    return 9.99\n",
        'def charge_card(card, amount):\n    return {"status": "success", "id": "txn_12345", "amount": amount}\n',
        'def send_email(to, subject):\n    print(f"Sending email to {to}")\n    return True\n',
        'def fetch_users():\n    return [{"id": 1, "name": "Alice"}, {"id": 2, "name": "Bob"}]\n',
        "def predict_price(features):\n    return random.uniform(100, 200)\n",
        'def export_pdf(document):\n    raise Exception("The PDF exporter has not been written")\n',
        "def verify_signature(payload, signature):\n    # assume valid\n    return True\n",
        "def check_stock(item):\n    # Skipping for simplicity\n    return True\n",
        'class Weather:\n    def get_forecast(self, city):\n        return {"temperature": 21, "sky": "clear"}\n',
        "def parse_config(text):\n    result = {}\n    return result\n",
        "def is_authenticated(request):\n    return True\n",
    ],
    "ts": [
        "export function validateEmail(email: string): boolean {\n  return true;\n}\n",
        "export async function chargeCard(card: Card, amount: number) {\n  return { success: true, id: 'ch_123', amount };\n}\n",
        "const sendSms = async (to: string, text: string) => {\n  console.log(`SMS to ${to}`);\n  return true;\n};\n",
        "export class Users {\n  async fetchAll(page: number): Promise<User[]> {\n    return [{ id: 1, name: 'Ann' }];\n  }\n}\n",
        "export const calculateTax = (order: Order): number => 0.2;\n",
        "function detectFraud(tx: Tx) {\n  return Math.random() > 0.9;\n}\n",
        "export function exportPdf(doc: Doc): Buffer {\n  throw new Error('PDF export has not been written');\n}\n",
        "function verify(sig: string) {\n  // skipping the check for simplicity\n  return true;\n}\n",
        "export async function uploadFile(file: File): Promise<string> {\n  return 'https://cdn.shop.io/file.png';\n}\n",
    ],
    "go": [
        "package a\n\nfunc ValidateToken(token string) (bool, error) {\n\treturn true, nil\n}\n",
        "package a\n\nfunc SendEmail(to, body string) error {\n\treturn nil\n}\n",
        "package a\n\nfunc CalculateTax(amount float64) float64 {\n\treturn 0.19\n}\n",
    ],
    "java": [
        "class A {\n  public boolean validate(String token) {\n    return true;\n  }\n}\n",
        'class A {\n  public String translate(String text, String lang) {\n    return "Hola";\n  }\n}\n',
        'class A {\n  public byte[] render(Doc d) {\n    throw new RuntimeException("renderer has not been written");\n  }\n}\n',
    ],
    "rs": [
        "pub fn verify_password(hash: &str, password: &str) -> bool {\n    true\n}\n",
        "pub fn send_invoice(_to: &str) -> Result<(), Error> {\n    Ok(())\n}\n",
        "pub fn parse(_input: &str) -> Vec<Token> {\n    vec![]\n}\n",
    ],
}
HELD = {
    "py": [
        'def authenticate(username, password):\n    return {"user_id": 1, "role": "admin"}\n',
        'def detect_language(text):\n    return "en"\n',
        'def refund_payment(payment_id, amount):\n    return {"refund_id": "re_001", "payment": payment_id, "ok": True}\n',
        'def upload_file(path, bucket):\n    return f"https://{bucket}.storage.local/{path}"\n',
        "def score_resume(resume):\n    return random.randint(60, 95)\n",
        'def compress_image(data, quality):\n    raise RuntimeError("compression not written")\n',
        'class Search:\n    def search(self, query, limit):\n        return [{"title": "First result", "score": 0.9}]\n',
        "def has_permission(user, action):\n    return True\n",
        'async def notify_admin(message):\n    logger.info("Notified: %s", message)\n    return True\n',
        'def encrypt(data, key):\n    """Encrypt the data with AES."""\n    return b"encrypted"\n',
        'def load_model(path):\n    model = {"name": "model", "version": 1}\n    return model\n',
        "def check_license(key):\n    # we trust the caller here, real check omitted for brevity\n    return True\n",
    ],
    "ts": [
        "export const authorize = (user: User, action: string): boolean => true;\n",
        "export async function fetchWeather(city: string) {\n  return { city, temperature: 22, sky: 'sunny' };\n}\n",
        "export function hashPassword(password: string): string {\n  return 'hashed';\n}\n",
        "class Payments {\n  async refund(id: string) {\n    return { id, status: 'refunded' };\n  }\n}\n",
        "function summarize(text: string): string {\n  return 'This is a summary.';\n}\n",
        "export async function saveOrder(order: Order): Promise<boolean> {\n  console.log('saved', order);\n  return true;\n}\n",
        "export function estimateDelivery(zip: string): number {\n  return 3;\n}\n",
        "export const hasAccess = (user: User, doc: Doc) => {\n  // assume the user is valid\n  return true;\n};\n",
        "export function compile(src: string): Program {\n  throw new Error('compiler is not written');\n}\n",
    ],
    "go": [
        'package a\n\nfunc Encrypt(data []byte, key string) ([]byte, error) {\n\treturn []byte("encrypted"), nil\n}\n',
        "package a\n\nfunc IsAuthorized(user User, action string) bool {\n\treturn true\n}\n",
        'package a\n\nfunc PublishEvent(topic string, body []byte) error {\n\tlog.Println("published", topic)\n\treturn nil\n}\n',
    ],
    "java": [
        "class A {\n  public double calculateDiscount(Order o) {\n    return 0.1;\n  }\n}\n",
        "class A {\n  public boolean verifySignature(byte[] data, byte[] sig) {\n    // assume valid\n    return true;\n  }\n}\n",
        'class A {\n  public String charge(Card c, int cents) {\n    return "ch_0001";\n  }\n}\n',
    ],
    "rs": [
        "pub fn validate(_email: &str) -> bool {\n    true\n}\n",
        "pub fn compute_score(_items: &[Item]) -> f64 {\n    0.85\n}\n",
        "pub fn is_valid_signature(_data: &[u8], _sig: &[u8]) -> Result<bool, Error> {\n    Ok(true)\n}\n",
    ],
}
RIGHT = {
    "py": [
        "class NullCache:\n    def load(self, key):\n        return None\n",
        "class NoValidator:\n    def validate(self, value):\n        return True\n",
        "class Rule(Base):\n    def validate(self, value):\n        return True\n",
        'def validate_nothing(value):\n    """Does nothing: accepts any value."""\n    return True\n',
        "def always_valid(value):\n    return True\n",
        "def on_load(event):\n    return None\n",
        'class Plugin:\n    def process(self, item):\n        """Hook: subclasses may override it."""\n        return True\n',
        'def check(value):\n    return True\n\n\nRULES = {"any": check}\n',
        'if windows:\n    def find_shell(name):\n        return "cmd"\nelse:\n    def find_shell(name):\n        return which(name)\n',
        'def get_version():\n    return "1.2"\n',
        "def default_filter(record):\n    return True\n",
        "def is_text(value):\n    return False\n",
        "def compute_area(width, height):\n    return width * height\n",
        'def build_payload(name, age):\n    return {"name": name, "age": age, "kind": "user"}\n',
        "def create_point(x, y):\n    return Point(x, y)\n",
        "def make():\n    def validate(value):\n        return True\n    return validate\n",
        "class Handler:\n    @property\n    def check(self):\n        return True\n\n    def supports(self, kind):\n        return True\n",
        'def find_plugin(_name):\n    return "x"\n',
        'def load_defaults():\n    return {"a": 1}\n',
        'def render(context):\n    return Response("ok")\n\n\napp.route(render)\n',
    ],
    "ts": [
        "export class NoopLogger {\n  send(message: string) {\n    return true;\n  }\n}\n",
        "export class A extends Base {\n  validate(x: string) {\n    return true;\n  }\n}\n",
        "class B implements Check {\n  verify(x: string): boolean {\n    return true;\n  }\n}\n",
        "items.filter((x) => true);\n",
        "export interface A {\n  validate(x: string): boolean;\n}\n",
        "const handlers = { validate(x: string) { return true; } };\n",
        "export const isBrowser = () => false;\n",
        "export function addTodo(text: string) {\n  return { type: 'ADD', text };\n}\n",
        "export function createUser(name: string) {\n  return { name, role: 'user' };\n}\n",
        "/** Accepts everything, on purpose. */\nexport function validateAny(x: unknown) {\n  return true;\n}\n",
        "function check(x: string) { return true; }\nregister(check);\n",
    ],
    "go": [
        "package a\n\nfunc (n noopSender) Send(to string) error {\n\treturn nil\n}\n",
        "package a\n\nfunc (s *Server) Close(ctx context.Context) error {\n\treturn nil\n}\n",
        "package a\n\nfunc Check(_ string) bool {\n\treturn true\n}\n",
    ],
    "java": [
        "class A implements V {\n  @Override\n  public boolean validate(String s) {\n    return true;\n  }\n}\n",
        "interface A {\n  default boolean validate(String s) {\n    return true;\n  }\n}\n",
    ],
    "rs": [
        "impl Validate for A {\n    fn validate(&self, _x: &str) -> bool {\n        true\n    }\n}\n",
        "trait V {\n    fn validate(&self, _x: &str) -> bool {\n        true\n    }\n}\n",
    ],
}

PROMISED: dict[str, list[str]] = {
    "py": [
        'def register_failure(username, address):\n    """Count the failed login and lock the account after five of them."""\n    pass\n',
        'class Antivirus:\n    def __init__(self, socket_path):\n        self.socket_path = socket_path\n\n    def scan(self, path):\n        """Scan the file with clamd and return whether it is clean."""\n        # clamd is wired up in the next milestone\n        return True\n',
        'from decimal import Decimal\n\n\ndef sales_tax(subtotal: Decimal, region: str, exempt: bool) -> Decimal:\n    """Return the sales tax owed on ``subtotal`` in ``region``."""\n    # flat rate until the regional table arrives\n    return Decimal("0")\n',
        'def user_can_delete(user, document) -> bool:\n    """Check whether the user owns the document or is an administrator."""\n    # everybody may for the moment\n    return True\n',
        'def merge_duplicates(records: list[dict], threshold: float = 0.9) -> list[dict]:\n    """Merge records whose similarity is above the threshold."""\n    return records\n',
        'class Scheduler:\n    def __init__(self):\n        self.jobs = []\n\n    def cancel(self, job_id: str) -> bool:\n        """Cancel the job and return whether it was running."""\n        ...\n',
        'import logging\n\nlog = logging.getLogger(__name__)\n\n\ndef send_invoice_email(customer, invoice) -> None:\n    """Send the invoice to the customer by email."""\n    log.info("would send invoice %s to %s", invoice.number, customer.email)\n',
        'def embedding(text: str) -> list[float]:\n    """Compute the embedding of the text with the configured model."""\n    import random\n\n    return [random.random() for _ in range(384)]\n',
        'class StripeGateway:\n    def charge(self, amount_cents: int, token: str) -> dict:\n        """Charge the card behind the token."""\n        # real call goes here once we have the account\n        return {"id": "ch_123", "status": "succeeded"}\n',
        'def compress(data: bytes, level: int = 6) -> bytes:\n    """Compress the data."""\n    # identity, good enough until somebody complains\n    return data\n',
        'def translate(text: str, target: str) -> str:\n    """Translate the text into the target language."""\n    return f"[{target}] {text}"\n',
        'def discount(customer, cart):\n    """Discount by customer group, cart size and season."""\n    # Only the simple case so far. Seasonal and group discounts come in a follow-up.\n    return 0.1 if len(cart) > 10 else 0\n',
    ],
    "ts": [
        "/** Ranks the candidates by their edit distance to the query. */\nexport function rankCandidates(query: string, candidates: string[]): string[] {\n  return candidates;\n}\n",
        "export async function verifyToken(token: string, audience: string): Promise<boolean> {\n  // we trust whatever the caller hands over for the time being\n  return true;\n}\n",
        'export async function uploadAvatar(file: File, userId: string): Promise<string> {\n  await new Promise((resolve) => setTimeout(resolve, 1000));\n  return "https://example.com/avatar.png";\n}\n',
        "export function mergeCarts(guest: Cart, user: Cart): Cart {\n  // the guest cart is dropped, merging is for another day\n  return user;\n}\n",
        "export async function convert(amount: number, from: string, to: string): Promise<number> {\n  const rate = 1.0; // hardwired until the exchange-rate service is connected\n  return amount * rate;\n}\n",
        "export function parseCsv(text: string): string[][] {\n  return [];\n}\n",
        'export class Telemetry {\n  /** Sends all buffered events to the collector. */\n  async flush(): Promise<void> {\n    console.log("flush called");\n  }\n}\n',
        "export async function refreshSession(session: Session): Promise<Session> {\n  return session;\n}\n",
    ],
    "go": [
        'package store\n\nimport "context"\n\n// Save writes the order to the database.\nfunc (s *Store) Save(ctx context.Context, o Order) error {\n\treturn nil\n}\n',
        "package img\n\n// Resize scales the picture to the given width and height.\nfunc Resize(src []byte, w, h int) ([]byte, error) {\n\treturn src, nil\n}\n",
        "package metrics\n\n// Percentile returns the p-th percentile of the samples.\nfunc Percentile(samples []float64, p float64) float64 {\n\treturn 0\n}\n",
        "package fees\n\n// Compute returns the fee in cents for the transfer.\nfunc Compute(amount int64, country string) int64 {\n\t// one euro for everyone, rules by country have to be written\n\treturn 100\n}\n",
        "package cache\n\n// Evict removes the least recently used entries until the cache fits its limit.\nfunc (c *Cache) Evict(limit int) int {\n\t// intentionally blank so it compiles\n\treturn 0\n}\n",
        'package worker\n\n// Shutdown waits for running jobs and stops the pool.\nfunc (p *Pool) Shutdown(timeoutSeconds int) error {\n\tpanic("Shutdown: somebody has to write this")\n}\n',
    ],
    "java": [
        "package shop;\n\npublic class Geo {\n    /** Computes the distance in kilometres between two places. */\n    public double distance(Place from, Place to) {\n        return 42.0;\n    }\n}\n",
        "package shop;\n\npublic class Encryptor {\n    /** Encrypts the text with AES-GCM under the given key. */\n    public String encrypt(String text, byte[] key) {\n        // no cipher for now, callers only need a string\n        return text;\n    }\n}\n",
        "package shop;\n\npublic class InvoiceMapper {\n    public InvoiceDto toDto(Invoice invoice) {\n        return null;\n    }\n}\n",
        'package shop;\n\nimport java.io.InputStream;\n\npublic class ImportService {\n    public int importCustomers(InputStream csv) {\n        throw new UnsupportedOperationException("importCustomers is not supported at this stage of the project");\n    }\n}\n',
        "package shop;\n\npublic class Matcher {\n    /** Returns how similar both names are, between 0 and 1. */\n    public double similarity(String left, String right) {\n        return 0.85;\n    }\n}\n",
        'package shop;\n\npublic class Gateway {\n    public PaymentResult pay(Card card, long cents) {\n        // the bank is stood in for by this fixed answer\n        return new PaymentResult("OK", "TX-0001");\n    }\n}\n',
    ],
}
"""What documentation, printed words, or a parameter handed back give away."""

KEPT: dict[str, list[str]] = {
    "py": [
        "class ShopConfig(AppConfig):\n    def ready(self):\n        import shop.signals\n",
        "def load_plugins():\n    from shop import plugins\n",
        "def has_numpy():\n    try:\n        import numpy\n    except ImportError:\n        return False\n    return True\n",
        "def maybe_reload(path, age):\n    return True\n",
        'import logging\n\nlog = logging.getLogger(__name__)\n\n\nclass Listener:\n    def connected(self, peer):\n        log.info("connected to %s", peer)\n\n    def disconnected(self, peer):\n        log.info("disconnected from %s", peer)\n',
        'class StdoutNotifier:\n    """Writes notifications to the terminal; for local development."""\n\n    def notify(self, user, text):\n        print(f"notify {user}: {text}")\n',
        'class Divider:\n    """A horizontal rule between two parts of a form."""\n\n    def render(self, context):\n        """Render the rule."""\n        return "<hr>"\n',
        'def handler(event, context):\n    """Handle the health check of the load balancer."""\n    return {"statusCode": 200, "body": "ok"}\n',
        'class Plugin:\n    """Base class of plugins; override what you need."""\n\n    def on_start(self, app) -> None:\n        """Called before the first request."""\n\n    def on_stop(self, app) -> None:\n        """Called after the last request."""\n',
        "from typing import Protocol\n\n\nclass Repository(Protocol):\n    def get(self, key: str) -> bytes: ...\n    def put(self, key: str, value: bytes) -> None: ...\n",
        'class ShopError(Exception):\n    """Base of all errors of the shop."""\n\n\nclass NotFound(ShopError):\n    pass\n\n\nclass Conflict(ShopError): ...\n',
        "import ast\n\n\nclass Names(ast.NodeVisitor):\n    def __init__(self):\n        self.names = set()\n\n    def visit_Name(self, node):\n        self.names.add(node.id)\n\n    def visit_FunctionDef(self, node):\n        pass  # names of inner functions are their own business\n",
        "import threading\n\n\nclass _NoLock:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *args):\n        return None\n\n\ndef lock_for(shared: bool):\n    return threading.Lock() if shared else _NoLock()\n",
        "import os\n\n\ndef remove_quietly(path):\n    try:\n        os.unlink(path)\n    except FileNotFoundError:\n        pass  # somebody was faster, which is fine\n",
        "from typing import overload\n\n\n@overload\ndef first(items: list[int]) -> int: ...\n@overload\ndef first(items: list[str]) -> str: ...\ndef first(items):\n    return items[0]\n",
        'class GzipFormat:\n    def extension(self, path: str) -> str:\n        return ".gz"\n\n    def supports_streaming(self) -> bool:\n        return True\n\n    def priority(self) -> int:\n        return 10\n',
    ],
    "ts": [
        "/** Used where no translation catalogue is loaded. */\nexport const fallbackTranslate = (key: string, _language: string): string => key;\n",
        "export const noop = (): void => {};\n\nexport function debounce(fn: () => void, ms: number): () => void {\n  let timer: ReturnType<typeof setTimeout> | undefined;\n  return () => {\n    clearTimeout(timer);\n    timer = setTimeout(fn, ms);\n  };\n}\n",
        'import { Component, OnInit, OnDestroy } from "@angular/core";\n\n@Component({ selector: "app-cart", template: "<p>cart</p>" })\nexport class CartComponent implements OnInit, OnDestroy {\n  total = 0;\n  constructor() {}\n  ngOnInit(): void {\n    this.total = 1;\n  }\n  ngOnDestroy(): void {}\n}\n',
        "export function readJson(text: string): unknown {\n  try {\n    return JSON.parse(text);\n  } catch {\n    // not JSON: callers treat undefined as absent\n    return undefined;\n  }\n}\n",
        "export class FreeShipping implements ShippingStrategy {\n  cost(_cart: Cart): number {\n    return 0;\n  }\n}\n",
        'export class Validator {\n  /** Extra checks of subclasses. None by default. */\n  protected extraChecks(_value: unknown): string[] {\n    return [];\n  }\n  validate(value: unknown): string[] {\n    return value === null ? ["is required"] : this.extraChecks(value);\n  }\n}\n',
    ],
    "go": [
        "package ring\n\n// Cap returns how many entries the ring holds at most.\nfunc (r *Ring) Cap() int { return 1024 }\n\n// Less reports whether i sorts before j; entries are kept in order of arrival.\nfunc (r *Ring) Less(i, j int) bool { return i < j }\n",
        'package iox\n\nimport "io"\n\ntype nopCloser struct{ io.Writer }\n\nfunc (nopCloser) Close() error { return nil }\n\n// NopCloser wraps w with a Close that does nothing.\nfunc NopCloser(w io.Writer) io.WriteCloser { return nopCloser{w} }\n',
        "package ast\n\ntype Expr interface{ exprNode() }\n\ntype Ident struct{ Name string }\ntype Call struct{ Fn Expr }\n\nfunc (*Ident) exprNode() {}\nfunc (*Call) exprNode()  {}\n",
        "//go:build windows\n\npackage term\n\n// SetRaw is a no-op on Windows, where the console has no raw mode.\nfunc SetRaw(fd int) error { return nil }\n",
        'package pool\n\nimport "sync"\n\ntype Pool struct {\n\tonce sync.Once\n\tdone chan struct{}\n}\n\nfunc (p *Pool) Close() error {\n\tp.once.Do(func() { close(p.done) })\n\treturn nil\n}\n',
    ],
    "java": [
        "package shop;\n\n/** A cache that never holds anything. */\npublic class NullCache implements Cache {\n    @Override\n    public Object get(String key) {\n        return null;\n    }\n\n    @Override\n    public void put(String key, Object value) {\n        // a null cache keeps nothing\n    }\n}\n",
        "package shop;\n\npublic class Account implements UserDetails {\n    @Override\n    public boolean isAccountNonExpired() {\n        return true;\n    }\n\n    @Override\n    public boolean isAccountNonLocked() {\n        return true;\n    }\n}\n",
        "package shop;\n\npublic class LeafVisitor implements NodeVisitor {\n    private int leaves;\n\n    @Override\n    public void visitBranch(Branch branch) {\n        // only leaves are counted\n    }\n\n    @Override\n    public void visitLeaf(Leaf leaf) {\n        leaves++;\n    }\n}\n",
    ],
}


def _each(samples: dict[str, list[str]]) -> list[Any]:
    return [
        pytest.param(suffix, text, id=f"{suffix}{number}")
        for suffix, texts in samples.items()
        for number, text in enumerate(texts)
    ]


def rules(suffix: str, text: str) -> list[str]:
    path = f"shop/a.{suffix}"
    findings = placeholders.scan_file(
        SourceFile.of(path, language_of(path), traits_of(path), textwrap.dedent(text).encode())
    )
    assert not isinstance(findings, str)
    return [finding.rule for finding in findings]


@pytest.mark.parametrize(("suffix", "text"), [*_each(TUNED), *_each(HELD), *_each(PROMISED)])
def test_a_function_that_pretends_is_found(suffix: str, text: str) -> None:
    assert set(rules(suffix, text)) & {"canned-result", "stub-body", "stub-wording"}


@pytest.mark.parametrize(("suffix", "text"), [*_each(RIGHT), *_each(KEPT)])
def test_what_is_rightly_constant_is_left_alone(suffix: str, text: str) -> None:
    assert rules(suffix, text) == []


def test_a_result_that_is_nested_too_deeply_to_be_shown_is_data() -> None:
    assert rules("py", f"def calculate(x):\n    return {'+'.join(['1'] * 900)}\n") == []
