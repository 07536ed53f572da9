"""A corpus with labels: made-up secrets in every shape that code and configuration give them.

Every value is drawn by a seeded generator and put together here, so that no scanner takes a file of ours for a leak.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"

Draw = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with secrets in it. `shape` says where they stand, `kind` what they are, `language` of what file."""

    shape: str
    kind: str
    language: str
    text: str
    secrets: tuple[str, ...]


def chars(alphabet: str, length: int) -> Draw:
    """A word of so many characters, a digit and a letter among them where the alphabet has both."""

    def draw(chance: random.Random) -> str:
        while True:
            word = "".join(chance.choice(alphabet) for _ in range(length))
            kinds = [any(map(test, word)) == any(map(test, alphabet)) for test in (str.isdigit, str.isalpha)]
            if all(kinds):
                return word

    return draw


def joined(*parts: str | Draw) -> Draw:
    """The parts put together."""
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def _jwt(chance: random.Random) -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": chars(string.digits, 10)(chance), "name": "A B"}]
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, chars(URLSAFE, 43)(chance)])


def _private_key(chance: random.Random) -> str:
    body = "\n".join(chars(BASE64, 64)(chance) for _ in range(6))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n{chars(BASE64, 22)(chance)}==\n-----END RSA PRIVATE KEY-----"


