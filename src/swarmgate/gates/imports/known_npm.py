"""npm packages known by name, and what Node itself brings. What is not here is only not known to us."""

from __future__ import annotations

_BUILTIN = """
_http_agent _http_client _http_common _http_incoming _http_outgoing _http_server _stream_duplex _stream_passthrough
_stream_readable _stream_transform _stream_wrap _stream_writable _tls_common _tls_wrap assert async_hooks buffer
child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 https
inspector module net os path perf_hooks process punycode querystring readline repl sea sqlite stream string_decoder
sys test test/reporters timers tls trace_events tty url util v8 vm wasi worker_threads zlib bun deno undici
"""
BUILTIN = frozenset(_BUILTIN.split())
"""Modules of Node; sub-paths such as `fs/promises` belong to them."""

_HOSTS = """
vscode atom electron photoshop uxp sketch figma k6 cockpit chrome resource gi imports meteor system obsidian
adobe-cep aws-lambda $app $env $lib $service-worker ember @ember @glimmer @salesforce lwc @wordpress cloudflare
jest-mock qunit mocha xunit @jest
"""
HOSTS = frozenset(_HOSTS.split())
"""Modules (or scopes) that the program brings in which the code runs."""

VIRTUAL = frozenset({
    "#imports", "#app", "#build", "#components", "#head", "#internal", "#shared", "#entry", "#vue-router", "#nitro",
    "#nuxt", "#unhead", "#q-app", "#spa-template", "#content", "#ui", "#auth", "#i18n", "#image", "#pwa", "#server",
    "#tailwind-config",
})  # fmt: skip
"""What frameworks make up while they build."""

BRINGS = {
    "jest": "@jest/globals @jest/types expect jest-mock pretty-format", "vitest": "@vitest/runner @vitest/expect vite",
    "react-scripts": "webpack jest babel-jest @babel/core eslint", "next": "react react-dom styled-jsx",
    "nuxt": "vue vue-router h3 nitropack ofetch unhead @unhead/vue @nuxt/schema @nuxt/kit ufo defu consola pathe vite",
    "vue": "@vue/runtime-core @vue/runtime-dom @vue/reactivity @vue/shared @vue/compiler-sfc @vue/compiler-dom",
    "@sveltejs/kit": "svelte vite", "astro": "vite", "gatsby": "react react-dom graphql",
    "eslint": "@eslint/js espree estree", "typescript-eslint": "@typescript-eslint/parser @typescript-eslint/utils",
    "webpack": "tapable webpack-sources enhanced-resolve", "vite": "rollup esbuild", "react-native": "react metro",
    "expo": "react-native react expo-modules-core", "@angular/core": "rxjs tslib zone.js", "rollup": "estree",
    "@storybook/react": "@storybook/blocks @storybook/types", "storybook": "@storybook/test @storybook/blocks",
    "express": "body-parser express-serve-static-core qs serve-static send cookie", "koa": "koa-compose",
    "@nestjs/core": "@nestjs/common rxjs reflect-metadata", "mongoose": "mongodb bson", "typeorm": "reflect-metadata",
    "unified": "vfile unist mdast hast", "@testing-library/react": "@testing-library/dom react-dom",
    "playwright": "playwright-core", "@playwright/test": "playwright playwright-core", "puppeteer": "puppeteer-core",
    "@docusaurus/core": "@theme @site @docusaurus @generated @theme-original @theme-init react @mdx-js/react",
    "babel-core": "babel-types babel-traverse",
    "@babel/core": "@babel/types @babel/traverse @babel/generator @babel/parser @babel/template",
    "react-router-dom": "react-router", "redux-toolkit": "redux",
    "@reduxjs/toolkit": "redux immer reselect redux-thunk",
    "@mui/material": "@mui/system @emotion/react", "tailwindcss": "postcss", "prosemirror-view": "prosemirror-model",
    "@trpc/server": "@trpc/client", "graphql-yoga": "graphql", "apollo-server": "graphql", "prisma": "@prisma/client",
    "codemirror": "@codemirror @lezer", "@angular/cli": "@angular-devkit", "request-promise": "request",
    "ember-source": "@ember @glimmer rsvp", "ember-cli": "ember-cli-htmlbars broccoli-funnel", "knex": "pg mysql",
}  # fmt: skip
"""By package: the names that its own dependencies, which a flat node_modules holds as well, bring."""

