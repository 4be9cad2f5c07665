// Runs beside each other: settings that differ, results, curves and parallel coordinates. The address names the runs.
import {api, dur, enc, Err, Head, hour, html, link, Loading, money, State, time, useEffect, useState} from './lib.js';
import {Curves, Parallel, short} from './plots.js';
import {FRESH, seriesOf, take} from './run.js';

const COLORS = ['--s1', '--s2', '--ok', '--bad', '--warn', '--ink'], DASHES = ['', '7 3', '2 3', '10 3 2 3'];
const PAGES = 10;  // of 10,000 events each

// {name: value} of all that a plan was told, with dots for what lies within.
export function flat(value, name = '', into = {}) {
  if (value && typeof value === 'object' && !Array.isArray(value) && !('$secret' in value)) for (const [k, v] of Object.entries(value)) flat(v, name ? `${name}.${k}` : k, into);
  else if (name) into[name] = value && typeof value === 'object' ? JSON.stringify(value) : value;
  return into;
}

function settings(plan) {
  const {inputs = {}, jobs = {}} = plan.settings || {}, list = Object.entries(jobs), nodes = {};
  for (const one of plan.costs || []) {
    const what = `${one.address.replace(/\[.*/, '')}: ${one.cloud} ${one.machine}`;
    nodes[what] = (nodes[what] || 0) + 1;
  }
  const made = Object.entries(nodes).map(([k, n]) => `${n} × ${k}`).sort().join(', ');
  const told = Object.entries(list.length === 1 ? flat(list[0][1]) : flat(jobs)).filter(([k]) => !/(^|\.)identity$/.test(k)).map(([k, v]) => [k.replace(/^job\./, ''), v]);
  return {...flat(inputs, 'input'), ...Object.fromEntries(told), ...(made ? {nodes: made} : {})};
}

async function load(id) {
  const run = await api('GET', `/runs/${enc(id)}`), live = FRESH();
  const plan = await api('GET', `/plans/${enc(run.plan)}`).catch(() => ({}));
  for (let i = 0; i < PAGES; ++i) {
    const {events, over} = await api('GET', `/runs/${enc(id)}/events?from=${live.last + 1}`);
    for (const event of events) take(live, event);
    if (over || !events.length) break;
  }
  const f = (plan.forecasts || [])[0] || {}, test = live.tests.at(-1), step = live.steps.at(-1);
  return {id, run, set: settings(plan), series: seriesOf(live), results: {
    state: run.state, asked: time(run.asked), time: run.begun ? dur((run.ended || Date.now() / 1000) - run.begun) : '–', forecast: f.total ? `${dur(f.total.low)} to ${dur(f.total.high)}` : 'none',
    'price per hour': plan.totals ? hour(plan.totals.price_per_hour) : 'not known', ...(f.cost ? {'expected cost': money(f.cost.value)} : {}),
    ...(test ? {'test accuracy': short(test.test_accuracy)} : {}), ...(step ? {loss: short(step.loss), 'images per second': short(step.images_per_second)} : {})}};
}

const last = (curve) => curve.length ? curve.at(-1)[1] : null;

export function Compare({path}) {
  const [state, set] = useState({});
  useEffect(() => { Promise.all(path.map(load)).then((list) => set({list}), (error) => set({error})); }, []);
  const {list, error} = state, sub = 'Settings that differ, results and curves of the chosen runs.';
  if (error) return html`<${Head} title="Compare runs" sub=${sub}/><${Err} error=${error}/>`;
  if (!list) return html`<${Head} title="Compare runs" sub=${sub}/><${Loading} what="Reading the runs and their events…"/>`;
  const same = list.every((one) => one.run.name === list[0].run.name), label = (one) => same ? `${one.run.name} ${one.id.split('-').at(-1)}` : `${one.run.name}${list.filter((o) => o.run.name === one.run.name).length > 1 ? ' ' + one.id.split('-').at(-1) : ''}`;
  const keys = [...new Set(list.flatMap((one) => Object.keys(one.set)))].sort(), differ = keys.filter((k) => list.some((one) => one.set[k] !== list[0].set[k]));
  const facts = [...new Set(list.flatMap((one) => Object.keys(one.results)))], plots = [...new Set(list.flatMap((one) => Object.keys(one.series)))];
  const metric = ['Test accuracy', 'Loss', ...plots].find((name) => plots.includes(name) && list.some((one) => (one.series[name] || {curve: []}).curve.length));
  const values = (one) => ({...Object.fromEntries(differ.map((k) => [k, one.set[k]])), ...(metric ? {[metric]: last((one.series[metric] || {curve: []}).curve)} : {})});
  const head = html`<thead><tr><th scope="col"></th>${list.map((one) => html`<th scope="col"><a href=${link('runs', one.id)}>${label(one)}</a></th>`)}</tr></thead>`;
  const table = (caption, names, of, id) => html`<section class="card"><div class="tw" tabindex="0" role="region" aria-label=${caption + ', scrollable'}><table id=${id}><caption>${caption}</caption>${head}<tbody>${names.map((k) => html`<tr key=${k}><th scope="row">${k}</th>${list.map((one) => html`<td>${of(one, k)}</td>`)}</tr>`)}</tbody></table></div></section>`;
  return html`<${Head} title="Compare runs" sub=${sub}><a class="btn" href=${link('runs')}>Choose others</a><//>
  ${differ.length ? table(`Settings that differ: ${differ.length} of ${keys.length}`, differ, (one, k) => one.set[k] === undefined ? '–' : short(one.set[k]), 'differ') : html`<div class="note"><b>The settings of these runs are equal.</b></div>`}
  ${table('Results', facts, (one, k) => k === 'state' ? html`<${State} s=${one.results[k]}/>` : one.results[k] ?? '–', 'facts')}
  ${list.length > 1 && differ.length > 0 && metric && html`<section class="card"><${Parallel} caption=${`One line for each run; the better its ${metric.toLowerCase()}, the stronger.`} lines=${list.map((one) => ({name: label(one), value: values(one)[metric], values: values(one)}))} names=${[...differ.slice(0, 8), metric]} goal=${/loss|error/i.test(metric) ? 'min' : 'max'}/></section>`}
  <div class="grid2">${plots.map((name) => html`<section class="card" key=${name}><${Curves} title=${name} caption=${list.filter((one) => one.series[name]).map((one) => `${label(one)}: ${short(last(one.series[name].curve))}`).join('; ')} unit=${list.find((one) => one.series[name]).series[name].unit}
    lines=${list.filter((one) => one.series[name]).map((one) => ({name: label(one), curve: one.series[name].curve, color: COLORS[list.indexOf(one) % COLORS.length], dash: DASHES[Math.floor(list.indexOf(one) / COLORS.length + list.indexOf(one)) % DASHES.length]}))}/></section>`)}</div>`;
}
