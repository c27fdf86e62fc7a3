// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a person does with the page, in headless Chromium: reads the verdict, clicks a cause, goes
// back, searches, sums up a column by hand, drags, zooms, uses the keyboard alone, prints. Each
// check is one line of output; the last line is their sum.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, '..', '..', 'page', 'package.json'));
const { chromium } = require('playwright-core');
const { pages, json } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const report = JSON.parse(readFileSync(json, 'utf8'));

let passed = 0, failed = 0;
function check(what, holds, seen = '') {
  holds ? ++passed : ++failed;
  console.log(`${holds ? 'ok' : 'FAILED'}: ${what}${holds ? '' : ` (${seen})`}`);
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
const requests = [];
context.on('request', (request) => requests.push(request.url()));

async function open(name, fragment = '', how = context) {
  const page = await how.newPage();
  page.problems = [];
  page.on('pageerror', (problem) => page.problems.push(String(problem)));
  page.on('dialog', (dialog) => (page.problems.push('a dialog opened'), dialog.dismiss()));
  const begin = Date.now();
  await page.goto(`file://${pages[name]}${fragment}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes', null, { timeout: 60000 });
  page.readyMs = Date.now() - begin;
  return page;
}
const text = (page, selector) => page.locator(selector).first().innerText();
const seconds = (words) => {
  const match = /(<?) ?([\d.]+) (s|ms|us)/.exec(words);
  return match && Number(match[2]) * { s: 1, ms: 1e-3, us: 1e-6 }[match[3]];
};
const near = (a, b, slack) => Math.abs(a - b) <= slack;

// --- the first screen ---
const page = await open('hybrid');
check('the verdict is that of the report', (await text(page, '.verdict')) === report.verdict.text);
check('nothing lies below the first screen but what is long', await page.evaluate(() => document.querySelector('.heatmap').getBoundingClientRect().bottom < 900));
// On a busy machine that may be another one than the program's text says: threads without a core are late, too.
const cause = await page.locator('.causes tbody a.code').first().getAttribute('title');
const costOf = (callpath) => report.delays.filter((d) => d.callpath === callpath).reduce((sum, d) => sum + d.short_s + d.long_s, 0);
check('the first cause is the costliest', report.delays.every((d) => costOf(d.callpath) <= costOf(cause)
  || /MPI_Init|MPI_Finalize|^[(]not started/.test(d.callpath)), cause);
const short = cause.split('/').at(-1);
check('the head says who ran', (await text(page, '.facts')).startsWith('4 ranks'));
check('the title is the command', (await page.title()).includes('hybrid_chain'));
check('the map of ranks and time is there', await page.locator('.heatmap canvas').count() === 1);
const kinds = (await page.locator('.timebar li b').allInnerTexts()).map(seconds);
const allocated = kinds.reduce((a, b) => a + b, 0);
check('the kinds of time add up to the allocated time', near(allocated, report.run.allocation_s, 0.05), `${allocated}`);
const waitingShown = seconds((await page.locator('.timebar li').allInnerTexts()).find((w) => w.includes('waiting') && !w.includes('without')));
check('waiting is the waiting of the report', near(waitingShown, report.identities.waiting_s, 0.006), `${waitingShown}`);

// --- one selection ---
await page.locator('.causes tbody a.code').first().click();
check('a click selects the call path', (await text(page, '.chip')).includes(short));
check('the URL keeps the selection', page.url().includes('path='));
await page.goBack();
check('the back button undoes it', await page.locator('.chip').count() === 0);
await page.goForward();
check('and forward does it again', await page.locator('.chip').count() === 1);
const link = page.url();
const other = await open('hybrid', link.slice(link.indexOf('#')));
check('a link shows what its sender saw', (await text(other, '.chip')).includes(short));
await other.close();
await page.locator('.chip').first().click();
check('a click on a chip takes it away', await page.locator('.chip').count() === 0);

// --- causes ---
await page.locator('nav a', { hasText: 'Causes' }).click();
check('the first cause is opened', (await text(page, '.detail')).includes('It cost others'));
check('it names whom it made wait', await page.locator('.detail table tbody tr').count() > 0);
const gain = Math.max(...report.gains.filter((g) => g.callpath === cause).map((g) => g.gain_s));
check('it says what a change would bring', gain === -Infinity || (gain < 0.006 || near(seconds(/would be (.*?) \(/.exec(await text(page, '.detail'))?.[1]), gain, 0.006)), `${gain}`);
check('it says what to try', (await text(page, '.detail')).includes('What to try first'));
const costs = await page.locator('.causes tbody .bar').allInnerTexts();
check('its cost is that of the report', near(seconds(costs[0]), costOf(cause), 0.006), `${costs[0]} against ${costOf(cause)}`);

// --- trees, summed up by hand against the report ---
await page.locator('nav a', { hasText: 'Trees' }).click();
const panes = page.locator('.panes > div');
check('there are three panes', await panes.count() === 3);
const system = await panes.nth(2).locator('li .figure').allInnerTexts();
check('the system adds up to the waiting', near(system.map(seconds).reduce((a, b) => a + b, 0), report.identities.waiting_s, 0.03));
await panes.nth(0).locator('a', { hasText: 'Late sender' }).click();
const late = report.waits.filter((w) => w.pattern === 'mpi.late_sender').reduce((sum, w) => sum + w.time_s, 0);
const lateShown = (await panes.nth(2).locator('li .figure').allInnerTexts()).map(seconds).reduce((a, b) => a + b, 0);
check('a pattern narrows the system', near(lateShown, late, 0.03), `${lateShown} against ${late}`);
const codes = (await panes.nth(1).locator('li .figure').allInnerTexts()).map(seconds).reduce((a, b) => a + b, 0);
check('and the call paths, whose own figures add up when open', near(codes, late, 0.03), `${codes} against ${late}`);
await page.keyboard.press('Escape');
check('Escape takes the selection away', await page.locator('.chip').count() === 0);
await page.locator('input[type=search]').fill('update_cells');
check('search finds a function', (await panes.nth(1).innerText()).includes('update_cells'));
check('and nothing else', !(await panes.nth(1).innerText()).includes('MPI_Recv'));
await page.locator('input[type=search]').fill('');
await page.locator('select').selectOption('percent');
check('values can be shares', (await panes.nth(2).locator('li .figure').first().innerText()).includes('%'));
await page.locator('select').selectOption('absolute');
await panes.nth(2).locator('a', { hasText: 'rank 3' }).click();
const ofRank = report.waits.filter((w) => w.location.startsWith('3.')).reduce((sum, w) => sum + w.time_s, 0);
const shownOfRank = seconds(await panes.nth(0).locator('li', { hasText: /waiting$/ }).first().locator('.figure').innerText());
check('a rank narrows what is measured', near(shownOfRank, ofRank, 0.006), `${shownOfRank} against ${ofRank}`);

// --- time ---
await page.evaluate(() => { location.hash = '#'; });
const map = await page.locator('.heatmap canvas').boundingBox();
await page.mouse.move(map.x + map.width * 0.5, map.y + 4);
await page.mouse.down();
await page.mouse.move(map.x + map.width * 0.8, map.y + 150, { steps: 5 });
await page.mouse.up();
check('dragging over the map selects time', (await text(page, '.chip')).includes(' to '));
const half = seconds((await page.locator('.timebar li').allInnerTexts()).find((w) => w.includes('waiting') && !w.includes('without')));
check('and the waiting follows', half > 0 && half < waitingShown, `${half}`);
await page.evaluate((wall) => { location.hash = `#t=0-${wall / 2}`; }, report.run.wall_s);
const first = seconds((await page.locator('.timebar li').allInnerTexts()).find((w) => w.includes('waiting') && !w.includes('without')));
await page.evaluate((wall) => { location.hash = `#t=${wall / 2}-${wall}`; }, report.run.wall_s);
const second = seconds((await page.locator('.timebar li').allInnerTexts()).find((w) => w.includes('waiting') && !w.includes('without')));
check('two halves of the run have all of its waiting', near(first + second, report.identities.waiting_s, 0.03), `${first} + ${second}`);

// --- the time line ---
await page.evaluate(() => { location.hash = '#view=timeline'; });
const lanes = await page.locator('.timeline canvas').boundingBox();
await page.mouse.move(lanes.x + lanes.width * 0.6, lanes.y + 60);
await page.mouse.wheel(0, -300);
await page.waitForTimeout(100);
check('the wheel zooms', page.url().includes('t='));
const before = page.url();
await page.mouse.down();
await page.mouse.move(lanes.x + lanes.width * 0.5, lanes.y + 60, { steps: 4 });
await page.mouse.up();
check('dragging pans', page.url() !== before);
await page.evaluate(() => { location.hash = '#view=timeline'; });
await page.mouse.move(lanes.x + lanes.width * 0.35, lanes.y + 62);
check('pointing tells what is there', (await text(page, '.timeline .hover')).includes('rank'));
await page.locator('.timeline canvas').focus();
await page.keyboard.press('ArrowUp');
check('the arrow keys zoom', page.url().includes('t='));
await page.keyboard.press('0');
check('0 shows the whole run', !page.url().includes('t='));
await page.locator('.timeline select').evaluate((s) => { s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change')); });
check('one can go to one of the longest waits', page.url().includes('t='));

// --- the other views ---
for (const [view, words] of [['who', 'Between ranks'], ['topology', 'Nodes and ranks'], ['flame', 'from the leaves'],
                             ['efficiency', 'load balance'], ['coverage', 'does not cover']]) {
  await page.evaluate((v) => { location.hash = `#view=${v}`; }, view);
  check(`the view ${view}`, (await text(page, 'main')).includes(words));
}
await page.evaluate(() => { location.hash = '#view=flame'; });
check('the flame graph has frames', await page.locator('.flame g').count() > 3);
await page.evaluate(() => { location.hash = '#'; });
await page.locator('body').press('3');
check('digits choose views', page.url().includes('view=timeline'));
await page.locator('body').press('8');
check('as their tabs stand', (await text(page, '.tab.on')) === (await page.locator('.tab').nth(7).innerText()), await text(page, '.tab.on'));
check('nothing went wrong on the way', page.problems.length === 0, page.problems.join('; '));

// --- keyboard only ---
await page.evaluate(() => { location.hash = '#'; });
await page.reload();
await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
for (let i = 0; i < 60; ++i) {
  await page.keyboard.press('Tab');
  if (await page.evaluate(() => document.activeElement.classList.contains('code'))) break;
}
await page.keyboard.press('Enter');
check('a cause can be chosen without a mouse', page.url().includes('path='));

// --- paper, dark, small ---
const pdf = await page.pdf({ format: 'A4' });
check('it prints', pdf.length > 20000, `${pdf.length} bytes`);
const dark = await browser.newContext({ colorScheme: 'dark', bypassCSP: true });
const night = await open('hybrid', '', dark);
check('it is dark where the system is', await night.evaluate(() => getComputedStyle(document.body).backgroundColor) === 'rgb(23, 24, 27)');
await dark.close();

// --- odd runs ---
const hostile = await open('hostile');
check('a name is text, never markup', hostile.problems.length === 0 && (await text(hostile, '.causes')).includes('<script>alert(1)</script>'));
await hostile.close();
const threads = await open('threads', '#view=timeline');
check('one process with threads', (await text(threads, '.facts')).startsWith('1 rank') && threads.problems.length === 0);
await threads.close();
if (pages.device) {
  const device = await open('device', '#view=devices');
  check('devices are drawn', await device.locator('.chart canvas').count() > 0 && device.problems.length === 0, device.problems.join('; '));
  await device.close();
}

// --- topologies: arranged.c says what they are ---
const arranged = await open('arranged', '#view=topology');
const cells = () => arranged.locator('.grid > div').evaluateAll((all) => all.map((e) => [e.innerText, e.style.gridRow, e.style.gridColumn]));
check('a grid has its rows and columns', JSON.stringify((await cells()).sort())
  === JSON.stringify([0, 1, 2, 3, 4, 5].map((r) => [`${r}`, `${Math.floor(r / 3) + 1}`, `${(r % 3) + 1}`])), JSON.stringify(await cells()));
check('it says that it is periodic', (await text(arranged, 'main')).includes('Periodic in dimension 1'));
/** The title of the cell with the darkest colour, which stands for the largest figure, and what the key says that is. */
const darkest = async () => [await arranged.locator('.grid .cell').evaluateAll((all) =>
  all.find((e) => getComputedStyle(e).backgroundColor === 'rgb(110, 0, 10)')?.title), (await text(arranged, '.topology .key')).split(/ {2,}|\n/).at(-1).trim()];
const titles = () => arranged.locator('.grid .cell').evaluateAll((all) => all.map((e) => e.title).join());
const [ofWaiting, waitingTitles] = [await darkest(), await titles()];
check('the darkest cell has the largest figure', ofWaiting[1] !== '' && ofWaiting[0]?.endsWith(`: ${ofWaiting[1].match(/[\d.]+ \w+$/)?.[0]}`), `${ofWaiting}`);
await arranged.locator('.figure-choice').selectOption('delay');
const ofDelay = await darkest();
check('cells are coloured by the figure that is chosen', (await titles()) !== waitingTitles
  && ofDelay[0]?.endsWith(`: ${ofDelay[1].match(/[\d.]+ \w+$/)?.[0]}`), `${ofDelay}`);
await arranged.locator('.arrangement').selectOption('graph 1');
check('a graph has an edge for each neighbour', (await arranged.locator('.edges').getAttribute('d')).split('M').length === 1 + 5);
check('and a vertex for each rank', await arranged.locator('.vertex').count() === 6);
await arranged.locator('.vertex').nth(2).click();
check('a selected rank has its own edges', (await arranged.locator('.edges').getAttribute('d')).split('M').length === 1 + 1);
check('the address has figure, arrangement, and rank', /ranks=2&metric=delay&arrangement=graph/.test(arranged.url()), arranged.url());
await arranged.locator('.arrangement').selectOption('nodes');
check('nodes can be shown instead', (await text(arranged, 'main')).startsWith('Nodes and ranks'));
check('nothing went wrong with topologies', arranged.problems.length === 0, arranged.problems.join('; '));
await arranged.close();

// --- size ---
const many = await open('many');
const bytes = readFileSync(pages.many).length;
check('4,100 ranks fit into 50 MB', bytes < 50e6, `${bytes}`);
console.log(`4,100 ranks: ${(bytes / 1e6).toFixed(1)} MB, ready after ${many.readyMs} ms`);
const changed = await many.evaluate(async () => {
  const times = [];
  for (const hash of ['#view=trees', '#view=topology', '#ranks=0-99', '#view=trees&ranks=5', '#']) {
    const begin = performance.now();
    location.hash = hash;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b);
});
console.log(`change of selection: ${changed.map((ms) => ms.toFixed(0)).join(', ')} ms`);
check('nothing went wrong with 4,100 ranks', many.problems.length === 0, many.problems.join('; '));
await many.close();

check('nothing was asked of the network', requests.every((url) => url.startsWith('file://') || url.startsWith('data:') || url.startsWith('blob:')),
      requests.find((url) => !url.startsWith('file:')));
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