TOKENS: dict[str, Draw] = {
    "aws access key": joined("AKIA", chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    "aws session key": joined("ASIA", chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    "gcp api key": joined("AIza", chars(URLSAFE, 35)),
    "google oauth": joined("ya29.", chars(URLSAFE, 68)),
    "google client secret": joined("GOCSPX-", chars(URLSAFE, 28)),
    "azure storage": joined("AccountKey=", chars(BASE64, 86), "=="),
    "azure client secret": joined(chars(ALNUM, 3), "8Q~", chars(URLSAFE, 34)),
    "github classic": joined("ghp_", chars(ALNUM, 36)),
    "github oauth": joined("gho_", chars(ALNUM, 36)),
    "github server": joined("ghs_", chars(ALNUM, 36)),
    "github fine": joined("github_pat_", chars(ALNUM, 22), "_", chars(ALNUM, 59)),
    "gitlab": joined("glpat-", chars(URLSAFE, 20)),
    "gitlab runner": joined("glrt-", chars(URLSAFE, 20)),
    "gitlab trigger": joined("glptt-", chars(HEX, 40)),
    "slack bot": joined("xoxb-", chars(string.digits, 12), "-", chars(string.digits, 12), "-", chars(ALNUM, 24)),
    "slack user": joined("xoxp-", chars(string.digits, 12), "-", chars(string.digits, 12), "-", chars(HEX, 32)),
    "slack app": joined("xapp-1-", chars(UPPER, 10), "-", chars(string.digits, 13), "-", chars(HEX, 64)),
    "slack webhook": joined(
        "https://hooks.slack.com/services/T", chars(UPPER, 8), "/B", chars(UPPER, 8), "/", chars(ALNUM, 24)
    ),
    "discord webhook": joined("https://discord.com/api/webhooks/", chars(string.digits, 18), "/", chars(URLSAFE, 68)),
    "discord bot": joined("MT", chars(ALNUM, 24), ".", chars(ALNUM, 6), ".", chars(URLSAFE, 38)),
    "teams webhook": joined(
        "https://acme.webhook.office.com/webhookb2/",
        chars(HEX, 8),
        "-1111-2222-3333-",
        chars(HEX, 12),
        "@",
        chars(HEX, 8),
        "-1111-2222-3333-",
        chars(HEX, 12),
        "/IncomingWebhook/",
        chars(HEX, 32),
        "/",
        chars(HEX, 8),
        "-1111-2222-3333-",
        chars(HEX, 12),
    ),
    "telegram": joined(chars(string.digits, 10), ":AA", chars(URLSAFE, 33)),
    "stripe live": joined("sk_live_", chars(ALNUM, 24)),
    "stripe restricted": joined("rk_live_", chars(ALNUM, 24)),
    "stripe webhook": joined("whsec_", chars(ALNUM, 32)),
    "openai": joined("sk-", chars(ALNUM, 20), "T3BlbkFJ", chars(ALNUM, 20)),
    "openai project": joined("sk-proj-", chars(URLSAFE, 74), "T3BlbkFJ", chars(URLSAFE, 74)),
    "anthropic": joined("sk-ant-api03-", chars(URLSAFE, 93), "AA"),
    "hugging face": joined("hf_", chars(string.ascii_letters, 34)),
    "groq": joined("gsk_", chars(ALNUM, 52)),
    "replicate": joined("r8_", chars(ALNUM, 37)),
    "npm": joined("npm_", chars(ALNUM, 36)),
    "pypi": joined("pypi-AgEIcHlwaS5vcmc", chars(URLSAFE, 70)),
    "rubygems": joined("rubygems_", chars(HEX, 48)),
    "docker hub": joined("dckr_pat_", chars(URLSAFE, 27)),
    "sendgrid": joined("SG.", chars(URLSAFE, 22), ".", chars(URLSAFE, 43)),
    "mailgun": joined("key-", chars(HEX, 32)),
    "mailchimp": joined(chars(HEX, 32), "-us12"),
    "twilio": joined("SK", chars(HEX, 32)),
    "square": joined("sq0atp-", chars(URLSAFE, 22)),
    "shopify": joined("shpat_", chars(HEX, 32)),
    "digitalocean": joined("dop_v1_", chars(HEX, 64)),
    "databricks": joined("dapi", chars(HEX, 32)),
    "hashicorp vault": joined("hvs.", chars(URLSAFE, 92)),
    "terraform cloud": joined(chars(ALNUM, 14), ".atlasv1.", chars(URLSAFE, 64)),
    "doppler": joined("dp.pt.", chars(ALNUM, 43)),
    "grafana": joined("glsa_", chars(ALNUM, 32), "_", chars(HEX, 8)),
    "new relic": joined("NRAK-", chars(UPPER, 27)),
    "sentry": joined("sntrys_eyJ", chars(ALNUM, 60)),
    "linear": joined("lin_api_", chars(ALNUM, 40)),
    "notion": joined("ntn_", chars(ALNUM, 46)),
    "figma": joined("figd_", chars(URLSAFE, 40)),
    "postman": joined("PMAK-", chars(HEX, 24), "-", chars(HEX, 34)),
    "pulumi": joined("pul-", chars(HEX, 40)),
    "planetscale": joined("pscale_tkn_", chars(URLSAFE, 43)),
    "supabase": joined("sbp_", chars(HEX, 40)),
    "flyio": joined("fo1_", chars(ALNUM, 43)),
    "artifactory": joined("AKCp", chars(ALNUM, 69)),
    "age": joined("AGE-SECRET-KEY-1", chars("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "jwt": _jwt,
}
"""Values that say themselves what they are, by kind."""

PASSWORDS: dict[str, Draw] = {
    "word and digits": lambda chance: (
        chance.choice(("hunter", "winter", "falcon", "bridge")) + chars("0123456789", 4)(chance)
    ),
    "words": lambda chance: "-".join(chance.sample(("correct", "horse", "battery", "staple", "copper", "lantern"), 3)),
    "typed": lambda chance: chance.choice(("Tr0ub4dor&", "S3cr3t!pa", "P4ss/w0rd+")) + chars(LOWER, 3)(chance),
    "hex": chars(HEX, 32),
    "base64": chars(BASE64, 40),
    "letters and digits": chars(ALNUM, 24),
}
"""Values that only the place where they stand gives away."""

# {v} is the secret. Each of them holds nothing that would give it away but the value itself.
CODE: dict[str, tuple[str, ...]] = {
    "python": ('value = "{v}"\n', "client = Client('{v}')\n", 'x = ["{v}", 1]\n'),
    "javascript": ("const value = '{v}';\n", "call(`{v}`);\n", 'x = {{ a: "{v}" }};\n'),
    "typescript": ('const value: string = "{v}";\n', "call('{v}');\n"),
    "go": ('const value = "{v}"\n', "x := `{v}`\n"),
    "rust": ('let value = "{v}";\n', 'call(r"{v}".to_string());\n'),
    "java": ('String value = "{v}";\n', 'call("{v}");\n'),
    "cpp": ('std::string value = "{v}";\n', 'call(R"({v})");\n'),
    "csharp": ('var value = "{v}";\n', 'Call(@"{v}");\n'),
    "yaml": ("value: {v}\n", 'list:\n  - "{v}"\n'),
    "json": ('{{"value": "{v}"}}\n',),
    "toml": ('value = "{v}"\n',),
    "dotenv": ("VALUE={v}\n",),
    "xml": ("<value>{v}</value>\n", '<add value="{v}" />\n'),
    "ini": ("value = {v}\n",),
    "properties": ("value={v}\n",),
    "shellscript": ("export VALUE={v}\n", 'run "{v}"\n'),
    "plaintext": ("see {v} for it\n",),
}

# {v} is the secret: here the place tells. Names and forms differ on purpose.
NAMED: dict[str, tuple[str, ...]] = {
    "python": (
        'password = "{v}"\n',
        "API_TOKEN = '{v}'\n",
        'api_key: Final[str] = "{v}"\n',
        'config["db_password"] = "{v}"\n',
        'connect(user="me", password="{v}")\n',
        'DATABASES = {{"default": {{"PASSWORD": "{v}"}}}}\n',
        'secret = os.environ.get("APP_SECRET", "{v}")\n',
        'headers = {{"Authorization": "Bearer {v}"}}\n',
        'headers = {{"X-Api-Key": "{v}"}}\n',
        'if password == "{v}":\n    pass\n',
        'password = SecretStr("{v}")\n',
        "self.client_secret = b'{v}'\n",
        "def login(user, password='{v}'):\n    pass\n",
        'auth = ("me", "x", dict(access_token="{v}"))\n',
    ),
    "javascript": (
        "const apiKey = '{v}';\n",
        'module.exports = {{ clientSecret: "{v}" }};\n',
        "const password = process.env.DB_PASSWORD || '{v}';\n",
        "const token = process.env.API_TOKEN ?? '{v}';\n",
        "fetch(url, {{ headers: {{ Authorization: `Bearer {v}` }} }});\n",
        "fetch(url, {{ headers: {{ 'x-api-key': '{v}' }} }});\n",
        "client.setPassword('{v}');\n",
        "app.use(session({{ secret: '{v}' }}));\n",
    ),
    "typescript": (
        "const apiKey: string = '{v}';\n",
        'private readonly dbPassword: string = "{v}";\n',
        "export const config = {{ authToken: '{v}' as const }};\n",
    ),
    "go": (
        'const apiToken string = "{v}"\n',
        'var dbPassword = "{v}"\n',
        'password := "{v}"\n',
        'cfg := Config{{ClientSecret: "{v}"}}\n',
        'req.Header.Set("Authorization", "Bearer {v}")\n',
        'req.Header.Set("X-Api-Key", "{v}")\n',
        'req.SetBasicAuth("me", "{v}")\n',
        'secret := []byte("{v}")\n',
        "const token = `{v}`\n",
    ),
    "rust": (
        'const API_TOKEN: &str = "{v}";\n',
        'static SECRET_KEY: &\'static str = "{v}";\n',
        'let password = String::from("{v}");\n',
        'let password = "{v}".to_string();\n',
        'let c = Config {{ db_password: "{v}".into() }};\n',
        '.bearer_auth("{v}")\n',
    ),
    "java": (
        'private static final String PASSWORD = "{v}";\n',
        'config.setPassword("{v}");\n',
        'props.setProperty("db.password", "{v}");\n',
        'if (password.equals("{v}")) {{}}\n',
        '@Value("${{api.secret:{v}}}")\n',
    ),
    "cpp": (
        'const char* password = "{v}";\n',
        'static const char api_key[] = "{v}";\n',
        'std::string secret{{"{v}"}};\n',
        '#define API_TOKEN "{v}"\n',
        'std::string auth_token("{v}");\n',
    ),
    "csharp": (
        'private const string Password = "{v}";\n',
        'public string ApiKey {{ get; set; }} = "{v}";\n',
        'var cs = "Server=db;Database=x;User Id=sa;Password={v};";\n',
        'string clientSecret = @"{v}";\n',
        'new NetworkCredential("me", "{v}");\n',
    ),
    "yaml": (
        "password: {v}\n",
        'token: "{v}"\n',
        "db:\n  user: me\n  api_key: '{v}'\n",
        "env:\n  - name: DB_PASSWORD\n    value: {v}\n",
        "stringData:\n  client-secret: {v}\n",
    ),
    "json": (
        '{{"password": "{v}"}}\n',
        '{{\n  "apiToken": "{v}"\n}}\n',
        '{{"auths": {{"r.io": {{"auth": "{v}"}}}}}}\n',
    ),
    "toml": ('password = "{v}"\n', "api_token = '{v}'\n"),
    "dotenv": ("API_TOKEN={v}\n", "DB_PASSWORD='{v}'\n", 'export SECRET_KEY="{v}"\n', "STRIPE_KEY={v}\n"),
    "xml": (
        "<password>{v}</password>\n",
        '<add key="ApiToken" value="{v}" />\n',
        '<property name="password" value="{v}"/>\n',
        '<user name="me" password="{v}"/>\n',
        '<string name="api_key">{v}</string>\n',
        '<add name="d" connectionString="Server=s;Password={v};Timeout=3" />\n',
    ),
    "ini": ("[db]\npassword = {v}\n", "aws_secret_access_key = {v}\n", "//registry.npmjs.org/:_authToken={v}\n"),
    "properties": ("spring.datasource.password={v}\n", "api.token: {v}\n"),
    "shellscript": (
        "export API_TOKEN={v}\n",
        "mysql --user me --password {v} db\n",
        "mysql --password={v} db\n",
        'curl -H "Authorization: Bearer {v}" https://x.example\n',
        "curl -u me:{v} https://x.example\n",
        'curl -H "X-Api-Key: {v}" https://x.example\n',
        "PGPASSWORD={v} psql -U me\n",
        "docker login -u me -p {v} r.example\n",
        'TOKEN="{v}"\n',
        "sshpass -p '{v}' ssh me@h\n",
    ),
    "dockerfile": ("ENV API_TOKEN={v}\n", "ENV DB_PASSWORD {v}\n", "ARG SECRET={v}\n"),
    "netrc": ("machine h.example login me password {v}\n", "machine h.example\n  login me\n  password {v}\n"),
    "http": ("GET / HTTP/1.1\nAuthorization: Bearer {v}\n", "GET / HTTP/1.1\nX-Auth-Token: {v}\n"),
    "sql": ("CREATE USER me IDENTIFIED BY '{v}';\n", "ALTER ROLE me WITH PASSWORD '{v}';\n"),
    "terraform": ('variable "x" {{}}\npassword = "{v}"\n', 'db_password = "{v}"\n'),
}

ADDRESSES = (
    "postgres://me:{v}@db.example:5432/x",
    "mongodb+srv://me:{v}@c.example/x?y=z",
    "redis://:{v}@cache.example/0",
    "https://me:{v}@git.example/r.git",
    "amqp://me:{v}@mq.example",
    "https://x.example/hook?api_key={v}&a=1",
)

# A secret in pieces, or in other letters.
BROKEN: dict[str, tuple[str, ...]] = {
    "python": ('password = "{a}" + "{b}"\n', 'password = (\n    "{a}"\n    "{b}"\n)\n', 'password = f"{a}{{x}}{b}"\n'),
    "javascript": ("const password = '{a}' +\n  '{b}';\n",),
    "java": ('String password = "{a}"\n    + "{b}";\n',),
    "cpp": ('const char* password = "{a}"\n    "{b}";\n',),
    "csharp": ('var password = "{a}" + "{b}";\n',),
    "go": ('password := "{a}" +\n\t"{b}"\n',),
}

KEYS = {
    "python": 'KEY = """{v}"""\n',
    "yaml": "key: |\n{v}\n",
    "plaintext": "{v}\n",
    "json": '{{"k": {json}}}\n',
    "go": "const k = {json}\n",
    "javascript": "const k = {json};\n",
    "java": "String k = {sum};\n",
}
"""{v} is a private key, {json} one in a string with escapes, {sum} one put together of its lines."""


def corpus(seed: int = 7) -> Iterator[Planted]:
    """Every secret of the corpus; the same for the same seed."""
    chance = random.Random(seed)
    yield from _tokens(chance)
    yield from _passwords(chance)
    yield from _broken(chance)


def _tokens(chance: random.Random) -> Iterator[Planted]:
    for kind, draw in TOKENS.items():
        for language, forms in CODE.items():
            for form in forms:
                value = draw(chance)
                yield Planted("itself", kind, language, form.format(v=value), (_core(kind, value),))


def _passwords(chance: random.Random) -> Iterator[Planted]:
    for kind, draw in PASSWORDS.items():
        for language, forms in NAMED.items():
            for form in forms:
                value = draw(chance)
                if not (kind == "typed" and ("curl -u" in form or "${{" in form)):
                    yield Planted("named", kind, language, form.format(v=value), (value,))
        for form in ADDRESSES:
            value = chars(ALNUM, 16)(chance) if kind in ("base64", "typed") else draw(chance)
            for carrier in CODE.values():
                address = carrier[0].format(v=form.format(v=value))
                yield Planted("address", kind, "any", address, (value,))


def _broken(chance: random.Random) -> Iterator[Planted]:
    for language, forms in BROKEN.items():
        for form in forms:
            first, second = chars(ALNUM, 9)(chance), chars(ALNUM, 9)(chance)
            yield Planted(
                "pieces", "letters and digits", language, form.format(a=first, b=second, x="x"), (first, second)
            )
    for language, form in KEYS.items():
        key = _private_key(chance)
        lines = key.split("\n")
        text = form.format(v=key, json=json.dumps(key), sum=' + "\\n" +\n'.join(f'"{line}"' for line in lines))
        yield Planted("private key", "private key", language, text, tuple(lines[1:-2]))


def _core(kind: str, value: str) -> str:
    """What must not be sent: of an address or a pair the telling part."""
    if "webhook" in kind and "/" in value:
        return value.rsplit("/", 1)[1]
    return value.partition("=")[2] or value if kind == "azure storage" else value
