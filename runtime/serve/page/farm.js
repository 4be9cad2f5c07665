// Farms: the list, and one with its tasks, curves, packing and cost.
import {api, bytes, Dialog, dur, Empty, enc, Err, Head, hour, html, keep, kept, link, Loading, many, money, num, Rail, Stat, State, Unreadable, useChosen, useEffect, useGet, useState} from './lib.js';
import {Curves, Packing, Parallel, short} from './plots.js';

const sum = (counts, ...states) => states.reduce((n, s) => n + (counts[s] || 0), 0);
const total = (f) => Math.max(sum(f.counts, ...Object.keys(f.counts)), f.trials || 0);
const ended = (f) => sum(f.counts, 'finished', 'stopped', 'failed', 'cancelled');
const best = (f) => f.best && f.metric ? `${f.metric} ${short(f.best.metrics[f.metric])}` : '–';
const stateOf = (f) => f.paused && !f.over ? 'paused' : sum(f.counts, 'running') ? 'running' : !f.over ? 'waiting' : f.counts.failed ? 'failed' : 'done';

const pathOf = (id, name) => `/infrastructures/${enc(id)}/farms/${enc(name)}`;

export function Farms() {
  const {value, error} = useGet('/farms', 3000), farms = value && value.farms;
  return html`<${Head} title="Farms" sub="Many tasks on a pool of nodes: searches, inference and tasks of your own."/>
  ${error && html`<${Err} error=${error}/>`}<${Unreadable} list=${value && value.unreadable}/>
  ${!farms ? !error && html`<${Loading} what="Reading farms…"/>` : farms.length === 0
    ? html`<${Empty} title="No farms" action=${html`<a class="btn primary" href=${link('infrastructures', 'new')}>From a file</a>`}>A program with std/farm/search, std/farm/inference or std/farm/tasks runs as a farm.<//>`
    : html`<section class="card"><div class="tw"><table class="stack"><thead><tr><th scope="col">Farm</th><th scope="col">State</th><th scope="col" class="r">Ended</th><th scope="col" class="r">Failed</th><th scope="col">Best</th><th scope="col">Time left</th><th scope="col" class="r">Per hour</th></tr></thead><tbody>
      ${farms.map((f) => html`<tr key=${f.infrastructure + f.job}><th scope="row" class="full"><a href=${link('farms', f.infrastructure, f.job)}>${f.farm}</a><br/><span class="hint">${f.name}</span></th><td><${State} s=${stateOf(f)}/></td>
        <td class="r" data-l="Ended">${num(ended(f))} of ${num(total(f))}</td><td class="r" data-l="Failed">${num(f.counts.failed)}</td><td data-l="Best">${best(f)}</td>
        <td data-l="Time left">${f.over ? '–' : f.seconds_left === null ? 'not known yet' : dur(f.seconds_left)}</td><td class="r" data-l="Per hour">${f.cost_per_hour ? hour([f.cost_per_hour]) : '–'}</td></tr>`)}</tbody></table></div></section>`}`;
}

// A column that sorts: the choice is in the address.
function Sorts({name, order, down, set, children, right}) {
  const is = order === name;
  return html`<th scope="col" class=${right ? 'r' : ''} aria-sort=${is ? (down ? 'descending' : 'ascending') : null}><button class="sort" onClick=${() => set(name, is && !down)}>${children}${is ? (down ? ' ↓' : ' ↑') : ''}</button></th>`;
}

const PAGE = 100;

function Tasks({id, name, farm, act}) {
  const base = pathOf(id, name);
  const [at, setAt] = useState(kept()), [chosen, flip, clear] = useChosen();
  const move = (change) => setAt(keep({...kept(), ...change}));
  const order = at.order || (farm.metric ? 'value' : ''), down = at.order ? at.down === 'yes' : farm.goal === 'max', from = +at.from || 0;
  const query = `?count=${PAGE}&from=${from}${at.order ? `&order=${enc(at.order)}&descending=${down ? 'yes' : 'no'}` : ''}${at.state ? `&state=${enc(at.state)}` : ''}`;
  const {value, error, again} = useGet(base + '/tasks' + query, farm.over ? 0 : 2000);
  useEffect(() => { if (farm.over) again(); }, [JSON.stringify(farm.counts)]);
  const rows = value ? value.tasks : [], names = [...new Set(rows.flatMap((t) => Object.keys(t.parameters)))].sort(), others = [...new Set(rows.flatMap((t) => Object.keys(t.metrics)))].filter((m) => m !== farm.metric).sort().slice(0, 4);
  const set = (column, desc) => move({order: column, down: desc ? 'yes' : '', from: ''});
  const head = (name, text, right) => html`<${Sorts} name=${name} order=${order} down=${down} set=${set} right=${right}>${text}<//>`;
  const ask = async (what) => { await act(what, {tasks: [...chosen]}); clear(); again(); };
  return html`<section class="card"><div class="head"><h2>${farm.trials ? 'Trials' : 'Tasks'}</h2>
    <label class="row hint">State <select name="state" value=${at.state || ''} onChange=${(e) => move({state: e.target.value, from: ''})}>${['', 'waiting', 'running', 'finished', 'stopped', 'failed', 'cancelled'].map((s) => html`<option value=${s} selected=${s === (at.state || '')}>${s || 'all'}</option>`)}</select></label>
    <button class="s" id="retry" disabled=${!chosen.size} onClick=${() => ask('retry')}>Retry</button><button class="s danger" id="cancel" disabled=${!chosen.size} onClick=${() => ask('cancel')}>Cancel</button></div>
  ${error && html`<${Err} error=${error}/>`}
  <div class="tw" tabindex="0" role="region" aria-label="Tasks, scrollable"><table id="tasks" class="stack"><caption>${value ? `${many(value.total, 'row')}${value.total > rows.length ? `, ${num(from + 1)} to ${num(from + rows.length)} shown` : ''}${!at.order && farm.metric ? ', the best first' : ''}` : 'Reading tasks…'}</caption>
    <thead><tr><th scope="col"><span class="vh">Choose</span></th>${head('task', farm.trials ? 'Trial' : 'Task')}${head('state', 'State')}${farm.metric && head('value', farm.metric, true)}${names.map((n) => head('parameters.' + n, n, true))}${others.map((n) => head('metrics.' + n, n, true))}${head('seconds', 'Time', true)}${head('attempt', 'Attempt', true)}${head('node', 'Node')}</tr></thead>
    <tbody>${rows.map((t) => html`<tr key=${t.task} class=${farm.best && t.task === farm.best.task ? 'sel' : ''}><td><input type="checkbox" aria-label=${`Choose ${t.task}`} checked=${chosen.has(t.task)} onChange=${() => flip(t.task)}/></td>
      <th scope="row"><a href=${link('farms', id, name, t.task)}>${t.task}</a></th><td><${State} s=${t.state}/>${t.why && html`<br/><span class="hint">${t.why}</span>`}</td>
      ${farm.metric && html`<td class="r" data-l=${farm.metric}>${t.value === null ? '–' : short(t.value)}</td>`}${names.map((n) => html`<td class="r" data-l=${n}>${t.parameters[n] === undefined ? '' : short(t.parameters[n])}</td>`)}${others.map((n) => html`<td class="r" data-l=${n}>${t.metrics[n] === undefined ? '' : short(t.metrics[n])}</td>`)}
      <td class="r" data-l="Time">${t.seconds === null ? '–' : dur(t.seconds)}</td><td class="r" data-l="Attempt">${t.attempt}</td><td data-l="Node" class="mono">${t.node}</td></tr>`)}</tbody></table></div>
  ${value && value.total > PAGE && html`<div class="row"><button class="s" disabled=${from === 0} onClick=${() => move({from: Math.max(0, from - PAGE) || ''})}>Previous</button><button class="s" disabled=${from + PAGE >= value.total} onClick=${() => move({from: from + PAGE})}>Next</button></div>`}</section>`;
}

