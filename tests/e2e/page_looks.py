"""What is wrong with how the page looks, as expressions for the browser: a text, empty if nothing is."""

# Visible boxes that are cut off or overlap although they must not: names of the first three.
LAYOUT = """(() => {
  const out = [], see = (e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 ? r : null; };
  const name = (e) => e.tagName + '.' + e.className + ' ' + (e.innerText || '').slice(0, 30);
  if (document.documentElement.scrollWidth > innerWidth) out.push('the page is wider than the window: ' + document.documentElement.scrollWidth);
  for (const e of document.querySelectorAll('header *, .views a, .tabs a, .tabs button, h2, .tools > *, .panel p, dl div')) {
    const r = see(e);
    if (!r || e.closest('.views, .dbs') && innerWidth < 1100 || e.closest('.scroll, .columns, .offer')) continue;
    if (r.right > innerWidth + 1 || r.left < -1) out.push('outside: ' + name(e));
    if (e.children.length === 0 && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).display !== 'inline'
      && !/INPUT|SELECT|TEXTAREA/.test(e.tagName) && getComputedStyle(e).textOverflow !== 'ellipsis') out.push('cut: ' + name(e));
  }
  for (const e of document.querySelectorAll('main .tree .row > .obj, main .heads > span:first-child'))
    if (e.checkVisibility() && e.getBoundingClientRect().width < 24) out.push('no room for a name: ' + name(e));
  for (const e of document.querySelectorAll('main .name > .tail, main .name > .dim:not(.package)')) {
    const a = see(e), b = see(e.parentElement);
    if (a && b && e.parentElement.checkVisibility() && getComputedStyle(e.parentElement).display === 'flex' && (a.bottom < b.top + 4 || a.top > b.bottom - 4)) out.push('a hidden part of a name: ' + name(e.parentElement));
  }
  for (const e of document.querySelectorAll('main .table .scroll'))
    if (see(e) && e.scrollWidth > e.clientWidth + 1 && !e.closest('.result') && !document.getElementById('answers')) out.push(`columns of ${e.scrollWidth} pixels in ${e.clientWidth}: ` + e.ariaLabel);
  for (const e of document.querySelectorAll('main .table tbody tr'))
    if (see(e) && e.cells.length && e.offsetHeight > 26) out.push(`a row of ${e.offsetHeight} pixels: ` + name(e));
  for (const e of document.querySelectorAll('.held .name, .tree .row .obj .name'))
    if (see(e) && e.offsetHeight > 30) out.push('a name in several lines: ' + name(e));
  for (const group of document.querySelectorAll('.tools, .tabs, main, header, .inspector, .panel')) {
    const boxes = [...group.children].filter((e) => see(e) && !/absolute|fixed|sticky/.test(getComputedStyle(e).position) && getComputedStyle(e).float === 'none');
    for (let i = 0; i < boxes.length && i < 60; i++) for (let j = i + 1; j < boxes.length && j < 60; j++) {
      const a = boxes[i].getBoundingClientRect(), b = boxes[j].getBoundingClientRect();
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
        out.push('on each other: ' + name(boxes[i]) + ' / ' + name(boxes[j]));
    }
  }
  return out.slice(0, 3).join('; ');
})()"""


# Texts with too little contrast to their background (WCAG: 4.5 to 1), in computed colours; and on the canvas, labels on
# each colour.
CONTRAST = """(() => {
  const out = [], parse = (c) => { const m = /rgba?\\(([\\d.]+), ([\\d.]+), ([\\d.]+)(?:, ([\\d.]+))?\\)/.exec(c); return m ? [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] : null; };
  const light = (c) => { const f = c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const ratio = (a, b) => { const x = light(a), y = light(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c && c[3] === 1) return c; } return [255, 255, 255]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = 0; walk.nextNode() && n < 3000; n++) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim(), r = text && e.getBoundingClientRect();
    if (!text || !r.width || !e.checkVisibility() || e.closest('script, style, noscript, option, :disabled')) continue;
    const ink = parse(getComputedStyle(e).color);
    if (ink && ratio(ink, behind(e)) < 4.5) out.push(`${ratio(ink, behind(e)).toFixed(2)} ${e.tagName}.${e.className} ${text.slice(0, 20)}`);
  }
  for (const c of document.querySelectorAll('canvas')) {
    if (!c.width || !c.height) continue;
    const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, counts = new Map();
    for (let i = 0; i < pixels.length; i += 4 * 7) { if (!pixels[i + 3]) continue; const key = `${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`; counts.set(key, (counts.get(key) ?? 0) + 1); }
    const dark = light(behind(c)) < 0.2, ink = dark ? [244, 247, 250] : [20, 25, 31];
    for (const [key, n] of counts) if (n > pixels.length / 28 / 100 && ratio(ink, key.split(',').map(Number)) < 4.5) out.push(`canvas ${key}`);
  }
  return out.slice(0, 3).join('; ');
})()"""


# The visual language (tools/serve/page/README.md): four text sizes, two radii, bars in one column, unbroken words, and
# at most six Tab stops to the content.
LANGUAGE = """(() => {
  const out = [], narrow = innerWidth <= 760, shown = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  const name = (e) => e.tagName + '.' + e.className + ' ' + (e.innerText || '').slice(0, 20);
  for (const e of document.querySelectorAll('body *')) {
    if (!shown(e) || e.closest('svg, option')) continue;
    const style = getComputedStyle(e), hasText = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || /INPUT|TEXTAREA|SELECT/.test(e.tagName);
    if (hasText && ![12, 14, 16, 20].includes(parseFloat(style.fontSize))) out.push('text of ' + style.fontSize + ': ' + name(e));
    for (const corner of ['TopLeft', 'TopRight', 'BottomLeft', 'BottomRight'])
      if (![0, 4, 8].includes(parseFloat(style[`border${corner}Radius`])) && !/checkbox|radio/.test(e.type ?? '')) out.push('a radius of ' + style[`border${corner}Radius`] + ': ' + name(e));
    if (e.matches('.meter') && e.offsetWidth !== 160) out.push('a bar in ' + e.offsetWidth + ' pixels: ' + name(e.parentElement));
  }
  const main = document.querySelector('main'), stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
    .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && main.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING);
  const isReport = document.getElementById('answers') !== null;
  if (!isReport && (stops.length > 6 || stops.length < 3)) out.push(stops.length + ' stops before the content');
  const head = document.querySelector('main .head');
  if (!isReport && (!head?.querySelector('h1')?.innerText || !head.querySelector('p')?.innerText)) out.push('no line that says what the view answers');
  if (narrow && !isReport && document.querySelector('header').offsetHeight !== 56) out.push('a header of ' + document.querySelector('header').offsetHeight);
  const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let n = 0; innerWidth <= 1100 && walk.nextNode() && n < 3000; n++) {
    const node = walk.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('textarea, .sql, .unseen, code, option, svg, .figures')) continue;
    for (const word of node.data.matchAll(/[A-Za-z]{2,}/g)) {
      range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top))).size > 1) out.push('broken: ' + word[0]);
    }
  }
  return [...new Set(out)].slice(0, 3).join('; ');
})()"""
