// Infrastructures: the list, one with its nodes and steps, what changes it, and the receipt after its end.
import {api, Cmd, Copy, Dialog, dur, Empty, enc, Err, Figure, go, Head, hour, html, link, Loading, many, Plan, Stat, State, sum, time, Unreadable, useEffect, useGet, useState} from './lib.js';
import {Forecast} from './train.js';
import {FarmsOf, Results} from './run.js';

const age = (since) => since ? dur(Math.max(0, Date.now() / 1000 - since)) : '–';

export function Infrastructures() {
  const {value, error} = useGet('/infrastructures', 3000), list = value && value.infrastructures;
  const nodes = (list || []).reduce((n, i) => n + (i.nodes || 0), 0);
  return html`<${Head} title="Infrastructures" sub="What exists now, and what it costs."><a class="btn" href=${link('infrastructures', 'new')}>From a file</a><//>
  ${error && html`<${Err} error=${error}/>`}<${Unreadable} list=${value && [...value.unreadable, ...list.filter((i) => i.unreadable).map((i) => ({name: i.name, error: i.unreadable}))]}/>
  ${!list ? !error && html`<${Loading} what="Reading states…"/>` : list.length === 0
    ? html`<${Empty} title="Nothing exists" action=${html`<a class="btn primary" href=${link('train', 1)}>Train a model</a>`}>No machine, network or volume of yours is known to this service, and nothing costs money.<//>`
    : html`<dl class="stats"><${Stat} l="Infrastructures" v=${list.length}/><${Stat} l="Nodes" v=${nodes}/><${Stat} l="Failed" v=${list.filter((i) => i.state === 'failed').length}/></dl>
    <section class="card"><div class="tw"><table class="stack"><caption>Oldest first</caption><thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col" class="r">Nodes</th><th scope="col">Age</th><th scope="col" class="r">Per hour</th><th scope="col" class="r">So far</th></tr></thead><tbody>
      ${list.map((i) => html`<tr key=${i.id}><th scope="row" class="full"><a href=${link('infrastructures', i.id)}>${i.name}</a><br/><span class="hint mono">${i.id}</span></th><td><${State} s=${i.state}/></td><td class="r" data-l="Nodes">${i.nodes ?? '–'}</td>
        <td data-l="Age">${age(i.since)}</td><td class="r" data-l="Per hour">${hour(i.price_per_hour)}</td><td class="r" data-l="So far">${sum(i.cost_so_far)}</td></tr>`)}</tbody></table></div></section>`}`;
}

// Networks, nodes and steps that run on several nodes, from the state.
function Graph({s}) {
  const nodes = s.resources.filter((r) => r.system), networks = s.resources.filter((r) => r.type === 'network' || r.address.startsWith('network.'));
  const jobs = s.steps.filter((step) => step.kind === 'training' || step.kind === 'program');
  const shown = nodes.slice(0, 8), w = Math.max(1, shown.length) * 132, mid = w / 2, x = (i) => 66 + 132 * i;
  const tile = (cx, y, name, text) => html`<rect class="tile" x=${cx - 60} y=${y} width="120" height="46" rx="8"/><text x=${cx} y=${y + 19} text-anchor="middle">${name}</text><text x=${cx} y=${y + 36} text-anchor="middle">${text}</text>`;
  const rows = () => nodes.map((n) => [n.address, n.cloud, n.status, n.attributes?.address || n.attributes?.private_ip || '']);
  return html`<${Figure} title="Graph" value=${`${many(networks.length, 'network')}, ${many(nodes.length, 'node')}, ${many(jobs.length, 'job')}${nodes.length > 8 ? '; 8 nodes are drawn' : ''}`} head=${['Node', 'Cloud', 'State', 'Address']} rows=${rows}>
  <div class="tw" tabindex="0" role="region" aria-label="Graph, scrollable"><svg class="chart" style=${`min-width:${Math.min(w, 520)}px;max-width:${w}px`} viewBox=${`0 0 ${w} ${jobs.length ? 190 : 130}`} role="img" aria-label=${`${nodes.map((n) => n.address).join(', ')} in ${networks.map((n) => n.address).join(', ') || 'no network'}${jobs.length ? '; on them ' + jobs.map((j) => j.id).join(', ') : ''}.`}>
    ${shown.map((n, i) => html`<line class="ax" x1=${x(i)} x2=${x(i)} y1="50" y2="90"/>${jobs.length && html`<line class="ax" x1=${x(i)} x2=${mid} y1="110" y2="140"/>`}${tile(x(i), 4, n.address, n.cloud)}`)}
    <rect x="2" y="88" width=${w - 4} height="24" rx="12" fill="var(--tint)"/><text x=${mid} y="105" text-anchor="middle">${networks.map((n) => n.address).join(', ') || 'no network'}</text>
    ${jobs.slice(0, 1).map((j) => tile(mid, 140, j.id, j.status))}</svg></div><//>`;
}

