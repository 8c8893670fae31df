import { readFileSync, writeFileSync } from 'node:fs'
import { type Chart, toSvg } from './chart.js'

const docs = new URL('../../docs/', import.meta.url)

/** Writes a page into `docs`: a template, in which `<!-- NAME -->` stands for the part of that name. */
export function writePage(name: string, template: URL, parts: Readonly<Record<string, string>>): void {
  // The page is in docs/, the template is not.
  const text = readFileSync(template, 'utf8').replaceAll('](../../docs/', '](')
  const filled = text.replaceAll(/<!-- (\w+) -->/g, (mark, part: string) => parts[part] ?? mark)
  writeFileSync(new URL(`${name}.md`, docs), filled)
}

export function writeChart(name: string, title: string, charts: readonly Chart[]): void {
  writeFileSync(new URL(`${name}.svg`, docs), toSvg(title, charts))
}
