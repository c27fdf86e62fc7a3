// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a person does with the page, in headless Chromium: reads the verdict, clicks a cause, goes
// back, searches, sums up a column by hand, drags, zooms, uses the keyboard alone, prints. Each
// check is one line of output; the last line is their sum.

import { readFileSync, statSync } from 'node:fs';
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
// What is written on canvases, and where: { words, x, y, width }, and the colours of what is filled.
await context.addInitScript(() => {
  window.drawn = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function fillText(words, x, y) {
    window.drawn.push({ words, x, y, width: this.measureText(words).width, align: this.textAlign });
    return write.call(this, words, x, y);
  };
});
const drawn = async (page, fragment) => {
  await page.evaluate((hash) => { window.drawn = []; location.hash = hash; }, fragment);
  await page.waitForTimeout(150);
  return page.evaluate(() => window.drawn);
};

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
/** The same of figures that can be less than nothing. */
const signed = (words) => seconds(words) * (/-/.test(words) ? -1 : 1);
/** Columns of numbers whose header does not stand above them, on the right. */
const misaligned = (page) => page.evaluate(() => [...document.querySelectorAll('main table')].flatMap((table) =>
  [...table.querySelectorAll('thead th')].filter((th, i) => {
    const cell = table.querySelector('tbody tr')?.children[i];
    const right = (e) => getComputedStyle(e).textAlign === 'right';
    return cell && (right(cell) || cell.querySelector('.bar')) && !right(th);
  }).map((th) => th.innerText)));
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
const ofTile = (name) => report.tiles.filter(({ tile }) => tile === name).reduce((sum, { time_s: s }) => sum + s, 0);
check('waiting is the waiting of the report', near(waitingShown, ofTile('waiting'), 0.006), `${waitingShown}`);
const usefulShown = seconds((await page.locator('.timebar li').allInnerTexts()).find((w) => w.includes('useful')));
check('useful work is that of the report', near(usefulShown, ofTile('useful'), 0.006), `${usefulShown} against ${ofTile('useful')}`);

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
const shareShown = parseFloat(await page.locator('.causes tbody tr').first().locator('td').nth(2).innerText());
const shareTold = 100 * costOf(cause) / (report.identities.waiting_s - report.start_up.waiting_s);
check('its share is of what that of the report is of', near(shareShown, shareTold, 0.15), `${shareShown} against ${shareTold}`);
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

// --- a stretch of time, and what is not known over time ---
await page.evaluate((wall) => { location.hash = `#view=trees&t=${wall * 0.6}-${wall * 0.8}`; }, report.run.wall_s);
const metric = (words) => panes.nth(0).locator('li', { hasText: words }).first();
const order = (await panes.nth(0).locator('li').allInnerTexts()).map((w) => w.replace(/\s+/g, ' '));
const split = order.findIndex((w) => w.includes('not known over time, but of the whole run'));
check('figures of the whole run stand apart from those of the stretch', split === 2 && /waiting$/.test(order[1])
  && order.slice(split).some((w) => w.includes('delay costs')) && order.slice(split).some((w) => w.includes('Late sender')), order.join(', '));
check('their sum is that of the whole run', near(seconds(order[split + 1]), report.identities.waiting_s, 0.006)
  && order[split + 1].includes('waiting, by pattern'), order[split + 1]);
check('what is not known is unknown', (await metric('visits').innerText()).includes('unknown'));
check('a figure of the stretch says nothing more', await page.locator('.trees > .whole-run').count() === 0);
await metric('delay costs').locator('a').click();
check('a figure of the whole run says so', (await text(page, '.trees > .whole-run')).includes('of the whole run'));
await metric('Late sender').locator('a').click();
const lateOverTime = (await panes.nth(2).locator('li .figure').allInnerTexts()).map(seconds).reduce((a, b) => a + b, 0);
check('a pattern is of the whole run in all panes', near(lateOverTime, late, 0.03)
  && (await text(page, '.trees > .whole-run')).includes('of the whole run'), `${lateOverTime} against ${late}`);
