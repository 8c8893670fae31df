import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

const MANIFEST = 'package.json'
const REFERENCE = 'reference.conf'

/** A `reference.conf`, and the folder of the package that ships it. */
export interface ReferenceConfig {
  readonly folder: string
  readonly file: string
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/**
 * The `reference.conf` of every package that the application in a folder depends on, directly or not, and its own: a
 * package before those that depend on it, which may override what it says.
 */
export function findReferenceConfigs(folder: string): readonly ReferenceConfig[] {
  const found: ReferenceConfig[] = []
  const seen = new Set<string>()
  const visit = (packageFolder: string): void => {
    const real = realpathSync(packageFolder)
    if (seen.has(real)) return
    seen.add(real)
    for (const name of dependenciesOf(real)) {
      const dependency = findPackage(name, real)
      if (dependency !== undefined) visit(dependency)
    }
    const file = join(real, REFERENCE)
    if (existsSync(file)) found.push({ folder: real, file })
  }
  const application = findManifest(folder)
  if (application !== undefined) visit(application)
  return found
}

function dependenciesOf(folder: string): string[] {
  let manifest: Manifest
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest
  } catch {
    // A package that cannot be read ships no settings either.
    return []
  }
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
}

/** Where Node would find a package that is imported in a folder. */
function findPackage(name: string, from: string): string | undefined {
  for (const folder of upwards(from)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, MANIFEST))) return candidate
  }
  return undefined
}

function findManifest(from: string): string | undefined {
  return [...upwards(from)].find((folder) => existsSync(join(folder, MANIFEST)))
}

function* upwards(from: string): Generator<string, undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    yield folder
    if (dirname(folder) === folder) return undefined
  }
}
