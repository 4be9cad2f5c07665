// Rehearse a program against simulated clouds, and what runs cost.
import {api, Cmd, Dialog, dur, Empty, enc, Err, Head, hour, html, link, Loading, many, num, Stat, State, sum, time, Unreadable, useGet, useState} from './lib.js';
import {Forecast} from './train.js';

const MEANS = {
  left: 'a resource after a destroy that reported success', doubled: 'two resources with one address', forgotten: 'a resource that neither the state nor the journal knows',
  billed: 'a cost after a destroy that reported success', untrue: 'a state that differs from the cloud', stuck: 'a program that no apply completes', foreign: 'a change to a resource that does not belong to this state', crashed: 'a crash of radlc',
};
const USUAL = {preemption: 4, capacity: 5, errors: 5}, TERRIBLE = {preemption: 40, capacity: 20, errors: 15};
const SLIDERS = [['preemption', 'Spot interruptions', 50, 'Chance that a machine is preempted in an hour'], ['capacity', 'No capacity', 30, 'Chance that a type is sold out for some time'], ['errors', 'API errors', 30, 'Chance that a call fails, with its work done or not']];

function Rehearsal({id, name, program}) {
  const [day, set] = useState({...USUAL, runs: 100}), [state, say] = useState({}), [plan, setPlan] = useState(null);
  const faults = 'all,' + SLIDERS.map(([k]) => `${k}=${day[k] / 100}`).join(',');
  const start = async () => {
    say({busy: true});
    if (!plan) api('POST', '/plans', {infrastructure: id}).then(setPlan, () => {});  // without one, the rehearsal is shown alone
    try { say({report: await api('POST', '/rehearsals', {program, runs: day.runs, faults})}); } catch (error) { say({error}); }
  };
  const r = state.report;
  return html`<div class="split left"><section class="card"><h2>Fault rates</h2>
    ${SLIDERS.map(([k, l, most, hint]) => html`<label class="f"><span class="row" style="justify-content:space-between"><span>${l}</span><b>${day[k]}%</b></span><input type="range" name=${k} min="0" max=${most} value=${day[k]} aria-valuetext=${`${day[k]} percent`} onInput=${(e) => set({...day, [k]: +e.target.value})}/><span class="hint">${hint}</span></label>`)}
    <label class="f">Runs<input type="number" name="runs" min="2" max="1000" value=${day.runs} onInput=${(e) => set({...day, runs: Math.min(1000, Math.max(2, Math.round(+e.target.value) || 2))})}/></label>
    <div class="row"><button class="s" onClick=${() => set({...day, ...USUAL})}>A usual day</button><button class="s" onClick=${() => set({...day, ...TERRIBLE})}>A terrible day</button></div>
    <div class="row"><button class="primary" id="rehearse" disabled=${state.busy} onClick=${start}>Rehearse</button></div></section>
  <div class="col">${state.busy && html`<${Loading} what=${`Rehearsing ${day.runs} runs…`}/>`}${state.error && html`<${Err} error=${state.error}/>`}
  ${r && html`<div class=${'note ' + (r.failed ? 'bad' : 'ok')} role="status" id="verdict"><b>${num(r.runs)} runs: ${r.failed ? `${num(r.failed)} found a problem.` : 'nothing is left, doubled, forgotten or billed.'}</b>
    <span>The state was compared after each of ${num(r.counts.commands)} commands, of which ${num(r.counts.interrupted)} were interrupted and ${num(r.counts.failed)} failed by a fault.</span>
    ${r.failures.slice(0, 5).map((f) => html`<code>seed ${f.seed}: ${f.findings.map((x) => `${x.kind}: ${x.text}`).join('; ')}</code>`)}</div>
    ${plan && html`<h2>What a real run would take and cost</h2><${Forecast} plan=${plan}/><p class="hint">The forecast of the plan, with the preemptions that it expects. Work that is lost to a fault is done again: the rehearsal shows that nothing else is lost.</p>`}
    <dl class="stats"><${Stat} l="Calls to clouds" v=${num(r.counts.calls)}/><${Stat} l="Simulated time" v=${dur(r.counts.virtual_seconds)}/></dl>
    <section class="card"><h2>What was checked in every run</h2><div class="tw"><table><thead><tr><th scope="col">Problem</th><th scope="col">Meaning</th><th scope="col" class="r">Found</th></tr></thead><tbody>${Object.entries(r.findings).map(([k, n]) => html`<tr><th scope="row" class="mono">${k}</th><td>${MEANS[k] || ''}</td><td class="r">${n}</td></tr>`)}</tbody></table></div>
      <${Cmd} c=${`radlc test ${name}.radl --runs ${day.runs} --faults '${faults}'`}/></section>`}</div></div>`;
}