await page.evaluate(() => { location.hash = '#t=5000-9000'; });
check('a stretch past the end is none', await page.locator('.chip').count() === 0);
await page.evaluate(() => { location.hash = '#t=1e-1-9000'; });
const clamped = (await text(page, '.chip')).split(' to ').map(seconds);
check('one that reaches past it ends with the run', clamped[0] === 0.1 && near(clamped[1], report.run.wall_s, 0.06), `${clamped}`);

// --- views obey, or say that they do not ---
await page.evaluate((p) => { location.hash = `#path=${encodeURIComponent(p)}`; }, cause);
const map1 = await page.locator('.heatmap canvas').evaluate((c) => c.toDataURL());
check('the map shows a call path that is selected', (await text(page, '.heatmap figcaption')).includes('Time in'));
await page.evaluate(() => { location.hash = '#pattern=mpi.late_sender'; });
check('and is another one then', map1 !== await page.locator('.heatmap canvas').evaluate((c) => c.toDataURL()));
check('it says that it does not know patterns', (await text(page, '.heatmap .whole-run')).includes('all waiting'));
const ofPattern = seconds((await page.locator('.timebar li').allInnerTexts()).find((w) => w.includes('waiting: Late sender')) ?? '');
check('the bar tells the pattern from other waiting', near(ofPattern, late, 0.006), `${ofPattern} against ${late}`);
await page.evaluate(() => { location.hash = '#view=efficiency&ranks=1'; });
check('efficiencies say what they do not obey', (await text(page, 'main .whole-run')).includes('narrows nothing'));
const faint = await drawn(page, `#view=timeline&path=${encodeURIComponent(cause)}`);
const onLanes = faint.filter(({ x, y }) => x > 120 && y > 20).map(({ words }) => words);
check('the time line names the selected call path alone', onLanes.every((w) => cause.includes(w.replace('…', '')))
  && (await text(page, 'main')).includes('is dimmed'), `${onLanes}`);