function Add({farm, act, close}) {
  const search = !!farm.trials, [command, setCommand] = useState(''), [trials, setTrials] = useState(8);
  return html`<div class="col">${search ? html`<label class="f">Trials to add<input name="trials" type="number" min="1" max="100000" value=${trials} onInput=${(e) => setTrials(Math.max(1, Math.round(+e.target.value) || 1))}/></label>`
    : html`<label class="f">Command<input name="command" class="mono" value=${command} onInput=${(e) => setCommand(e.target.value)}/><span class="hint">For the shell, on one processor</span></label>`}
    <p class="hint">${farm.over ? 'It starts at the next apply of the infrastructure.' : 'It starts as soon as a node has room.'}</p></div>
  <div class="row"><button class="primary" id="add-now" disabled=${!search && !command.trim()} onClick=${() => { close(); act('tasks', search ? {trials} : {command}); }}>Add</button><button onClick=${close}>Not now</button></div>`;
}

function Outputs({base, task, title}) {
  const {value} = useGet(`${base}/outputs/${enc(task)}`);
  if (!value || !value.files.length) return null;
  const address = (path) => `/api/v1${base}/outputs/${enc(task)}/${path.split('/').map(encodeURIComponent).join('/')}`;
  return html`<section class="card" id="outputs"><h2>${title}</h2><div class="tw"><table class="stack"><thead><tr><th scope="col">File</th><th scope="col" class="r">Size</th></tr></thead><tbody>${value.files.map((f) => html`<tr key=${f.path}><th scope="row" class="full"><a download=${f.path.split('/').at(-1)} href=${address(f.path)}>${f.path}</a></th><td class="r" data-l="Size">${bytes(f.bytes)}</td></tr>`)}</tbody></table></div></section>`;
}

