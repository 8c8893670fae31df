import { readFileSync, writeFileSync } from 'node:fs'
import { type Chart, toSvg } from './chart.js'

const docs = new URL('../../docs/', import.meta.url)
const folder = new URL('internals/', docs)

/** Writes a page into `docs/internals`: a template, in which `<!-- NAME -->` stands for the part of that name. */
export function writePage(name: string, template: URL, parts: Readonly<Record<string, string>>): void {
  // The page is in docs/internals/, the template is not.
  const text = readFileSync(template, 'utf8')
    .replaceAll('](../../docs/internals/', '](')
    .replaceAll('](../../docs/', '](../')
  const filled = text.replaceAll(/<!-- (\w+) -->/g, (mark, part: string) => parts[part] ?? mark)
  writeFileSync(new URL(`${name}.md`, folder), filled)
}

export function writeChart(name: string, title: string, charts: readonly Chart[]): void {
  writeFileSync(new URL(`${name}.svg`, folder), toSvg(title, charts))
}

/** Writes parts of a page in `docs` that is otherwise written by hand: each between `<!-- figures: NAME -->` and `<!-- end of figures -->`. */
export function writeFigures(name: string, figures: Readonly<Record<string, string>>): void {
  const page = new URL(`${name}.md`, docs)
  const filled = Object.entries(figures).reduce(
    (text, [part, figure]) => {
      const [before, rest] = text.split(`<!-- figures: ${part} -->`)
      const after = rest?.split('<!-- end of figures -->').slice(1).join('<!-- end of figures -->')
      if (before === undefined || after === undefined)
        throw new Error(`${name}.md has no place for the figures '${part}'`)
      return `${before}<!-- figures: ${part} -->\n${figure}\n<!-- end of figures -->${after}`
    },
    readFileSync(page, 'utf8'),
  )
  writeFileSync(page, filled)
}