// --- the time line ---
await page.evaluate(() => { location.hash = '#view=timeline'; });
const lanes = await page.locator('.timeline canvas:not(.above)').boundingBox();
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
await page.keyboard.press('ArrowUp');
check('the arrow keys zoom', page.url().includes('t='));
await page.keyboard.press('0');
check('0 shows the whole run', !page.url().includes('t='));
await page.locator('.timeline select.windows').evaluate((s) => { s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change')); });
check('one can go to one of the longest waits', page.url().includes('t='));

// --- the other views ---
for (const [view, words] of [['who', 'Between ranks'], ['topology', 'Nodes and ranks'], ['flame', 'from the leaves'],
                             ['efficiency', 'load balance'], ['coverage', 'does not cover']]) {
  await page.evaluate((v) => { location.hash = `#view=${v}`; }, view);
  check(`the view ${view}`, (await text(page, 'main')).includes(words));
}
await page.evaluate(() => { location.hash = '#view=who'; });
check('causes and waits are a picture, too', await page.locator('.flows svg path').count() > 0
  && (await text(page, '.flows')).includes('resolve_contacts'), await page.locator('.flows').innerText().catch(String));
await page.locator('.flows a').first().click();
check('which selects', page.url().includes('path='), page.url());
await page.evaluate(() => { location.hash = '#view=causes&ranks=1'; });
const ofRank1 = report.delays.filter((d) => d.location.rank === 1 && d.callpath === cause).reduce((sum, d) => sum + d.short_s + d.long_s, 0);
check('a cause that is opened is of what is selected', (await text(page, '.detail')).includes('In what is selected')
  || ofRank1 === 0, await text(page, '.detail').catch(String));
await page.evaluate(() => { location.hash = '#view=flame'; });
check('the flame graph has frames', await page.locator('.flame .frame').count() > 3);
await page.locator('.flame a.frame', { hasText: 'MPI_Recv' }).first().click();
check('which select', (await text(page, '.chip')).includes('MPI_Recv'), page.url());
check('and then are those of it', await page.locator('.flame .frame', { hasText: 'MPI_Recv' }).count() === 1);
for (const view of ['overview', 'causes', 'who', 'efficiency']) {
  await page.evaluate((v) => { location.hash = `#view=${v}`; }, view);
  check(`headers stand above numbers in ${view}`, (await misaligned(page)).length === 0, (await misaligned(page)).join());
}
check('lanes of the map are named', (await drawn(page, '#')).some(({ words }) => words === 'rank 0 thread 1'));
await page.evaluate(() => { location.hash = '#'; });
await page.locator('.heatmap canvas').click({ position: { x: 200, y: 8 } });
await page.keyboard.press('3');
check('digits choose views, wherever the focus is', page.url().includes('view=timeline'));
await page.keyboard.press('ArrowUp');
check('keys work in the time line at once', page.url().includes('t='));
await page.keyboard.press('Escape');
check('as does Escape there', await page.locator('.chip').count() === 0);
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
await page.evaluate(() => {
  location.hash = '#view=flame';
  addEventListener('beforeprint', () => { window.told = true; });
});
const pdf = await page.pdf({ format: 'A4' });
check('it prints', pdf.length > 20000 && await page.evaluate(() => window.told), `${pdf.length} bytes`);
check('after which the page is as it was', await page.locator('#paper *').count() === 0 && await page.locator('.flame').isVisible());
const printed = async (p) => {
  await p.emulateMedia({ media: 'print' });
  await p.waitForSelector('#paper main, #paper .heatmap');
  return [await text(p, '#paper'), await p.locator('#paper .heatmap canvas').evaluate((c) => {
    const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
    let most = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) most = Math.max(most, data[i] - data[i + 2]);
    return most;
  }), await p.locator('#paper .timebar .stack a').first().evaluate((e) => getComputedStyle(e).printColorAdjust)];
};
const [paper, redness, adjust] = await printed(page);
check('on paper are verdict, causes, map and coverage, whatever view is open',
  [report.verdict.text.slice(0, 40), 'Who made others wait', 'Where and when', 'does not cover'].every((w) => paper.includes(w))
  && !await page.locator('#page').isVisible(), paper.slice(0, 200));
check('with the map and its colours', redness > 100 && adjust === 'exact', `${redness}, ${adjust}`);
await page.emulateMedia({ media: 'screen' });
const dark = await browser.newContext({ colorScheme: 'dark', bypassCSP: true });
const night = await open('hybrid', '', dark);
check('it is dark where the system is', await night.evaluate(() => getComputedStyle(document.body).backgroundColor) === 'rgb(23, 24, 27)');
check('zero is dark there, and much is bright', await night.locator('.key .ramp').first().evaluate((e) => getComputedStyle(e).backgroundImage)
  .then((ramp) => ramp.indexOf('rgb(38, 32, 30)') < ramp.indexOf('rgb(255, 236, 190)') && ramp.includes('rgb(38, 32, 30)')));
await night.evaluate(() => { location.hash = '#view=topology'; });
const nightCells = await night.locator('.cell').evaluateAll((all) => all.map((e) => [e.title, getComputedStyle(e).backgroundColor]));
nightCells.sort((a, b) => seconds(b[0].split(': ')[1]) - seconds(a[0].split(': ')[1]));
const mostThere = nightCells.filter(([words]) => words.split(': ')[1] === nightCells[0][0].split(': ')[1]);  // as far as is written
check('so is the rank with the most', mostThere.some(([, colour]) => colour === 'rgb(255, 236, 190)'), `${nightCells[0]}`);
const [, nightRedness] = await printed(night);
check('but paper is white', nightRedness > 100 && await night.evaluate(() => getComputedStyle(document.body).backgroundColor) === 'rgb(255, 255, 255)');
await dark.close();

// --- odd runs ---
const hostile = await open('hostile');
check('a name is text, never markup', hostile.problems.length === 0 && (await text(hostile, '.causes')).includes('<script>alert(1)</script>'));
check('a long name is cut, and whole in its title', await hostile.locator('.causes a.code').evaluateAll((all) =>
  all.some((e) => e.title.includes('L'.repeat(240)) && e.innerText.includes('LLL…') && e.innerText.length < 130)));
await hostile.evaluate(() => { location.hash = '#view=trees&metric=time'; });
check('a name that is blank is shown as such', (await text(hostile, '.panes > div:nth-child(2)')).includes('(unnamed)'));
await hostile.locator('.panes > div:nth-child(1) a', { hasText: 'my late sender (your own)' }).click();
check('a pattern of one\'s own can be selected', (await text(hostile, '.chip')).includes('my late sender'));
check('and tells where it is', near((await hostile.locator('.panes > div:nth-child(3) li .figure').allInnerTexts())
  .map(seconds).reduce((sum, s) => Math.max(sum, s), 0), 0.1, 0.006), await text(hostile, '.panes > div:nth-child(3)'));
await hostile.evaluate(() => { location.hash = '#view=causes&pattern=my%20late%20sender'; });
check('but not who causes it', (await text(hostile, 'main')).includes('are not computed'));
const halves = (list) => ['first half', 'second half'].every((name) => list.some(({ words }) => words === name));
const onMap = await drawn(hostile, '#');
check('phases are named below the map', halves(onMap), onMap.map(({ words }) => words).join());
const inLane = await drawn(hostile, '#view=timeline');
check('and have a lane in the time line', halves(inLane) && inLane.some(({ words }) => words === 'phases'), inLane.map(({ words }) => words).join());
await hostile.evaluate(() => { location.hash = '#view=efficiency'; });
check('headers stand above the numbers of phases', (await misaligned(hostile)).length === 0, (await misaligned(hostile)).join());
await hostile.locator('main a', { hasText: 'second half' }).click();
check('a phase selects its time', (await text(hostile, '.chip')).includes(' to ') && !(await text(hostile, 'main')).includes('first half'));
await hostile.close();

// --- a run that got shorter ---
const shorter = await open('shorter');
const changes = async () => (await shorter.locator('main table').nth(1).locator('tbody tr').allInnerTexts()).map((w) => w.split(/\t/));
const runTime = (await changes()).find(([name]) => name.startsWith('run time'));
check('a difference has its signs and units', runTime[3].startsWith('-') && runTime[4].startsWith('-') && runTime.slice(1, 4).every((w) => / m?s$/.test(w)), `${runTime}`);
check('also in its shares', near(parseFloat(runTime[4]), (100 * signed(runTime[3])) / seconds(runTime[1]), 2), `${runTime}`);
check('headers stand above the numbers of changes', (await misaligned(shorter)).length === 0, (await misaligned(shorter)).join());
await shorter.evaluate(() => { location.hash = '#view=trees'; });
const tree = await shorter.locator('.panes > div:first-child li').evaluateAll((all) => all.map((e) =>
  [parseFloat(e.style.paddingLeft) / 0.9, e.querySelector('.figure')?.innerText, e.innerText]));
const whole = tree.find(([, , w]) => /waiting$/.test(w));
const families = tree.slice(tree.indexOf(whole) + 1).filter(([depth]) => Math.round(depth) === 1);
const sum = families.reduce((all, [, figure]) => all + signed(figure), 0);
check('patterns add up to waiting, whatever their signs', near(sum, signed(whole[1]), 0.03) && families.length > 0, `${sum} against ${whole[1]}`);
check('no figure is in microseconds', tree.every(([, figure]) => !/us$/.test(figure)), tree.map(([, f]) => f).join());
const bySystem = (await shorter.locator('.panes > div:nth-child(3) li .figure').allInnerTexts()).map(signed);
check('values of both signs have no coefficient of variation', !(bySystem.some((v) => v < 0) && bySystem.some((v) => v > 0))
  || !(await text(shorter, '.panes > div:nth-child(3)')).includes('variation'), `${bySystem}`);
await shorter.evaluate(() => { location.hash = '#view=efficiency'; });
check('changes of efficiencies are no shares', (await text(shorter, 'main h2')).includes('percentage points')
  && (await shorter.locator('.efficiency td.number').allInnerTexts()).every((w) => !w.includes('%')));
await shorter.evaluate(() => { location.hash = '#view=who'; });
check('who waits for whom knows less waiting', !(await text(shorter, 'main')).includes('Nobody'));
check('nothing went wrong with a difference', shorter.problems.length === 0, shorter.problems.join('; '));
await shorter.close();
const nobody = await open('nobody', '#view=who');
check('without victims it is not there', !(await text(nobody, 'nav')).includes('Who waits') && (await text(nobody, 'main')).includes('Compared'));
await nobody.close();
const threads = await open('threads');
check('one process with threads', (await text(threads, '.facts')).startsWith('one process') && threads.problems.length === 0);
await threads.evaluate(() => { location.hash = '#view=timeline'; });
check('has a time line', (await text(threads, '.timeline')).includes('whole run') && threads.problems.length === 0);
await threads.close();
if (pages.device) {
  const device = await open('device', '#view=devices');
  const idle = device.locator('.frame[title^="(device idle)"], .frame[title^="(stream idle)"]');
  check('devices are drawn', await device.locator('.chart canvas').count() > 0 && device.problems.length === 0, device.problems.join('; '));
  await device.evaluate(() => { location.hash = '#t=0-0.9'; });  // of a part of the run time is known by call path alone
  const kinds = await device.locator('.timebar li').allInnerTexts();
  check('idle devices are not busy', kinds.some((w) => w.includes('idle')), kinds.join());
  check('and have a colour of their own', await device.evaluate(() => { location.hash = '#view=flame&metric=time'; }).then(() => idle.first()
    .evaluate((e) => getComputedStyle(e).backgroundColor)) === 'rgb(200, 200, 204)');
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

// --- models ---
const models = await open('models');
check('a model is a curve through its runs', await models.locator('.curve polyline').count() === 1 && await models.locator('.curve circle').count() === 5
  && await models.locator('.curve .interval').count() === 1);
check('and a table of formulas', (await models.locator('main tbody tr').allInnerTexts()).length > 0
  && models.problems.length === 0, models.problems.join('; '));
await models.close();

// --- the line ---
const lined = await open('hybrid', '#view=source');
check('lines of the source are known', (await text(lined, 'main h2')).includes('hybrid_chain.c'), await text(lined, 'main'));
check('with the file\'s text, since it was given', (await text(lined, '.source')).includes('static void update_cells') || (await text(lined, '.source')).includes('update_cells('));
const sampledLines = await lined.locator('.source tr.sampled').count();
check('and figures beside some of its lines', sampledLines > 0 && sampledLines < await lined.locator('.source tr').count() / 2, `${sampledLines}`);
check('nothing went wrong with lines', lined.problems.length === 0, lined.problems.join('; '));
await lined.close();

// --- level of detail: ranks take turns more often than there are pixels ---
const turns = await open('turns', '#');
/** The share of pixels of a canvas that are as dark as the critical path. */
const blackShare = (page, selector) => page.locator(selector).first().evaluate((c) => {
  const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
  let black = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] + data[i + 1] + data[i + 2] < 120) ++black;
  return (4 * black) / data.length;
});
const blackOfMap = await blackShare(turns, '.heatmap canvas');
check('the map of a long run is not black', blackOfMap < 0.12, `${blackOfMap}`);
await turns.evaluate(() => { location.hash = '#view=timeline'; });
const blackOfLanes = await blackShare(turns, '.timeline canvas:not(.above)');
check('nor is its time line', blackOfLanes < 0.15, `${blackOfLanes}`);
const colours = await turns.locator('.timeline canvas:not(.above)').first().evaluate((c) => {
  const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height), seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(`${data[i]} ${data[i + 1]} ${data[i + 2]}`);
  return [...seen];
});
check('which shows waiting and work at once', colours.includes('213 94 0') && colours.length > 8, `${colours.slice(0, 20)}`);