const endOf = (timeline) => timeline.attempts.reduce((last, a) => Math.max(last, a.ended || 0), timeline.began);

// Time and cost so far against the band of the plan that was approved.
function Spent({farm, timeline}) {
  const {seconds, cost} = farm.approved || {}, began = timeline && timeline.began;
  if (!began || !(seconds || cost)) return null;
  const until = farm.over ? endOf(timeline) : timeline.now;
  const so = timeline.cost, known = cost && so && cost.value.currency === so.currency;
  return html`<section class="card"><h2>Against the forecast</h2><div class="grid2">
    <${Rail} title="Time" so=${until - began} band=${seconds} show=${dur} over=${farm.over} left=${farm.seconds_left}/>
    ${so ? html`<${Rail} title="Cost" so=${so.micros} band=${known ? {value: cost.value.micros, low: cost.low.micros, high: cost.high.micros} : null} show=${(v) => money({micros: v, currency: so.currency})} over=${farm.over} left=${farm.cost_left && farm.cost_left.micros}/>` : html`<p class="sub">The cost so far is not known: a node's price is not.</p>`}</div>
    <p class="hint">Shaded: the 80% band of the plan that you approved. Line: the expected value. The farm pauses before it leaves the band.</p></section>`;
}

function One({id, name}) {
  const base = pathOf(id, name), [at] = useState(kept()), [adding, setAdding] = useState(false), [said, say] = useState({});
  const {value: farm, error, again} = useGet(base, 2000), over = farm && farm.over, each = over ? 0 : 4000;
  const {value: timeline} = useGet(farm && base + '/timeline', each), metric = at.metric || (farm && farm.metric);
  const {value: curves} = useGet(farm && metric && `${base}/curves${at.metric ? `?metric=${enc(at.metric)}` : ''}`, each);
  if (!farm) return error ? html`<${Head} title="Farm"/><${Err} error=${error}/>` : html`<${Head} title="Farm"/><${Loading} what="Reading the journal…"/>`;
  const act = async (what, body) => {
    try {
      const done = await api('POST', `${base}/${what}`, body);
      say({text: what === 'tasks' ? `Added: ${done.added}.` : `${what === 'retry' ? 'To run again' : 'To be cancelled'}: ${body.tasks.join(', ')}.`});
    } catch (e) {
      say({error: e});
    }
    again();
  };
  const took = timeline && timeline.began ? endOf(timeline) - timeline.began : null, c = farm.counts, trials = curves ? curves.trials : [], names = [...new Set(trials.flatMap((t) => Object.keys(t.parameters)))].sort();
  const lines = trials.map((t) => ({name: t.task, value: t.value, curve: t.curve, values: {...t.parameters, [metric]: t.value}}));
  const leads = farm.best ? `${farm.best.task} leads with ${best(farm)}.` : 'No trial has ended yet.', some = curves && curves.left_out ? ` The best ${num(trials.length)} are drawn.` : '';
  const nodes = farm.nodes.filter((n) => !n.gone).length, out = farm.nodes.filter((n) => n.quarantined).map((n) => n.node);
  return html`<${Head} title=${farm.farm} sub=${html`${farm.trials ? many(farm.trials, 'trial') : many(total(farm), 'task')} on <a href=${link('infrastructures', id)}>${farm.name}</a>`}><${State} s=${stateOf(farm)}/>
    ${farm.best && html`<a class="btn" href="#outputs">Best output</a>`}<button id="add" onClick=${() => setAdding(true)}>${farm.trials ? 'Add trials…' : 'Add a task…'}</button><//>
  ${error && html`<${Err} error=${error}/>`}${said.error && html`<${Err} error=${said.error}/>`}<p role="status" id="said" class=${said.text ? 'note' : 'vh'}>${said.text || ''}</p>
  ${farm.paused && !over && html`<div class="note warn" role="alert"><b>The farm is paused: ${farm.paused.reason}</b><span>Its nodes still cost money. Plan the infrastructure again: the plan shows the new forecast, and its run continues the farm.</span><a class="btn" href=${link('infrastructures', id)}>Open the infrastructure</a></div>`}
  ${out.length > 0 && html`<div class="note warn"><b>${out.join(', ')} ${out.length === 1 ? 'is' : 'are'} quarantined.</b><span>Several tasks in a row failed there, while most succeed elsewhere.</span></div>`}
  <dl class="stats"><${Stat} l=${farm.trials ? 'Trials' : 'Tasks'} v=${`${num(ended(farm))} of ${num(total(farm))} ended`} s=${`${num(c.running)} running, ${num(c.waiting)} waiting${c.failed ? `, ${num(c.failed)} failed` : ''}`}/>
    ${farm.metric && html`<${Stat} l="Best so far" v=${farm.best ? short(farm.best.metrics[farm.metric]) : '–'} s=${farm.best ? `${farm.metric}, ${farm.best.task}` : farm.metric}/>`}
    <${Stat} l=${over ? 'Ended after' : 'Ends in'} v=${over ? (took === null ? '–' : dur(took)) : farm.seconds_left === null ? 'not known yet' : dur(farm.seconds_left)} s=${over || farm.seconds_left !== null ? '' : 'known after the first task'}/>
    <${Stat} l="Cost so far" v=${timeline && timeline.cost ? money(timeline.cost) : '–'} s=${`${many(nodes, 'node')}${farm.cost_per_hour ? `, ${hour([farm.cost_per_hour])}` : ''}`}/></dl>
  <${Spent} farm=${farm} timeline=${timeline}/>
  ${names.length > 0 && html`<section class="card"><${Parallel} caption=${`One line for each trial; the better, the stronger. ${leads}${some}`} lines=${lines} names=${[...names, metric]} goal=${farm.goal}/></section>`}
  ${metric && html`<section class="card"><${Curves} title=${metric} caption=${leads + some} lines=${lines} unit="Report" goal=${farm.goal}/></section>`}
  <section class="card">${timeline ? html`<${Packing} timeline=${timeline} caption="A bar for each attempt, in the row of its node. Grey: the farm has the node."/>` : html`<p class="sub" aria-busy="true">Reading the journal…</p>`}</section>
  <${Tasks} id=${id} name=${name} farm=${farm} act=${act}/>
  ${farm.best && html`<${Outputs} key=${farm.best.task} base=${base} task="best" title=${`Output of the best trial, ${farm.best.task}`}/>`}
  <${Dialog} open=${adding} close=${() => setAdding(false)} title=${farm.trials ? 'Add trials' : 'Add a task'}><${Add} farm=${farm} act=${act} close=${() => setAdding(false)}/><//>`;
}

function Task({id, name, task}) {
  const base = pathOf(id, name), {value, error} = useGet(`${base}/logs/${enc(task)}`);
  return html`<${Head} title=${task} sub=${html`Task of <a href=${link('farms', id, name)}>the farm</a>`}/>
  <section class="card"><h2>Output</h2>${error ? html`<${Err} error=${error}/>` : value === undefined ? html`<p class="sub" aria-busy="true">Reading the log…</p>` : html`<pre class="log" id="log" tabindex="0">${value}</pre>`}</section>
  <${Outputs} base=${base} task=${task} title="Files of its output"/>`;
}

export function Farm({path}) {
  return path[2] ? html`<${Task} id=${path[0]} name=${path[1]} task=${path[2]}/>` : html`<${One} id=${path[0]} name=${path[1]}/>`;
}
