/**
 * Texts that are harmless as texts only. `executed` appears on the page's global object if one of them is more than that: each
 * test looks for it, and a request to `elsewhere.invalid` is a fault by itself.
 */
const steal = "globalThis.executed=1;fetch('https://elsewhere.invalid/')"

export const hostileTexts: readonly string[] = [
  `<img src=x onerror="${steal}">`,
  `"><script>${steal}</script>`,
  `<svg/onload=${steal}>`,
  `javascript:${steal}`,
  `data:text/html,<script>${steal}</script>`,
  `'-${steal}-'`,
  `" onmouseover="${steal}" style="position:fixed;inset:0" x="`,
  `\${${steal}}{{constructor.constructor('${steal}')()}}`,
  '</title></textarea></style></script><iframe src=https://elsewhere.invalid/>',
  '&lt;img src=x&gt; &amp; &#x3c;',
  'two\nlines\r\nand\ttabs',
  'left \u202eright to left\u202c \u2066isolated',
  '\u0645\u0631\u062d\u0628\u0627 orders/1',
  '\u0000\u0007\u001b[31mred',
  '__proto__',
  'constructor',
  '../../../etc/passwd',
  '?name=other&token=1#token=x',
  '%3Cimg%20src=x%3E%00%2e%2e%2f',
  ' leading and trailing ',
  'w'.repeat(1_000),
]

/** An expression whose value in the page is what a hostile text has done there: nothing. */
export const damage = `[
  ...(globalThis.executed === undefined ? [] : ['a text was executed']),
  ...[...document.querySelectorAll('img, iframe, object, embed, script:not([src]), style, base, form[action]')].map((each) => each.outerHTML.slice(0, 200)),
  ...[...document.querySelectorAll('*')].flatMap((each) =>
    [...each.attributes]
      .filter(({ name, value }) => /^on/i.test(name) || (/^(href|src|action|formaction|xlink:href)$/i.test(name) && /^\\s*(javascript|data):/i.test(value)))
      .map(({ name, value }) => each.tagName + ' ' + name + '=' + value.slice(0, 200))),
]`
