// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Builds report/page_data/template.html from src/: everything in one file, and a place for the data.
// With --check nothing is written; it fails if the template is not what the sources give. The first
// line of the template is a stamp of the sources, by which a rule notices without Node that they
// have changed since.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '..', 'report', 'page_data', 'template.html');
const src = join(here, 'src');

/** Of the sources and the versions of libraries; tests/rules/page.py computes the same. */
function stamp() {
  const hash = createHash('sha256');
  const files = readdirSync(src, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name).slice(src.length + 1)).sort();
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(src, file)));
  hash.update(readFileSync(join(here, 'package-lock.json')));
  return hash.digest('hex').slice(0, 16);
}

/** Each text once, with the libraries that it is of; years aside, many share one. */
function licenses() {
  const lock = JSON.parse(readFileSync(join(here, 'package-lock.json')));
  const texts = new Map();
  for (const [path, { version, dev }] of Object.entries(lock.packages)) {
    if (path === '' || dev) continue;
    const name = path.replace(/^.*node_modules\//, '');
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].map((f) => join(here, path, f)).find(existsSync);
    if (!file) continue;
    const [, notice, text] = /^((?:.*copyright.*\n+)*)([^]*)$/i.exec(readFileSync(file, 'utf8').trim());
    texts.set(text, [...texts.get(text) ?? [], `${name} ${version}: ${notice.trim()}`]);
  }
  return [...texts].map(([text, names]) => `${names.join('\n')}\n\n${text}`).join('\n\n---\n\n').replaceAll('-->', '-- >');
}

async function page() {
  const built = await esbuild.build({
    entryPoints: [join(src, 'main.jsx')], bundle: true, minify: true, write: false, format: 'iife', target: 'es2023',
    jsxFactory: 'h', jsxFragment: 'Fragment', jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none', loader: { '.css': 'empty' },
    absWorkingDir: here, charset: 'utf8',
  });
  const script = built.outputFiles[0].text.trim().replaceAll('</script', '<\\/script');
  const style = (await esbuild.transform(readFileSync(join(src, 'style.css'), 'utf8'), { loader: 'css', minify: true })).code.trim();
  const index = readFileSync(join(src, 'index.html'), 'utf8');
  return `<!-- page ${stamp()} -->\n${index.replace('@style@', () => style).replace('@script@', () => script)}`
    + `<!--\n${licenses()}\n-->\n`;
}

const made = await page();
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== made) {
    console.error('report/page_data/template.html is not what page/ gives: run ./dev page');
    process.exit(1);
  }
} else {
  writeFileSync(target, made);
}
console.log(`report/page_data/template.html: ${Math.round(made.length / 1024)} KiB`);
