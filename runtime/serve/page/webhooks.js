// Webhooks: what is sent where, the newest deliveries, and a form for another.
import {api, Copy, Dialog, Empty, enc, Err, Head, html, Loading, num, State, time, useGet, useState} from './lib.js';

const EVENTS = [['run.queued', 'a run is requested'], ['run.started', 'a run begins'], ['run.finished', 'a run ends']];

function Add({then}) {
  const [url, setUrl] = useState(''), [events, setEvents] = useState(['run.finished']), [state, set] = useState({});
  const flip = (event) => setEvents((old) => old.includes(event) ? old.filter((e) => e !== event) : [...old, event]);
  const add = async () => {
    set({busy: true});
    try { set({hook: await api('POST', '/webhooks', {url, events})}); setUrl(''); then(); } catch (error) { set({error}); }
  };
  return html`<section class="card"><h2>Add a webhook</h2>
  <label class="f">URL<input name="url" type="url" placeholder="https://example.org/hook" value=${url} onInput=${(e) => setUrl(e.target.value.trim())}/><span class="hint">An https address that accepts a POST</span></label>
  <fieldset><legend>When</legend><div class="row">${EVENTS.map(([event, text]) => html`<label class="row"><input type="checkbox" name=${event} checked=${events.includes(event)} onChange=${() => flip(event)}/> ${text}</label>`)}</div></fieldset>
  <div class="row"><button class="primary" id="add-webhook" disabled=${!url || !events.length || state.busy} onClick=${add}>Add</button></div>
  ${state.error && html`<${Err} error=${state.error}/>`}
  ${state.hook && html`<div class="note ok" role="status" id="secret"><b>Added. Copy the secret now: it is not shown again.</b><div class="row"><code>${state.hook.secret}</code><${Copy} text=${state.hook.secret}/></div><span>Your receiver checks the signature of each delivery with it.</span></div>`}</section>`;
}

const Attempts = ({hook}) => hook.attempts.length === 0 ? html`<p class="hint">No attempt since the service started.</p>` : html`<details><summary>Last deliveries</summary><div class="tw"><table class="stack"><thead><tr><th scope="col">Delivery</th><th scope="col">Time</th><th scope="col">Result</th></tr></thead><tbody>
  ${hook.attempts.map((a) => html`<tr><th scope="row" class="full mono">${a.delivery}</th><td data-l="Time">${time(a.time)}</td><td data-l="Result"><${State} s=${a.error ? 'failed' : 'done'}/> ${a.error && `attempt ${a.number}: ${a.error}`}</td></tr>`)}</tbody></table></div></details>`;

export function Webhooks() {
  const {value, error, again} = useGet('/webhooks', 3000), {value: me} = useGet('/me'), [ask, setAsk] = useState(null), [failed, fail] = useState(null);
  const remove = async () => {
    setAsk(null);
    try { await api('DELETE', `/webhooks/${enc(ask.id)}`); fail(null); } catch (e) { fail(e); }
    again();
  };
  const may = me && ['apply', 'admin'].includes(me.scope), list = value && value.webhooks;
  return html`<${Head} title="Webhooks" sub="The service sends a signed POST to each URL when one of your runs is requested, begins or ends."/>
  ${error && html`<${Err} error=${error}/>`}${failed && html`<${Err} error=${failed}/>`}
  ${!list ? !error && html`<${Loading} what="Reading webhooks…"/>` : list.length === 0 ? html`<${Empty} title="No webhooks">A webhook tells another program, such as a chat bot or a CI job, when a run ends.<//>`
    : html`<section class="card"><div class="tw"><table class="stack" id="webhooks"><thead><tr><th scope="col">URL</th><th scope="col">Events</th><th scope="col">Last attempt</th><th scope="col" class="r">Pending</th><th scope="col" class="r">Given up</th><th scope="col">Delete</th></tr></thead><tbody>
      ${list.map((h) => html`<tr key=${h.id}><th scope="row" class="full">${h.url || 'hidden: your token has no scope apply'}<br/><span class="hint mono">${h.id}${me && h.user !== me.user ? ` of ${h.user}` : ''}</span><${Attempts} hook=${h}/></th><td data-l="Events">${h.events.join(', ')}</td>
        <td data-l="Last attempt">${h.last ? html`<${State} s=${h.last_error ? 'failed' : 'done'}/> ${time(h.last)}` : '–'}</td><td class="r" data-l="Pending">${num(h.pending)}</td><td class="r" data-l="Given up">${num(h.given_up)}</td>
        <td>${may ? html`<button class="s danger" aria-label=${`Delete ${h.url}`} onClick=${() => setAsk(h)}>Delete…</button>` : '–'}</td></tr>`)}</tbody></table></div></section>`}
  ${may && html`<${Add} then=${again}/>`}
  <${Dialog} open=${!!ask} close=${() => setAsk(null)} title="Delete this webhook?">${ask && html`<p><code>${ask.url}</code></p><p>${ask.pending ? `Its ${ask.pending} pending ${ask.pending === 1 ? 'delivery' : 'deliveries'} will not be sent.` : 'Nothing is pending.'}</p><div class="row"><button class="danger primary" id="confirm-delete" onClick=${remove}>Delete</button><button autofocus onClick=${() => setAsk(null)}>Keep it</button></div>`}<//>`;
}
