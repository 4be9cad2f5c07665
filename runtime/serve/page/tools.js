// Rehearse a program against simulated clouds, and what runs cost.
import {api, Cmd, dur, Empty, enc, Err, Head, hour, html, link, Loading, num, Stat, sum, time, useGet, useState} from './lib.js';

const MEANS = {
  left: 'a resource after a destroy that reported success', doubled: 'two resources with one address', forgotten: 'a resource that neither the state nor the journal knows',
  billed: 'a cost after a destroy that reported success', untrue: 'a state that differs from the cloud', stuck: 'a program that no apply completes', foreign: 'a change to what is not of this state', crashed: 'a crash of radlc',
};
const USUAL = {preemption: 4, capacity: 5, errors: 5}, TERRIBLE = {preemption: 40, capacity: 20, errors: 15};
const SLIDERS = [['preemption', 'Spot interruptions', 50, 'Chance that a machine is preempted in an hour'], ['capacity', 'No capacity', 30, 'Chance that a type is sold out for some time'], ['errors', 'API errors', 30, 'Chance that a call fails, with its work done or not']];

function Rehearsal({id, name, program}) {
  const [day, set] = useState({...USUAL, runs: 100}), [state, say] = useState({});
  const faults = 'all,' + SLIDERS.map(([k]) => `${k}=${day[k] / 100}`).join(',');
  const start = async () => {
    say({busy: true});
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

export function Costs() {
  const {value, error} = useGet('/costs');
  if (!value) return html`<${Head} title="Costs"/>${error ? html`<${Err} error=${error}/>` : html`<${Loading} what="Reading the runs…"/>`}`;
  const months = {};
  for (const run of value.runs) {
    const month = new Date(1000 * run.time).toISOString().slice(0, 7), row = (months[month + ' ' + run.name] ||= {month, name: run.name, runs: 0, cost: {}});
    row.runs += 1;
    for (const m of run.cost) row.cost[m.currency] = (row.cost[m.currency] || 0) + m.micros;
  }
  const list = (cost) => Object.entries(cost).map(([currency, micros]) => ({currency, micros}));
  return html`<${Head} title="Costs" sub="Price by time of each resource during runs, and what exists now."/>
  <dl class="stats"><${Stat} l="Costs now" v=${hour(value.price_per_hour)}/><${Stat} l="Runs" v=${value.runs.length}/></dl>
  ${value.runs.length === 0 ? html`<${Empty} title="No runs yet">Each run adds what it took and cost.<//>` : html`
  <section class="card"><div class="tw"><table class="stack"><caption>By month and infrastructure</caption><thead><tr><th scope="col">Month</th><th scope="col">Infrastructure</th><th scope="col" class="r">Runs</th><th scope="col" class="r">Cost</th></tr></thead><tbody>${Object.values(months).map((r) => html`<tr><th scope="row">${r.month}</th><td data-l="Infrastructure">${r.name}</td><td class="r" data-l="Runs">${r.runs}</td><td class="r" data-l="Cost">${sum(list(r.cost))}</td></tr>`)}</tbody></table></div></section>
  <section class="card"><div class="tw"><table class="stack"><caption>Runs</caption><thead><tr><th scope="col">Run</th><th scope="col">Begun</th><th scope="col">Time</th><th scope="col" class="r">Cost</th><th scope="col" class="r">Predicted</th></tr></thead><tbody>${value.runs.slice().reverse().map((r) => html`<tr><th scope="row" class="full"><a href=${link('infrastructures', r.infrastructure)}>${r.name}</a> ${r.command}</th><td data-l="Begun">${time(r.time)}</td><td data-l="Time">${r.seconds.whole === undefined ? '–' : dur(r.seconds.whole)}</td><td class="r" data-l="Cost">${sum(r.cost)}</td><td class="r" data-l="Predicted">${r.predicted_cost ? sum(r.predicted_cost) : 'not known'}</td></tr>`)}</tbody></table></div></section>`}`;
}
