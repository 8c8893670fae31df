import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { floors, importedRooms } from '../conventions/floors.js'
import { filesBelow, packages, root } from '../workspaces.js'
import type { OptionsFile } from './provider-options.js'

const page = join(root, 'docs', 'internals', 'architecture.md')
const core = join(root, 'packages', 'core', 'src')

/** The page on the architecture, with its drawings as the manifests and the sources have them. */
export function architecturePage(): OptionsFile {
  const text = withPart(readFileSync(page, 'utf8'), 'packages', packagesChart())
  return { path: page, text: withPart(text, 'floors', floorsTable()) }
}

/** The sources of core, by path. */
export function coreSources(): Map<string, string> {
  return new Map(filesBelow(core, '.ts').map((file) => [file, readFileSync(file, 'utf8')]))
}

export function coreFolder(): string {
  return core
}

/** A package depends on those that its arrows lead to. The arrows to core are left out where another one leads there as well. */
function packagesChart(): string {
  const lines = packages().flatMap(({ id, manifest }) => {
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const own = needed.filter((name) => name.startsWith('@leasehold/')).map((name) => name.slice('@leasehold/'.length))
    return own.length === 0 ? [`  ${id}`] : [`  ${id} --> ${own.sort().join(' & ')}`]
  })
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n')
}

function floorsTable(): string {
  const imported = importedRooms(core, coreSources())
  const rows = floors.flatMap((rooms, floor) =>
    rooms.map(({ folder, content }) => {
      const below = [...(imported.get(folder) ?? [])].sort().map((name) => `\`${name}\``)
      return `| ${floors.length - floor} | \`src/${folder}/\` | ${content} | ${below.join(', ')} |`
    }),
  )
  return ['| floor | folder | content | imports |', '|---|---|---|---|', ...rows].join('\n')
}

function withPart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to === -1) throw new Error(`${page} has no ${begin.trim()} … ${end.trim()}`)
  return `${text.slice(0, from + begin.length)}${part}${text.slice(to)}`
}
