// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Families have fixed colours (Okabe and Ito's, distinguishable with colour blindness); waiting is always the same
// warm ramp, and hatched where it lies over something else, so that it shows without colour.

export const FAMILY = {
  useful: '#009e73', mpi: '#0072b2', openmp: '#cc79a7', device: '#56b4e9', startUp: '#8a8a8a', idle: '#c8c8cc', unknown: '#4d4d4d', waiting: '#d55e00', other: '#e8a06a',
};
const USER = ['#009e73', '#56b48f', '#2f7f5f', '#7fbf5f', '#3f9f9f', '#6f9f2f'];

/** Pseudo-regions, which are not in the program. Code without samples may be the program's, or a system call. */
export const NOWHERE = {
  '(not sampled)': 'unknown', '(not recorded)': 'unknown', '(outside)': 'unknown', '(blocked, unknown)': 'unknown', '(waking up)': 'openmp',
  '(idle)': 'idle', '(not started)': 'startUp', '(ended)': 'startUp', '(device idle)': 'idle', '(stream idle)': 'idle', '(launch latency)': 'idle',
};

export function familyOf(path) {
  if (path.startUp) return 'startUp';
  if (path.model === 'mpi') return 'mpi';
  if (path.model === 'openmp') return 'openmp';
  if (['cuda', 'opencl', 'openacc'].includes(path.model)) return 'device';
  return NOWHERE[path.region] ?? 'useful';
}

export function colourOf(path) {
  path.colour ??= colourByName(path);
  return path.colour;
}

function colourByName(path) {
  const family = familyOf(path);
  if (family !== 'useful') return FAMILY[family];
  let hash = 0;
  for (let i = 0; i < path.region.length; ++i) hash = (hash * 31 + path.region.charCodeAt(i)) >>> 0;
  return USER[hash % USER.length];
}

const RAMPS = {
  day: { warm: [[255, 247, 236], [253, 212, 158], [252, 141, 89], [215, 48, 31], [110, 0, 10]],
         cold: [[240, 249, 255], [186, 218, 242], [107, 174, 214], [33, 113, 181], [8, 48, 107]] },
  night: { warm: [[38, 32, 30], [110, 38, 20], [200, 70, 25], [252, 150, 70], [255, 236, 190]],
           cold: [[28, 33, 40], [18, 60, 105], [33, 113, 181], [107, 174, 214], [215, 236, 252]] },
};
let ramps = RAMPS.day;

/** Zero has the colour of the background; larger values are darker in the light theme and brighter in the dark one. */
export function setNight(night) {
  ramps = night ? RAMPS.night : RAMPS.day;
}

/** A colour for a share from 0 to 1; negative values (in differences) are cold. */
export function warm(share) {
  const s = Math.max(0, Math.min(1, Math.abs(share)));
  const stops = share < 0 ? ramps.cold : ramps.warm;
  const at = s * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at)), f = at - i;
  return stops[i].map((low, k) => Math.round(low + (stops[i + 1][k] - low) * f));
}

export function warmText(share) {
  return `rgb(${warm(share).join(' ')})`;
}

/** How light a colour is, as WCAG has it: 0 is black, 1 white. */
function luminance([r, g, b]) {
  const linear = (part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Of black and white the one with more contrast on a colour: "#rrggbb" or red, green and blue. */
export function inkOn(colour) {
  const light = luminance(typeof colour === 'string' ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) : colour);
  return (light + 0.05) ** 2 > 0.0525 ? '#000' : '#fff';
}

/** A hatching pattern for canvases. */
export function hatch(context) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const c = tile.getContext('2d');
  c.strokeStyle = 'rgba(213, 94, 0, 0.95)';
  c.lineWidth = 1.5;
  c.beginPath();
  for (const d of [-6, 0, 6]) c.moveTo(d, 6), c.lineTo(d + 6, 0);
  c.stroke();
  return context.createPattern(tile, 'repeat');
}