// What a plan would do, and the button that does it: the act names itself.
function Change({what, query, close, confirmName}) {
  const [state, set] = useState({busy: true}), [typed, type] = useState('');
  useEffect(() => { api('POST', '/plans', query).then((plan) => set({plan}), (error) => set({error})); }, []);
  const act = async () => {
    try {
      const run = await api('POST', '/runs', {plan: state.plan.id});
      go('runs', run.id);
    } catch (error) {
      set({...state, error});
    }
  };
  const n = state.plan ? state.plan.actions.length : 0, needs = confirmName && typed !== confirmName;
  return html`${state.busy && html`<p role="status">Making the plan…</p>`}${state.error && html`<${Err} error=${state.error}/>`}
  ${state.plan && html`<${Plan} plan=${state.plan}/>${(state.plan.notes || []).map((note) => html`<p class="hint">${note}</p>`)}<p class="hint">${state.plan.summary}</p>
    ${confirmName && html`<label class="f">Type ${confirmName} to confirm<input name="confirm" autocomplete="off" value=${typed} onInput=${(e) => type(e.target.value)}/></label>`}`}
  <div class="row">${state.plan && html`<button id="act" class=${what === 'Destroy' ? 'danger primary' : 'primary'} disabled=${needs || n === 0} onClick=${act}>${what} ${n} ${n === 1 ? 'action' : 'actions'}</button>`}<button onClick=${close}>${what === 'Destroy' ? 'Keep it' : 'Cancel'}</button></div>`;
}

function Scale({one, then}) {
  const systems = [...new Set(one.snapshot.resources.map((r) => r.system).filter(Boolean))], count = (s) => one.snapshot.resources.filter((r) => r.system === s).length;
  const [system, setSystem] = useState(systems[0]), [n, setN] = useState(count(systems[0]));
  return html`<div class="fields"><label class="f">System<select name="system" value=${system} onChange=${(e) => { setSystem(e.target.value); setN(count(e.target.value)); }}>${systems.map((s) => html`<option>${s}</option>`)}</select></label>
    <label class="f">Nodes<input name="count" type="number" min="0" max="1000" value=${n} onInput=${(e) => setN(Math.max(0, Math.round(+e.target.value) || 0))}/></label></div>
  <div class="row"><button class="primary" id="plan-scale" onClick=${() => then({command: 'scale', system, count: n})}>Plan</button></div>`;
}