// --- details, search, keys ---
const { width: wide } = await turns.locator('.timeline canvas:not(.above)').first().boundingBox();
await turns.locator('.timeline canvas:not(.above)').first().click({ position: { x: wide * 0.5, y: 60 } });
check('a click opens details, which stay', await turns.locator('.detail-pane').count() === 1 && turns.url().includes('at='), turns.url());
await turns.locator('.timeline input[type=search]').fill('MPI_Recv');
await turns.locator('.timeline input[type=search]').press('Enter');
const first1 = turns.url();
check('search goes to a call', (await text(turns, '.detail-pane h2')).includes('MPI_Recv'), await text(turns, '.detail-pane'));
await turns.locator('.timeline canvas:not(.above)').first().focus();
await turns.keyboard.press('n');
check('n goes to the next', turns.url() !== first1 && (await text(turns, '.detail-pane h2')).includes('MPI_Recv'), turns.url());
await turns.keyboard.press('N');
check('and N back', turns.url() === first1, `${turns.url()} ${first1}`);
const there = turns.locator('.detail-pane a', { hasText: 'go there' });
if (await there.count() > 0) {
  await there.click();
  check('the cause of a wait is a link to its place', turns.url() !== first1);
}
check('messages are told with their bytes', (await turns.locator('.detail-pane').innerText()).includes('bytes') || await there.count() > 0);
await turns.keyboard.press('d');
check('WASD moves', turns.url().includes('t='));
await turns.keyboard.press('?');
check('? lists the keys', (await text(turns, 'dialog[open]')).includes('measure from here'));
await turns.keyboard.press('Escape');
await turns.keyboard.press('Control+k');
await turns.locator('dialog[open] input').fill('rank 2');
await turns.keyboard.press('Enter');
check('the palette goes to what is typed', (await text(turns, '.chips')).includes('rank 2'), await text(turns, '.chips'));
await turns.evaluate(() => { location.hash = '#view=timeline&t=0.0001-0.0002'; });
for (let i = 0; i < 60; ++i) await turns.keyboard.press('s');
check('zooming out to the whole run ends the selection of time', await turns.locator('.chip').count() === 0, turns.url());

