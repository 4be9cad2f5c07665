// Train a model, in four steps. Nothing is created before the plan is approved.
import {api, ApiError, bytes, Cmd, Copy, Dialog, dur, Empty, enc, Err, go, Head, hour, html, keyed, link, Loading, many, money, num, Plan, Stat, Tag, useEffect, useRef, useState} from './lib.js';
import {Measured} from './tools.js';
import {dataset, FRESH, missing, MODELS, sums, SUMS, write, written} from './program.js';

const STEPS = ['Code and model', 'Data', 'Resources', 'Review'];
const KEPT = 'radlc-train';

// The form outlives a reload; the draft on the service holds its program and its uploads.
function load() {
  try { return {...FRESH, ...JSON.parse(sessionStorage.getItem(KEPT) || '{}')}; } catch { return {...FRESH}; }
}

// Uploads belong to a draft: a new one has none.
const NO_FILES = {upload: '', script: '', archive: '', requirements: ''};
const filed = (c) => c.source === 'script' ? c.code !== 'git' || c.requirements : c.data === 'upload';

// The draft that uploads and plans belong to.
async function draft(c, up) {
  if (c.draft) {
    try {
      const its = await api('GET', `/infrastructures/${enc(c.draft)}`);
      if (its.state === 'draft' && its.name === c.name) return c.draft;
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
  const made = await api('POST', '/infrastructures', {name: c.name});
  up({draft: made.id, ...NO_FILES});
  return made.id;
}

function Opt({name, v, now, set, t, s}) {
  return html`<label class="opt"><input type="radio" name=${name} value=${v} checked=${now === v} onChange=${() => set(v)}/><span>${t}<small>${s}</small></span></label>`;
}
const Field = ({l, hint, children}) => html`<label class="f">${l}${children}${hint && html`<span class="hint">${hint}</span>`}</label>`;
const Whole = ({l, hint, value, set, min = 1, max = 500}) => html`<${Field} l=${l} hint=${hint}><input type="number" min=${min} max=${max} value=${value} onInput=${(e) => set(Math.min(max, Math.max(min, Math.round(+e.target.value) || min)))}/><//>`;

function File({c, up}) {
  const text = written(c), lines = text.split('\n'), before = useRef(lines), [changed, mark] = useState(new Set());
  useEffect(() => {
    const old = new Set(before.current), fresh = lines.filter((line) => line && !old.has(line));
    if (fresh.length) mark(new Set(fresh));
    before.current = lines;
  }, [text]);
  return html`<section class="card" aria-label="The file"><div class="head"><h2>${c.name}.radl</h2><${Copy} text=${text}/>
    ${c.own ? html`<button class="s" id="discard" onClick=${() => up({own: ''})}>Back to the form</button>` : html`<button class="s" id="edit" onClick=${() => up({own: text})}>Edit</button>`}
    <a class="btn s" download=${c.name + '.radl'} href=${'data:text/plain;charset=utf-8,' + encodeURIComponent(text)}>Download</a></div>
  <p class="hint">${c.own ? 'This is your text now: the plan uses it, and the form no longer changes it.' : 'The page writes this file as you choose. Your last change is marked. The command line runs the same file.'}</p>
  ${c.own ? html`<textarea class="mono" name="own" aria-label="The file" rows="24" spellcheck="false" value=${c.own} onInput=${(e) => up({own: e.target.value || '\n'})}></textarea>` : html`<div class="code"><pre tabindex="0" id="program">${lines.map((line) => html`<span class=${'line' + (changed.has(line) ? ' chg' : '')}>${line}</span>`)}</pre></div>`}</section>`;
}

function Model({c, up}) {
  const set = (source) => up({source});
  return html`<section class="card"><fieldset><legend>What do you want to train?</legend><div class="opts">
    <${Opt} name="source" v="zoo" now=${c.source} set=${set} t="A model from the zoo" s="Trained by radlc's engine; nothing to upload"/>
    <${Opt} name="source" v="script" now=${c.source} set=${set} t="Your own program" s="PyTorch, started by torchrun on each node"/></div></fieldset>
  <div class="fields">
    <${Field} l="Name" hint="Of the training and its infrastructure"><input name="name" value=${c.name} maxlength="40" pattern="[a-z0-9]+(-[a-z0-9]+)*" onInput=${(e) => up({name: e.target.value})}/><//>
    ${c.source === 'zoo' && html`<${Field} l="Model"><select name="model" value=${c.model} onChange=${(e) => up({model: e.target.value})}>${MODELS.map((m) => html`<option selected=${m === c.model}>${m}</option>`)}</select><//>
    <${Whole} l="Epochs" hint="Passes over the training images" value=${c.epochs} set=${(v) => up({epochs: v})}/>`}</div>
  ${c.source === 'script' && html`<fieldset><legend>Where is the program?</legend><div class="opts">
    <${Opt} name="code" v="files" now=${c.code} set=${(code) => up({code})} t="Files" s="One start file, and others beside it"/>
    <${Opt} name="code" v="archive" now=${c.code} set=${(code) => up({code})} t="An archive" s=".zip, .tar or a wheel with all of it"/>
    <${Opt} name="code" v="git" now=${c.code} set=${(code) => up({code})} t="A git repository" s="One commit of it"/></div></fieldset>
  <div class="fields">${c.code === 'files' && html`<${Send} l="Program" name="script" accept=".py" hint="Its start file; prints such as loss=0.1 become metrics" done=${c.script} c=${c} up=${up} then=${(script) => up({script})}/>`}
    ${c.code === 'archive' && html`<${Send} l="Archive" name="code-archive" accept=".zip,.tar,.gz,.tgz,.xz,.bz2,.whl" hint="With its folders" done=${c.archive} c=${c} up=${up} then=${(archive) => up({archive})}/>`}
    ${c.code === 'git' && html`<${Field} l="Repository" hint="For example https://github.com/NAME/REPOSITORY.git"><input name="git" value=${c.git} onInput=${(e) => up({git: e.target.value.trim()})}/><//><${Field} l="Commit" hint="All 40 digits, so that the program stays the same"><input name="commit" class="mono" value=${c.commit} onInput=${(e) => up({commit: e.target.value.trim().toLowerCase()})}/><//>`}
    ${c.code !== 'files' && html`<${Field} l="Start file" hint="Below the top folder, for example top/train.py; or -m MODULE"><input name="main" value=${c.main} onInput=${(e) => up({main: e.target.value})}/><//>`}
    <${Field} l="Published weights" hint="The https address of a file to start from; may be empty. Your program finds it in ~/weights"><input name="weights" value=${c.weights} onInput=${(e) => up({weights: e.target.value.trim()})}/><//>
    ${c.weights && html`<${Field} l="SHA-256 of the weights" hint="The publisher shows it; each node checks it"><input name="sha" class="mono" value=${c.sha} onInput=${(e) => up({sha: e.target.value.trim().toLowerCase()})}/><//>`}
    <${Send} l="Requirements" name="requirements" accept=".txt,.lock" hint="Installed once on each node; may be empty" done=${c.requirements} c=${c} up=${up} then=${(requirements) => up({requirements})}/>
    <${Field} l="Arguments" hint="For example --epochs 3"><input name="args" value=${c.args} onInput=${(e) => up({args: e.target.value})}/><//>
    <${Field} l="Python" hint="Of the nodes, with PyTorch"><input name="python" value=${c.python} onInput=${(e) => up({python: e.target.value})}/><//></div>`}</section>`;
}

const pause = (ms) => new Promise((then) => setTimeout(then, ms));

// In parts of 8 MiB. If the connection breaks, it asks where the service is and continues there; so does the same file
// after a reload of the page.
async function upload(id, file, said) {
  const part = 8 << 20, key = ['radlc-upload', id, file.name, file.size, file.lastModified].join('/');
  let offset = sessionStorage.getItem(key) ? file.size : 0;  // an offset that is not the service's gets the service's
  sessionStorage.setItem(key, '1');
  for (let failed = 0; ;) {
    const path = `/api/v1/infrastructures/${enc(id)}/files/${enc(file.name)}?offset=${offset}&total=${file.size}`;
    let answer, body;
    try {
      answer = await fetch(path, {method: 'PUT', body: file.slice(offset, offset + part), headers: keyed({'Content-Type': 'application/octet-stream'})});
      body = await answer.json();
    } catch {
      if (++failed > 20) throw new Error('The connection to radlc serve is lost. Choose the file again to continue.');
      said(offset, true);
      await pause(Math.min(1000 * failed, 10000));
      offset = file.size;
      continue;
    }
    const there = answer.headers.get('Upload-Offset');
    if (answer.status === 409 && there !== null && +there !== offset) { offset = +there <= file.size ? +there : 0; continue; }
    if (!answer.ok) throw new ApiError(answer.status, body);
    failed = 0;
    offset = body.bytes;
    said(offset);
    if (body.complete) { sessionStorage.removeItem(key); return; }
  }
}

// A file that is uploaded into the draft as soon as it is chosen.
function Send({l, name, accept, hint, done, c, up, then}) {
  const [state, say] = useState('');
  const send = async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    then('');
    try {
      say('Uploading…');
      await upload(await draft(c, up), file, (n, waits) => say(waits ? `${file.name}: waiting for the service…` : `${file.name}: ${Math.round(100 * n / Math.max(file.size, 1))}% of ${bytes(file.size)}`));
      say(`${file.name}: uploaded`);
      then(file.name);
    } catch (error) {
      say(error.message);
    }
  };
  return html`<div class="f"><${Field} l=${l} hint=${hint}><input type="file" name=${name} accept=${accept} onChange=${send}/><//><span role="status">${state || (done && `${done}: uploaded`)}</span></div>`;
}

function Data({c, up}) {
  if (c.source === 'script') return html`<section class="card"><h2>Data of your own program</h2><p>Your program reads its data itself. Files that you uploaded are in its folder.</p>
    <${Send} l="Another file" name="archive" hint="It lies beside the program" c=${c} up=${up} then=${() => {}}/></section>`;
  const set = (data) => up({data});
  return html`<section class="card"><fieldset><legend>Where are the images?</legend><div class="opts">
    <${Opt} name="data" v="cifar10" now=${c.data} set=${set} t="CIFAR-10" s="50,000 images, 10 classes; downloaded once"/>
    <${Opt} name="data" v="cifar10-subset" now=${c.data} set=${set} t="CIFAR-10, subset" s="2,000 images that come with radlc, to try it out"/>
    <${Opt} name="data" v="upload" now=${c.data} set=${set} t="Upload" s="A .zip or .tar with one folder per class"/>
    <${Opt} name="data" v="place" now=${c.data} set=${set} t="Bucket or URL" s="S3, Google Cloud, Azure, Swift, HTTPS"/></div></fieldset>
  ${c.data === 'upload' && html`<${Send} l="Archive" name="archive" accept=".zip,.tar,.gz,.tgz,.xz,.zst,.csv" hint="A broken upload continues where it stopped." done=${c.upload} c=${c} up=${up} then=${(name) => up({upload: name})}/>`}
  ${c.data === 'place' && html`<${Field} l="Place" hint="s3://BUCKET/PREFIX, gs://.., az://.., swift://.., or the https:// address of an archive"><input name="place" value=${c.place} onInput=${(e) => up({place: e.target.value})}/><//>`}
  <p class="hint">The plan examines the images: it counts them by class and reports unreadable ones.</p></section>
  ${(c.data === 'upload' ? c.upload : c.data === 'place' && !missing({...c, name: 'x', cloud: 'local', zone: ''})) && html`<${Look} key=${dataset(c)} c=${c} up=${up}/>`}`;
}

// The classes and some images of an upload or a place.
function Look({c, up}) {
  const [state, set] = useState({});
  const look = async () => {
    set({busy: true});
    try { set({found: await api('POST', `/infrastructures/${enc(await draft(c, up))}/look`, {dataset: dataset(c)})}); } catch (error) { set({error}); }
  };
  const f = state.found;
  return html`<section class="card" id="look"><div class="head"><h2>Images</h2><button class="s" id="look-now" disabled=${state.busy} onClick=${look}>Look at the images</button></div>
  ${state.busy && html`<p role="status">Reading the images…</p>`}${state.error && html`<${Err} error=${state.error}/>`}
  ${f && html`<p role="status">${many(f.train, 'image')} to train on and ${num(f.test)} to test with, in ${many(f.classes.length, 'class').replace(/classs$/, 'classes')}, as ${f.shape[0]} × ${f.shape[1]} pixels. ${f.corrupt ? `${num(f.corrupt)} of ${num(f.decoded)} are corrupt.` : `None of ${num(f.decoded)} is corrupt.`}</p>
    <div class="row">${f.samples.map((one) => html`<figure class="pic"><img src=${'data:image/bmp;base64,' + one.bmp} alt=${'An image of the class ' + one.class} width="64"/><figcaption class="hint">${one.class}</figcaption></figure>`)}</div>
    ${f.problems.length > 0 && html`<div class="note warn"><b>Corrupt</b>${f.problems.map((p) => html`<span><code>${p.file}</code> ${p.why}</span>`)}</div>`}
    <details><summary>Images by class</summary><div class="tw"><table><thead><tr><th scope="col">Class</th><th scope="col" class="r">Images</th></tr></thead><tbody>${f.classes.slice(0, 200).map((name, i) => html`<tr><th scope="row">${name}</th><td class="r">${num(f.per_class[i])}</td></tr>`)}</tbody></table></div></details>`}</section>`;
}

// Clouds with a catalog of prices, and a type that stands for the one to be recommended.
const PRICED = {ec2: 'm5.xlarge', gce: 'n2-standard-4', azure: 'Standard_D4s_v5'};

function Recommendation({c, up}) {
  const [state, set] = useState({});
  const ask = async () => {
    set({busy: true});
    try {
      const given = Object.fromEntries(['budget', 'deadline', 'objective'].filter((k) => c[k]).map((k) => [k, c[k]]));
      set({made: await api('POST', '/recommend', {program: write({...c, type: c.type || PRICED[c.cloud]}), ...given})});
    } catch (error) {
      set({error});
    }
  };
  const made = state.made;
  return html`<section class="card"><div class="head"><h2>Recommend a cluster</h2></div>
  <div class="fields"><${Field} l="Budget" hint="For the cluster, for example 2 USD/h; empty: 10 USD/h"><input name="budget" value=${c.budget} onInput=${(e) => up({budget: e.target.value})}/><//>
    <${Field} l="Finished within" hint="For example 45m or 3h; empty: no deadline"><input name="deadline" value=${c.deadline} onInput=${(e) => up({deadline: e.target.value})}/><//>
    <${Field} l="Prefer"><select name="objective" value=${c.objective} onChange=${(e) => up({objective: e.target.value})}>${[['time', 'the fastest'], ['cost', 'the cheapest']].map(([v, t]) => html`<option value=${v} selected=${c.objective === v}>${t}</option>`)}</select><//></div>
  <div class="row"><button onClick=${ask} disabled=${state.busy}>Recommend</button>${state.busy && html`<span role="status">Computing…</span>`}</div>
  ${state.error && html`<${Err} error=${state.error}/>`}
  ${made && html`<${Candidates} made=${made} c=${c} up=${up}/>`}</section>`;
}

// A value, its band in words and as a bar; one scale for all rows.
function Band({v, low, high, most, show}) {
  const at = (x) => `${Math.min(100, 100 * x / most)}%`;
  return html`<div class="rb"><span class="v"><span class="m">${show(v)}</span><span class="hint">${show(low)} to ${show(high)}</span></span><div class="tr" aria-hidden="true"><i style=${`left:${at(low)};width:calc(${at(high)} - ${at(low)})`}></i><b style=${`left:${at(v)}`}></b></div></div>`;
}

// Time and cost of each candidate, with their bands, and why others are not among them.
function Candidates({made, c, up}) {
  const by = c.objective === 'cost' ? (one) => one.cost.micros : (one) => one.seconds.value;
  const list = made.candidates.filter((one) => one.verdict === 'fits').sort((a, b) => by(a) - by(b)).slice(0, 12), others = made.candidates.filter((one) => one.verdict !== 'fits');
  const slowest = Math.max(...list.map((one) => one.seconds.high)), dearest = Math.max(...list.map((one) => one.cost.high_micros)), name = (one) => `${one.workers} × ${one.type}`;
  const rest = others.length > 0 && html`<details><summary>Why ${others.length === 1 ? 'is 1 candidate' : `are ${others.length} candidates`} not here?</summary><ul>${others.slice(0, 50).map((one) => html`<li key=${one.name}>${name(one)}, ${one.exchange}: ${one.verdict}</li>`)}</ul></details>`;
  if (!list.length) return html`<p role="status">Nothing fits: ${made.reason}</p>${rest}`;
  return html`<p role="status">Recommended: <b>${made.chosen || 'none'}</b>. ${made.reason}</p><div class="tw"><table class="stack" id="candidates"><caption>The ${c.objective === 'cost' ? 'cheapest' : 'fastest'} first. Four of five runs fall within the band</caption><thead><tr><th scope="col">Cluster</th><th scope="col">Time</th><th scope="col">Cost</th><th scope="col" class="r">Per hour</th><th scope="col">Choose</th></tr></thead><tbody>
    ${list.map((one) => html`<tr key=${one.name} class=${one.name === made.chosen ? 'sel' : ''}><th scope="row" class="full">${name(one)}<br/><span class="hint">${one.exchange}</span></th><td data-l="Time"><${Band} v=${one.seconds.value} low=${one.seconds.low} high=${one.seconds.high} most=${slowest} show=${dur}/></td>
      <td data-l="Cost"><${Band} v=${one.cost.micros} low=${one.cost.low_micros} high=${one.cost.high_micros} most=${dearest} show=${(micros) => money({micros, currency: one.cost.currency})}/></td><td class="r" data-l="Per hour">${hour([one.per_hour])}</td>
      <td><button class="s" aria-label=${`Choose ${one.name}`} onClick=${() => up({workers: one.workers, type: one.type, servers: one.server ? 1 : 0})}>Choose</button></td></tr>`)}</tbody></table></div>${rest}`;
}

function Resources({c, up}) {
  return html`<section class="card"><div class="fields">
    <${Field} l="Where"><select name="cloud" value=${c.cloud} onChange=${(e) => up({cloud: e.target.value})}>
      ${[['local', 'This computer (of the service)'], ['ec2', 'Amazon EC2'], ['openstack', 'OpenStack'], ['gce', 'Google Cloud'], ['azure', 'Azure']].map(([v, t]) => html`<option value=${v} selected=${c.cloud === v}>${t}</option>`)}</select><//>
    <${Whole} l="Workers" value=${c.workers} set=${(v) => up({workers: v})} hint="Nodes that compute gradients"/>
    ${c.source === 'zoo' && html`<${Whole} l="Parameter servers" min=${0} value=${c.servers} set=${(v) => up({servers: v})} hint="0: the workers exchange gradients among themselves"/>`}
    ${c.cloud !== 'local' && html`<${Field} l="Machine type" hint="For example m5.xlarge"><input name="type" value=${c.type} onInput=${(e) => up({type: e.target.value.trim()})}/><//>
    <${Field} l="Zone or region" hint="For example eu-west-1; empty: as your account says"><input name="zone" value=${c.zone} onInput=${(e) => up({zone: e.target.value.trim()})}/><//>
    <label class="row"><input type="checkbox" checked=${c.spot} onChange=${(e) => up({spot: e.target.checked})}/> Spot workers: cheaper, may be preempted, and are replaced</label>
    <${Field} l="Highest price" hint="For example 2 USD/h; a plan above it cannot be started. Empty: no limit"><input name="maxCost" value=${c.maxCost} onInput=${(e) => up({maxCost: e.target.value})}/><//>`}</div></section>
  ${PRICED[c.cloud] && c.source === 'zoo' && html`<${Recommendation} c=${c} up=${up}/><${Measured}/>`}`;
}

const PHASES = ['create', 'configure', 'stage', 'train', 'run', 'bring back'];
const band = (b, f) => `${f(b.low)} to ${f(b.high)}`;

// Time and cost of a plan, with the bands of its first training or program.
export function Forecast({plan}) {
  const f = plan.forecasts[0] || {}, t = plan.totals, phases = PHASES.map((name) => [name, (f.phases || {})[name]]).filter(([, b]) => b && b.high > 0);
  return html`<dl class="stats">
    <${Stat} l="Expected time" v=${f.total ? dur(f.total.seconds) : t.seconds_complete ? dur(t.seconds) : 'not known'} s=${f.total ? band(f.total, dur) : f.unknown}/>
    <${Stat} l="Expected cost" v=${f.cost ? money(f.cost.value) : t.price_per_hour.length ? 'not known' : '0.00 USD'} s=${f.cost && band(f.cost, money)}/>
    <${Stat} l="While it exists" v=${hour(t.price_per_hour)}/>
    <${Stat} l="Plan" v=${`${t.create} to create`} s=${`${t.run} ${t.run === 1 ? 'step' : 'steps'} to run${t.delete ? `, ${t.delete} to delete` : ''}${t.replace ? `, ${t.replace} to replace` : ''}`}/></dl>
  ${phases.length > 0 && html`<section class="card"><h2>Time</h2><div class="tw"><table class="stack"><caption>Four of five runs fall within the band</caption><thead><tr><th scope="col">Phase</th><th scope="col">Time</th><th scope="col">Band</th><th scope="col">Source</th></tr></thead><tbody>
    ${phases.map(([name, b]) => html`<tr key=${name}><th scope="row" class="full">${name}</th><td data-l="Time">${dur(b.seconds)}</td><td data-l="Band">${band(b, dur)}</td><td data-l="Source"><${Tag}>${b.source}<//></td></tr>`)}</tbody></table></div>${f.outside && html`<p class="hint">${f.outside}</p>`}</section>`}`;
}

function Review({c, up}) {
  const [state, set] = useState({}), [ask, setAsk] = useState(false), why = missing(c);
  const make = async () => {
    set({busy: true});
    try {
      const infrastructure = await draft(c, up);
      if (infrastructure !== c.draft && filed(c)) throw new ApiError(0, {error: {code: 'conflict', message: 'The name has changed, and uploads belong to the old one.', hint: 'Upload the files again.'}});
      if (c.source === 'script' && c.weights) {
        const text = sums(c);
        await api('PUT', `/infrastructures/${enc(infrastructure)}/files/${SUMS}?offset=0&total=${text.length}`, new Blob([text]));
      }
      set({plan: await api('POST', '/plans', {infrastructure, program: written(c), ...(c.maxCost ? {max_cost: c.maxCost} : {})})});
    } catch (error) {
      set({error});
    }
  };
  useEffect(() => { if (!why) make(); }, []);
  const start = async () => {
    setAsk(false);
    try {
      const run = await api('POST', '/runs', {plan: state.plan.id});
      up({draft: '', own: '', ...NO_FILES});
      go('runs', run.id);
    } catch (error) {
      set({...state, error});
    }
  };
  if (why) return html`<${Empty} title="The form is not complete" action=${html`<a class="btn primary" href=${link('train', 1)}>Back to the first step</a>`}>${why}<//>`;
  const plan = state.plan;
  return html`${state.busy && html`<${Loading} what="Making the plan: the images are examined, and prices looked up…"/>`}
  ${state.error && html`<${Err} error=${state.error}/><div class="row"><button onClick=${make}>Plan again</button></div>`}
  ${plan && html`<${Forecast} plan=${plan}/>
    <section class="card"><h2>What will be created and run</h2><${Plan} plan=${plan}/>
      ${(plan.notes || []).length > 0 && html`<div class="note">${plan.notes.map((note) => html`<span>${note}</span>`)}</div>`}<p class="hint">${plan.summary}</p>
      ${plan.above_budget && html`<div class="note bad" role="alert"><b>${plan.above_budget}</b><a href=${link('train', 3)}>Change the resources or the highest price</a></div>`}
      <div class="row"><button class="primary" id="start" disabled=${!!plan.above_budget} onClick=${() => setAsk(true)}>Start training…</button><a class="btn" href=${link('rehearse', plan.infrastructure)}>Rehearse first</a></div></section>
    <section class="card"><h2>The same in a terminal</h2><${Cmd} c=${`radlc apply ${c.name}.radl`}/></section>
    <${Dialog} open=${ask} close=${() => setAsk(false)} title="Start this training?"><p>radlc creates ${plan.totals.create} resources and runs ${plan.totals.run} ${plan.totals.run === 1 ? 'step' : 'steps'}. While they exist, they cost ${hour(plan.totals.price_per_hour)}.</p>
      <div class="row"><button class="primary" id="confirm" autofocus onClick=${start}>Start</button><button onClick=${() => setAsk(false)}>Not now</button></div><//>`}`;
}

export function Train({path}) {
  const n = Math.min(4, Math.max(1, Math.round(+path[0]) || 1)), [c, set] = useState(load);
  const up = (change) => set((old) => {
    const next = {...old, ...change};
    sessionStorage.setItem(KEPT, JSON.stringify(next));
    return next;
  });
  const Step = [Model, Data, Resources, Review][n - 1];
  return html`<${Head} title="Train a model" sub="Four steps. Nothing is created before you approve the plan."/>
  <nav aria-label="Steps"><ol class="steps">${STEPS.map((t, i) => html`<li class=${i + 1 < n ? 'done' : ''}><a href=${link('train', i + 1)} aria-current=${i + 1 === n ? 'step' : null}><span class="n" aria-hidden="true">${i + 1 < n ? '✓' : i + 1}</span><span class="t">${t}</span></a></li>`)}</ol></nav>
  <div class="split"><div class="col"><${Step} c=${c} up=${up}/><div class="row">${n > 1 && html`<a class="btn" href=${link('train', n - 1)}>Back</a>`}${n < 4 && html`<a class="btn primary" id="next" href=${link('train', n + 1)}>Continue to ${STEPS[n].toLowerCase()}</a>`}</div></div><${File} c=${c} up=${up}/></div>`;
}