function One({id}) {
  const {value: one, error} = useGet(`/infrastructures/${enc(id)}`, 2000), [change, setChange] = useState(null);
  if (!one) return error ? html`<${Head} title="Infrastructure"/><${Err} error=${error}/>` : html`<${Head} title="Infrastructure"/><${Loading} what="Reading the state…"/>`;
  const s = one.snapshot, close = () => setChange(null), exists = one.resources > 0, node = s.resources.find((r) => r.system), busy = ['working', 'deleting'].includes(one.state), applies = one.runs.every((run) => run.command === 'apply' || !['queued', 'running'].includes(run.state));
  const query = change && {infrastructure: id, ...change.query};
  return html`<${Head} title=${one.name} sub=${`Created ${time(one.created)} by ${one.owner}`}><${State} s=${one.state}/>
    <button id="plan" disabled=${busy} onClick=${() => setChange({what: 'Apply', query: {command: 'apply', refresh: exists}})}>Plan…</button>
    ${exists && html`<button id="scale" disabled=${busy && !applies} onClick=${() => setChange({what: 'Scale'})}>Scale…</button><button id="destroy" class="danger" disabled=${busy} onClick=${() => setChange({what: 'Destroy', query: {command: 'destroy'}})}>Destroy…</button>`}<//>
  ${error && html`<${Err} error=${error}/>`}
  ${one.interrupted && html`<div class="note warn"><b>An earlier run was interrupted.</b><span>The next apply or destroy checks what it left behind.</span></div>`}
  ${one.receipt && !exists && html`<div class="note ok"><b>${one.name} was destroyed.</b><a href=${link('infrastructures', id, 'receipt')}>Receipt</a></div>`}
  <dl class="stats"><${Stat} l="Nodes" v=${one.nodes} s=${`${one.resources} resources`}/><${Stat} l="Costs now" v=${hour(one.price_per_hour)}/><${Stat} l="So far" v=${sum(one.cost_so_far)} s="of what exists"/><${Stat} l="Age" v=${age(one.since)}/></dl>
  ${exists && html`<div class="grid2"><section class="card"><${Graph} s=${s}/></section>
    <section class="card"><h2>Steps</h2><div class="tw"><table class="stack"><thead><tr><th scope="col">Step</th><th scope="col">State</th><th scope="col" class="r">Time</th></tr></thead><tbody>${s.steps.map((step) => html`<tr><th scope="row" class="full mono">${step.id}</th><td><${State} s=${step.status}/></td><td class="r" data-l="Time">${dur(step.seconds)}</td></tr>`)}</tbody></table></div>
      ${node && html`<h3>Log in to a node, in a terminal on the service's computer</h3><${Cmd} c=${`radlc ssh '${node.address}' --state ~/.local/share/radlc/serve/workspaces/${id}/state --name ${one.name}`}/><p class="hint">If the service runs with another --folder, replace ~/.local/share/radlc/serve.</p>`}</section></div>`}
  <${FarmsOf} id=${id}/><${Results} id=${id}/>
  <section class="card"><h2>Runs</h2><div class="tw"><table class="stack"><thead><tr><th scope="col">Run</th><th scope="col">State</th><th scope="col">Started</th></tr></thead><tbody>${one.runs.slice().reverse().map((run) => html`<tr><th scope="row" class="full"><a href=${link('runs', run.id)}>${run.command}</a> <span class="hint mono">${run.id}</span></th><td><${State} s=${run.state}/></td><td>${time(run.asked)}, ${run.by}</td></tr>`)}</tbody></table></div></section>
  <${Program} id=${id}/>
  <${Dialog} open=${!!change} close=${close} title=${change ? change.what === 'Destroy' ? `Destroy ${one.name}?` : `${change.what} ${one.name}` : ''}>
    ${change && (change.query ? html`<${Change} what=${change.what} query=${query} close=${close} confirmName=${change.what === 'Destroy' ? one.name : ''}/>` : html`<${Scale} one=${one} then=${(q) => setChange({what: 'Scale', query: q})}/>`)}<//>`;
}

function Program({id}) {
  const {value} = useGet(`/infrastructures/${enc(id)}/program`);
  return value ? html`<details class="card"><summary>Program</summary><div class="code"><pre tabindex="0">${value}</pre></div><div class="row"><${Copy} text=${value}/><a class="btn s" href=${link('rehearse', id)}>Rehearse</a></div></details>` : null;
}

