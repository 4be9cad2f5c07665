// Plots of many lines: parallel coordinates, curves over each other, and what ran where. Each has a table and a caption.
import {dur, Figure, html, num, useEffect, useState} from './lib.js';

const LABELS = 30;  // of an axis of choices

export const short = (v) => typeof v === 'number' ? (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(1) : +v.toPrecision(3) + '') : typeof v === 'string' ? v : JSON.stringify(v);

// [ref, width] of the element that holds a drawing: one unit of it is one pixel, so that text keeps its size.
function useWidth(usual, pad = 32) {
  const [box, setBox] = useState(null), [width, set] = useState(usual);
  useEffect(() => {
    if (!box) return;
    const size = new ResizeObserver(() => box.clientWidth > 40 && set(box.clientWidth - pad));
    size.observe(box);
    return () => size.disconnect();
  }, [box]);
  return [setBox, width];
}

// {place, ticks}: where a value lies, from 0 to 1; null: it has no place. Numbers over a wide range are logarithmic.
export function axis(values) {
  const given = values.filter((v) => v !== null && v !== undefined);
  if (given.length && given.every((v) => typeof v === 'number')) {
    const low = Math.min(...given), high = Math.max(...given), log = low > 0 && high > 100 * low;
    const place = (v) => typeof v !== 'number' ? null : high <= low ? 0.5 : log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
    const at = (p) => log ? low * (high / low) ** p : low + p * (high - low);
    const few = [...new Set(given)];
    return {place, ticks: few.length < 6 ? few.map((v) => [place(v), v]) : [0, 0.25, 0.5, 0.75, 1].map((p) => [p, at(p)])};
  }
  const texts = [...new Set(given.map((v) => JSON.stringify(v)))].sort(), where = (i) => texts.length < 2 ? 0.5 : i / (texts.length - 1);
  return {place: (v) => { const i = texts.indexOf(JSON.stringify(v)); return i < 0 ? null : where(i); }, ticks: texts.slice(0, LABELS).map((t, i) => [where(i), JSON.parse(t)])};
}

// Of each line from 0, the best, to 1, by its place among those with a value.
function ranks(lines, goal) {
  const known = lines.filter((l) => typeof l.value === 'number').sort((a, b) => goal === 'max' ? b.value - a.value : a.value - b.value);
  return new Map(known.map((l, i) => [l.name, known.length < 2 ? 0 : i / (known.length - 1)]));
}

const style = (rank) => rank === 0 ? 'line best' : 'line';
const strength = (rank) => rank === undefined ? 0.18 : 0.9 - 0.7 * rank;
const below = (rank) => (a, b) => (rank.get(b.name) ?? 2) - (rank.get(a.name) ?? 2);  // the best is drawn last

// lines: [{name, value, values: {axis: ..}}]; the last axis is the metric.
export function Parallel({title = 'Parallel coordinates', caption, lines, names, goal}) {
  const rank = ranks(lines, goal), axes = names.map((n) => [n, axis(lines.map((l) => l.values[n]))]);
  const [box, width] = useWidth(800), w = Math.max(110 * axes.length, width), h = 250, x = (i) => 70 + i * (w - 140) / Math.max(1, axes.length - 1), y = (p) => 44 + (1 - p) * (h - 66);
  const rows = () => lines.slice().sort((a, b) => (rank.get(a.name) ?? 2) - (rank.get(b.name) ?? 2)).map((l) => [l.name, ...names.map((n) => l.values[n] === undefined || l.values[n] === null ? '' : short(l.values[n]))]);
  return html`<${Figure} title=${title} value=${caption} head=${['Line', ...names]} rows=${rows}><div class="tw" ref=${box} tabindex="0" role="region" aria-label=${title + ', scrollable'}>
    <svg class="chart" style=${`width:${w}px`} viewBox=${`0 0 ${w} ${h}`} role="img" aria-label=${`${title}. ${caption} The Table button shows the values.`}>
    ${axes.map(([n, a], i) => html`<line class="ax" x1=${x(i)} x2=${x(i)} y1=${y(1)} y2=${y(0)}/><text class="name" x=${x(i)} y="16" text-anchor="middle">${n}</text>`)}
    ${lines.slice().sort(below(rank)).map((l) => html`<polyline key=${l.name} class=${style(rank.get(l.name))} opacity=${strength(rank.get(l.name))} points=${axes.map(([n, a], i) => [x(i), a.place(l.values[n])]).filter((p) => p[1] !== null).map(([px, p]) => `${px.toFixed(1)},${y(p).toFixed(1)}`).join(' ')}><title>${l.name}</title></polyline>`)}
    ${axes.map(([, a], i) => a.ticks.map(([p, v]) => html`<text class="tick" x=${x(i) + 5} y=${y(p) + 4}>${short(v)}</text>`))}</svg></div><//>`;
}

// Round numbers from `low` to `high`, about `count` of them.
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, unit = 10 ** Math.floor(Math.log10(raw)), step = unit * [1, 2, 2.5, 5, 10].find((k) => k * unit >= raw), made = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-12); ++i) made.push(+(i * step).toPrecision(12));
  return made;
}

