// What all screens share: requests, addresses, words for numbers, and the parts that screens are made of.
import {h} from './preact.mjs';
import {useEffect, useRef, useState} from './hooks.mjs';
import htm from './htm.mjs';

export const html = htm.bind(h);
export {useEffect, useRef, useState};

// ---- requests ----

// The key of the session (`radlc serve --open`). The cookie alone only reads: browsers send it to each port of the host.
if (location.hash.startsWith('#key=')) {
  localStorage.setItem('radlc-page', location.hash.slice(5));
  history.replaceState(null, '', location.pathname);
}
export const keyed = (headers) => ({...headers, 'X-Radlc-Page': localStorage.getItem('radlc-page') || ''});

export class ApiError extends Error {
  constructor(status, body) {
    const away = status === 401;
    super(away ? 'You have no session, or it has ended.' : body?.error?.message || `The service answered ${status}.`);
    Object.assign(this, {status, code: body?.error?.code || '', hint: away ? 'Run `radlc serve --open` and open the link that it prints.' : body?.error?.hint || '', findings: body?.findings || []});
  }
}

// The answer of the service's own API: JSON, or text. Throws ApiError.
export async function api(method, path, body) {
  const raw = body instanceof Blob;
  const options = {method, headers: keyed({Accept: 'application/json'}), credentials: 'same-origin'};
  if (body !== undefined) {
    options.headers['Content-Type'] = raw ? 'application/octet-stream' : 'application/json';
    options.body = raw ? body : JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch('/api/v1' + path, options);
  } catch {
    throw new ApiError(0, {error: {code: 'retry', message: 'The connection to radlc serve is lost.', hint: 'Runs continue without this page. It asks again by itself.'}});
  }
  const json = (answer.headers.get('Content-Type') || '').startsWith('application/json');
  const value = answer.status === 204 ? null : json ? await answer.json() : await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, json ? value : null);
  return value;
}

// {value, error, again}: what GET `path` gives, asked again every `every` ms. The last value stays if a request fails.
export function useGet(path, every = 0) {
  const [state, set] = useState({}), [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!path) return;
    let over = false, timer = 0;
    const ask = async () => {
      try {
        const value = await api('GET', path);
        if (!over) set({value, path});
      } catch (error) {
        if (!over) set((old) => ({value: old.path === path ? old.value : undefined, error, path}));
      }
      if (!over && every) timer = setTimeout(ask, every);
    };
    ask();
    return () => { over = true; clearTimeout(timer); };
  }, [path, every, turn]);
  return {...(state.path === path ? state : {}), again: () => setTurn((n) => n + 1)};
}

// The rows of a table that the user has chosen, a function that chooses a row or drops it, and one that drops all.
export function useChosen() {
  const [chosen, choose] = useState(new Set());
  const flip = (row) => choose((old) => { const next = new Set(old); if (!next.delete(row)) next.add(row); return next; });
  return [chosen, flip, () => choose(new Set())];
}

// The events of a run from its first one, as they happen. A broken connection resumes after the last number. A hidden
// tab has no connection: browsers allow six to a host, for all tabs together.
export function follow(run, take, end) {
  let source = null, last = 0, over = false, timer = 0;
  const open = () => {
    if (over || source || document.hidden) return;
    const mine = source = new EventSource(`/api/v1/runs/${enc(run)}/events?from=${last + 1}`);
    mine.onmessage = (message) => {
      const event = JSON.parse(message.data);
      last = event.sequence;
      take(event);
    };
    mine.addEventListener('end', () => { close(); over = true; end(); });
    mine.onerror = () => {  // the browser tries again by itself, unless the service answered with an error
      if (mine.readyState === EventSource.CLOSED && mine === source) { close(); timer = setTimeout(open, 1000); }
    };
  };
  const close = () => { source?.close(); source = null; clearTimeout(timer); };
  const shown = () => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', shown);
  open();
  return () => { over = true; close(); document.removeEventListener('visibilitychange', shown); };
}

// ---- addresses ----

