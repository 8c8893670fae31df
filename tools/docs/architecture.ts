import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { floors, importedRooms } from '../conventions/floors.js'
import { filesBelow, packages, root } from '../workspaces.js'
import { withPart } from './page-part.js'
import type { OptionsFile } from './provider-options.js'

const page = join(root, 'docs', 'internals', 'architecture.md')
const core = join(root, 'packages', 'core', 'src')

/** The page on the architecture, with its drawings as the manifests and the sources have them. */
export function architecturePage(): OptionsFile {
  const text = withPart(readFileSync(page, 'utf8'), 'packages', packagesTable())
  return { path: page, text: withPart(text, 'floors', floorsTable()) }
}

/** The sources of core, by path. */
export function coreSources(): Map<string, string> {
  return new Map(filesBelow(core, '.ts').map((file) => [file, readFileSync(file, 'utf8')]))
}

export function coreFolder(): string {
  return core
}

/** The packages that others build on come first. */
function packagesTable(): string {
  const all = packages().map(({ id, manifest }) => {
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const own = needed.filter((name) => name.startsWith('@leasehold/')).map((name) => name.slice('@leasehold/'.length))
    return { id, own: own.sort() }
  })
  const heightOf = (id: string): number =>
    Math.max(0, ...(all.find((each) => each.id === id)?.own ?? []).map((below) => heightOf(below) + 1))
  const sorted = all.map((each) => ({ ...each, height: heightOf(each.id) })).sort((a, b) => a.height - b.height)
  return [
    '| package | depends on |',
    '|---|---|',
    ...sorted.map(({ id, own }) => `| ${id} | ${own.join(', ')} |`),
  ].join('\n')
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
