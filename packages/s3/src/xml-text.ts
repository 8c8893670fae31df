/** The text of the first element with this name in a document of S3, which has no attributes and no CDATA of the user. */
export function elementIn(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*|<!\\[CDATA\\[.*?\\]\\]>)</${name}>`, 's').exec(xml) ?? []
  return text === undefined ? undefined : unescaped(text)
}

/** The texts of all elements with this name. */
export function elementsIn(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => unescaped(text))
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function unescaped(text: string): string {
  const [, literal] = /^<!\[CDATA\[(.*)\]\]>$/s.exec(text) ?? []
  if (literal !== undefined) return literal
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
