// Runs: the list, and one of them as it happens.
import {api, bytes, clock, Dialog, dur, Empty, enc, Err, follow, go, Head, html, link, Loading, money, num, percent, Rail, Stat, State, time, useChosen, useEffect, useGet, useRef, useState} from './lib.js';
import {Curves, Lines, short} from './plots.js';

const MOST_LINES = 2000, MOST_POINTS = 4000, MOST_PRINTED = 64;
const table = () => Object.create(null);  // by names that programs choose: 'constructor' is one of them

export function Runs() {
  const {value, error} = useGet('/runs', 2000), [chosen, flip] = useChosen();
  return html`<${Head} title="Runs" sub="Every run is kept with its events and its log."><button id="compare" disabled=${chosen.size < 2} onClick=${() => go('compare', ...chosen)}>Compare ${chosen.size || ''}</button><a class="btn" href=${link('jobs')}>Jobs and queue</a><a class="btn" href=${link('webhooks')}>Webhooks</a><a class="btn primary" href=${link('train', 1)}>New training</a><//>
  ${error && html`<${Err} error=${error}/>`}
  ${!value ? !error && html`<${Loading} what="Reading runs…"/>` : value.runs.length === 0
    ? html`<${Empty} title="No runs yet" action=${html`<a class="btn primary" href=${link('train', 1)}>Train a model</a>`}>A first run on this computer takes about a minute, costs nothing, and ends with a model that you can download.<//>`
    : html`<section class="card"><div class="tw"><table class="stack"><caption>The newest first. Choose several to compare them</caption><thead><tr><th scope="col"><span class="vh">Choose</span></th><th scope="col">Run</th><th scope="col">Command</th><th scope="col">State</th><th scope="col">Started</th><th scope="col">Time</th></tr></thead><tbody>
      ${value.runs.map((run) => html`<tr key=${run.id}><td><input type="checkbox" aria-label=${`Choose ${run.name} ${run.id}`} checked=${chosen.has(run.id)} onChange=${() => flip(run.id)}/></td><th scope="row"><a href=${link('runs', run.id)}>${run.name}</a><br/><span class="hint mono">${run.id}</span></th><td data-l="Command">${run.command}</td><td><${State} s=${run.state}/></td>
        <td data-l="Started">${time(run.asked)}, ${run.by}</td><td data-l="Time">${run.begun ? dur((run.ended || Date.now() / 1000) - run.begun) : '–'}</td></tr>`)}</tbody></table></div></section>`}`;
}

// What the events of a run say, in the order of their numbers.
export const FRESH = () => ({last: 0, steps: [], tests: [], log: [], nodes: {}, members: {}, printed: table(), jobs: {}, outputs: {}, finished: null});
// The numbers of a line that a program printed: of a JSON object, or `name=number` and `name: number`.
function numbersIn(line) {
  let found = [];
  if (line.startsWith('{')) { try { found = Object.entries(JSON.parse(line)); } catch { /* not JSON */ } }
  else found = [...line.matchAll(/(?:^|[\s,;])([A-Za-z][\w./-]{0,59})(?:=|: ?)(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?=$|[\s,;%])/gi)].map((m) => [m[1], +m[2]]);
  return found.filter(([, v]) => typeof v === 'number' && isFinite(v));
}
function print(live, line) {
  for (const [name, value] of numbersIn(line)) {
    if (!live.printed[name] && Object.keys(live.printed).length >= MOST_PRINTED) continue;
    const its = live.printed[name] ||= [];
    thin(its);
    its.push([its.length ? its.at(-1)[0] + 1 : 1, value]);
  }
}
// {name: {unit, curve}} of all that a run reported, for a plot over those of others.
export function seriesOf(live) {
  const made = table();
  if (live.steps.length) made.Loss = {unit: 'Epoch', curve: live.steps.map((s) => [s.epoch, s.loss])};
  if (live.tests.length) made['Test accuracy'] = {unit: 'Epoch', curve: live.tests.map((t) => [t.epoch, t.test_accuracy])};
  if (live.steps.length) made['Images per second'] = {unit: 'Epoch', curve: live.steps.map((s) => [s.epoch, s.images_per_second])};
  for (const [name, curve] of Object.entries(live.printed).filter(([, c]) => c.length > 1).slice(0, 8)) made[name] = {unit: 'Report', curve};
  return made;
}
// Leaves out every second point of the older half.
function thin(points) {
  if (points.length < MOST_POINTS) return;
  const older = points.splice(0, MOST_POINTS / 2).filter((_, i) => i % 2 === 0);
  points.unshift(...older);
}
const line = (e, text) => `${clock(e.time)} ${text}`;
export function take(live, e) {
  if (e.sequence <= live.last) return;
  live.last = e.sequence;
  const d = e.data || {}, say = (text) => { live.log.push(line(e, text)); if (live.log.length > MOST_LINES) live.log.shift(); };
  switch (e.event) {
    case 'run_started': say(`${d.command}: ${d.actions} actions`); break;
    case 'action_started': live.jobs[e.id] = 'running'; say(`${e.id}: ${e.verb} …`); break;
    case 'action_finished': live.jobs[e.id] = 'done'; say(`${e.id}: done (${dur(d.seconds)})`); break;
    case 'action_failed': live.jobs[e.id] = 'failed'; say(`${e.id}: failed: ${e.message}`); break;
    case 'action_skipped': live.jobs[e.id] = 'skipped'; say(`${e.id}: skipped: ${e.message}`); break;
    case 'action_retry': say(`${e.id}: retry: ${e.message}`); break;
    case 'node_phase': live.nodes[e.id] = d.phase; break;
    case 'log': case 'leftover': case 'unowned': say(`${e.id ? e.id + ': ' : ''}${e.message}`); break;
    case 'output': if (d.program) { say(`${e.node}: ${d.line}`); print(live, d.line); } break;
    case 'cancelled': say('stopping'); break;
    case 'output_value': if (!d.sensitive) live.outputs[e.id] = d.value; break;
    case 'run_finished': live.finished = d; say(d.ok ? `done in ${dur(d.seconds)}` : `ended: ${e.message}`); break;
    case 'metric':
      thin(live.steps);
      thin(live.tests);
      if (d.event === 'step') { live.steps.push({...d, time: e.time}); if (e.node) live.members[e.node] = {...live.members[e.node], processors: d.cores, memory_bytes: d.memory_bytes, waiting: d.waiting_share, rate: d.images_per_second}; say(`epoch ${d.epoch.toFixed(1)}/${d.epochs}  ${num(Math.round(d.images_per_second))} images/s  loss ${d.loss.toFixed(3)}  accuracy ${percent(d.accuracy)}`); }
      if (d.event === 'evaluated') { live.tests.push(d); say(`epoch ${d.epoch.toFixed(1)}: test accuracy ${percent(d.test_accuracy)}`); }
      if (d.event === 'member') live.members[e.node] = {...live.members[e.node], ...d};
      if (d.event === 'member_lost') delete live.members[e.node];
      break;
  }
}

function useLive(id) {
  const live = useRef(FRESH()), [, draw] = useState(0);
  useEffect(() => {
    live.current = FRESH();
    let waiting = false;
    return follow(id, (event) => {
      take(live.current, event);
      if (!waiting) { waiting = true; setTimeout(() => { waiting = false; draw((n) => n + 1); }, 50); }  // many events, one drawing
    }, () => draw((n) => n + 1));
  }, [id]);
  return live.current;
}

// The test accuracy at the epoch of each step, for a plot over one axis.
function curves(live) {
  const all = [...live.steps.map((s) => ({x: s.epoch, s})), ...live.tests.map((t) => ({x: t.epoch, t}))].sort((a, b) => a.x - b.x);
  return {x: all.map((a) => a.x), test: all.map((a) => a.t ? a.t.test_accuracy : null), train: all.map((a) => a.s ? a.s.accuracy : null),
    sx: live.steps.map((s) => s.epoch), loss: live.steps.map((s) => s.loss), rate: live.steps.map((s) => s.images_per_second)};
}

export function Training({live, over}) {
  const step = live.steps.at(-1), test = live.tests.at(-1), c = curves(live);
  if (!step) return null;
  return html`<dl class="stats"><${Stat} l="Epoch" v=${`${step.epoch.toFixed(1)} of ${step.epochs}`}/>
    <${Stat} l=${over ? 'Steps' : 'Time left'} v=${over ? num(step.step) : dur(step.eta_seconds)}/>
    <${Stat} l="Test accuracy" v=${test ? percent(test.test_accuracy) : '–'} s=${test && `after epoch ${test.epoch.toFixed(0)}`}/>
    <${Stat} l="Throughput" v=${`${num(Math.round(step.images_per_second))} images/s`}/></dl>
  <div class="grid3">
    <section class="card"><${Lines} title="Loss" value=${`${step.loss.toFixed(3)} now`} x=${c.sx} unit="Epoch" series=${[{name: 'Training loss', color: '--s1', data: c.loss}]}/></section>
    <section class="card"><${Lines} title="Accuracy" value=${test ? `test ${percent(test.test_accuracy)}` : 'no evaluation yet'} x=${c.x} unit="Epoch" show=${(v) => `${Math.round(100 * v)}%`}
      series=${[{name: 'Training', color: '--s1', data: c.train}, {name: 'Test', color: '--s2', dash: '6 3', data: c.test}]}/></section>
    <section class="card"><${Lines} title="Images per second" value=${`${num(Math.round(step.images_per_second))} now`} x=${c.sx} unit="Epoch" series=${[{name: 'All workers', color: '--s1', data: c.rate}]}/></section></div>`;
}

// The newest report of each node.
function Nodes({members}) {
  const list = Object.entries(members).sort((a, b) => a[0].localeCompare(b[0], 'en', {numeric: true})), share = (v) => v === undefined ? '–' : `${Math.round(100 * v)}%`, rate = (v) => v === undefined ? '–' : `${bytes(Math.round(v))}/s`;
  if (!list.length) return null;
  return html`<section class="card"><h2>Nodes</h2><div class="tw"><table id="nodes" class="stack"><caption>The newest report of each node</caption><thead><tr><th scope="col">Node</th>${['Images/s', 'Waiting', 'Processors', 'GPU', 'Memory', 'In', 'Out'].map((t) => html`<th scope="col" class="r">${t}</th>`)}</tr></thead><tbody>
  ${list.map(([node, m]) => html`<tr key=${node}><th scope="row" class="full mono">${node}</th><td class="r" data-l="Images/s">${m.rate === undefined ? '–' : num(Math.round(m.rate))}</td><td class="r" data-l="Waiting">${share(m.waiting)}</td><td class="r" data-l="Processors">${m.processors === undefined ? '–' : m.processors.toFixed(1)}</td>
    <td class="r" data-l="GPU">${share(m.gpu)}</td><td class="r" data-l="Memory">${m.memory_bytes === undefined ? '–' : bytes(m.memory_bytes)}</td><td class="r" data-l="In">${rate(m.received)}</td><td class="r" data-l="Out">${rate(m.sent)}</td></tr>`)}</tbody></table></div></section>`;
}

// Time and cost so far over the band of the plan that was approved.
function Against({run, live, over}) {
  const {value: plan} = useGet(`/plans/${enc(run.plan)}`), f = plan && (plan.forecasts || []).find((one) => one.total), step = live.steps.at(-1);
  if (!f || !run.begun) return null;
  const so = (run.ended || Date.now() / 1000) - run.begun, price = plan.totals.price_per_hour, one = price.length === 1 ? price[0] : null, left = step && !over ? step.eta_seconds : undefined;
  return html`<section class="card" id="against"><h2>Against the forecast</h2><div class="grid2"><${Rail} title="Time" so=${so} band=${{value: f.total.seconds, low: f.total.low, high: f.total.high}} show=${dur} over=${over} left=${left}/>
    ${f.cost && html`<${Rail} title="Cost" so=${one ? one.micros * so / 3600 : 0} band=${{value: f.cost.value.micros, low: f.cost.low.micros, high: f.cost.high.micros}} show=${(v) => money({micros: v, currency: f.cost.value.currency})} over=${over} left=${left === undefined ? undefined : one ? one.micros * left / 3600 : 0}/>`}</div>
    <p class="hint">Shaded: four of five runs fall within this band. Line: the expected value. The cost is price by time of all that the plan creates.</p></section>`;
}

// What a program of the user's own printed.
function Printed({live}) {
  const list = Object.entries(seriesOf(live)).filter(([name]) => live.printed[name]);
  return list.length > 0 && html`<div class="grid3">${list.map(([name, s]) => html`<section class="card" key=${name}><${Curves} title=${name} caption=${`${short(s.curve.at(-1)[1])} now`} unit=${s.unit} lines=${[{name, curve: s.curve, color: '--s1'}]}/></section>`)}</div>`;
}

function TryImage({id}) {
  const [state, set] = useState({});
  useEffect(() => () => state.picture && URL.revokeObjectURL(state.picture), [state.picture]);
  const send = async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    set({busy: true, picture: URL.createObjectURL(file), name: file.name});
    try {
      const {top} = await api('POST', `/infrastructures/${enc(id)}/predict`, file);
      set((old) => ({...old, busy: false, top}));
    } catch (error) {
      set((old) => ({...old, busy: false, error}));
    }
  };
  return html`<div class="col"><h3>Try an image</h3><label class="f">A PNG or JPEG file<input type="file" name="picture" accept="image/png,image/jpeg" onChange=${send}/><span class="hint">The trained model classifies it. The service does not keep the image.</span></label>
  ${state.error && html`<${Err} error=${state.error}/>`}
  ${state.picture && html`<div class="row" style="align-items:flex-start"><img src=${state.picture} alt=${state.name} width="88" style="image-rendering:pixelated;border-radius:6px"/>
    <table id="guess" style="flex:1;min-width:180px"><caption>${state.busy ? 'Classifying…' : 'Classes, the most likely first'}</caption><tbody>${(state.top || []).map((t) => html`<tr><th scope="row">${t.label}</th><td class="r">${percent(t.probability)}</td></tr>`)}</tbody></table></div>`}</div>`;
}

export function Results({id}) {
  const {value} = useGet(`/infrastructures/${enc(id)}/results`);
  if (!value || value.files.length === 0) return null;
  const address = (path) => `/api/v1/infrastructures/${enc(id)}/results/${path.split('/').map(encodeURIComponent).join('/')}`;
  const model = value.files.find((f) => f.path === 'model/model.safetensors'), metrics = value.report && value.report.metrics;
  return html`<section class="card" id="results"><div class="head"><h2>Results</h2>${model && html`<a class="btn primary" id="download" download="model.safetensors" href=${address(model.path)}>Download the model (${bytes(model.bytes)})</a>`}</div>
  ${metrics && metrics.test_accuracy !== undefined && html`<p>Test accuracy <b>${percent(metrics.test_accuracy)}</b>.</p>`}
  <div class="grid2"><div class="tw"><table class="stack"><caption>Files of the result</caption><thead><tr><th scope="col">File</th><th scope="col" class="r">Size</th></tr></thead><tbody>${value.files.map((f) => html`<tr key=${f.path}><th scope="row" class="full"><a download=${f.path.split('/').at(-1)} href=${address(f.path)}>${f.path}</a></th><td class="r" data-l="Size">${bytes(f.bytes)}</td></tr>`)}</tbody></table></div>
  ${value.model && html`<${TryImage} id=${id}/>`}</div></section>`;
}

function Resume({run}) {
  const [error, fail] = useState(null);
  const again = async () => {
    try {
      const plan = await api('POST', '/plans', {infrastructure: run.infrastructure});
      const next = await api('POST', '/runs', {plan: plan.id});
      go('runs', next.id);
    } catch (e) {
      fail(e);
    }
  };
  return html`${error && html`<${Err} error=${error}/>`}<div class="row"><button class="primary" id="resume" onClick=${again}>Resume</button><a class="btn" href=${link('infrastructures', run.infrastructure)}>Show the infrastructure</a></div>`;
}

export function FarmsOf({id, live}) {
  const {value} = useGet(`/farms?infrastructure=${enc(id)}`, live ? 3000 : 0);
  return value && value.farms.length > 0 && html`<div class="row">${value.farms.map((f) => html`<a class="btn" href=${link('farms', f.infrastructure, f.job)}>Farm ${f.farm}</a>`)}</div>`;
}

export function Run({path}) {
  const id = path[0], {value: run, error, again} = useGet(`/runs/${enc(id)}`, 1000), live = useLive(id), [ask, setAsk] = useState(false), log = useRef();
  const over = run && !['queued', 'running'].includes(run.state);
  useEffect(() => { if (log.current) log.current.scrollTop = log.current.scrollHeight; }, [live.last]);
  if (!run) return error ? html`<${Head} title="Run"/><${Err} error=${error}/>` : html`<${Head} title="Run"/><${Loading} what="Reading the run…"/>`;
  const stop = async () => { setAsk(false); try { await api('POST', `/runs/${enc(id)}/stop`); } catch { /* it is over */ } again(); };
  const state = run.state === 'running' && live.steps.length ? 'training' : run.state;
  return html`<${Head} title=${run.name} sub=${`${run.command}, started by ${run.by}, ${time(run.asked)}`}><${State} s=${state}/>${!over && html`<button class="danger" id="stop" onClick=${() => setAsk(true)}>Stop…</button>`}<//>
  ${error && html`<${Err} error=${error}/>`}
  ${run.recovered && html`<div class="note" role="status"><b>The service was restarted during this run.</b><span>The run continued with the rest of its plan.</span></div>`}
  ${run.state === 'stopped' && html`<div class="note" role="status"><b>Stopped.</b><span>A training resumes from its last checkpoint. The nodes exist until you destroy them.</span><${Resume} run=${run}/></div>`}
  ${run.state === 'failed' && html`<div class="note bad" role="alert"><b>${run.why}</b>${run.hint && html`<span>${run.hint}</span>`}<${Resume} run=${run}/></div>`}
  <${Against} run=${run} live=${live} over=${over}/>
  <${Training} live=${live} over=${over}/><${Printed} live=${live}/>
  ${!over && html`<${Nodes} members=${live.members}/>`}<${FarmsOf} id=${run.infrastructure} live=${!run.ended}/>
  ${run.state === 'done' && run.command !== 'destroy' && html`<${Results} id=${run.infrastructure}/>`}
  ${run.state === 'done' && run.command === 'destroy' && html`<a class="btn" href=${link('infrastructures', run.infrastructure, 'receipt')}>Receipt</a>`}
  ${Object.keys(live.jobs).length > 0 && html`<section class="card"><h2>Actions</h2><div class="tw"><table class="stack"><thead><tr><th scope="col">Action</th><th scope="col">State</th></tr></thead><tbody>${Object.entries(live.jobs).map(([name, its]) => html`<tr key=${name}><th scope="row" class="mono">${name}</th><td><${State} s=${its}/></td></tr>`)}</tbody></table></div></section>`}
  <section class="card"><h2>Log</h2><pre class="log" id="log" ref=${log} tabindex="0" role="log" aria-label="Log">${live.log.join('\n')}</pre>${run.notes.map((note) => html`<p class="hint">${note}</p>`)}
    <p class="hint">The infrastructure is <a href=${link('infrastructures', run.infrastructure)}>${run.name}</a>.</p></section>
  <${Dialog} open=${ask} close=${() => setAsk(false)} title="Stop this run?"><p>Actions in progress finish first. A training writes a checkpoint, from which you can resume. The nodes stay.</p><div class="row"><button class="danger primary" id="confirm-stop" onClick=${stop}>Stop</button><button autofocus onClick=${() => setAsk(false)}>Let it run</button></div><//>`;
}