export const enc = encodeURIComponent;  // of each part of an address that comes from somewhere else
export const at = () => location.pathname.replace(/^\/ui\/?/, '').split('/').filter(Boolean).map(decodeURIComponent);
export const link = (...parts) => '/ui/' + parts.map(encodeURIComponent).join('/');
// What a screen keeps in its address, behind the `?`: a sorted column, for example. Empty values are left out.
export const kept = () => Object.fromEntries(new URLSearchParams(location.search));
export function keep(values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, v]) => v !== '')).toString();
  history.replaceState(null, '', location.pathname + (query ? '?' + query : ''));
  return kept();
}
export function go(...parts) {
  history.pushState(null, '', link(...parts));
  dispatchEvent(new Event('popstate'));
}

// ---- words for numbers: one form everywhere ----

export const num = (n) => Number(n).toLocaleString('en-US', {maximumFractionDigits: 3});
export const many = (n, what) => `${num(n)} ${what}${n === 1 ? '' : 's'}`;
export const percent = (x) => `${(100 * x).toFixed(2)}%`;
export function dur(s) {
  if (s < 60) return `${s < 9.95 && s % 1 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min` : `${Math.round(s / 86400)} days`;
}
export const money = (m) => `${(m.micros / 1e6).toFixed(m.micros && Math.abs(m.micros) < 1e4 ? 4 : 2)} ${m.currency}`;
export const sum = (list) => (list || []).length ? list.map(money).join(' and ') : '0.00 USD';
export const hour = (list) => sum(list).replace(/([A-Z]{3})/g, '$1/h');
export const bytes = (n) => n < 1e3 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`;
export const time = (s) => s ? new Date(1000 * s).toLocaleString([], {dateStyle: 'medium', timeStyle: 'medium'}) : '–';
export const clock = (s) => new Date(1000 * s).toLocaleTimeString([], {hour12: false});

// ---- parts ----

const KINDS = {done: 'ok', ready: 'ok', finished: 'ok', paused: 'warn', waiting: 'warn', stopped: '', cancelled: '', training: 'on live', running: 'on live', working: 'on live', queued: 'warn', deleting: 'warn', failed: 'bad', unknown: 'bad', interrupted: 'warn'};
export const Tag = ({k = '', children}) => html`<span class=${'tag ' + k}>${children}</span>`;
export const State = ({s}) => html`<${Tag} k=${KINDS[s] || ''}>${s}<//>`;
export const Head = ({title, sub, children}) => html`<div class="head"><div><h1 tabindex="-1">${title}</h1>${sub && html`<p class="sub">${sub}</p>`}</div><span class="sp"></span>${children}</div>`;
export const Stat = ({l, v, s}) => html`<div class="stat"><dt>${l}</dt><dd>${v}${s && html`<small>${s}</small>`}</dd></div>`;
// What was used so far, over the band of its forecast. `band`: {value, low, high}, or nothing; `left`: what is expected to come.
export function Rail({title, so, band, show, over, left}) {
  const ends = over || left === null || left === undefined ? so : so + left, most = Math.max(band ? band.high : 0, ends, 1e-9) * 1.05, at = (v) => `${Math.min(100, 100 * v / most)}%`;
  const text = `${show(so)} ${over ? 'in all' : 'so far'}${!over && ends > so ? `, ends at about ${show(ends)}` : ''}`;
  return html`<div class="rail"><div class="row" style="justify-content:space-between"><b>${title}</b><span class="hint">${text}</span></div>
  <div class="tr big" role="img" aria-label=${`${title}: ${text}${band ? `; forecast ${show(band.value)}, ${show(band.low)} to ${show(band.high)}` : ''}`}>${band && html`<i style=${`left:${at(band.low)};width:calc(${at(band.high)} - ${at(band.low)})`}></i>`}<i class="fill" style=${`width:${at(so)}`}></i>${band && html`<b style=${`left:${at(band.value)}`}></b>`}</div>
  <p class="hint">${band && !band.high && !so ? 'Nothing costs money here.' : band ? `Forecast: ${show(band.value)}, ${show(band.low)} to ${show(band.high)}.${so > band.high ? ' It is above the band.' : ''}` : 'There was no forecast.'}</p></div>`;
}
export const Empty = ({title, children, action}) => html`<div class="card empty"><h2>${title}</h2><p>${children}</p>${action}</div>`;
export const Loading = ({what}) => html`<div class="card" aria-busy="true"><p class="sub" role="status">${what}</p></div>`;
export const Err = ({error}) => html`<div class="note bad" role="alert"><b>${error.message}</b>${error.hint && html`<span>${error.hint}</span>`}
  ${(error.findings || []).map((f) => html`<code>${f.line ? `line ${f.line}: ` : ''}${f.message} [${f.code}]</code>`)}</div>`;