// --- tables ---
await turns.evaluate(() => { location.hash = '#view=functions'; });
const namesOf = () => turns.locator('.functions tbody td:first-child').allInnerTexts();
const byTime = await namesOf();
await turns.locator('.functions th button', { hasText: 'function' }).click();
const byName = await namesOf();
check('a click on a head sorts', byName.join() !== byTime.join() && byName.map((w) => w.trim()).every((w, i, all) => i === 0 || all[i - 1].localeCompare(w) <= 0), byName.join());
await turns.evaluate(() => { location.hash = '#view=iterations'; });
check('a call path that returns is a loop', /\d+ parts; half of them take/.test(await text(turns, 'main')), await text(turns, 'main'));
await turns.evaluate(() => { location.hash = '#view=messages'; });
check('messages have a matrix and sizes', await turns.locator('.matrix canvas').count() === 1 && (await text(turns, 'main')).includes('How large'));
check('nothing went wrong in all this', turns.problems.length === 0, turns.problems.join('; '));

// --- narrow windows, and readers of screens ---
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = ['overview', 'causes', 'timeline', 'timeline&at=1@0.001', 'trees', 'who', 'functions', 'source', 'iterations', 'messages', 'topology', 'flame', 'efficiency', 'coverage'];
for (const colorScheme of ['light', 'dark']) {
  const seen = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true, colorScheme });
  for (const name of ['hybrid', 'turns']) {
    const read = await open(name, '', seen);
    await read.addScriptTag({ content: axe });
    for (const view of VIEWS) {
      await read.evaluate((v) => { location.hash = `#view=${v}`; }, view);
      await read.waitForTimeout(60);
      const { violations } = await read.evaluate(() => window.axe.run(document));
      check(`axe has no complaint about ${view} of ${name}, ${colorScheme}`, violations.length === 0, violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 120)}`).join('; '));
    }
    await read.close();
  }
  await seen.close();
}
const small = await browser.newContext({ viewport: { width: 390, height: 800 }, bypassCSP: true });
for (const name of ['hybrid', 'many', 'arranged']) {
  const phone = await open(name, '', small);
  for (const view of VIEWS) {
    await phone.evaluate((v) => { location.hash = `#view=${v}`; }, view);
    await phone.waitForTimeout(60);
    const over = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(`390 pixels are enough for ${view} of ${name}`, over <= 0, `${over} more`);
  }
  await phone.close();
}
await small.close();
await turns.close();