function Receipt({id}) {
  const {value: r, error} = useGet(`/infrastructures/${enc(id)}/receipt`);
  if (!r) return error ? html`<${Head} title="Receipt"/><${Err} error=${error}/>` : html`<${Head} title="Receipt"/><${Loading} what="Reading the receipt…"/>`;
  const gone = r.resources.filter((one) => one.gone).length, left = r.left.length + r.leftovers.length;
  return html`<${Head} title=${`Receipt: ${r.name}`} sub=${`Destroyed ${time(r.destroyed)}, asked by ${r.by}`}><a class="btn" download=${r.name + '-receipt.json'} href=${`/api/v1/infrastructures/${enc(id)}/receipt`}>Download</a><button onClick=${() => print()}>Print</button><//>
  ${r.complete === false ? html`<div class="note warn" role="alert"><b>The destroy was interrupted.</b><span>The resources below were deleted, but radlc has not checked for leftovers.</span></div>` : left === 0 ? html`<div class="note ok" role="status" id="nothing-left"><b>Nothing is left.</b><span>${gone} of ${r.resources.length} resources existed and were deleted. radlc asked each cloud afterwards for everything with the tag ${r.tag}.</span></div>`
    : html`<div class="note warn" role="alert"><b>Something is left.</b>${[...r.left, ...r.leftovers].map((text) => html`<code>${text}</code>`)}</div>`}
  ${r.left_alone.length > 0 && html`<div class="note warn"><b>Not deleted, because nobody asked for it</b>${r.left_alone.map((text) => html`<code>${text}</code>`)}</div>`}
  ${r.buckets.length > 0 && html`<div class="note"><b>Kept in buckets</b>${r.buckets.map((text) => html`<code>${text}</code>`)}</div>`}
  <dl class="stats"><${Stat} l="Cost" v=${sum(r.cost)} s="price by time of each resource"/><${Stat} l="Resources" v=${r.resources.length}/></dl>
  <section class="card"><div class="tw"><table class="stack"><caption>What existed</caption><thead><tr><th scope="col">Resource</th><th scope="col">Cloud</th><th scope="col">ID</th><th scope="col">Created</th><th scope="col">State</th></tr></thead><tbody>${r.resources.map((one) => html`<tr><th scope="row" class="full mono">${one.address}</th><td data-l="Cloud">${one.cloud}</td><td class="mono" data-l="ID">${one.id}</td><td data-l="Created">${time(one.created)}</td><td data-l="State">${one.gone ? 'deleted' : 'not confirmed'}</td></tr>`)}</tbody></table></div></section>`;
}

// A program that somebody wrote: checked, planned, applied.
function FromFile() {
  const [name, setName] = useState('cluster'), [text, setText] = useState('radl 2\n'), [state, set] = useState({});
  const make = async () => {
    set({busy: true});
    try {
      const id = state.id && state.name === name ? state.id : (await api('POST', '/infrastructures', {name})).id;
      set({id, name, busy: true});
      try { set({id, name, plan: await api('POST', '/plans', {infrastructure: id, program: text})}); } catch (error) { set({id, name, error}); }
    } catch (error) {
      set({error});
    }
  };
  const start = async () => {
    try { const run = await api('POST', '/runs', {plan: state.plan.id}); go('runs', run.id); } catch (error) { set({...state, error}); }
  };
  return html`<${Head} title="New infrastructure" sub="From a RADL file. Nothing is created before you approve the plan."/>
  <section class="card"><label class="f">Name<input name="name" value=${name} onInput=${(e) => setName(e.target.value)}/></label><label class="f">Program<textarea name="program" class="mono" rows="16" spellcheck="false" value=${text} onInput=${(e) => { setText(e.target.value); set({id: state.id, name: state.name}); }}></textarea></label>
    <div class="row"><button class="primary" id="make-plan" disabled=${state.busy && !state.plan && !state.error} onClick=${make}>Plan</button></div></section>
  ${state.error && html`<${Err} error=${state.error}/>`}
  ${state.plan && html`<${Forecast} plan=${state.plan}/><section class="card"><h2>What will be created and run</h2><${Plan} plan=${state.plan}/><div class="row"><button class="primary" id="act" onClick=${start}>Apply ${state.plan.actions.length} actions</button></div></section>`}`;
}

export function Infrastructure({path}) {
  if (path[0] === 'new') return html`<${FromFile}/>`;
  return path[1] === 'receipt' ? html`<${Receipt} id=${path[0]}/>` : html`<${One} id=${path[0]}/>`;
}