export function Rehearse({path}) {
  const id = path[0], {value: list} = useGet('/infrastructures'), {value: program, error} = useGet(id && `/infrastructures/${enc(id)}/program`), {value: one} = useGet(id && `/infrastructures/${enc(id)}`);
  const sub = 'Run a program against simulated clouds that fail. Nothing real is created, and no credentials are used.';
  if (id) return html`<${Head} title="Rehearse" sub=${sub}/>${error ? html`<${Err} error=${error}/>` : program && one ? html`<p>Program of <a href=${link('infrastructures', id)}>${one.name}</a></p><${Rehearsal} id=${id} name=${one.name} program=${program}/>` : html`<${Loading} what="Reading the program…"/>`}`;
  return html`<${Head} title="Rehearse" sub=${sub}/>${!list ? html`<${Loading} what="Reading infrastructures…"/>` : list.infrastructures.length === 0 ? html`<${Empty} title="No program to rehearse" action=${html`<a class="btn primary" href=${link('train', 1)}>Write one</a>`}>Choose a model, data and resources first. The review offers a rehearsal.<//>`
    : html`<section class="card"><h2>Which program?</h2><ul>${list.infrastructures.map((i) => html`<li><a href=${link('rehearse', i.id)}>${i.name}</a> <span class="hint mono">${i.id}</span></li>`)}</ul></section>`}`;
}

// Trainings and programs of all infrastructures, and runs that are not over.
export function Jobs() {
  const {value, error, again} = useGet('/jobs', 3000), {value: all} = useGet('/runs', 3000), [ask, setAsk] = useState(null), [said, say] = useState({});
  const jobs = value && value.jobs, waiting = all && all.runs.filter((r) => ['queued', 'running'].includes(r.state)).reverse();
  const cancel = async () => {
    setAsk(null);
    try { say({text: (await api('POST', `/infrastructures/${enc(ask.infrastructure)}/cancel`, {job: ask.job})).message}); } catch (e) { say({error: e}); }
    again();
  };
  return html`<${Head} title="Jobs and queue" sub="Trainings and programs of all infrastructures, and runs in progress."/>
  ${error && html`<${Err} error=${error}/>`}<${Unreadable} list=${value && value.unreadable}/>${said.error && html`<${Err} error=${said.error}/>`}<p role="status" class=${said.text ? 'note' : 'vh'}>${said.text || ''}</p>
  <section class="card"><h2>Queue</h2>${!waiting ? html`<p class="sub" aria-busy="true">Reading runs…</p>` : waiting.length === 0 ? html`<p class="sub">No run is in progress, and none waits.</p>` : html`<div class="tw"><table class="stack"><caption>Runs of the same infrastructure execute in order</caption><thead><tr><th scope="col">Run</th><th scope="col">Command</th><th scope="col">State</th><th scope="col">Started</th></tr></thead><tbody>
    ${waiting.map((r) => html`<tr key=${r.id}><th scope="row" class="full"><a href=${link('runs', r.id)}>${r.name}</a></th><td data-l="Command">${r.command}</td><td><${State} s=${r.state}/></td><td data-l="Started">${time(r.asked)}, ${r.by}</td></tr>`)}</tbody></table></div>`}</section>
  <section class="card"><h2>Jobs</h2>${!jobs ? !error && html`<p class="sub" aria-busy="true">Reading states…</p>` : jobs.length === 0 ? html`<p class="sub">No training and no program exists.</p>` : html`<div class="tw"><table class="stack" id="jobs"><thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col" class="r">Nodes</th><th scope="col" class="r">Time</th><th scope="col">Ended</th><th scope="col">Cancel</th></tr></thead><tbody>
    ${jobs.map((j) => html`<tr key=${j.infrastructure + j.job}><th scope="row" class="full"><a href=${link('infrastructures', j.infrastructure)}>${j.name}</a> <span class="hint mono">${j.job}</span></th><td><${State} s=${j.state}/></td><td class="r" data-l="Nodes">${j.nodes.length}</td><td class="r" data-l="Time">${j.seconds ? dur(j.seconds) : '–'}</td><td data-l="Ended">${time(j.finished)}</td>
      <td>${j.state === 'running' ? html`<button class="s danger" aria-label=${`Cancel ${j.job} of ${j.name}`} onClick=${() => setAsk(j)}>Cancel…</button>` : '–'}</td></tr>`)}</tbody></table></div>`}</section>
  <${Dialog} open=${!!ask} close=${() => setAsk(null)} title=${ask ? `Cancel ${ask.job} of ${ask.name}?` : ''}>${ask && html`<p>Its processes are asked to end. The nodes stay, and still cost money.</p><div class="row"><button class="danger primary" id="confirm-cancel" onClick=${cancel}>Cancel the job</button><button autofocus onClick=${() => setAsk(null)}>Let it run</button></div>`}<//>`;
}

