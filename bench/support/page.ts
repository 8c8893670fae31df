import { readFileSync, writeFileSync } from 'node:fs'
import { type Chart, toSvg } from './chart.js'

const folder = new URL('../../docs/internals/', import.meta.url)

/** Writes a page into `docs/internals`: a template, in which `<!-- NAME -->` stands for the part of that name. */
export function writePage(name: string, template: URL, parts: Readonly<Record<string, string>>): void {
  // The page is in docs/internals/, the template is not.
  const text = readFileSync(template, 'utf8').replaceAll('](../../docs/internals/', '](').replaceAll('](../../docs/', '](../')
  const filled = text.replaceAll(/<!-- (\w+) -->/g, (mark, part: string) => parts[part] ?? mark)
  writeFileSync(new URL(`${name}.md`, folder), filled)
}

export function writeChart(name: string, title: string, charts: readonly Chart[]): void {
  writeFileSync(new URL(`${name}.svg`, folder), toSvg(title, charts))
}
