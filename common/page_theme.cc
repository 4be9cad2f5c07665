#include "common/page_theme.h"

namespace radl {

// clang-format off
std::string_view page_theme() {
  return R"css(:root{--bg:#f6f7f9;--panel:#fff;--sunk:#eef0f4;--line:#d9dee6;--ink:#151a22;--ink2:#4b5565;--accent:#2554c7;--on:#fff;--tint:#e8eefc;--band:#a9bdf0;--ok:#16723f;--okt:#e2f4e9;--warn:#8a5000;--warnt:#fdf0d8;--bad:#b01f1a;--badt:#fdeae8;--s1:#2554c7;--s2:#b4540a;--s3:#16723f;--s4:#8b3fa8;--r:8px;--mono:ui-monospace,"SF Mono",Menlo,"DejaVu Sans Mono",monospace;color-scheme:light}
@media screen{:root[data-theme=dark]{--bg:#0e1116;--panel:#161a21;--sunk:#0b0d11;--line:#2c333f;--ink:#e7eaf0;--ink2:#a7b0c0;--accent:#93b4ff;--on:#0a1430;--tint:#1b2743;--band:#3d5796;--ok:#6fd39a;--okt:#12301f;--warn:#f1b866;--warnt:#37270d;--bad:#ff9a92;--badt:#3d1715;--s1:#93b4ff;--s2:#f0a060;--s3:#6fd39a;--s4:#d59cf0;color-scheme:dark}}
@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){--bg:#0e1116;--panel:#161a21;--sunk:#0b0d11;--line:#2c333f;--ink:#e7eaf0;--ink2:#a7b0c0;--accent:#93b4ff;--on:#0a1430;--tint:#1b2743;--band:#3d5796;--ok:#6fd39a;--okt:#12301f;--warn:#f1b866;--warnt:#37270d;--bad:#ff9a92;--badt:#3d1715;--s1:#93b4ff;--s2:#f0a060;--s3:#6fd39a;--s4:#d59cf0;color-scheme:dark}}
*{box-sizing:border-box}
html{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;background:var(--bg);color:var(--ink);-webkit-text-size-adjust:100%}
a{color:var(--accent)}code,pre,.mono{font-family:var(--mono);font-size:12.5px}
body.doc{max-width:1120px;margin:0 auto;padding:28px 28px 64px}
.doc h1{font-size:22px;line-height:1.25;margin:0 0 14px}.doc h2{font-size:16px;margin:32px 0 8px}.doc p{margin:6px 0}
.doc .result{background:var(--panel);border:1px solid var(--line);border-radius:var(--r);padding:16px 20px;font-weight:600}
.doc .figures{display:flex;flex-wrap:wrap;gap:10px 36px;margin:12px 0 0;padding:0}.doc .figures div{min-width:0}
.doc .figures dt{font-weight:400;font-size:12.5px;color:var(--ink2)}.doc .figures dd{margin:0;font-size:18px;font-variant-numeric:tabular-nums}
.doc table{border-collapse:collapse;width:100%}.doc td,.doc th{text-align:left;vertical-align:top;padding:5px 14px 5px 0;border-bottom:1px solid var(--line)}
.doc th{font-weight:600;color:var(--ink2);font-size:13px}.doc tfoot td{font-weight:600}
.doc .num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.doc .soft{color:var(--ink2)}.doc .bad{color:var(--bad);font-weight:600}
.doc pre{margin:4px 0;white-space:pre-wrap;overflow-wrap:anywhere}.doc pre.sunk{background:var(--sunk);border-radius:var(--r);padding:12px}
.doc .wide{overflow-x:auto}.doc details{margin:8px 0}.doc summary{cursor:pointer;color:var(--accent)}
.doc svg{display:block;max-width:100%;height:auto}
.doc .drawing{background:var(--panel);border:1px solid var(--line);border-radius:var(--r);padding:10px}
@media print{body.doc{max-width:none;padding:0}.doc .wide{overflow:visible}.doc tr,.doc .result,.doc svg{break-inside:avoid}.doc h2{break-after:avoid}.doc summary{color:var(--ink2)}}
)css";
}
// clang-format on

}  // namespace radl
