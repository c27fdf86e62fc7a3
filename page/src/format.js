// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Figures for people: units by size, shares with their signs, names that are cut where they are long.

const UNITS = [[1, 's'], [1e3, 'ms'], [1e6, 'us'], [1e9, 'ns']];

/** The place in UNITS in which so much is 1 or more. */
function unitOf(seconds) {
  const at = UNITS.findIndex(([scale]) => seconds * scale >= 1);
  return at < 0 ? UNITS.length - 1 : at;
}

/**
 * Sums of a run of this length have its unit, so that columns compare; a sum of 1,000 of that unit
 * and more has a larger one: a short run on many ranks takes seconds of them.
 */
export function timeFormat(length) {
  const digits = length >= 1000 ? 1 : 2, least = Math.min(2, unitOf(length));
  return (seconds) => {
    const size = Math.abs(seconds);
    const [scale, unit] = UNITS[size > 0 ? Math.min(least, unitOf(size)) : least];
    if (size > 0 && size * scale < 10 ** -digits / 2) return `${seconds < 0 ? '> -' : '< '}${(10 ** -digits).toFixed(digits)} ${unit}`;
    return `${(seconds * scale).toFixed(digits)} ${unit}`;
  };
}

/** A single activity or wait, in its own unit. */
export function single(seconds) {
  const [scale, unit] = UNITS[seconds > 0 ? unitOf(seconds) : 0];
  return `${(seconds * scale).toFixed(seconds > 0 ? 2 : 0)} ${unit}`;
}

/** Moments of a run of this length, as fine as `width`, the stretch that is told apart, needs. */
export function momentFormat(length) {
  const [scale, unit] = UNITS[Math.min(2, unitOf(length))];
  return (seconds, width) => {
    const digits = Math.max(0, Math.min(9, Math.ceil(2 - Math.log10(Math.max(width * scale, 1e-9)))));
    return `${(seconds * scale).toFixed(digits)} ${unit}`;
  };
}

/** Of a whole; in differences either can be less than nothing, and the share has the sign of the part. */
export function percent(part, whole) {
  const share = (100 * part) / Math.abs(whole);
  if (!Number.isFinite(share)) return '';
  if (share !== 0 && Math.abs(share) < 0.05) return share > 0 ? '< 0.1 %' : '> -0.1 %';
  return `${share.toFixed(1)} %`;
}

/** A change, with its sign in any case; `words` says how much it is. */
export function change(value, words) {
  return value > 0 ? words.replace(/^(< )?/, '$1+') : words;
}

export function counted(count, one, several = `${one}s`) {
  return `${grouped(count)} ${count === 1 ? one : several}`;
}

export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

/** A name that is long without its end; whoever shows it has the whole one in a title. */
export function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** A path that is long without its begin: the file's name stays. */
export function tailOf(text, most) {
  return text.length <= most ? text : `…${text.slice(1 - most)}`;
}

/** A number of bytes. */
export function bytes(count) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let at = 0;
  for (; count >= 1000 && at + 1 < units.length; ++at) count /= 1000;
  return `${at === 0 || count >= 100 ? Math.round(count) : Number(count.toFixed(1))} ${units[at]}`;
}