// What forecasts and recommendations rest on. In a card where one is made, and on a page of its own.
export function Measured({children}) {
  const {value, error, again} = useGet('/measurements'), [said, say] = useState({});
  const send = async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    try {
      const {added} = await api('POST', '/measurements', JSON.parse(await file.text()));
      say({text: `${num(added)} added from ${file.name}.`});
      again();
    } catch (e) {
      say({error: e instanceof SyntaxError ? {message: `${file.name} is not JSON.`, hint: 'Choose a file of `radlc calibration export`.'} : e});
    }
  };
  const count = value ? ['profiles', 'runs', 'programs', 'studies'].map((k) => (value[k] || []).length) : [], n = count.reduce((a, b) => a + b, 0);
  return html`<section class="card" id="measured"><h2>Measurements</h2>${error && html`<${Err} error=${error}/>`}${said.error && html`<${Err} error=${said.error}/>`}
  <p>${!value ? 'Reading measurements…' : n === 0 ? 'Nothing was measured here yet. Forecasts rest on profiles that come with radlc, and their bands are wide.' : `Forecasts rest on your measurements: ${many(count[1], 'training run')}, ${many(count[2], 'program run')}, ${many(count[0], 'profile')} and ${many(count[3], 'study row')}.`}</p>
  <div class="row"><a class="btn s" download="measurements.json" href="/api/v1/measurements">Export</a><label class="f">Import an export of another computer<input type="file" name="measurements" accept=".json,application/json" onChange=${send}/></label><span role="status">${said.text || ''}</span></div>${children && children({value})}</section>`;
}

export function Measurements() {
  const row = (r, kind) => [kind, r.family || r.study, `${r.nodes > 1 ? r.nodes + ' × ' : ''}${r.machine || ''}`, (r.taken_at || r.at || '').slice(0, 10)];
  return html`<${Head} title="Measurements" sub="What forecasts and recommendations rest on: your runs, profiles and studies."/>
  <${Measured}>${({value}) => {
    const rows = value ? [...value.profiles.map((r) => row(r, 'profile')), ...value.runs.map((r) => row(r, 'training')), ...(value.programs || []).map((r) => row(r, 'program')), ...value.studies.map((r) => row(r, 'study'))] : [];
    return rows.length > 0 && html`<div class="tw"><table class="stack"><caption>${many(rows.length, 'row')}${rows.length > 200 ? ', the first 200' : ''}</caption><thead><tr><th scope="col">Kind</th><th scope="col">Of</th><th scope="col">Machine</th></tr></thead><tbody>${rows.slice(0, 200).map(([k, f, m]) => html`<tr><th scope="row">${k}</th><td data-l="Of">${f}</td><td data-l="Machine">${m}</td></tr>`)}</tbody></table></div>`;
  }}<//>`;
}

export function Costs() {
  const {value, error} = useGet('/costs');
  if (!value) return html`<${Head} title="Costs"/>${error ? html`<${Err} error=${error}/>` : html`<${Loading} what="Reading the runs…"/>`}`;
  const months = {}, add = (row, run) => {
    row.runs += 1;
    for (const m of run.cost) row.cost[m.currency] = (row.cost[m.currency] || 0) + m.micros;
  };
  for (const run of value.runs) {
    const key = new Date(1000 * run.time).toISOString().slice(0, 7), month = (months[key] ||= {month: key, runs: 0, cost: {}, names: {}});
    add(month, run);
    add(month.names[run.name] ||= {name: run.name, runs: 0, cost: {}}, run);
  }
  const list = (cost) => Object.entries(cost).map(([currency, micros]) => ({currency, micros}));
  return html`<${Head} title="Costs" sub="Price by time of each resource during runs, and the price of what exists now."/>
  <${Unreadable} list=${value.unreadable}/><dl class="stats"><${Stat} l="Costs now" v=${hour(value.price_per_hour)}/><${Stat} l="Runs" v=${value.runs.length}/></dl>
  ${value.runs.length === 0 ? html`<${Empty} title="No runs yet">Each run adds its time and cost.<//>` : html`
  <section class="card"><div class="tw"><table class="stack"><caption>By month and project: the infrastructures of one name</caption><thead><tr><th scope="col">Month</th><th scope="col">Project</th><th scope="col" class="r">Runs</th><th scope="col" class="r">Cost</th></tr></thead><tbody>${Object.values(months).reverse().map((m) => html`<tr class="sum"><th scope="row">${m.month}</th><td data-l="Project">all</td><td class="r" data-l="Runs">${m.runs}</td><td class="r" data-l="Cost"><b>${sum(list(m.cost))}</b></td></tr>
    ${Object.values(m.names).map((r) => html`<tr><th scope="row"><span class="vh">${m.month}</span></th><td data-l="Project">${r.name}</td><td class="r" data-l="Runs">${r.runs}</td><td class="r" data-l="Cost">${sum(list(r.cost))}</td></tr>`)}`)}</tbody></table></div></section>
  <section class="card"><div class="tw"><table class="stack"><caption>Runs</caption><thead><tr><th scope="col">Run</th><th scope="col">Begun</th><th scope="col">Time</th><th scope="col" class="r">Cost</th><th scope="col" class="r">Predicted</th></tr></thead><tbody>${value.runs.slice().reverse().map((r) => html`<tr><th scope="row" class="full"><a href=${link('infrastructures', r.infrastructure)}>${r.name}</a> ${r.command}</th><td data-l="Begun">${time(r.time)}</td><td data-l="Time">${r.seconds.whole === undefined ? '–' : dur(r.seconds.whole)}</td><td class="r" data-l="Cost">${sum(r.cost)}</td><td class="r" data-l="Predicted">${r.predicted_cost ? sum(r.predicted_cost) : 'not known'}</td></tr>`)}</tbody></table></div></section>`}`;
}