// --- size ---
/** What the page takes from one selection to the next, until it is drawn. */
const timesOf = (page, hashes) => page.evaluate(async (all) => {
  const times = [];
  for (const hash of all) {
    const begin = performance.now();
    location.hash = hash;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    times.push(`${(performance.now() - begin).toFixed(0)} ms to ${hash}`);
  }
  return times.join(', ');
}, hashes);
const large = await open('large');
const largeBytes = readFileSync(pages.large).length;
check('4,096 locations and 20 million events fit into 50 MB', largeBytes < 50e6, `${largeBytes}`);
console.log(`20 million events: ${(largeBytes / 1e6).toFixed(1)} MB, ready after ${large.readyMs} ms`);
console.log(`change of selection: ${await timesOf(large, ['#view=timeline', '#view=timeline&t=0.1-0.2', '#view=timeline&t=0.11-0.12',
  '#view=timeline&order=delay', '#view=timeline&lanes=each', '#view=timeline&open=0', '#view=functions', '#view=iterations', '#view=messages',
  '#view=trees', '#view=trees&ranks=5', '#view=who', '#view=flame', '#view=topology', '#t=0.1-0.5', '#ranks=0-99', '#'])}`);
check('nothing went wrong with them', large.problems.length === 0, large.problems.join('; '));
await large.close();
const many = await open('many');
const bytes = readFileSync(pages.many).length;
check('4,100 ranks fit into 50 MB', bytes < 50e6, `${bytes}`);
console.log(`4,100 ranks: ${(bytes / 1e6).toFixed(1)} MB, ready after ${many.readyMs} ms`);
console.log(`change of selection: ${await timesOf(many, ['#view=trees', '#view=topology', '#ranks=0-99', '#view=trees&ranks=5', '#'])}`);
await many.evaluate(() => { location.hash = '#'; });
await many.evaluate(() => { location.hash = '#view=causes'; });
check('a cause has the pattern that it causes most of', (await text(many, '.detail .links a')) === 'Wait at OpenMP barrier', await text(many, '.detail'));
const columns = (await drawn(many, '#view=who')).filter(({ x, y, align }, i, all) => y < 20 && align === 'center'
  && all.findIndex((other) => other.x === x && other.y === y) === i);