// lines: [{name, value, curve: [[x, y], ..], color, dash}]. Without colours, the better the stronger.
export function Curves({title, caption, lines, unit, goal, show = short}) {
  const rank = ranks(lines, goal), points = lines.flatMap((l) => l.curve), [box, width] = useWidth(300, 0);
  if (!points.length) return html`<p class="sub">${title}: nothing was reported yet.</p>`;
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]), x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
  const w = Math.max(280, width), h = 240, X = (v) => 56 + (x1 > x0 ? (v - x0) / (x1 - x0) : 0.5) * (w - 72), Y = (v) => 12 + (1 - (y1 > y0 ? (v - y0) / (y1 - y0) : 0.5)) * (h - 48);
  const colored = lines.some((l) => l.color);
  const rows = () => lines.flatMap((l) => l.curve.map(([a, b]) => [l.name, num(a), show(b)])).reverse().slice(0, 2000);
  return html`<${Figure} title=${title} value=${caption} keys=${colored && lines.length > 1 ? lines.map((l) => [l.color, l.name]) : null} head=${['Line', unit, title]} rows=${rows}><div class="fit" ref=${box}>
    <svg class="chart" style=${`width:${w}px`} viewBox=${`0 0 ${w} ${h}`} role="img" aria-label=${`${title}. ${caption} The Table button shows the values.`}>
    ${ticks(y0, y1, 5).map((v) => html`<line class="ax" x1="56" x2=${w - 16} y1=${Y(v)} y2=${Y(v)}/><text x="50" y=${Y(v) + 4} text-anchor="end">${show(v)}</text>`)}
    ${ticks(x0, x1, unit === 'Report' ? Math.min(x1 - x0, w / 90) : w / 90).map((v) => html`<text x=${X(v)} y=${h - 18} text-anchor="middle">${short(v)}</text>`)}<text x=${w - 16} y=${h - 2} text-anchor="end">${unit}</text>
    ${lines.slice().sort(colored ? () => 0 : below(rank)).map((l) => html`<polyline key=${l.name} class=${colored ? 'line' : style(rank.get(l.name))} style=${colored ? `stroke:var(${l.color})` : ''} stroke-dasharray=${l.dash} opacity=${colored ? 1 : strength(rank.get(l.name))} points=${l.curve.map(([a, b]) => `${X(a).toFixed(1)},${Y(b).toFixed(1)}`).join(' ')}><title>${l.name}</title></polyline>`)}</svg></div><//>`;
}

// series: [{name, color, dash, data}] over the numbers `x`.
export const Lines = ({title, value, x, unit, series, show}) => html`<${Curves} title=${title} caption=${value} unit=${unit} show=${show} lines=${series.map((s) => ({...s, curve: x.map((v, i) => [v, s.data[i]]).filter((p) => typeof p[1] === 'number')}))}/>`;

// Attempts in lanes of their nodes, over the time that each node was the farm's.
export function Packing({timeline, caption}) {
  const {attempts, nodes, now, left_out: out} = timeline, [box, width] = useWidth(800);
  if (!attempts.length) return html`<p class="sub">No task has started yet.</p>`;
  const first = Math.min(...attempts.map((a) => a.started), ...nodes.map((n) => n.since)), running = attempts.some((a) => a.ended === null);
  const last = running ? now : Math.max(...attempts.map((a) => a.ended), ...nodes.map((n) => n.until ?? 0));
  const span = Math.max(1, last - first), names = [...new Set([...nodes.map((n) => n.node), ...attempts.map((a) => a.node)])].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
  const left = 100, w = Math.max(480, width), lane = 12, X = (t) => left + (Math.min(t, last) - first) / span * (w - left - 12);
  let top = 4;
  const rows = names.map((node) => {
    const ends = [], its = attempts.filter((a) => a.node === node).map((a) => {  // the first lane that is free
      let i = ends.findIndex((end) => end <= a.started + 1e-3);
      if (i < 0) i = ends.length;
      ends[i] = a.ended ?? Infinity;
      return {...a, lane: i};
    });
    const row = {node, its, top, height: Math.max(1, ends.length) * lane + 6, stays: nodes.filter((n) => n.node === node)};
    top += row.height + 4;
    return row;
  });
  const kind = (a) => a.ended === null ? 'now' : ['succeeded', 'stopped'].includes(a.how) ? '' : 'bad';
  const said = (a) => `${a.task}${a.attempt > 1 ? `, attempt ${a.attempt}` : ''}: ${a.how || 'running'}, ${dur((a.ended ?? now) - a.started)}`;
  const table = () => attempts.slice().reverse().map((a) => [a.task, a.attempt, a.node, dur(a.started - first), dur((a.ended ?? now) - a.started), a.how || 'running']);
  return html`<${Figure} title="Packing over time" value=${caption + (out ? ` The oldest ${num(out)} attempts are not shown.` : '')} keys=${[['--band', 'ended'], ['--accent', 'running'], ['--warn', 'preempted, lost or failed']]} head=${['Task', 'Attempt', 'Node', 'Start', 'Time', 'End']} rows=${table}>
    <div class="tw" ref=${box} tabindex="0" role="region" aria-label="Packing over time, scrollable"><svg class="chart" style=${`width:${w}px`} viewBox=${`0 0 ${w} ${top + 22}`} role="img" aria-label=${`Packing over time. ${caption} The Table button shows each attempt.`}>
    ${rows.map((r) => html`<text x=${left - 8} y=${r.top + r.height / 2 + 4} text-anchor="end">${r.node}</text>
      ${r.stays.map((s) => html`<rect class="stay" x=${X(s.since)} width=${Math.max(1, X(s.until ?? last) - X(s.since))} y=${r.top} height=${r.height} rx="3"/>`)}
      ${r.its.map((a) => html`<rect class=${'task ' + kind(a)} x=${X(a.started)} width=${Math.max(1.5, X(a.ended ?? last) - X(a.started) - 0.8)} y=${r.top + 3 + a.lane * lane} height=${lane - 2} rx="2"><title>${said(a)}</title></rect>`)}`)}
    ${[0, 0.25, 0.5, 0.75, 1].map((p) => html`<text x=${left + p * (w - left - 12)} y=${top + 16} text-anchor=${p === 1 ? 'end' : 'middle'}>${dur(p * span)}</text>`)}</svg></div><//>`;
}