export function Copy({text}) {
  const [said, say] = useState('');
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); say('Copied'); } catch { say('Select and copy'); }
    setTimeout(() => say(''), 1500);
  };
  return html`<button class="s" onClick=${copy}><span aria-live="polite">${said || 'Copy'}</span></button>`;
}
export const Cmd = ({c}) => html`<div class="row"><pre style="flex:1;min-width:0" tabindex="0">${c}</pre><${Copy} text=${c}/></div>`;

export function Dialog({open, close, title, children}) {
  const box = useRef();
  useEffect(() => {
    if (open && !box.current.open) box.current.showModal();
    if (!open && box.current.open) box.current.close();
  }, [open]);
  return html`<dialog ref=${box} onClose=${close} aria-label=${title}><div class="in">${open && html`<h2>${title}</h2>${children}`}</div></dialog>`;
}

const MARKS = {create: '+', run: '>', update: '~', replace: '~', delete: '-', forget: '-'};
const said = (change) => `${change.resource}: ${change.what}${change.diff ? '' : `, ${change.before} is now ${change.after}`}`;
const Drift = ({drift}) => drift.length > 0 && html`<div class="note warn" id="drift"><b>Drift: changed outside radlc</b>${drift.map((d) => html`<span><code>${d.address}</code> ${d.what}${d.detail && `: ${d.detail}`}</span>${(d.changes || []).map((c) => html`<span class="hint">${said(c)}</span>${c.diff && html`<pre>${c.diff}</pre>`}`)}`)}</div>`;
export const Plan = ({plan}) => html`<${Drift} drift=${plan.drift || []}/>${plan.actions.length === 0 ? html`<p class="sub">No changes.</p>` : html`<ul class="plan">${plan.actions.map((a) => html`
  <li key=${a.id} class=${a.verb === 'run' ? 'run' : a.verb === 'delete' || a.verb === 'replace' ? 'del' : ''}><b aria-label=${a.verb}>${MARKS[a.verb] || '?'}</b><code>${a.id}</code><span>${a.summary}</span></li>`)}</ul>`}`;

// What a list could not read, and why: the rest of it is there.
export const Unreadable = ({list}) => (list || []).length > 0 && html`<div class="note bad" role="alert" id="unreadable"><b>Some records cannot be read.</b>${list.map((u) => html`<span>${[u.name || u.infrastructure || u.owner, u.job].filter(Boolean).join(', ')}: ${u.error}</span>`)}</div>`;

// Every chart has a caption with its current value, and a table with the same numbers.
export function Figure({title, value, keys, head, rows, children}) {
  const [table, setTable] = useState(false);
  return html`<figure class="plot"><figcaption><b>${title}</b>${(keys || []).map(([c, n]) => html`<span class="key"><i style=${`--c:var(${c})`}></i>${n}</span>`)}
    <button class="s" aria-pressed=${table} aria-label=${`${title}: table`} onClick=${() => setTable(!table)}>${table ? 'Chart' : 'Table'}</button><span class="val">${value}</span></figcaption>
  ${table ? html`<div class="ht" key="table" tabindex="0" role="region" aria-label=${title + ', as a table'}><table><thead><tr>${head.map((x) => html`<th scope="col">${x}</th>`)}</tr></thead>
    <tbody>${rows().map((r) => html`<tr>${r.map((x) => html`<td>${x}</td>`)}</tr>`)}</tbody></table></div>` : children}</figure>`;
}