check('who waits for whom says of how much it knows', / 2\.0 % of all waiting/.test(await text(many, 'main')), await text(many, 'main p'));
check('and takes shares of all waiting', (await many.locator('main tbody tr td:nth-child(4)').allInnerTexts()).join() === '2.0 %');
check('it has a key', await many.locator('.key .ramp').count() === 1);
columns.sort((a, b) => a.x - b.x);
await many.evaluate(() => { location.hash = '#view=timeline'; });
const lanesOfMany = (await drawn(many, '#view=timeline&order=waiting')).filter(({ x, words }) => x === 2 && words.length > 0);
check('4,100 ranks share lanes with those that are alike', lanesOfMany.length > 0 && lanesOfMany.length <= 60, `${lanesOfMany.length}`);
await many.evaluate(() => { location.hash = '#view=timeline&lanes=each'; });
check('or have one each, to be scrolled', await many.locator('.scroller').evaluate((e) => e.scrollHeight / e.clientHeight) > 50);
await many.locator('.scroller').evaluate((e) => { e.scrollTop = e.scrollHeight; });
await many.waitForTimeout(200);
check('down to the last', (await many.evaluate(() => window.drawn.slice(-200))).some(({ words }) => words === 'rank 4099'));
check('names of columns do not overlap', columns.length > 4
  && columns.every((c, i) => i === 0 || c.x - c.width / 2 > columns[i - 1].x + columns[i - 1].width / 2), JSON.stringify(columns.slice(0, 3)));
check('nothing went wrong with 4,100 ranks', many.problems.length === 0, many.problems.join('; '));
await many.close();
const brief = await open('short');
const sums = await brief.locator('.timebar li b').allInnerTexts();
check('a short run on many ranks has large sums in large units', sums.length > 0 && sums.every((w) => parseFloat(w.replace('< ', '')) < 1000), sums.join());
check('and a short time line in microseconds', (await drawn(brief, '#view=timeline')).filter(({ y }) => y === 12).every(({ words }) => / us$/.test(words)));
await brief.evaluate(() => { location.hash = '#t=1.2e-7-3.5e-6'; });
check('short stretches can be selected', (await text(brief, '.chip')).includes('us to '), await text(brief, '.chips'));
await brief.close();
const template = statSync(join(here, '..', '..', 'report', 'page_data', 'template.html')).size;
check('without data the page has 200 KiB at most', template <= 200 * 1024, `${template}`);

check('nothing was asked of the network', requests.every((url) => url.startsWith('file://') || url.startsWith('data:') || url.startsWith('blob:')),
      requests.find((url) => !url.startsWith('file:')));
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
