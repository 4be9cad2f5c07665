// The page of `radlc serve`: its addresses and its frame. Every click is a call of the service's own API.
import {render} from './preact.mjs';
import {at, html, link, useEffect, useGet, useState} from './lib.js';
import {Train} from './train.js';
import {Run, Runs} from './run.js';
import {Infrastructure, Infrastructures} from './infra.js';
import {Farm, Farms} from './farm.js';
import {Compare} from './compare.js';
import {Webhooks} from './webhooks.js';
import {Costs, Jobs, Measurements, Rehearse} from './tools.js';

const PARTS = [
  ['train', 'Train', 'M4 18 9 11l4 4 7-9'],
  ['runs', 'Runs', 'M7 4v16l12-8z'],
  ['farms', 'Farms', 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z'],
  ['infrastructures', 'Infrastructures', 'M4 4h16v6H4zM4 14h16v6H4z'],
  ['rehearse', 'Rehearse', 'M12 3v5M12 16v5M3 12h5M16 12h5M6 6l3 3M15 15l3 3M18 6l-3 3M9 15l-3 3'],
  ['costs', 'Costs', 'M5 20V10M12 20V4M19 20v-7'],
];

function screen([first, ...rest]) {
  switch (first) {
    case 'runs': return rest.length ? html`<${Run} key=${rest[0]} path=${rest}/>` : html`<${Runs}/>`;
    case 'infrastructures': return rest.length ? html`<${Infrastructure} key=${rest[0]} path=${rest}/>` : html`<${Infrastructures}/>`;
    case 'rehearse': return html`<${Rehearse} path=${rest}/>`;
    case 'farms': return rest.length ? html`<${Farm} key=${rest.join('/')} path=${rest}/>` : html`<${Farms}/>`;
    case 'compare': return html`<${Compare} key=${rest.join('/')} path=${rest}/>`;
    case 'jobs': return html`<${Jobs}/>`;
    case 'measurements': return html`<${Measurements}/>`;
    case 'costs': return html`<${Costs}/>`;
    case 'webhooks': return html`<${Webhooks}/>`;
    default: return html`<${Train} path=${rest}/>`;
  }
}

function Theme() {
  const [now, set] = useState(localStorage.getItem('radlc-theme') || '');
  useEffect(() => {
    if (now) document.documentElement.dataset.theme = now;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem('radlc-theme', now);
  }, [now]);
  return html`<label>Theme <select value=${now} onChange=${(e) => set(e.target.value)}>${[['', 'as the system'], ['light', 'light'], ['dark', 'dark']].map(([v, t]) => html`<option value=${v} selected=${v === now}>${t}</option>`)}</select></label>`;
}

function App() {
  const [path, setPath] = useState(at()), {value: me} = useGet('/me');
  useEffect(() => {
    const moved = () => {
      setPath(at());
      scrollTo(0, 0);
      setTimeout(() => document.querySelector('h1')?.focus());
    };
    // Links of the page change the address without a request for the document.
    const click = (event) => {
      const a = event.target.closest?.('a[href^="/ui/"]');
      if (!a || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, '', a.href);
      moved();
    };
    addEventListener('popstate', moved);
    addEventListener('click', click);
    return () => { removeEventListener('popstate', moved); removeEventListener('click', click); };
  }, []);
  const first = {compare: 'runs', jobs: 'runs', webhooks: 'runs', measurements: 'train'}[path[0]] || path[0] || 'train';
  useEffect(() => { document.title = `${(PARTS.find((p) => p[0] === first) || PARTS[0])[1]} – radlc`; }, [first]);
  return html`<a class="skip" href="#main">Skip to the content</a><div class="shell"><header class="side"><div class="brand">radlc</div>
    <nav aria-label="Parts">${PARTS.map(([p, name, icon]) => html`<a href=${link(p)} aria-current=${p === first ? 'page' : null}><svg viewBox="0 0 24 24" aria-hidden="true"><path d=${icon}/></svg>${name}</a>`)}</nav>
    <div class="foot"><${Theme}/>${me && html`<span>${me.user}, may ${me.scope}</span>`}</div></header>
  <main id="main">${screen(path)}</main></div>`;
}

document.getElementById('boot').remove();
render(html`<${App}/>`, document.body);
