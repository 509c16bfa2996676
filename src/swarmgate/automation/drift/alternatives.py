"""A table of technologies that compete for one job, by which contradictions to a decision are found.

A name stands once for each job that it may do. Where it may do several (Redis), or is an ordinary word (`requests`),
a cue of the job has to stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmgate.automation.drift.tokens import word_set


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    Attributes:
        name: as people read it.
        cues: words that say that a sentence is about this job, parted by blanks.
        options: the choices, parted by commas; each a name with its other spellings and packages; `_` is a blank.
        scoped: a choice holds for one subject only (the format of *these* files), so subjects have to agree.
        development: its tools stand among the development dependencies.
        cued: a choice counts only beside a cue.
        of: what a choice is made for as such: where a sentence names nothing else, it holds for all of it.
        no_package: that a package is there says nothing about it.
        unless: words beside which a name means something else (`npm` the registry), parted by blanks.
    """

    name: str
    cues: str
    options: str
    scoped: bool = False
    development: bool = False
    cued: bool = False
    of: str = ""
    no_package: bool = False
    unless: str = ""


JOBS: tuple[Job, ...] = (
    Job(
        "HTTP client",
        "http https client call calls fetch api get download retry timeout outgoing url request requests",
        "requests, httpx, aiohttp, urllib3, urllib, axios, got, superagent, node_fetch node-fetch, reqwest, "
        "faraday, httparty, okhttp",
    ),
    Job(
        "web framework",
        "web server route routes endpoint api http app backend site",
        "flask, django, fastapi, starlette, tornado, bottle, sanic, express expressjs, koa, fastify, nestjs nest "
        "@nestjs/core, hapi @hapi/hapi, rails, sinatra, gin gin-gonic, echo, fiber, actix actix-web, axum, rocket, "
        "spring_boot, laravel, symfony",
    ),
    Job(
        "ORM",
        "orm model models query queries database schema migration",
        "sqlalchemy, peewee, tortoise tortoise-orm, ponyorm pony, django_orm, sqlmodel, prisma @prisma/client, "
        "typeorm, sequelize, drizzle drizzle-orm, mikroorm @mikro-orm/core, knex, gorm, diesel, active_record, "
        "hibernate",
    ),
    Job(
        "test runner",
        "test tests testing unit suite",
        "pytest, unittest, nose nose2, jest, mocha, vitest, jasmine, ava, rspec, minitest, karma",
        development=True,
    ),
    Job(
        "database",
        "database databases db persistence persist store stored storage table tables schema collection collections "
        "sql query queries data instance row rows relational",
        "postgresql postgres psycopg psycopg2 psycopg2-binary asyncpg pg, mysql mariadb pymysql mysqlclient mysql2, "
        "sqlite sqlite3 aiosqlite better-sqlite3, mongodb mongo pymongo motor mongoose, dynamodb, cassandra, "
        "couchdb, cockroachdb, oracle, mssql sql_server pyodbc, firestore, neo4j",
    ),
    Job(
        "cache",
        "cache caches cached caching ttl",
        "redis, memcached pymemcache, hazelcast, varnish",
        cued=True,
    ),
    Job(
        "password hashing",
        "password passwords passphrase passphrases credential credentials",
        "argon2 argon2id argon2-cffi argon2_cffi, bcrypt bcryptjs, scrypt, pbkdf2, md5, sha1 sha_1, sha256 sha_256",
        cued=True,
    ),
    Job(
        "authentication",
        "auth authentication authenticate login session sessions sign token tokens stateless",
        "jwt json_web_token json_web_tokens pyjwt jsonwebtoken, session_cookie session_cookies server_side_session "
        "server_side_sessions, oauth oauth2, basic_auth http_basic, api_key api_keys, saml, magic_link magic_links",
    ),
    Job(
        "message broker",
        "queue queues broker message messages messaging event events job jobs task tasks background publish "
        "exchange topic stream streams worker",
        "rabbitmq pika aio-pika amqplib, kafka kafka-python confluent-kafka kafkajs, redis redis_streams, sqs "
        "amazon_sqs, nats nats-py, pubsub google_pubsub, zeromq pyzmq, activemq, pulsar",
        cued=True,
    ),
    Job(
        "task queue",
        "queue job jobs task tasks background worker workers schedule",
        "celery, rq python-rq, dramatiq, huey, arq, sidekiq, resque, bullmq bull, agenda",
    ),
    Job(
        "state management",
        "state store front",
        "redux redux_toolkit @reduxjs/toolkit react-redux, mobx, zustand, recoil, vuex, pinia, jotai, xstate",
    ),
    Job(
        "user interface framework",
        "front frontend ui component components interface browser",
        "react, vue vue.js vuejs, angular @angular/core, svelte, solidjs solid-js, ember ember-source, preact",
    ),
    Job(
        "package manager",
        "package packages install installs lock lockfile ci manager dependencies workspace",
        "npm, yarn, pnpm, bun",
        unless="publish publishes published registry release",
        cued=True,
    ),
    Job(
        "Python package manager",
        "package packages install lock lockfile manager dependencies environment",
        "poetry, pipenv, uv, pdm, conda, pip_tools pip-tools",
        cued=True,
    ),
    Job(
        "date library",
        "date dates time times timezone calendar",
        "moment moment.js momentjs, date_fns date-fns, dayjs day.js, luxon, arrow, pendulum, chrono",
    ),
    Job(
        "logging",
        "log logs logging logger",
        "structlog, loguru, logbook, winston, pino, bunyan, log4j, logback, zap, logrus, zerolog",
    ),
    Job(
        "templates",
        "template templates render rendered page view views html",
        "jinja2 jinja, mako, chameleon, handlebars, mustache, ejs, pug, nunjucks, liquid, erb, haml, django_templates",
    ),
    Job(
        "CSS framework",
        "css style styles styling layout theme",
        "tailwind tailwindcss tailwind_css, bootstrap, bulma, foundation foundation-sites, material_ui "
        "@mui/material, chakra @chakra-ui/react, styled_components styled-components",
    ),
    Job(
        "bundler",
        "bundle bundles bundled bundler bundling build front assets",
        "webpack, vite, rollup, parcel, esbuild, turbopack, rspack @rspack/core, browserify",
        development=True,
    ),
    Job(
        "command line parser",
        "argument arguments command commands cli parse parsing options flags line",
        "argparse, click, typer, docopt, python_fire fire, optparse, yargs, commander, cobra, clap",
    ),
    Job(
        "linter",
        "lint linter linting style check format",
        "ruff, flake8, pylint, eslint, tslint, biome @biomejs/biome, standardjs",
        development=True,
    ),
    Job(
        "type checker",
        "type types checker checking typing",
        "mypy, pyright, pyre pyre-check, pytype, flow flow-bin",
        development=True,
    ),
    Job(
        "validation",
        "validate validation schema model models input",
        "pydantic, marshmallow, cerberus, voluptuous, attrs, zod, joi, yup, ajv",
    ),
    Job(
        "serialization",
        "serialize serialized serialization encode encoded wire message messages payload format",
        "protobuf protocol_buffers, avro fastavro, msgpack messagepack, thrift, pickle, cbor, capnproto, flatbuffers",
        scoped=True,
    ),
    Job(
        "file format",
        "file files format configuration config settings manifest document export report",
        "toml, yaml yml, json, ini, xml, csv, parquet",
        scoped=True,
        cued=True,
    ),
    Job(
        "style of API",
        "api apis endpoint endpoints service services call talk expose interface",
        "rest restful, graphql, grpc, soap, json_rpc",
        scoped=True,
        cued=True,
    ),
    Job(
        "kind of database",
        "database store storage data",
        "sql relational, nosql",
        scoped=True,
        cued=True,
    ),
    Job(
        "architecture",
        "",
        "monolith monolithic modular_monolith, microservice microservices, serverless",
    ),
    Job(
        "repository layout",
        "",
        "monorepo mono_repo, polyrepo multi_repo separate_repositories",
    ),
    Job(
        "indentation",
        "indent indented indentation",
        "tabs tab, spaces space",
        cued=True,
    ),
    Job(
        "naming style",
        "name names naming key keys field fields column columns variable variables json property properties",
        "snake_case, camelcase camel_case, kebab_case, pascalcase pascal_case, screaming_snake_case",
        scoped=True,
        of="field column variable property json",
    ),
    Job(
        "kind of ids",
        "id ids identifier identifiers key keys",
        "uuid uuids uuid4 uuidv4 uuidv7, ulid ulids, auto_increment auto_incremented autoincrement auto_incrementing "
        "serial sequential, snowflake snowflakes, nanoid",
        scoped=True,
        of="id identifier key",
    ),
    Job(
        "container orchestration",
        "deploy deployed deployment container containers cluster",
        "kubernetes k8s, nomad, docker_swarm, ecs, docker_compose",
        scoped=True,
    ),
    Job(
        "CI service",
        "ci pipeline build workflow continuous",
        "github_actions, gitlab_ci, jenkins jenkinsfile, circleci, travis travis_ci, azure_pipelines",
    ),
    Job(
        "cloud",
        "deploy deployed deploys host hosted hosting run runs cloud infrastructure region account production",
        "aws amazon_web_services, azure microsoft_azure, gcp google_cloud, digitalocean, hetzner, heroku",
        cued=True,
    ),
    Job(
        "infrastructure as code",
        "infrastructure deploy deployed deployment deployments provision provisioned cluster environment environments",
        "terraform opentofu, pulumi, cloudformation, bicep",
    ),
    Job(
        "pagination",
        "pagination paginate paginated page pages",
        "cursor cursor_based cursors keyset, offset offset_based offsets page_number page_numbers",
        cued=True,
    ),
    Job(
        "type of amounts of money",
        "money price prices amount amounts currency cost costs balance total totals",
        "cents integer_cents minor_units, float floats floating_point double doubles, decimal decimals numeric",
        cued=True,
    ),
    Job(
        "where data is stored",
        "store stores stored storage save saves saved persist persists persisted",
        "postgresql postgres, mysql mariadb, sqlite sqlite3, mongodb mongo, dynamodb, redis, s3, cassandra, "
        "firestore, memory",
        scoped=True,
        cued=True,
        no_package=True,
    ),
    Job(
        "search engine",
        "search index indexed full-text fulltext",
        "elasticsearch, opensearch, meilisearch, solr, typesense, algolia",
    ),
    Job(
        "live updates",
        "live push updates realtime real notify notifications",
        "websocket websockets, server_sent_events sse, long_polling",
        scoped=True,
    ),
    Job(
        "branching",
        "branch branches merge commit commits",
        "trunk_based, git_flow gitflow, github_flow",
    ),
    Job(
        "encryption of transport and rest",
        "encrypt encrypted encryption cipher",
        "aes_gcm, aes_cbc, chacha20, rsa, des 3des",
        scoped=True,
    ),
    Job(
        "signing of tokens",
        "sign signed signing signature token tokens jwt",
        "hs256, rs256, es256, eddsa ed25519",
        scoped=True,
        of="token jwt",
        cued=True,
    ),
)
"""The jobs."""

ORDINARY = word_set(
    "bootstrap agenda arq arrow ava bottle bull bun chrono click conda diesel echo ember express fiber fire "
    "flow foundation "
    "gin got hibernate joi liquid luxon moment motor mustache nest nose oracle parcel pony prisma pug pulsar rails "
    "relational requests rest rocket sequential serial solid space spaces standard tab tabs tortoise uv zap"
)
"""Names that are ordinary words: they need a cue, or the form of a name."""

ALWAYS = frozenset(
    {
        "CI service",
        "Python package manager",
        "architecture",
        "branching",
        "indentation",
        "linter",
        "logging",
        "naming style",
        "package manager",
        "repository layout",
        "test runner",
        "type checker",
    }
)
"""Jobs that no task has to name to be true: a decision about one does not get stale."""
