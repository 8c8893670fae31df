/** The page with another text between the comments `<!-- NAME -->` and `<!-- /NAME -->`. Throws if it does not have them. */
export function withPart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to === -1) throw new Error(`the page has no ${begin.trim()} … ${end.trim()}`)
  return `${text.slice(0, from + begin.length)}${part}${text.slice(to)}`
}
