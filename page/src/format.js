// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Figures as the text report writes them: one unit for the whole run, chosen by its length.

export function timeFormat(wall) {
  const [scale, unit, digits] = wall >= 1000 ? [1, 's', 1] : wall >= 1 ? [1, 's', 2]
    : wall >= 1e-3 ? [1e3, 'ms', 2] : [1e6, 'us', 2];
  const smallest = 10 ** -digits;
  return (seconds) => {
    const value = seconds * scale;
    if (value < 0) return `-${shown(-value)}`;
    return shown(value);
  };
  function shown(value) {
    if (value > 0 && value < smallest / 2) return `< ${smallest.toFixed(digits)} ${unit}`;
    return `${value.toFixed(digits)} ${unit}`;
  }
}

export function percent(part, whole) {
  if (!(whole > 0)) return '';
  const share = (100 * part) / whole;
  return share > 0 && share < 0.05 ? '< 0.1 %' : `${share.toFixed(1)} %`;
}

export function counted(count, one, several = `${one}s`) {
  return `${grouped(count)} ${count === 1 ? one : several}`;
}

export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

/** A moment of the run, finer than a sum. */
export function moment(seconds, width) {
  const digits = Math.max(2, Math.min(9, Math.ceil(2 - Math.log10(Math.max(width, 1e-9)))));
  return `${seconds.toFixed(digits)} s`;
}
