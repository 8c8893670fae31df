import { join } from 'node:path'
import { packages } from '../../tools/workspaces.js'

/** A module that applications import. */
export interface PublicEntry {
  /** As it is imported, such as `@leasehold/core/store`. */
  readonly name: string
  readonly source: string
  /** A sentence on its package, for the entry that has the name of the package. */
  readonly description: string | undefined
  /** The folder of the package. */
  readonly folder: string
}

/** An entry with this name is for the other packages of this repository. */
const INTERNAL = './internal'

/** All public entries of the packages, sorted by package. */
export function publicEntries(): PublicEntry[] {
  return packages().flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([path, targets]) => {
      if (path === INTERNAL || typeof targets === 'string') return []
      const source = targets['@leasehold/source']
      if (source === undefined) return []
      const description = path === '.' ? manifest.description : undefined
      return [{ name: join(manifest.name, path), source: join(folder, source), description, folder }]
    }),
  )
}
