// Writes node_builtins.txt: the names of Node's own modules, from @types/node and from the Node that runs this.
//
//     npm install --prefix FOLDER typescript@5 @types/node && node gates/names/render_node_builtins.mjs FOLDER
//
// One line is a module: `path: basename delimiter ...`, types included. Names with a leading underscore are not judged.
import { createRequire, builtinModules } from 'node:module';
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2], 'node_modules');
const require = createRequire(join(folder, 'x.js'));
const ts = require('typescript');

const roots = readdirSync(join(folder, '@types/node'), { recursive: true })
  .filter((name) => name.endsWith('.d.ts') && !name.startsWith('ts5')).map((name) => join(folder, '@types/node', name));
const program = ts.createProgram(roots, { types: [], lib: ['lib.esnext.d.ts'], noResolve: false });
const checker = program.getTypeChecker();
const found = new Map();
const add = (module, names) => {
  const known = found.get(module) ?? found.set(module, new Set()).get(module);
  for (const name of names) if (/^[A-Za-z$][\w$]*$/.test(name)) known.add(name);
};

for (const symbol of checker.getAmbientModules()) {
  const module = symbol.name.slice(1, -1).replace(/^node:/, '');
  for (const each of checker.getExportsOfModule(symbol)) {
    add(module, [each.name]);
    if (each.name === 'export=' || each.name === 'default') {
      const type = checker.getTypeOfSymbol(each);
      add(module, checker.getPropertiesOfType(type).map((one) => one.name));
    }
  }
  const exported = symbol.exports?.get('export=');
  if (exported) add(module, checker.getPropertiesOfType(checker.getTypeOfSymbol(exported)).map((one) => one.name));
}
for (const module of builtinModules) {
  let there = require(`node:${module}`);
  for (let level = there; level; level = Object.getPrototypeOf(level)) add(module, Object.getOwnPropertyNames(level));
}
const lines = [...found].filter(([module]) => !module.startsWith('_') && !module.startsWith('*'))
  .map(([module, names]) => `${module}: ${[...names].sort().join(' ')}`).sort();
writeFileSync(new URL('node_builtins.txt', import.meta.url), lines.join('\n') + '\n');