_PACKAGES = """
react react-dom react-router react-router-dom react-native react-redux redux redux-thunk redux-saga reselect immer
zustand jotai recoil mobx mobx-react mobx-react-lite swr next nuxt vue vue-router vuex pinia vue-i18n svelte
solid-js preact lit lit-element lit-html angular rxjs zone.js tslib lodash lodash-es underscore ramda immutable
classnames clsx request-promise-native axios got node-fetch cross-fetch isomorphic-fetch ky superagent request
request-promise undici express koa koa-router fastify hapi restify connect body-parser cors helmet morgan
cookie-parser express-session compression multer passport passport-local passport-jwt jsonwebtoken bcrypt bcryptjs
argon2 uuid nanoid cuid shortid ulid dotenv config convict yargs commander minimist meow inquirer prompts enquirer
chalk kleur picocolors colors ansi-colors ora cli-progress debug winston pino bunyan log4js loglevel moment
moment-timezone dayjs date-fns luxon ms pretty-ms typescript ts-node tsx esbuild vite vitest rollup webpack
webpack-cli parcel babel-loader ts-loader css-loader style-loader sass node-sass less stylus postcss autoprefixer
tailwindcss styled-components jest mocha chai sinon jasmine ava tap tape supertest nock msw cypress playwright
puppeteer puppeteer-core selenium-webdriver jsdom happy-dom cheerio enzyme eslint prettier stylelint husky
lint-staged rimraf mkdirp glob fast-glob globby minimatch micromatch picomatch chokidar fs-extra graceful-fs del cpy
execa cross-env cross-spawn shelljs semver resolve pkg-dir find-up read-pkg write-pkg async bluebird q p-limit p-map
p-queue p-retry eventemitter3 mitt events through2 readable-stream stream-browserify buffer process path-browserify
crypto-browserify crypto-js tweetnacl elliptic bn.js ethers web3 viem wagmi hardhat mongodb mongoose mysql mysql2 pg
sqlite3 better-sqlite3 redis ioredis knex sequelize typeorm prisma drizzle-orm objection bookshelf level nedb lowdb
bull bullmq agenda node-cron cron amqplib kafkajs mqtt nats socket.io socket.io-client ws sockjs-client graphql
graphql-tag apollo-server apollo-client urql relay-runtime react-relay d3 chart.js echarts highcharts recharts
victory three pixi.js phaser p5 konva fabric leaflet mapbox-gl ol marked markdown-it showdown remark rehype unified
gray-matter highlight.js prismjs dompurify sanitize-html xss validator joi yup zod ajv superstruct io-ts fp-ts
effect class-validator class-transformer reflect-metadata inversify tsyringe handlebars mustache ejs pug nunjucks
eta liquidjs jquery jquery-ui bootstrap popper.js backbone marionette knockout ember-source handsontable
ag-grid-community react-table react-hook-form formik final-form react-final-form downshift react-select
react-datepicker react-dropzone react-dnd react-beautiful-dnd framer-motion react-spring gsap animejs i18next
react-i18next react-intl intl-messageformat qs query-string url-parse path-to-regexp history js-cookie cookie
tough-cookie form-data formidable busboy mime mime-types content-type accepts statuses http-errors http-proxy
http-proxy-middleware nodemailer sendgrid twilio stripe braintree aws-sdk firebase firebase-admin googleapis openai
langchain sharp jimp canvas pdfkit pdf-lib pdfjs-dist exceljs xlsx papaparse csv-parse csv-parser fast-csv js-yaml
yaml toml ini xml2js fast-xml-parser json5 jsonc-parser acorn esprima espree escodegen estraverse recast jscodeshift
magic-string source-map source-map-support ts-morph typedoc jsdoc documentation storybook lerna nx turbo tsup
unbuild archiver adm-zip jszip unzipper tar tar-fs pako zlibjs lru-cache node-cache keyv memoize-one p-memoize
fast-deep-equal deep-equal deepmerge object-assign core-js regenerator-runtime whatwg-fetch abort-controller
url-search-params-polyfill promise es6-promise es6-shim requirejs systemjs electron electron-builder electron-store
node-gyp bindings nan node-addon-api ffi-napi serialport johnny-five usb bluetooth-hci-socket noble bleno discord.js
telegraf node-telegram-bot-api slack whatsapp-web.js matrix-js-sdk natural compromise franc string-similarity
fuse.js lunr flexsearch elasticlunr algoliasearch elasticsearch meilisearch typesense dockerode kubernetes-client
pm2 forever nodemon concurrently npm-run-all wait-on serve http-server live-server browser-sync gulp grunt broccoli
browserify watchify uglify-js terser clean-css html-minifier cssnano purgecss critters imagemin svgo svg-sprite
estree unist mdast hast geojson csstype type-fest ts-essentials utility-types ts-toolbelt tiny-invariant invariant
warning prop-types hoist-non-react-statics react-is react-test-renderer react-transition-group react-helmet
react-modal react-toastify notistack sonner vaul cmdk lucide-react react-icons react-markdown react-virtualized
react-window slate slate-react draft-js quill tiptap prosemirror-model prosemirror-state prosemirror-view codemirror
monaco-editor ace-builds xterm hls.js video.js plyr howler tone wavesurfer.js peerjs simple-peer mediasoup
"""
PACKAGES = frozenset(_PACKAGES.split())
"""Packages without a scope that are known to be there."""

_SCOPES = """
@angular @apollo @auth @aws-sdk @azure @babel @chakra-ui @clerk @codemirror @commitlint @emotion @eslint @expo
@fastify @floating-ui @fortawesome @google-cloud @grpc @hapi @headlessui @heroicons @hookform @ionic @jest @koa
@langchain @mantine @material-ui @mdx-js @mikro-orm @mui @nestjs @nuxt @nx @octokit @opentelemetry @playwright
@popperjs @prisma @radix-ui @react-native @react-navigation @reduxjs @remix-run @rollup @sendgrid @sentry
@sindresorhus @storybook @stripe @supabase @svelte @sveltejs @swc @tailwindcss @tanstack @testing-library @tiptap
@trpc @types @typescript-eslint @urql @vercel @vitejs @vitest @vue @vueuse @webassemblyjs @xstate
"""
SCOPES = frozenset(_SCOPES.split())
"""Scopes whose owner publishes many packages: one of them is not called invented, only undeclared."""
